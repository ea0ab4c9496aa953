"""Posterior predictive checks of one Phi for all items (assumption 3 of Checco et al.).

`item_fit` lists the items whose dispersion does not fit, `misfits` looks at the histogram of item means.
"""

from typing import Any, Literal

import numpy as np
import pandas as pd
import scipy as sp

from bayesagree._types import Floats, Pair, Rng
from bayesagree.agreement._phi.item_means import beta_shapes
from bayesagree.agreement._phi.likelihood import SMALLEST, outright_shares
from bayesagree.agreement._phi.posterior import Draws, draw_item_means, joint_posterior
from bayesagree.agreement._phi.problem import prepare
from bayesagree.annotations import Ratings
from bayesagree.inference.streams import Seed, seed_sequence
from bayesagree.io.doors import as_annotations

# Posterior predictive p-value below which the model does not fit.
THRESHOLD = 0.01
# Bins of the histogram of item means: two modes show, and 20 items already fill it.
BINS = 10
# Items in a histogram of item means at most: the p-value of a misfit that matters is small by then.
MOST_ITEMS = 2000


def item_fit(
    ratings: Ratings,
    *,
    item_mean: Literal["hierarchical", "flat"] = "hierarchical",
    threshold: float = THRESHOLD,
    draws: int = 1000,
    random_seed: Seed = None,
) -> pd.DataFrame:
    """Find items whose dispersion does not fit the common Phi, by a posterior predictive check.

    Each draw of (Phi, mu_i) gives replicated ratings of the item. The p-value is the share of replicates with a
    standard deviation at least as large as the observed one (ties count half).

    Parameters
    ----------
    ratings
        Ratings; items with one rating have no standard deviation and are left out.
    item_mean
        As in `common_agreement`.
    threshold
        An item does not fit where its p-value is below `threshold` or above 1 - `threshold`.
    draws
        Replicates of each item.
    random_seed
        Seed or generator; same seed, same draws.

    Returns
    -------
    DataFrame
        One row per item, worst first: item, n_annotations, mean and sd in units of the scale, p_value, and `fit`:
        ``"ok"``, ``"more disagreement"`` or ``"more agreement"`` than the common Phi explains.

    See Also
    --------
    common_agreement : warns where the item means do not fit its prior.

    References
    ----------
    Checco et al., "Let's agree to disagree", HCOMP 2017, section 4.6, doi:10.1609/hcomp.v5i1.13306.
    Gelman, Meng, Stern, "Posterior predictive assessment of model fitness via realized discrepancies", Statistica
    Sinica 6 (1996), section 2.

    Examples
    --------
    >>> table = [[3, 3, 3, 4, 3]] * 10 + [[1, 5, 1, 5, 5]]
    >>> found = item_fit(Ratings.from_matrix(table, scale=(1, 5), step=1), random_seed=1)
    >>> int(found["item"].iloc[0]), found["fit"].iloc[0]
    (10, 'more disagreement')
    """
    ratings = as_annotations(ratings, (Ratings,), "ratings")
    problem = prepare(ratings, item_mean=item_mean)
    rng = np.random.default_rng(seed_sequence(random_seed))
    drawn = joint_posterior(problem).phi.draw(draws, rng)
    rated, item = np.unique(ratings.item_index, return_inverse=True)
    _, observed = _moments(_coarse(ratings, ratings.unit()), item)
    larger = np.zeros(rated.size)
    for mu, precision, ends in zip(draw_item_means(problem, drawn, rng), np.exp(drawn.y), drawn.shares):
        _, replicate = _moments(_replicate(ratings, mu[item], precision, ends, rng), item)
        # Levels make many replicates equal to the observation: a tie counts half, so that p-values lean to no side.
        larger += (replicate > observed + 1e-12) + 0.5 * (np.abs(replicate - observed) <= 1e-12)
    p_value = larger / draws
    n = np.bincount(item)
    fit = np.select(
        [p_value < threshold, p_value > 1 - threshold], ["more disagreement", "more agreement"], "ok"
    )
    moments = dict(zip(("mean", "sd"), _moments(ratings.rating, item)))
    table = pd.DataFrame(
        {"item": ratings.items[rated], "n_annotations": n, **moments, "p_value": p_value, "fit": fit}
    )
    order = np.argsort(np.minimum(p_value, 1 - p_value), kind="stable")
    return table.iloc[order][n[order] > 1].reset_index(drop=True)


def misfits(ratings: Ratings, drawn: Draws, rng: Rng) -> float:
    """Return the posterior predictive p-value of the histogram of the means of the first `MOST_ITEMS` items.

    Below .01 the item means are not those of one Beta distribution (they pile up at two ends, say) and Phi is biased.
    """
    item = np.cumsum(np.diff(ratings.item_index, prepend=-1) != 0) - 1
    kept, hyper = item < MOST_ITEMS, np.asarray(drawn.hyper)
    item = item[kept]

    def histogram(x: Floats) -> Floats:
        return np.histogram(_moments(x, item)[0], bins=BINS, range=(0, 1))[0].astype(float)

    replicates = np.stack([
        histogram(_replicate(ratings, rng.beta(a, b, item[-1] + 1)[item], precision, shares, rng))
        for a, b, precision, shares in zip(*beta_shapes(*hyper.T), np.exp(drawn.y), drawn.shares)
    ])  # fmt: skip
    every = np.vstack([histogram(_coarse(ratings, ratings.unit()[kept])), replicates])
    distance = ((every - replicates.mean(axis=0)) ** 2 / (replicates.mean(axis=0) + 1)).sum(axis=1)
    return float((distance >= distance[0]).mean())


def _replicate(ratings: Ratings, mu: Floats, precision: float, shares: Floats, rng: Rng) -> Floats:
    """Return judgments given the item mean of each, a level at the middle of its bin."""
    x = judgments(mu, precision, shares, rng)
    n = ratings.n_levels
    return x if n is None else (np.minimum(np.floor(x * n), n - 1) + 0.5) / n


def judgments(mu: Floats, precision: float, shares: Any, rng: Rng) -> Floats:
    """Draw a judgment on [0, 1], or an outright end, given the item mean of each."""
    a, b = np.maximum([mu * precision, (1 - mu) * precision], SMALLEST)
    log_low, log_high, _ = outright_shares(shares[0], shares[1], sp.special.logit(mu))
    x, u = rng.beta(a, b), rng.random(mu.size)
    return np.where(u < np.exp(log_low), 0.0, np.where(u > 1 - np.exp(log_high), 1.0, x))


def _coarse(ratings: Ratings, unit: Floats) -> Floats:
    """Return observed ratings on [0, 1], a level at the middle of its bin."""
    n = ratings.n_levels
    return unit if n is None else (np.round(unit * (n - 1)) + 0.5) / n


def _moments(x: Floats, item: Any) -> Pair:
    """Return mean and standard deviation of each item's ratings."""
    n = np.bincount(item)
    mean = np.bincount(item, x) / n
    return mean, np.sqrt(np.bincount(item, (x - mean[item]) ** 2) / np.maximum(n - 1, 1))
