"""Are posteriors of crowd labels calibrated? Every method on every crowd set with gold; a table in Markdown.

    BAYESAGREE_DATA=<folder> uv run --group bench python benchmarks/crowd_gold.py [--rows rows.jsonl] [--report]

<folder> holds ``crowd-gold`` and ``human-objects``. Fits never see gold; `calibrate` sees 200 gold items (half of them
where there are fewer than 400) and is scored on the others, 20 random splits. Rows are appended to the file as they are
done, so that a run that was stopped goes on where it ended. An hour on two cores.
"""

import argparse
import json
import os
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

from bayesagree.annotations import Labels
from bayesagree.calibrate import calibrate, calibration_scores, label_probability, pool_with_votes
from bayesagree.plausibility.dawid_skene import VARIANTS, dawid_skene

SETS = (
    "bluebird", "rte", "product", "sentiment-polarity", "trec2011", "relevance2010", "adult2", "face", "music-genre",
    "weather-cf", "edge", "sketch",
)  # fmt: skip
SCORES = ("mean_accuracy", "mean_confidence", "gap", "calibration_error", "log_score")
SPLITS = 20


def read(name: str, folder: Path) -> tuple[Labels, dict]:
    if name in ("edge", "sketch"):
        table = pd.read_csv(folder / "human-objects" / f"{name}.csv.gz", keep_default_na=False)
        gold = table.groupby("item").gold.first().to_dict()
        table = table[table.label != "na"]  # no answer in time
    else:
        table = pd.read_csv(folder / "crowd-gold" / f"{name}_labels.csv.gz")
        gold = pd.read_csv(folder / "crowd-gold" / f"{name}_gold.csv.gz").set_index("item").gold.to_dict()
    known = sorted(set(table.label) | set(gold.values()))
    labels = Labels.from_long(table, annotator="worker", labels=known, duplicates="keep")
    items = set(labels.items.tolist())
    return labels, {item: label for item, label in gold.items() if item in items}


def crowd_kit(labels: Labels) -> xr.DataArray:
    from crowdkit.aggregation import DawidSkene

    table = pd.DataFrame(
        {"task": labels.item_index, "worker": labels.annotator_index, "label": labels.label_index}
    ).drop_duplicates(["task", "worker", "label"])
    fitted = DawidSkene(n_iter=100).fit_predict_proba(table)
    values = fitted.reindex(index=range(labels.items.size), columns=range(labels.labels.size)).fillna(0).to_numpy()
    return _array(values, labels)


def vote_share(labels: Labels) -> xr.DataArray:
    counts = labels.counts()
    return _array(counts / counts.sum(axis=1, keepdims=True), labels)


def _array(values: np.ndarray, labels: Labels) -> xr.DataArray:
    return xr.DataArray(values, dims=("item", "label"), coords={"item": labels.items, "label": labels.labels})


def methods(labels: Labels) -> Iterator[tuple[str, xr.DataArray | xr.DataTree]]:
    yield "vote share", vote_share(labels)
    yield "crowd-kit EM", crowd_kit(labels)
    yield "EM", dawid_skene(labels, engine="em")
    for variant in VARIANTS:
        steps = {"tune": 600, "thin": 2} if variant == "mixed_membership" else {"tune": 400, "thin": 1}
        chains = 4 if labels.n_annotations < 30_000 else 2
        tree = dawid_skene(
            labels, variant=variant, draws=200, chains=chains, top_labels=1, confusion=False, seed=1, **steps
        )
        yield variant, tree
        if variant in ("hierarchical", "mixed_membership"):
            yield f"pool of {variant} and votes", pool_with_votes(tree, labels, seed=1)


def calibrated_gaps(tree: xr.DataTree, gold: dict) -> list[float]:
    """Gap of the items without gold, for each split; half of the gold at most is spent."""
    names = np.array(list(gold), dtype=object)
    n_used = min(200, len(names) // 2)
    small = xr.DataTree.from_dict(
        {"/posterior": tree["posterior"].to_dataset().isel(draw=slice(0, 20)), "/derived": tree["derived"].to_dataset(),
         "/constant_data": xr.Dataset(coords={"label": tree["derived"]["label"]})}
    )  # fmt: skip
    gaps = []
    for split in range(SPLITS):
        order = np.random.default_rng(split).permutation(len(names))
        used, rest = ({n: gold[n] for n in names[o]} for o in (order[:n_used], order[n_used:]))
        gaps.append(float(calibration_scores(label_probability(calibrate(small, used, seed=split)), rest)["gap"]))
    return gaps


def rows_of(name: str, folder: Path) -> Iterator[dict]:
    labels, gold = read(name, folder)
    for method, result in methods(labels):
        tree = isinstance(result, xr.DataTree)
        scores = calibration_scores(label_probability(result) if tree else result, gold)
        row = {"set": name, "method": method, "n_gold": len(gold)} | {s: float(scores[s]) for s in SCORES}
        if method in ("hierarchical", "mixed_membership"):
            gaps = calibrated_gaps(result, gold)
            row |= {"calibrated_gap": float(np.mean(np.abs(gaps))), "calibrated_bias": float(np.mean(gaps))}
        if method in VARIANTS:
            r_hat = result["sample_stats"]["r_hat"]
            row["r_hat"] = float(r_hat.max())
        if method == "mixed_membership":
            row["ambiguity"] = float(result["posterior"]["ambiguity"].mean())
        print(json.dumps(row), flush=True)
        yield row


def report(rows: list[dict]) -> str:
    """Write the rows as Markdown: a summary over sets, and gap and log score of every set."""
    frame = pd.DataFrame(rows)
    order = list(dict.fromkeys(frame["method"]))
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
                lambda own: (own.set_index("set")["log_score"] > em).sum()
            ),
        }
    ).loc[order]
    parts = [f"{frame['set'].nunique()} sets. Fits never saw gold.", _markdown(summary)]
    for column, title in (
        ("gap", "Mean claim of the best label minus accuracy"),
        ("log_score", "Mean log probability of the gold label, floored at 1e-12"),
        ("calibrated_gap", "Mean absolute gap of the items without gold after `calibrate`, 20 splits"),
        ("r_hat", "Largest r-hat"),
    ):
        wide = frame.dropna(subset=[column]).pivot(index="set", columns="method", values=column)
        parts += [f"## {title}", _markdown(wide[[m for m in order if m in wide]].loc[frame["set"].unique()])]
    return "\n\n".join(parts) + "\n"


def _markdown(table: pd.DataFrame) -> str:
    def cell(value: float) -> str:
        return f"{value:.3f}" if isinstance(value, float) else str(value)

    lines = ["| " + " | ".join(["", *table.columns]) + " |", "| --- " * (table.shape[1] + 1) + "|"]
    lines += ["| " + " | ".join([str(row[0]), *(cell(v) for v in row[1:])]) + " |" for row in table.itertuples()]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=Path, default=Path("crowd_gold_rows.jsonl"))
    parser.add_argument("--report", action="store_true", help="print the rows there are as Markdown, fit nothing")
    parser.add_argument("--sets", nargs="*", default=SETS)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)  # r-hat stands in the rows
    done = [json.loads(line) for line in arguments.rows.read_text().splitlines()] if arguments.rows.exists() else []
    if arguments.report:
        print(report(done))
        return
    finished = {row["set"] for row in done}
    for name in arguments.sets:
        if name not in finished:
            rows = list(rows_of(name, Path(os.environ["BAYESAGREE_DATA"])))
            with arguments.rows.open("a") as file:
                file.writelines(json.dumps(row) + "\n" for row in rows)


if __name__ == "__main__":
    main()
