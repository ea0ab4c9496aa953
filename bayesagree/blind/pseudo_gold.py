"""Label sets that stand in for the missing gold: one consensus, one set per system, or many at random.

Every function returns positions of labels, -1 where an item has none, of shape (set, item); with ``leave_one_out`` of
shape (set, model, item): each model is then judged by the others alone.
"""

import numpy as np
from numpy.typing import NDArray

from bayesagree._types import Floats, Integers, Rng
from bayesagree.annotations import Labels
from bayesagree.blind._difficulty import truths_behind
from bayesagree.blind.systems import LabelCodes, Systems
from bayesagree.errors import InputError, positive, positive_int, warn
from bayesagree.inference.streams import Seed, block_generators, item_blocks, map_blocks, seed_sequence
from bayesagree.plausibility.dawid_skene._crowd import Crowd
from bayesagree.plausibility.dawid_skene.em import dawid_skene_em
from bayesagree.plausibility.dawid_skene.posterior import dawid_skene

# Labels times patterns of labels up to which items of more than two labels have a difficulty: a draw takes time in
# proportion, at this number about a hundredth of a second. Beyond it errors are taken as independent.
MOST_CELLS = 5000
# Spread of difficulty, in log odds, that is warned of above this probability: its prior probability is .62.
LARGE_SPREAD, WARNING_PROBABILITY = 1.0, 0.7


def round_robin(systems: Systems) -> LabelCodes:
    """Let each system in turn be the gold of the others, shape (set, model, item)."""
    n_models = systems.models.size
    sets = np.repeat(systems.predicted[:, None], n_models, axis=1)
    sets[np.arange(n_models), np.arange(n_models)] = -1
    return sets


def sampling(systems: Systems, *, sets: int = 1000, random_seed: Seed = None) -> LabelCodes:
    """Draw gold sets: each item gets the label of a system drawn at random among those that labelled it."""
    n = (systems.predicted >= 0).sum(axis=0)
    voters = np.argsort(systems.predicted < 0, axis=0, kind="stable")
    item = np.arange(systems.items.size)

    def draw(block: tuple[slice, Rng]) -> LabelCodes:
        some, rng = block
        place = (rng.random((some.stop - some.start, item.size)) * n).astype(int)
        return systems.predicted[voters[place, item], item]

    blocks = item_blocks(positive_int(sets, "sets"))
    return np.concatenate([*map_blocks(draw, [*zip(blocks, block_generators(random_seed, len(blocks)))])])


def vote_counts(systems: Systems) -> Integers:
    """Count the systems that gave each label, shape (item, category)."""
    return np.stack([(systems.predicted == k).sum(axis=0) for k in range(systems.n_labels)], axis=1)


def vote_shares(systems: Systems) -> Floats:
    """Return the chance of each label in the sets of `sampling`, (item, category); 0 where nobody labelled the item."""
    counts = vote_counts(systems)
    return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)


def majority(systems: Systems, *, threshold: float = 0.5, random_seed: Seed = None) -> LabelCodes:
    """Give each item the label of most systems, ties at random, shape (set=1, item).

    Parameters
    ----------
    systems
        The systems.
    threshold
        With two labels: the positive one is given where at least this share of the votes is for it. At 1/2, equal
        votes are a tie; 0 gives it to every item, more than 1 to none.
    random_seed
        For ties.
    """
    positive(threshold, "threshold", zero=True)
    counts = vote_counts(systems)
    if threshold == 0.5:
        rng = np.random.default_rng(seed_sequence(random_seed))
        chosen = (counts + 0.5 * rng.random(counts.shape)).argmax(axis=1)
    else:
        chosen = above_threshold(counts, threshold, two_labels(systems))
    return np.where(counts.sum(axis=1) > 0, chosen, -1).astype(np.int16)[None]


def above_threshold(counts: Integers, threshold: float, positive: int) -> Integers:
    """Return the positive label where its share of the votes reaches the threshold, else the other, shape (item,)."""
    return np.where(counts[:, positive] >= threshold * counts.sum(axis=1) - 1e-9, positive, 1 - positive)


def two_labels(systems: Systems) -> int:
    """Return the position of the positive label of two; a threshold on votes has no meaning for more."""
    if systems.n_labels != 2 or systems.positive is None:
        raise InputError(
            f"a vote threshold needs two labels, here are {systems.n_labels}; "
            "make one label against the rest of the predictions, or use another method"
        )
    return systems.positive


def em(systems: Systems) -> LabelCodes:
    """Give each item its most probable label by Dawid-Skene expectation maximisation, shape (set=1, item)."""
    fit = dawid_skene_em(Crowd.of_labels(as_labels(systems)), tolerance=1e-8)
    if not fit.converged:
        warn(f"EM did not converge in {fit.log_likelihood.size} iterations")
    return _known(systems, fit.label_probability.argmax(axis=1)[None])


def posterior(systems: Systems, *, sets: int = 1000, chains: int = 4, random_seed: Seed = None) -> LabelCodes:
    """Draw gold sets from a Dawid-Skene posterior with a difficulty of each item, chain after chain."""
    draws = -(-positive_int(sets, "sets") // chains)
    n_patterns = np.unique(systems.predicted, axis=1).shape[1]
    if systems.n_labels == 2 or systems.n_labels * n_patterns <= MOST_CELLS:
        truths, spread = truths_behind(systems.predicted, systems.n_labels, draws, chains, random_seed)
        share = float((spread > LARGE_SPREAD).mean())
        if systems.models.size > 3 and share > WARNING_PROBABILITY:  # three systems or fewer say nothing of it
            warn(
                f"systems err on the same items: with probability {share:.2f} difficulty varies as much as one "
                "standard deviation of log odds; blind scores then rest on the form of the model, and errors that "
                "nearly all systems share count as right: find the truth of some items"
            )
        return _known(systems, truths[:sets])
    warn(
        f"{systems.n_labels} labels in {n_patterns:,} patterns are more than {MOST_CELLS:,} cells: errors are taken as "
        "independent given the truth, and blind scores are too narrow where items differ in difficulty; merge rare "
        "labels or evaluate a random part of the items to model a difficulty of each item"
    )
    # Systems label thousands of items each: what each confuses is known, and no crowd has to be told from its votes.
    run = {"draws": draws, "chains": chains, "random_seed": random_seed}
    tree = dawid_skene(as_labels(systems), variant="full", **run, top_labels=1, confusion=False)
    top = tree["posterior"].to_dataset()["top_label"].values[..., 0]
    return _known(systems, top.reshape(-1, systems.items.size)[:sets])


def as_labels(systems: Systems) -> Labels:
    """Return the systems as annotators."""
    item, model = np.nonzero(systems.predicted.T >= 0)
    items, models = item.astype(np.int32), model.astype(np.int32)
    given = systems.predicted[model, item].astype(np.int32)
    once = np.broadcast_to(np.int64(1), item.shape)
    return Labels(systems.items, systems.models, items, models, systems.labels, given, once)


def _known(systems: Systems, codes: NDArray[np.integer]) -> LabelCodes:
    """Leave items that nobody labelled without a label: their posterior is the prior."""
    return np.where((systems.predicted >= 0).any(axis=0), codes, -1).astype(np.int16)
