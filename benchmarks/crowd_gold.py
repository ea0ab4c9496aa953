"""Are posteriors of crowd labels calibrated? Every method on every crowd set with gold; a table in Markdown.

    BAYESAGREE_DATA=<folder> uv run --group bench python benchmarks/crowd_gold.py [--rows rows.jsonl] [--keep fits]
    uv run python benchmarks/crowd_gold.py [--rows rows.jsonl] [--methods auto ...] --report

<folder> holds ``crowd-gold`` and ``human-objects``. Fits never see gold; `calibrate` sees 200 gold items (half of them
where there are fewer than 400) and is scored on the others, 20 random splits. Rows are appended to the file as they are
done, so that a run that was stopped goes on where it ended. --keep writes the label probabilities that
`calibration_forms.py` reads. Three quarters of an hour of one processor.

Posteriors have the default settings, but two chains of 150 draws. "auto" is what `dawid_skene` returns where nobody
names a variant: the average of mixed membership and votes.
"""

import argparse
import json
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from crowd_sets import SETS, read

from bayesagree.annotations import Labels
from bayesagree.inference.results import settings_of
from bayesagree.plausibility.calibration import calibrate, calibration_scores, label_probability
from bayesagree.plausibility.dawid_skene._crowd import VARIANTS
from bayesagree.plausibility.dawid_skene.posterior import dawid_skene

SCORES = ("mean_accuracy", "mean_confidence", "gap", "calibration_error", "log_score")
SPLITS, MIXED = 20, 1.05
RUN: Any = {"draws": 150, "chains": 2, "random_seed": 1, "top_labels": 1, "confusion": False}
METHODS = (
    "auto", "vote share", "crowd-kit EM", "EM", "full", "one_coin", "class_conditional", "hierarchical",
    "mixed_membership", "mixed_one_coin",
)  # fmt: skip


def crowd_kit(labels: Labels) -> xr.DataArray:
    from crowdkit.aggregation import DawidSkene

    table = pd.DataFrame(
        {"task": labels.item_index, "worker": labels.annotator_index, "label": labels.label_index}
    ).drop_duplicates(["task", "worker", "label"])
    fitted = DawidSkene(n_iter=100).fit_predict_proba(table)
    values = (
        fitted.reindex(index=range(labels.items.size), columns=range(labels.categories.size))
        .fillna(0)
        .to_numpy()
    )
    return _array(values, labels)


def vote_share(labels: Labels) -> xr.DataArray:
    counts = labels.counts()
    return _array(counts / counts.sum(axis=1, keepdims=True), labels)


def _array(values: np.ndarray, labels: Labels) -> xr.DataArray:
    return xr.DataArray(
        values, dims=("item", "category"), coords={"item": labels.items, "category": labels.categories}
    )


def methods(labels: Labels, done: set[str]) -> Iterator[tuple[str, xr.DataArray | xr.DataTree]]:
    """Yield what every method says, except those done."""
    for name, fit in (
        ("vote share", vote_share),
        ("crowd-kit EM", crowd_kit),
        ("EM", lambda labels: dawid_skene(labels, variant="full", engine="em")),
    ):
        if name not in done:
            yield name, fit(labels)
    for variant in ("auto", *VARIANTS):
        if variant in done:
            continue
        tree = dawid_skene(labels, variant=variant, **RUN)
        yield variant, tree


