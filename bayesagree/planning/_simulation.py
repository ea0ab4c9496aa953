"""Studies drawn from what a pilot taught: items like its items, votes as its annotators would give them."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesagree.annotations import Labels
from bayesagree.evaluation.scoring import evaluate
from bayesagree.plausibility.registry import POSTERIORS
from bayesagree.predictions import Predictions

type Floats = NDArray[np.float64]


class World(NamedTuple):
    """What may be true of the items of the pilot: one draw of their plausibilities, and the models' outputs on them."""

    plausibility: Floats
    categories: NDArray[Any]
    predictions: Predictions | None

    def study(self, items: int, annotators: int, rng: np.random.Generator) -> tuple[Labels, Predictions | None]:
        """Draw a study: items of the pilot with replacement, under new names, and votes."""
        rows = rng.integers(len(self.plausibility), size=items)
        labels = Labels.from_counts(
            rng.multinomial(annotators, self.plausibility[rows]), labels=self.categories.tolist()
        )
        return labels, None if self.predictions is None else self.predictions.take(rows, labels.items)


def worlds(labels: Labels, predictions: Predictions | None, plausibility: str, number: int, seed: int) -> list[World]:
    """Draw worlds from the posterior of the pilot."""
    record = POSTERIORS[plausibility]
    extra = {"predictions": predictions} if record.takes_predictions else {}
    tree = record.posterior(labels, **extra, draws=number, chains=1, seed=seed)
    posterior = tree["posterior"].to_dataset()
    drawn = posterior["plausibility"].values[0].astype(np.float64)
    drawn /= drawn.sum(axis=2, keepdims=True)
    outputs = None
    if predictions is not None:
        outputs = predictions.aligned(np.asarray(posterior["item"]), labels.categories)
    return [World(one, labels.categories, outputs) for one in drawn]


def scores(labels: Labels, predictions: Predictions, metric: str, plausibility: str, draws: int, seed: int) -> Floats:
    """Draws of the score of each model in one study, items a sample, shape (draw, model)."""
    tree = evaluate(
        labels, predictions, plausibility=plausibility, metrics=[metric], items="bootstrap", draws=draws, chains=2,
        seed=seed,
    )  # fmt: skip
    drawn = tree["posterior"][metric].isel(reliability=0)
    return drawn.transpose("chain", "draw", "model").values.reshape(-1, predictions.models.size)


def true_scores(plausibility: Floats, predictions: Predictions) -> Floats:
    """Accuracy of each model where the truth is the most plausible label, shape (model,)."""
    return (predictions.hard_labels() == plausibility.argmax(axis=1)).mean(axis=1)
