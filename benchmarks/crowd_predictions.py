"""Which crowd model knows the gold best where a model's predictions help? A table in Markdown.

    BAYESAGREE_DATA=<folder> uv run python benchmarks/crowd_predictions.py [set]...
                                                                (all: writes results/crowd_predictions.md)

<folder> holds ``crowd-gold``. No public set of annotations by known annotators with gold has a model's output beside
it, so that the model is simulated: softmax of 1.5 for the gold label plus standard normal noise, right on .62 to .85 of
the items. Fits do not see gold; `label-only` ones do not see the model either. 2 x 300 draws. R-hat is the largest of
all parameters and monitored items. Seconds of processor time for both chains.

What the table says: mixed membership has the best log score of gold on every set with predictions as without, claims
about what it earns where the others claim too much (but on adult2, where all do): ``"auto"`` averages it with the votes
with predictions as without. Where a model's errors have nothing to do with how ambiguous
an item is, as here, variants with one truth an item gain more accuracy from it (rte, sentiment-polarity).
"""

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from crowd_sets import read
from scipy.special import softmax

from bayesagree import Labels, Predictions
from bayesagree.plausibility.calibration import calibration_scores, label_probability
from bayesagree.plausibility.dawid_skene._engines import Variant
from bayesagree.plausibility.dawid_skene.posterior import dawid_skene

SETS = ("bluebird", "rte", "sentiment-polarity", "weather-cf", "adult2")
FITTED: tuple[Variant, ...] = ("full", "hierarchical", "mixed_membership")
HEAD = (
    "set", "model's accuracy", "variant", "fitted", "accuracy", "claimed", "log score of gold", "R-hat", "seconds",
)  # fmt: skip
DRAWN: Any = {"draws": 300, "chains": 2, "seed": 1, "top_labels": 1, "confusion": False}


def simulated_model(labels: Labels, gold: dict) -> tuple[Predictions, float]:
    """Return a noisy model of the gold, of a random label where there is none, and its accuracy."""
    rng = np.random.default_rng(1)
    place = {label: k for k, label in enumerate(labels.categories.tolist())}
    known = np.array([item in gold for item in labels.items.tolist()])
    truth = np.array([place[gold[i]] if i in gold else rng.integers(len(place)) for i in labels.items.tolist()])
    logs = 1.5 * np.eye(len(place))[truth] + rng.normal(size=(truth.size, len(place)))
    predictions = Predictions.from_scores(
        {"model": softmax(logs, axis=1)}, labels=labels.categories.tolist(), items=labels.items.tolist()
    )
    return predictions, float((logs.argmax(axis=1) == truth)[known].mean())


def rows_of(name: str, folder: Path) -> Iterator[tuple[str, ...]]:
    labels, gold = read(name, folder)
    predictions, right = simulated_model(labels, gold)
    for given in (None, predictions.aligned(labels.items, labels.categories)):
        for variant in FITTED:
            begun = time.process_time()
            tree = dawid_skene(labels, variant=variant, predictions=given, **DRAWN)
            seconds = time.process_time() - begun
            scores = calibration_scores(label_probability(tree), gold)
            found = (float(scores[s]) for s in ("mean_accuracy", "mean_confidence", "log_score"))
            r_hat = float(tree["diagnostics"]["r_hat"].max())
            numbers = (*found, r_hat)
            fitted = "label-only" if given is None else "with the model"
            yield name, f"{right:.2f}", variant, fitted, *(f"{x:.3f}" for x in numbers), f"{seconds:.1f}"


def main(names: list[str]) -> None:
    # The first fits of a process compile.
    list(rows_of("bluebird", folder := Path(os.environ["BAYESAGREE_DATA"])))
    lines = ["| " + " | ".join(HEAD) + " |", "| --- " * len(HEAD) + "|"]
    for name in names or SETS:
        for row in rows_of(name, folder):
            lines.append("| " + " | ".join(row) + " |")
            print(lines[-1], flush=True)
    if not names:
        page = ["# Crowd models with predictions", "", *(__doc__ or "").strip().splitlines(), "", *lines]
        (Path(__file__).parent / "results/crowd_predictions.md").write_text("\n".join(page) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
