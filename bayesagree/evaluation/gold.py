"""Gold in an evaluation: which items have it, and whether it contradicts the annotators."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesagree.annotations.gold import Gold, gold_codes
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError
from bayesagree.inference.item_weights import ItemGroups

# Probability, by the votes of items with gold, that a copy of the vote is better than gold: from here on gold and
# annotators disagree about more than chance explains, and a score from votes alone is none against gold.
CONTRADICTION = 0.95


def scored_gold(gold: Gold, given: Predictions, scored: Predictions) -> dict[Any, Any]:
    """Return gold of the items that are scored, of all the predictions that were given."""
    codes = gold_codes(gold, given.items, given.categories)
    known = (codes >= 0) & pd.Index(given.items).isin(scored.items)
    if not known.any():
        raise InputError(
            "gold= names no item that is scored; leave it out, or give the label of some of the items"
        )
    return dict(zip(given.items[known].tolist(), given.categories[codes[known]].tolist()))


def split_in_two(slices: ItemGroups | None, some: NDArray[np.bool_] | None) -> ItemGroups | None:
    """Return the slices twice each, without some items and of these alone; as they are where there are none."""
    if some is None:
        return slices
    one = slices or ItemGroups("slice", np.array(["all"]), np.zeros(some.size, np.intp))
    return ItemGroups(one.name, np.repeat(one.names, 2), 2 * one.code + some)


def gold_notes(settings: Mapping[str, Any]) -> list[str]:
    """Sentence for readers where gold contradicts the annotators; first of all sentences.

    Examples
    --------
    >>> gold_notes({"n_gold": 40, "vote_agrees": 0.65, "vote_beats_gold": 0.999})[0].split(":")[0]
    'Gold contradicts the annotators'
    """
    if settings.get("vote_beats_gold", 0.0) < CONTRADICTION:
        return []
    return [
        f"Gold contradicts the annotators: their majority vote is gold on {100 * settings['vote_agrees']:.0f} % of the "
        f"{settings['n_gold']} items with gold, and judged by votes alone a copy of the vote would be better than a "
        "model equal to gold. A score against gold and one from votes alone answer different questions."
    ]
