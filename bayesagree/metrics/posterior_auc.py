"""Uncertainty of the AUC of labels, when only crowd labels exist."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
import scipy as sp
import xarray as xr
from numpy.typing import NDArray

from bayesagree._types import Floats
from bayesagree.annotations import Labels
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, positive_int, shorten, warn
from bayesagree.inference.results import result_tree
from bayesagree.inference.streams import Seed, block_generators, item_blocks, map_blocks
from bayesagree.io.doors import as_annotations, as_predictions
from bayesagree.metrics.concordant_pairs import ScoreOrder
from bayesagree.metrics.crowd_auc import label_scores

Axis = Literal["item", "annotator"]

DRAWS_PER_BLOCK = 64
# A block holds at most so many (draw, item) cells.
CELLS_PER_BLOCK = 2**22

# Less of either leaves intervals of 15 items short where positives are rare or the AUC is near 1; more widens them.
# Mass of pseudo-items whose label is independent of the scores, and of those that every model ranks right.
CHANCE, PERFECT = 2.0, 1.0
# So many annotators, or fewer, tell too little of how annotators differ.
FEW_ANNOTATORS = 5
# Pseudo-items that share the mass of chance; more of them change nothing that can be seen.
ATOMS = 40


def auc_posterior(
    labels: Labels,
    predictions: Predictions,
    *,
    resample: Sequence[Axis] = ("item",),
    draws: int = 1000,
    chains: int = 4,
    random_seed: Seed = None,
) -> xr.DataTree:
    """Draw the AUC of each model from crowd labels of two kinds; the last label is the positive one.

    It is the probability that a random positive label stands above a random negative one on another item, where items
    count equally,

        A = sum_{a != b} s_a (1 - s_b) [q_a > q_b] / sum_{a != b} s_a (1 - s_b),    s_a = n_a1 / n_a,

    ties one half. It does not depend on how many labels an item has. Each draw weighs the items anew, and with them
    pseudo-items (a Dirichlet process): two whose label has nothing to do with any score, and one that every model ranks
    right. An interval of the draws is an interval for the population value, from about 15 items on; without
    pseudo-items it would be too short below a hundred, where two or three positive items happen to stand on top. It
    cannot reach 1 while annotators disagree: `ceiling` is the value of a model that ranks items by their probability of
    a positive label.

    Parameters
    ----------
    labels, predictions
        As in `auc`.
    resample
        What a new study would draw anew: ``("item",)``; or ``("item", "annotator")`` where few annotators of differing
        quality gave the labels: the interval then speaks of other annotators too. Of five who label everything a 95 %
        interval of items alone holds the value for all annotators half the time in simulation, of both .89.
    draws, chains
        Number of draws; all are independent.
    random_seed
        Same seed, same draws.

    Returns
    -------
    DataTree
        Group ``posterior``: ``auc`` (chain, draw, model) and ``ceiling`` (chain, draw), estimated from the mean and
        variance of the items' probabilities (pairs of labels on the same item) as if those had a Beta distribution; a
        few items do not determine it well. A quantity that the labels do not determine is NaN, with a warning.

    Raises
    ------
    InputError
        More than two labels, repeated annotations, other items, or annotators to resample who are not known.

    Warns
    -----
    UserWarning
        Five annotators or fewer to resample; items without labels; quantities that the labels do not determine.

    Examples
    --------
    >>> labels = Labels.from_counts([[3, 0], [2, 1], [1, 2], [0, 3]], labels=["no", "yes"])
    >>> scores = {"A": [[0.9, 0.1], [0.7, 0.3], [0.8, 0.2], [0.4, 0.6]]}
    >>> predictions = Predictions.from_scores(scores, labels=["no", "yes"])
    >>> tree = auc_posterior(labels, predictions, random_seed=1)
    >>> tree["posterior/auc"].mean().round(2).item()
    0.84

    References
    ----------
    Rubin: The Bayesian bootstrap (1981); Ferguson: A Bayesian analysis of some nonparametric problems (1973), https://doi.org/10.1214/aos/1176342360.
    """
    labels = as_annotations(labels, (Labels,), "labels")
    predictions = as_predictions(predictions, labels)
    if labels.categories.size != 2:
        raise InputError(
            f"auc_posterior needs two labels, got {labels.categories.size} ({shorten(labels.categories)})"
        )
    if labels.has_repeats:
        raise InputError(
            "some annotators labelled an item twice; build the labels with duplicates='first' or 'last'"
        )
    order = ScoreOrder.of(
        label_scores(predictions.on_items(labels.items).aligned(labels.items, labels.categories))[-1]
    )
    draws, chains = positive_int(draws, "draws"), positive_int(chains, "chains")
    work = partial(_against_labels, order, labels, _with_annotators(resample, labels))
    size = max(1, min(DRAWS_PER_BLOCK, CELLS_PER_BLOCK // labels.items.size))
    blocks = item_blocks(draws * chains, size)
    streams = block_generators(random_seed, len(blocks))
    samples = np.concatenate(
        list(map_blocks(work, [(b.stop - b.start, rng) for b, rng in zip(blocks, streams)]))
    )
    table = samples.reshape(chains, draws, -1)
    _warn_where_undetermined(table, labels)
    posterior: dict[str, Any] = {"auc": (("chain", "draw", "model"), table[..., :-1])}
    posterior["ceiling"] = (("chain", "draw"), table[..., -1])
    how: Any = {"model": "auc", "engine": "exact", "random_seed": random_seed}
    settings = {"resample": list(resample)}
    return result_tree({"posterior": posterior}, {"model": predictions.models}, settings=settings, **how)


def _against_labels(
    order: ScoreOrder, labels: Labels, annotators: bool, block: tuple[int, np.random.Generator]
) -> Floats:
    """Draw the label-level AUC of each model, and in the last column the ceiling; shape (draw, model + 1)."""
    n_draws, rng = block
    if annotators:
        shares = [_shares(labels, weight) for weight in _annotator_weights(labels.annotators.size, n_draws, rng)]
        labelled, share, both = (np.stack(part) for part in zip(*shares))
    else:
        labelled, share, both = _shares(labels, np.ones(max(labels.annotators.size, 1)))
    shape = (n_draws, labels.items.size)
    weight = labelled * rng.standard_exponential(shape)
    positive = weight * share
    top = ceiling(weight, share, both)
    if not 0 < labels.label_index.mean() < 1:
        return np.full((n_draws, len(order.order) + 1), np.nan)
    negative = weight - positive
    # Half of the pseudo-items have the labels of the items, and half each label alike.
    n_labels = labels.counts().sum(axis=0)
    chance = 0.25 + 0.5 * (n_labels[1] + 1) / (n_labels.sum() + 2)
    rows, atoms = np.arange(n_draws)[:, None], rng.gamma(CHANCE / ATOMS, size=(n_draws, ATOMS))
    place = rng.choice(np.unique(labels.item_index), atoms.shape)
    is_positive = rng.random(atoms.shape) < chance
    np.add.at(positive, (rows, place), atoms * is_positive)
    np.add.at(negative, (rows, place), atoms * ~is_positive)
    above, below = rng.gamma(PERFECT * np.array([[chance], [1 - chance]]), size=(2, n_draws))
    of_positive, of_negative = positive.sum(axis=1), negative.sum(axis=1)
    own = (positive * negative).sum(axis=1)
    pairs = of_positive * of_negative - own
    right = above * of_negative + below * of_positive + above * below
    won = order.walked(np.ascontiguousarray(positive.T), np.ascontiguousarray(negative.T)) - own / 2
    area = (won + right) / (pairs + right)
    return np.column_stack([area.T, top])


def _annotator_weights(n: int, n_draws: int, rng: np.random.Generator) -> Floats:
    """Draw weights of n - 2 in all: the variance of a mean over few annotators is then the unbiased one."""
    return rng.standard_gamma(max(n - 2, 1) / n, (n_draws, n))


def _shares(labels: Labels, annotator_weight: Floats) -> tuple[NDArray[np.bool_], Floats, Floats]:
    """Return which items have labels, their share of positive labels, and of pairs of labels both positive.

    The share of pairs, over two different annotators of an item, is NaN where there is one label only. It estimates
    the square of the item's probability without bias.
    """
    weight = annotator_weight[labels.annotator_index]
    is_positive = labels.label_index == 1

    def total(values: Floats) -> Floats:
        return np.bincount(labels.item_index, weights=labels.count * values, minlength=labels.items.size)

    n, n_positive = total(weight), total(weight * is_positive)
    pairs, pairs_positive = n**2 - total(weight**2), n_positive**2 - total(weight**2 * is_positive)
    several = total(np.ones(weight.size)) > 1
    labelled = n > 0
    share = np.divide(n_positive, n, out=np.zeros_like(n), where=labelled)
    both = np.divide(pairs_positive, pairs, out=np.full_like(n, np.nan), where=several)
    return labelled, share, both


def ceiling(weight: Floats, share: Floats, both: Floats) -> Floats:
    """Estimate the label-level AUC of a model that ranks items by their true probability p of a positive label.

    It is 1/2 + E|p - p'| / (4 m (1 - m)) with m = E p, over two random items. A Beta distribution with the mean and
    the variance of p gives E|p - p'| = 4 / (a + b) B(a + b, a + b) / (B(a, a) B(b, b)).

    Parameters
    ----------
    weight
        Weight of each item, shape (draw, item).
    share, both
        Estimates of p and of its square, shape (item,) or (draw, item); NaN in `both` where there is none.

    Returns
    -------
    array
        Shape (draw,); NaN where there is no pair of labels, or no pair of items with both labels.
    """
    total, positive = weight.sum(axis=1), (weight * share).sum(axis=1)
    paired = weight * ~np.isnan(both)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean, second = positive / total, (paired * np.nan_to_num(both)).sum(axis=1) / paired.sum(axis=1)
        # Over pairs of different items: mean**2 would count an item with itself and take part of the variance away.
        mean_square = (positive**2 - np.square(weight * share).sum(axis=1)) / (
            total**2 - np.square(weight).sum(axis=1)
        )
        spread = mean - mean_square
        rho = np.where(
            spread > 0, (second - mean_square) / spread, np.nan
        )  # correlation of two labels of an item
        size = 1 / np.clip(rho, 1e-9, 1 - 1e-9) - 1
        a, b = mean * size, (1 - mean) * size
        distance = (
            4 / size * np.exp(sp.special.betaln(size, size) - sp.special.betaln(a, a) - sp.special.betaln(b, b))
        )
        return 0.5 + distance / (4 * mean * (1 - mean))


def _with_annotators(resample: Sequence[Axis], labels: Labels) -> bool:
    """Return whether annotators are resampled too."""
    if tuple(resample) == ("item",):
        return False
    if set(resample) != {"item", "annotator"}:
        raise InputError(f"resample={tuple(resample)!r} must be ('item',) or ('item', 'annotator')")
    if not labels.annotators_known:
        raise InputError("resampling annotators needs to know who gave each label; these labels are counts")
    if (n := labels.annotators.size) <= FEW_ANNOTATORS:
        warn(
            f"{n} annotators are too few to show how annotators differ: in simulations, 95 % intervals that resample "
            "three or five contained the AUC in .88 to .90"
        )
    return True


def _warn_where_undetermined(table: Floats, labels: Labels) -> None:
    n = labels.counts().sum(axis=1)
    if (n == 0).any():
        warn(f"{(n == 0).sum()} items without labels have no part in the AUC: {shorten(labels.items[n == 0])}")
    if np.isnan(table[..., :-1]).any():
        warn("no AUC: all labels are of one kind")
    if np.isnan(table[..., -1]).any():
        warn("no ceiling: no item has two labels, or all labels are of one kind")
