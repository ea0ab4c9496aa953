"""Coverage of the 95 % intervals of agreement where items come in clusters, with and without ``cluster=``.

uv run python benchmarks/agreement_clusters.py [sets]          (writes results/agreement_clusters.md)

Worlds: 10, 30 or 100 documents of 8 items each, three annotators, three labels. Documents differ in what they are about
(the prevalences of a document are Dirichlet(1, 1, 1)) and in how hard they are: the probability that an annotator is
right is .95 in a document or .65, with equal chances; where wrong, each other label is as likely. The true
value is the estimate on 20,000 documents. `covered` is the share of data sets whose interval holds it, with its
Monte-Carlo error.
"""

import sys
from pathlib import Path

import numpy as np

from bayesagree import Labels, agreement_table

SETS, DOCUMENTS, SIZE, LABELS, ANNOTATORS = 300, (10, 30, 100), 8, 3, 3
NAMES = ("percent_agreement", "fleiss_kappa", "alpha_nominal", "gwet_ac1")
PAGE = Path(__file__).parent / "results" / "agreement_clusters.md"


def draw(n: int, rng: np.random.Generator) -> Labels:
    """Draw the labels of n documents."""
    prevalence = rng.dirichlet(np.ones(LABELS), n).repeat(SIZE, axis=0)
    right = np.where(rng.random(n) < 0.5, 0.95, 0.65).repeat(SIZE)[:, None]
    truth = (rng.random((n * SIZE, 1)) > prevalence.cumsum(axis=1)).sum(axis=1, keepdims=True)
    shape = (n * SIZE, ANNOTATORS)
    wrong = (truth + rng.integers(1, LABELS, shape)) % LABELS
    return Labels.from_matrix(
        np.where(rng.random(shape) < right, truth, wrong), labels=range(LABELS), ordered=False
    )


def main(sets: int) -> None:
    """Print and write the table."""
    rng = np.random.default_rng(17)
    true = agreement_table(draw(20_000, rng), random_seed=rng).set_index("coefficient")["estimate"]
    columns = ("documents", "coefficient", "covered with `cluster=`", "width", "covered without", "width")
    lines = [f"| {' | '.join(columns)} |", "|" + " --- |" * len(columns)]
    for n in DOCUMENTS:
        cluster = np.arange(n).repeat(SIZE)
        held, width = np.zeros((2, len(NAMES))), np.zeros((2, len(NAMES)))
        for _ in range(sets):
            labels = draw(n, rng)
            for k, given in enumerate((cluster, None)):
                table = (
                    agreement_table(labels, cluster=given, random_seed=rng)
                    .set_index("coefficient")
                    .loc[list(NAMES)]
                )
                held[k] += (table["lower"] <= true[list(NAMES)]) & (true[list(NAMES)] <= table["upper"])
                width[k] += table["upper"] - table["lower"]
        share, width = held / sets, width / sets
        error = np.sqrt(share * (1 - share) / sets)
        for c, name in enumerate(NAMES):
            cells = [f"{share[k, c]:.3f} ({error[k, c]:.3f}) | {width[k, c]:.2f}" for k in (0, 1)]
            lines.append(f"| {n} | {name} | {' | '.join(cells)} |")
    title, _, about = (__doc__ or "").partition("\n")
    worlds = about.split("Worlds: ")[1].strip()
    PAGE.write_text("\n".join([f"# {title}", "", f"{sets} data sets per row. {worlds}", "", *lines, ""]))
    print("\n".join(lines))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else SETS)
