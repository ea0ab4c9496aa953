"""The whole study of AUC without ground truth and committees of experts: the tables of benchmarks/results/auc_study.md.

Run: python -m studies.auc_report FOLDER      (about ten minutes on two processors; continues where it was stopped)
"""

import time
from typing import Any

import numpy as np
import pandas as pd

from studies.auc_claims import committee_table, study_claims
from studies.auc_simulation import auc_study

COMMITTEES: dict[str, Any] = {"labels_per_item": (3, 5, 9, 15), "labels_per_annotator": (100, 200, 500, 1000)}


def markdown(table: pd.DataFrame) -> str:
    """Write a table as Markdown."""
    rows = [list(table.columns), ["---"] * table.shape[1], *table.astype(str).values.tolist()]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def committees_summary(table: pd.DataFrame) -> pd.DataFrame:
    """Count the configurations in which SGT or PGT is better beyond the paired 99 % interval."""
    rows = []
    for labels in table["labels_per_annotator"].unique():
        part: Any = table[table["labels_per_annotator"] == labels]
        better, worse = int((part["upper"] < 0).sum()), int((part["lower"] > 0).sum())
        mean, best = float(part["difference"].mean()), float(part["difference"].min())
        rows.append(
            [labels, f"{better} of {len(part)}", f"{worse} of {len(part)}", f"{mean:+.4f}", f"{best:+.4f}"]
        )
    names = ["labels per annotator", "SGT better", "PGT better", "mean of SGT - PGT", "lowest of SGT - PGT"]
    return pd.DataFrame(rows, columns=names)


def main() -> None:
    """Print the claims, the mean swap errors and the committees."""
    start = time.perf_counter()
    study = auc_study(random_seed=0)
    print(f"The study took {time.perf_counter() - start:.0f} s.\n")
    claims = study_claims(study).assign(holds=lambda t: np.where(t["holds"], "yes", "**no**"))
    print(markdown(claims), "\n")
    errors = study["study"].to_dataset()["swap_error"].mean(["run", "labels_per_annotator"])
    print(markdown(errors.to_series().unstack("auc_method").round(4).reset_index()), "\n")
    committees = auc_study(**COMMITTEES, random_seed=0)
    print(markdown(committees_summary(committee_table(committees))))


if __name__ == "__main__":
    main()
