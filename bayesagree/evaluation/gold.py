"""Gold in an evaluation: which items have it, and whether it contradicts the annotators."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from bayesagree._types import Booleans, Named
from bayesagree.annotations.gold import Gold, gold_codes
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError
from bayesagree.inference.cells import row_shares
from bayesagree.inference.posterior import Request
from bayesagree.inference.streams import Seed
from bayesagree.metrics.item_weights import ItemGroups
from bayesagree.plausibility.dirichlet.posterior import Dirichlet

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


def split_in_two(slices: ItemGroups | None, some: Booleans | None) -> ItemGroups | None:
    """Return the slices twice each, without some items and of these alone; as they are where there are none."""
    if some is None:
        return slices
    one = slices or ItemGroups("slice", np.array(["all"]), np.zeros(some.size, np.intp))
    return ItemGroups(one.name, np.repeat(one.names, 2), 2 * one.code + some)


def vote_against_gold(labels: Any, gold: Mapping[Any, Any], random_seed: Seed) -> Named:
    """Return how many items have gold, on what share the vote agrees, and whether the votes prefer it to gold.

    Examples
    --------
    >>> from bayesagree import Labels
    >>> votes = Labels.from_counts([[9, 0], [8, 1], [0, 9]], labels=["no", "yes"])
    >>> found = vote_against_gold(votes, {0: "yes", 1: "no", 2: "yes"}, random_seed=1)
    >>> found["n_gold"], round(found["vote_agrees"], 3), found["vote_beats_gold"] > 0.95
    (3, 0.667, True)
    """
    votes = labels.select(np.isin(labels.items, [*gold])[labels.item_index])
    found = {"n_gold": len(gold)}
    if votes.items.size == 0:  # nobody annotated an item with gold
        return found
    codes = pd.Index(votes.categories).get_indexer(pd.Index([gold[item] for item in votes.items.tolist()]))
    counts, at = votes.counts(), np.arange(codes.size)
    most = counts == counts.max(axis=1, keepdims=True)
    vote = row_shares(most)  # a tied vote is right by the share of its labels
    tree = Dirichlet().draw(votes, Request(random_seed=random_seed, top_labels=1))
    top = np.asarray(tree["posterior/top_label"]).reshape(-1, codes.size)
    gap = (vote[at, top] - (top == codes)).sum(axis=1)
    better = float((gap > 1e-9).mean() + (np.abs(gap) <= 1e-9).mean() / 2)
    return found | {"vote_agrees": float(vote[at, codes].mean()), "vote_beats_gold": better}


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
