"""Public data sets as cases for blind evaluation: systems, a crowd where there is one, and gold to check against."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from bayesagree._inference.streams import Seed, seed_sequence
from bayesagree.annotations import Labels
from bayesagree.annotations.gold import Gold
from bayesagree.annotations.predictions import Predictions
from bayesagree.datasets import load
from bayesagree.errors import InputError

CASES = ("trec2011-teams", "cifar10h", "chaosnli-snli", "human-objects/edge", "human-objects/sketch")
WEAKER = (0.1, 0.2, 0.4)
"""Shares of items on which the simulated weaker models of cifar10h guess."""


class BlindCase(NamedTuple):
    """Systems on the same items, with what is known about the truth."""

    predictions: Predictions
    crowd: Labels | None
    gold: Gold | None


def blind_case(name: str, *, seed: Seed = None) -> BlindCase:
    """Load a public data set as a case for blind evaluation.

    trec2011-teams: teams of one track, no crowd. cifar10h: four models and three simulated weaker ones (the first
    guessing on a tenth, a fifth, two fifths of the items), crowd of 51 votes an image. chaosnli-snli: five models,
    crowd of 100. human-objects: every second observer is a system, the others are the crowd.

    Parameters
    ----------
    name
        One of `CASES`.
    seed
        For the simulated models.

    Raises
    ------
    InputError
        Another name.
    FileNotFoundError
        The data are not there.
    """
    if name not in CASES:
        raise InputError(f"{name!r} is no case for blind evaluation; there are {', '.join(CASES)}")
    data = load(name)
    labels, predictions, gold = data.annotations, data.predictions, data.gold
    if labels.kind != "labels" or gold is None:
        raise InputError(f"data set {name!r} has no labels with gold")
    if name.startswith("human-objects"):
        systems = {str(a): _labels_of(labels, j) for j, a in enumerate(labels.annotators) if j % 2 == 0}
        named = Predictions.from_labels(systems, labels=labels.categories.tolist())
        return BlindCase(named, labels.select(labels.annotator_index % 2 == 1), gold)
    if predictions is None:
        raise InputError(f"data set {name!r} has no predictions")
    if name == "cifar10h":
        predictions = _with_weaker(predictions, seed)
    return BlindCase(predictions, None if name == "trec2011-teams" else labels, gold)


def _labels_of(labels: Labels, annotator: int) -> pd.Series:
    """Return one annotator's label of every item, None where there is none."""
    given = pd.Series(None, index=labels.items, dtype=object)
    rows = labels.annotator_index == annotator
    given.iloc[labels.item_index[rows]] = labels.categories[labels.label_index[rows]]
    return given


def _with_weaker(predictions: Predictions, seed: Seed) -> Predictions:
    rng = np.random.default_rng(seed_sequence(seed))
    codes = predictions.hard_labels()
    systems = dict(zip(predictions.models.tolist(), codes))
    first = codes[0]
    for share in WEAKER:
        guess = rng.integers(predictions.categories.size, size=first.size)
        systems[f"{predictions.models[0]}, {share:.0%} guessed"] = np.where(
            rng.random(first.size) < share, guess, first
        )
    named = {name: predictions.categories[code] for name, code in systems.items()}
    return Predictions.from_labels(named, items=predictions.items.tolist(), labels=predictions.categories.tolist())
