"""Uncertainty of the AUC of labels, when only crowd labels exist."""

from functools import partial

import numpy as np
import scipy as sp
import xarray as xr

from bayesagree._types import SAMPLE, Floats, Integers, Rng
from bayesagree.annotations import Labels
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, positive_int, shorten, warn
from bayesagree.inference.results import result_tree
from bayesagree.inference.streams import Seed, block_generators, item_blocks, map_blocks
from bayesagree.metrics.concordant_pairs import ScoreOrder, ratio
from bayesagree.metrics.crowd_auc import crowd_scores

DRAWS_PER_BLOCK = 64
# A block holds at most so many (draw, item) cells.
CELLS_PER_BLOCK = 2**22

# Less of either leaves intervals of 15 items short where positives are rare or the AUC is near 1; more widens them.
# Mass of pseudo-items whose label is independent of the scores, and of those that every model ranks right.
CHANCE, PERFECT = 2.0, 1.0
# Pseudo-items that share the mass of chance; more of them change nothing that can be seen.
ATOMS = 40


def auc_posterior(
    labels: Labels,
    predictions: Predictions,
    *,
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
    right (but one that scores all items alike, whose area is 1/2). An interval of the draws is an interval for the
    population value, from about 15 items on; without pseudo-items it would be too short below a hundred, where two or
    three positive items happen to stand on top. It cannot reach 1 while annotators disagree: `ceiling` is the value of
    a model that ranks items by their probability of a positive label. It speaks of these annotators: of five who label
    everything it holds the value for all annotators half the time in simulation.

    Parameters
    ----------
    labels, predictions
        As in `auc`.
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
        More than two labels, repeated annotations, other items.

    Warns
    -----
    UserWarning
        Items without labels; quantities that the labels do not determine.

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
    labels, models, scores = crowd_scores(labels, predictions)
    if labels.categories.size != 2:
        raise InputError(
            f"auc_posterior needs two labels, got {labels.categories.size} ({shorten(labels.categories)})"
        )
    draws = positive_int(draws, "draws")
    chains = positive_int(chains, "chains")
    work = partial(_against_labels, ScoreOrder(scores[-1]), labels.counts())
    blocks = item_blocks(draws * chains, max(1, min(DRAWS_PER_BLOCK, CELLS_PER_BLOCK // labels.items.size)))
    streams = block_generators(random_seed, len(blocks))
    samples = np.concatenate(
        list(map_blocks(work, [(b.stop - b.start, rng) for b, rng in zip(blocks, streams)]))
    )
    table = samples.reshape(chains, draws, -1)
    _warn_where_undetermined(table, labels)
    posterior = {"auc": ((*SAMPLE, "model"), table[..., :-1]), "ceiling": (SAMPLE, table[..., -1])}
    how = {"model": "auc", "engine": "exact", "random_seed": random_seed}
    return result_tree({"posterior": posterior}, {"model": models}, settings={}, **how)


def _against_labels(order: ScoreOrder, votes: Integers, block: tuple[int, Rng]) -> Floats:
    """Draw the label-level AUC of each model, and in the last column the ceiling; shape (draw, model + 1).

    The share of pairs of labels of an item that are both positive estimates the square of its probability without bias.
    """
    n_draws, rng = block
    n, n_positive = votes.sum(axis=1), votes[:, 1]
    share = n_positive / np.maximum(n, 1)
    weight = (n > 0) * rng.standard_exponential((n_draws, n.size))
    positive = weight * share
    top = ceiling(weight, share, ratio(n_positive * (n_positive - 1.0), n * (n - 1)))
    if not 0 < n_positive.sum() < n.sum():
        return np.full((n_draws, len(order.scores) + 1), np.nan)
    negative = weight - positive
    # Half of the pseudo-items have the labels of the items, and half each label alike.
    chance = 0.25 + 0.5 * (n_positive.sum() + 1) / (n.sum() + 2)
    rows = np.arange(n_draws)[:, None]
    atoms = rng.gamma(CHANCE / ATOMS, size=(n_draws, ATOMS))
    place = rng.choice(np.flatnonzero(n), atoms.shape)
    is_positive = rng.random(atoms.shape) < chance
    np.add.at(positive, (rows, place), atoms * is_positive)
    np.add.at(negative, (rows, place), atoms * ~is_positive)
    above, below = rng.gamma(PERFECT * np.array([[chance], [1 - chance]]), size=(2, n_draws))
    of_positive = positive.sum(axis=1)
    of_negative = negative.sum(axis=1)
    own = (positive * negative).sum(axis=1)
    pairs = of_positive * of_negative - own
    right = above * of_negative + below * of_positive + above * below
    right = right * (np.ptp(order.scores, axis=1, keepdims=True) > 0)  # one score for all ranks nothing right
    won = order.walked(np.ascontiguousarray(positive.T), np.ascontiguousarray(negative.T)) - own / 2
    return np.column_stack([((won + right) / (pairs + right)).T, top])


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
    total = weight.sum(axis=1)
    positive = (weight * share).sum(axis=1)
    paired = weight * ~np.isnan(both)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = positive / total
        second = (paired * np.nan_to_num(both)).sum(axis=1) / paired.sum(axis=1)
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


def _warn_where_undetermined(table: Floats, labels: Labels) -> None:
    n = labels.counts().sum(axis=1)
    if (n == 0).any():
        warn(f"{(n == 0).sum()} items without labels have no part in the AUC: {shorten(labels.items[n == 0])}")
    if np.isnan(table[..., :-1]).any():
        warn("no AUC: all labels are of one kind")
    if np.isnan(table[..., -1]).any():
        warn("no ceiling: no item has two labels, or all labels are of one kind")