def calibrated_gaps(tree: xr.DataTree, gold: dict) -> list[float]:
    """Gap of the items without gold, for each split; half of the gold at most is spent."""
    names = np.array(list(gold), dtype=object)
    n_used = min(200, len(names) // 2)
    small = xr.DataTree.from_dict(
        {"/posterior": tree["posterior"].to_dataset().isel(draw=slice(0, 20)), "/derived": tree["derived"].to_dataset(),
         "/constant_data": xr.Dataset(coords={"category": tree["derived"]["category"]})}
    )  # fmt: skip
    gaps = []
    for split in range(SPLITS):
        order = np.random.default_rng(split).permutation(len(names))
        used, rest = ({n: gold[n] for n in names[o]} for o in (order[:n_used], order[n_used:]))
        gaps.append(
            calibration_scores(label_probability(calibrate(small, used, random_seed=split)), rest)["gap"]
        )
    return gaps


def keep_fit(probability: xr.DataArray, gold: dict, path: Path) -> None:
    """Write label probabilities and the position of each item's gold label, -1 where there is none."""
    place = {label: k for k, label in enumerate(probability["category"].values.tolist())}
    codes = [place[gold[item]] if item in gold else -1 for item in probability["item"].values.tolist()]
    np.savez_compressed(path, probability=probability.values, gold=np.array(codes))


def rows_of(name: str, folder: Path, done: set[str], kept: Path | None) -> Iterator[dict]:
    labels, gold = read(name, folder)
    for method, result in methods(labels, done):
        probability = label_probability(result) if isinstance(result, xr.DataTree) else result
        scores = calibration_scores(probability, gold)
        row = {"set": name, "method": method, "n_gold": len(gold)} | {s: scores[s] for s in SCORES}
        if method in ("hierarchical", "mixed_membership"):
            gaps = calibrated_gaps(result, gold)
            row |= {"calibrated_gap": float(np.mean(np.abs(gaps))), "calibrated_bias": float(np.mean(gaps))}
            if kept is not None:
                keep_fit(probability, gold, kept / f"{name}__{method}.npz")
        if method in (*VARIANTS, "auto"):
            row |= settings_of(result).get("weights", {})
            row["r_hat"] = float(result["diagnostics"]["r_hat"].max())
        if method == "mixed_membership":
            row["ambiguity"] = float(result["posterior"]["ambiguity"].mean())
        print(json.dumps(row), flush=True)
        yield row


def report(rows: list[dict]) -> str:
    """Write the rows as Markdown: a summary over sets, and gap and log score of every set."""
    frame = pd.DataFrame(rows)
    order = [m for m in METHODS if m in set(frame["method"])]
    frame["size"] = frame["gap"].abs()
    grouped = frame.groupby("method")
    em = frame[frame["method"] == "EM"].set_index("set")["log_score"]
    summary = pd.DataFrame(
        {
            "accuracy": grouped["mean_accuracy"].mean(),
            "claim": grouped["mean_confidence"].mean(),
            "mean abs gap": grouped["size"].mean(),
            "sets <= .03": grouped["size"].agg(lambda gap: (gap <= 0.03).sum()),
            "sets <= .05": grouped["size"].agg(lambda gap: (gap <= 0.05).sum()),
            "calibration error": grouped["calibration_error"].mean(),
            "log score": grouped["log_score"].mean(),
            "sets with better log score than EM": frame.groupby("method")[["set", "log_score"]].apply(
                lambda own: (own.set_index("set")["log_score"] > em.reindex(own["set"])).sum()
            ),
        }
    ).loc[order]
    parts = [f"{frame['set'].nunique()} sets. Fits never saw gold.", _default(frame), _markdown(summary)]
    for column, title, unsure in (
        ("gap", "Mean claim of the best label minus accuracy", np.inf),
        ("log_score", "Mean log probability of the gold label, floored at 1e-12", np.inf),
        ("calibrated_gap", "Mean absolute gap of the items without gold after `calibrate`, 20 splits", np.inf),
        (
            "r_hat",
            f"Largest r-hat of the crowd, up to 50 annotators and up to 50 items; * from {MIXED} on",
            MIXED,
        ),
    ):
        wide = frame.dropna(subset=[column]).pivot(index="set", columns="method", values=column)
        parts += [
            f"## {title}",
            _markdown(wide[[m for m in order if m in wide]].loc[frame["set"].unique()], unsure),
        ]
    return "\n\n".join(parts) + "\n"


def _default(frame: pd.DataFrame) -> str:
    """Write the default beside the majority vote and the best other posterior of each set."""
    auto = frame[frame["method"] == "auto"].set_index("set")
    vote = frame[frame["method"] == "vote share"].set_index("set")
    rivals = frame[frame["method"].isin(["vote share", *VARIANTS])]
    best = rivals.loc[rivals.groupby("set")["log_score"].idxmax()].set_index("set")
    weights = [
        name for name in ("mixed_membership", "accurate_annotators", "mixed_one_coin", "votes") if name in auto
    ]
    table = auto[["mean_accuracy", "gap", "log_score", "r_hat", *weights]].fillna(0.0)
    error = np.sqrt(auto["mean_accuracy"] * (1 - auto["mean_accuracy"]) / auto["n_gold"])
    table = table.assign(
        **{"accuracy - majority": auto["mean_accuracy"] - vote["mean_accuracy"], "error of accuracy": error,
           "log score - best other": auto["log_score"] - best["log_score"], "best other": best["method"]}
    )  # fmt: skip
    sizes = f"Mean gap {auto['gap'].mean():+.3f}, mean absolute gap {auto['gap'].abs().mean():.3f}."
    return f"## The default\n\n{sizes}\n\n{_markdown(table)}"


def _markdown(table: pd.DataFrame, unsure: float = np.inf) -> str:
    """Write a table; values from `unsure` on are marked."""

    def cell(value: float) -> str:
        return f"{value:.3f}" + "*" * (value >= unsure) if isinstance(value, float) else str(value)

    lines = ["| " + " | ".join(["", *table.columns]) + " |", "| --- " * (table.shape[1] + 1) + "|"]
    lines += [
        "| " + " | ".join([str(row[0]), *(cell(v) for v in row[1:])]) + " |" for row in table.itertuples()
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=Path, default=Path("crowd_gold_rows.jsonl"))
    parser.add_argument("--keep", type=Path, help="folder for the label probabilities of the fits")
    parser.add_argument(
        "--report", action="store_true", help="print the rows there are as Markdown, fit nothing"
    )
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--methods", nargs="*", default=METHODS, help="those to run")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)  # r-hat stands in the rows
    done = (
        [json.loads(line) for line in arguments.rows.read_text().splitlines()]
        if arguments.rows.exists()
        else []
    )
    if arguments.report:
        print(report(done))
        return
    if arguments.keep is not None:
        arguments.keep.mkdir(exist_ok=True)
    for name in arguments.sets:
        finished = {row["method"] for row in done if row["set"] == name} | set(METHODS).difference(
            arguments.methods
        )
        for row in rows_of(name, Path(os.environ["BAYESAGREE_DATA"]), finished, arguments.keep):
            with arguments.rows.open("a") as file:
                file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
