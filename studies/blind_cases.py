"""Cases for blind evaluation, public ones or from files: systems, a crowd where there is one, gold to check against."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from bayesagree.annotations import Labels
from bayesagree.annotations.gold import Gold
from bayesagree.annotations.predictions import Predictions
from bayesagree.datasets import load
from bayesagree.errors import InputError
from bayesagree.inference.streams import Seed, seed_sequence
from bayesagree.io.predictions import read_predictions
from bayesagree.io.tables import read_table

CASES = ("trec2011-teams", "cifar10h", "chaosnli-snli", "human-objects/edge", "human-objects/sketch")
# Shares of items on which the simulated weaker models of cifar10h guess.
WEAKER = (0.1, 0.2, 0.4)


class BlindCase(NamedTuple):
    """Systems on the same items, with what is known about the truth."""

    predictions: Predictions
    crowd: Labels | None
    gold: Gold | None


def blind_case(name: str, *, random_seed: Seed = None) -> BlindCase:
    """Load a public data set as a case for blind evaluation.

    trec2011-teams: teams of one track, no crowd. cifar10h: four models and three simulated weaker ones (the first
    guessing on a tenth, a fifth, two fifths of the items), crowd of 51 votes an image. chaosnli-snli: five models,
    crowd of 100. human-objects: every second observer is a system, the others are the crowd.

    Parameters
    ----------
    name
        One of `CASES`.
    random_seed
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
        predictions = _with_weaker(predictions, random_seed)
    return BlindCase(predictions, None if name == "trec2011-teams" else labels, gold)


def read_blind_case(
    systems: str | Path,
    crowd: str | Path | None = None,
    gold: str | Path | None = None,
    *,
    model: str = "model",
    item: str = "item",
    annotator: str = "annotator",
    label: str = "label",
    labels: Sequence[Any] | None = None,
    duplicates: Literal["error", "keep", "first", "last"] = "error",
) -> BlindCase:
    """Read the data of a blind experiment.

    Parameters
    ----------
    systems, crowd, gold
        Tables in any format of `read_table`: labels of the systems, labels of the crowd, gold labels.
    model, item, annotator, label
        Names of their columns. A crowd without the column of the annotator has one label an item.
    labels
        All categories; by default all labels of the files.
    duplicates
        As in `Labels.from_long`, for the crowd.

    Returns
    -------
    BlindCase
        Predictions, and crowd and gold labels where there are files of them.

    Raises
    ------
    InputError
        Gold without these columns, or with two labels for an item; whatever the readers refuse.
    """
    tables = {path: read_table(path) for path in (systems, crowd, gold) if path is not None}
    names = labels
    if names is None and label in tables[systems].columns:
        found = {v for t in tables.values() if label in t.columns for v in t[label].dropna().tolist()}
        names = sorted(found, key=lambda v: (isinstance(v, str), v))
    predictions = read_predictions(systems, model=model, item=item, label=label, labels=names)
    voted = None
    if crowd is not None:
        table = tables[crowd]
        if annotator not in table.columns:  # one label an item: no need of a name
            table = table.assign(**{annotator: "crowd"})
        known = predictions.categories.tolist()
        columns: dict[str, Any] = {"item": item, "annotator": annotator, "label": label}
        voted = Labels.from_long(table, **columns, labels=known, duplicates=duplicates)
    return BlindCase(predictions, voted, None if gold is None else _gold(tables[gold], item, label, gold))


def _labels_of(labels: Labels, annotator: int) -> pd.Series:
    """Return one annotator's label of every item, None where there is none."""
    given = pd.Series(None, index=labels.items, dtype=object)
    rows = labels.annotator_index == annotator
    given.iloc[labels.item_index[rows]] = labels.categories[labels.label_index[rows]]
    return given


def _with_weaker(predictions: Predictions, random_seed: Seed) -> Predictions:
    rng = np.random.default_rng(seed_sequence(random_seed))
    codes = predictions.hard_labels()
    systems = dict(zip(predictions.models.tolist(), codes))
    first = codes[0]
    for share in WEAKER:
        guess = rng.integers(predictions.categories.size, size=first.size)
        systems[f"{predictions.models[0]}, {share:.0%} guessed"] = np.where(
            rng.random(first.size) < share, guess, first
        )
    named = {name: predictions.categories[code] for name, code in systems.items()}
    return Predictions.from_labels(
        named, items=predictions.items.tolist(), labels=predictions.categories.tolist()
    )


def _gold(table: pd.DataFrame, item: str, label: str, path: str | Path) -> dict[Any, Any]:
    """Return item to label."""
    for name in (item, label):
        if name not in table.columns:
            raise InputError(
                f"{str(path)!r} has no column {name!r}; it has {', '.join(map(str, table.columns))}"
            )
    items = table[item].tolist()
    truth = dict(zip(items, table[label].tolist()))
    if len(truth) < len(items):
        twice = next(name for name in truth if items.count(name) > 1)
        raise InputError(f"{str(path)!r}: item {twice!r} has more than one row; gold is one label per item")
    return truth
