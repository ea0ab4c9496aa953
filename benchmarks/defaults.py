"""What calls without options print, against the value from all votes or gold: coverage and bias; tables in Markdown.

    BAYESAGREE_DATA=<folder> uv run --group bench python benchmarks/defaults.py [--repeats 6] [--rows rows.jsonl]

Ten open data sets. Of four with many votes (`informed.SETS`, real models or held-out raters in their place) 3 votes are
drawn of each of at most 400 items, and the truth of a score is that against the majority of all votes. Of six crowd
sets with gold at most 300 items with all of their votes; three models as in `gold.py` (right on 93 %, copy of the vote,
right on 80 %), whose truth is the score against gold. For each repeat votes, items and models are drawn anew.

- `evaluate(labels, models)`: 95 % intervals of each score, and of each difference as `compare` prints it. Beside the
  default the former one, ``plausibility="dirichlet"``.
- `agreement_table(labels)`: Krippendorff's alpha of a random half of the items, the truth that of all items (so the
  interval should hold it in more than .95).
- `dawid_skene(labels)` on the crowd sets, once each with 2 chains of 100 draws: accuracy, and mean probability of the
  best label (claim) less accuracy. Beside the default the former one, ``variant="full"``, and the majority vote; ties
  are broken at random: each of equal best labels counts its share.
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
from crowd_sets import read
from gold import models_of
from informed import SETS as WITH_MODELS

import bayesagree as ba
from bayesagree.evaluation.tables import pair_table
from bayesagree.inference.intervals import hdi
from bayesagree.plausibility.calibration import label_probability

CROWDS = ("bluebird", "rte", "adult2", "face", "music-genre", "weather-cf")
VOTES, MOST, MOST_GOLD = 3, 400, 300
POSTERIORS = {"default": "auto", "former": "dirichlet"}
VARIANTS = {"default": "auto", "former": "full"}


def few_votes(
    every: np.ndarray, probability: np.ndarray, rng: np.random.Generator
) -> tuple[Any, Any, np.ndarray]:
    """A few votes of some items, models, and their scores against the majority of all votes."""
    chosen = rng.permutation(np.flatnonzero(every.sum(axis=1) >= VOTES))[:MOST]
    every, probability = (
        every[chosen],
        probability[:, chosen] / probability[:, chosen].sum(axis=2, keepdims=True),
    )
    few = np.stack([rng.multivariate_hypergeometric(row, VOTES) for row in every])
    predictions = ba.Predictions.from_scores({f"model {j}": one for j, one in enumerate(probability)})
    return ba.Labels.from_counts(few), predictions, shared(every, probability.argmax(axis=2))


def shared(weights: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Share of items whose best label is the given one; equal best labels share the item."""
    best = weights == weights.max(axis=1, keepdims=True)
    return (best / best.sum(axis=1, keepdims=True))[np.arange(len(weights)), codes].mean(axis=-1)


def crowd(labels: Any, gold: dict, rng: np.random.Generator) -> tuple[Any, Any, np.ndarray]:
    """Some items of a crowd set, models, and their scores against gold."""
    items = rng.permutation(np.array(list(gold)))[:MOST_GOLD]
    given = labels.select(np.isin(labels.items, items)[labels.item_index])
    codes = np.searchsorted(given.categories, [gold[i] for i in given.items.tolist()])
    predicted = models_of(codes, given.counts(), perfect=False, rng=rng)
    named = {name: given.categories[row] for name, row in zip(("93 %", "vote", "80 %"), predicted)}
    models = ba.Predictions.from_labels(named, items=given.items, labels=given.categories.tolist())
    return given, models, (predicted == codes).mean(axis=1)


def intervals(labels: Any, models: Any, truth: np.ndarray, random_seed: int) -> Iterator[dict]:
    """Yield every printed interval of scores and differences."""
    place = {name: j for j, name in enumerate(models.models.tolist())}
    for kind, plausibility in POSTERIORS.items():
        tree = ba.evaluate(labels, models, plausibility=plausibility, draws=200, random_seed=random_seed)
        for j, name in enumerate(models.models.tolist()):
            drawn = tree["posterior"]["accuracy"].sel(model=name).values.ravel()
            yield row("score", kind, float(drawn.mean()), *hdi(drawn), truth[j])
        for _, pair in pair_table(tree).iterrows():
            if place[pair["model"]] < place[pair["other_model"]]:
                gap = truth[place[pair["model"]]] - truth[place[pair["other_model"]]]
                yield row("difference", kind, pair["difference"], pair["lower"], pair["upper"], gap)


def row(interval: str, kind: str, value: float, lower: float, upper: float, truth: float) -> dict:
    held = lower - 1e-9 <= truth <= upper + 1e-9
    return {
        "interval": interval,
        "kind": kind,
        "held": bool(held),
        "bias": value - truth,
        "width": upper - lower,
    }


def alpha(labels: Any, random_seed: int) -> Iterator[dict]:
    """Yield the interval of alpha on half of the items, against that on all."""
    half = np.random.default_rng(random_seed).permutation(labels.items.size) < labels.items.size // 2
    found = (
        ba.agreement_table(labels.select(half[labels.item_index]), random_seed=random_seed)
        .set_index("coefficient")
        .loc["alpha_nominal"]
    )
    whole = ba.krippendorff_alpha(labels)
    yield row("alpha", "default", *(float(found[name]) for name in ("estimate", "lower", "upper")), whole)


def rows_of(name: str, repeats: int, folder: Path) -> Iterator[dict]:
    several = WITH_MODELS[name](folder) if name in WITH_MODELS else None
    known = read(name, folder) if several is None else None
    for random_seed in range(repeats):
        rng = np.random.default_rng([random_seed, 7])
        labels, models, truth = few_votes(*several, rng) if several else crowd(*known, rng)  # type: ignore[misc]
        for one in (*intervals(labels, models, truth, random_seed), *alpha(labels, random_seed)):
            yield {"set": name, "repeat": random_seed} | one
    if known is not None:
        yield from crowd_rows(name, *known)


def crowd_rows(name: str, labels: Any, gold: dict) -> Iterator[dict]:
    items = labels.items.tolist()
    at = np.array([i for i, item in enumerate(items) if item in gold])
    codes = np.searchsorted(labels.categories, [gold[items[i]] for i in at])
    yield {"set": name, "crowd": "majority", "accuracy": float(shared(labels.counts()[at], codes))}
    for kind, variant in VARIANTS.items():
        tree = ba.dawid_skene(
            labels, variant=variant, draws=100, chains=2, random_seed=1, top_labels=1, confusion=False
        )
        p = label_probability(tree).transpose("item", "category").values[at]
        accuracy, r_hat = float(shared(p, codes)), float(tree["diagnostics"]["r_hat"].max())
        yield {"set": name, "crowd": kind, "accuracy": accuracy, "gap": float(p.max(axis=1).mean()) - accuracy,
               "r_hat": r_hat}  # fmt: skip


def report(rows: list[dict]) -> str:
    """Write the rows as Markdown."""
    frame = pd.DataFrame(rows)
    frame["truth"] = np.where(frame["set"].isin(list(WITH_MODELS)), "all votes", "gold")
    printed = frame[frame["interval"].notna()]
    cells = []
    for where in (["interval", "truth"], ["interval", "truth", "set"]):
        for key, group in printed.groupby(where, sort=False):
            cell = dict(zip(where, key)) if len(where) == 3 else dict(zip(where, key)) | {"set": "all"}
            for kind, part in group.groupby("kind"):
                means = part.groupby(["set", "repeat"])[["held", "bias", "width"]].mean()
                error = means.sem()
                cell[f"{kind}: coverage"] = f"{means['held'].mean():.2f} ({error['held']:.2f})"
                cell[f"{kind}: bias"] = f"{means['bias'].mean():+.3f} ({error['bias']:.3f})"
                cell[f"{kind}: width"] = f"{means['width'].mean():.3f}"
            cells.append(cell)
    columns = [
        "interval",
        "truth",
        "set",
        *(f"{k}: {m}" for k in POSTERIORS for m in ("coverage", "bias", "width")),
    ]
    first = pd.DataFrame(cells)[columns].fillna("-")
    crowds = frame[frame["crowd"].notna()] if "crowd" in frame else frame.iloc[:0]
    second = crowds.pivot(index="set", columns="crowd", values=["accuracy", "gap", "r_hat"]).dropna(
        axis=1, how="all"
    )
    second.columns = [f"{kind}: {value}" for value, kind in second.columns]
    return f"{markdown(first)}\n\n{markdown(second.round(3).reset_index())}"


def markdown(table: pd.DataFrame) -> str:
    rows = [table.columns, ["---"] * table.shape[1], *table.to_numpy().tolist()]
    return "\n".join("| " + " | ".join(map(str, one)) + " |" for one in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=6)
    parser.add_argument("--rows", type=Path, default=Path("defaults.jsonl"))
    parser.add_argument("--report", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)
    rows = [json.loads(line) for line in given.rows.read_text().splitlines()] if given.rows.exists() else []
    for name in () if given.report else (*WITH_MODELS, *CROWDS):
        if name in {one["set"] for one in rows}:
            continue
        found = list(rows_of(name, given.repeats, Path(os.environ["BAYESAGREE_DATA"])))
        rows += found
        with given.rows.open("a") as file:
            file.writelines(json.dumps(one, default=float) + "\n" for one in found)
    print(report(rows))


if __name__ == "__main__":
    main()
