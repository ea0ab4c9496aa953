"""Checks of one Phi for all items (assumption 3 of Checco et al.), and finite mixtures over Phi.

The paper (section 4.6): where one precision does not fit, cluster the items. `item_fit` lists those items,
`item_mean_check` looks at the histogram of item means (both are posterior predictive checks), `phi_clusters` fits two
or more Phi and compares them by their predictive score on items left out.
"""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
import scipy as sp
import xarray as xr

from bayesagree._inference.streams import Seed, seed_sequence
from bayesagree._numerics.beta import SMALLEST
from bayesagree._numerics.types import Floats
from bayesagree.agreement._exact.draws import draw_hyper, draw_item_means
from bayesagree.agreement._exact.item_means import beta_shapes
from bayesagree.agreement._exact.likelihood import outright_shares
from bayesagree.agreement._exact.outright_ends import joint_posterior
from bayesagree.agreement._exact.posterior import phi_of
from bayesagree.agreement._exact.problem import prepare
from bayesagree.agreement.prior import AgreementPrior
from bayesagree.annotations import Ratings
from bayesagree.errors import InputError, positive_int

# Posterior predictive p-value below which the model does not fit.
THRESHOLD = 0.01
# Bins of the histogram of item means: two modes show, and 20 items already fill it.
BINS = 10
# Items in a histogram of item means at most: the p-value of a misfit that matters is small by then.
MOST_ITEMS = 2000
# log p at which every item's likelihood is tabulated, 5 % apart: Phi from -0.97 to 1 - 2^-29.
GRID = np.linspace(np.log(0.05), np.log(60), 141)
# Steps of EM at most, and the move of the shares that ends it.
EM_STEPS, EM_TOLERANCE = 500, 1e-7


def item_fit(
    ratings: Ratings,
    *,
    item_mean: Literal["hierarchical", "flat"] = "hierarchical",
    prior: AgreementPrior | None = None,
    threshold: float = THRESHOLD,
    draws: int = 1000,
    seed: Seed = None,
) -> pd.DataFrame:
    """Return the items whose dispersion does not fit the common Phi, by a posterior predictive check.

    Every draw of (Phi, mu_i) gives replicated ratings of the item; the p-value is the share of replicates with a
    standard deviation as large as the observed one (ties count half).

    Parameters
    ----------
    ratings
        Ratings; items with one rating have no standard deviation and are left out.
    item_mean, prior
        As in `common_agreement`.
    threshold
        An item does not fit where its p-value is below `threshold` or above 1 - `threshold`.
    draws
        Replicates of each item.
    seed
        Seed or generator; same seed, same draws.

    Returns
    -------
    DataFrame
        One row per item, worst first: item, n_annotations, mean and sd in units of the scale, p_value, and `fit`:
        ``"ok"``, ``"more disagreement"`` or ``"more agreement"`` than the common Phi explains.

    See Also
    --------
    phi_clusters : items clustered by their own Phi.
    item_mean_check : the same kind of check for the prior of the item means.

    References
    ----------
    Checco et al., "Let's agree to disagree", HCOMP 2017, section 4.6, doi:10.1609/hcomp.v5i1.13306.
    Gelman, Meng, Stern, "Posterior predictive assessment of model fitness via realized discrepancies", Statistica
    Sinica 6 (1996), section 2.

    Examples
    --------
    >>> table = [[3, 3, 3, 4, 3]] * 10 + [[1, 5, 1, 5, 5]]
    >>> found = item_fit(Ratings.from_matrix(table, scale=(1, 5), step=1), seed=1)
    >>> int(found["item"].iloc[0]), found["fit"].iloc[0]
    (10, 'more disagreement')
    """
    problem = prepare(ratings, item_mean=item_mean, prior=prior)
    rng = np.random.default_rng(seed_sequence(seed))
    y, shares = joint_posterior(problem.means, problem.kind).draw(draws, rng)
    hyper = draw_hyper(problem.means, y, shares, rng)
    means = draw_item_means(problem.means, problem.patterns, y, hyper, shares, rng)
    rated, item = np.unique(ratings.item_index, return_inverse=True)
    observed_mean, observed = _moments(_coarse(ratings, ratings.unit()), item)
    larger = np.zeros(rated.size)
    for mu, precision, ends in zip(means, np.exp(y), shares):
        _, replicate = _moments(_replicate(ratings, mu[item], precision, ends, rng), item)
        # Levels make many replicates equal to the observation: a tie counts half, so that p-values lean to no side.
        larger += (replicate > observed + 1e-12) + 0.5 * (np.abs(replicate - observed) <= 1e-12)
    p_value = larger / y.size
    low, high = ratings.scale
    n = np.bincount(item)
    fit = np.select([p_value < threshold, p_value > 1 - threshold], ["more disagreement", "more agreement"], "ok")
    moments = {"mean": low + (high - low) * observed_mean, "sd": (high - low) * observed}
    table = pd.DataFrame({"item": ratings.items[rated], "n_annotations": n, **moments, "p_value": p_value, "fit": fit})
    order = np.argsort(np.minimum(p_value, 1 - p_value), kind="stable")
    return table.iloc[order][n[order] > 1].reset_index(drop=True)


def item_mean_check(
    ratings: Ratings, *, prior: AgreementPrior | None = None, draws: int = 1000, seed: Seed = None
) -> xr.Dataset:
    """Return the histogram of item means beside that of the hierarchical model, with a posterior predictive p-value.

    Parameters
    ----------
    ratings
        Ratings on a bounded scale.
    prior
        As in `common_agreement`.
    draws
        Replicated histograms.
    seed
        Seed or generator; same seed, same draws.

    Returns
    -------
    Dataset
        `observed` and `expected` share of items by `bin` of the item mean (coordinate: middle of the bin in units of
        the scale), and `p_value`: below 0.01 the item means are not those of one Beta distribution (they pile up at two
        ends, say) and Phi is biased.

    See Also
    --------
    item_fit : the same kind of check for single items.
    common_agreement : warns where this p-value is below 0.01.

    References
    ----------
    Gelman, Meng, Stern, "Posterior predictive assessment of model fitness via realized discrepancies", Statistica
    Sinica 6 (1996), section 2.

    Examples
    --------
    >>> ends = np.repeat([[1, 2, 1], [5, 4, 5]], 100, axis=0)
    >>> check = item_mean_check(Ratings.from_matrix(ends, scale=(1, 5), step=1), seed=1)
    >>> float(check["observed"].sum())
    1.0
    """
    problem = prepare(ratings, prior=prior)
    rng = np.random.default_rng(seed_sequence(seed))
    y, shares = joint_posterior(problem.means, problem.kind).draw(draws, rng)
    hyper: Any = draw_hyper(problem.means, y, shares, rng)
    observed, replicates = _histograms(ratings, np.exp(y), hyper, shares, rng)
    observed, replicates = observed[:BINS], replicates[:, :BINS]
    low, high = ratings.scale
    data = {
        "observed": ("bin", observed / observed.sum()),
        "expected": ("bin", replicates.mean(axis=0) / observed.sum()),
        "p_value": _histogram_p_value(observed, replicates),
    }
    return xr.Dataset(data, coords={"bin": low + (high - low) * (np.arange(BINS) + 0.5) / BINS})


def misfits(
    ratings: Ratings, precision: Floats, hyper: tuple[Floats, Floats], shares: Floats, rng: np.random.Generator
) -> dict[str, float]:
    """Return posterior predictive p-values of the item means, and of the answers at both ends.

    Of an end: the mean of the answers inside the scale to items with answers at that end, which the model expects near
    it.
    """
    observed, replicates = _histograms(ratings, precision, hyper, shares, rng)
    found = {"item means": _histogram_p_value(observed[:BINS], replicates[:, :BINS])}
    for name, seen, drawn in zip(("low end", "high end"), observed[BINS:], replicates[:, BINS:].T):
        above, below = ((1 + np.sum(side)) / (1 + len(drawn)) for side in (drawn >= seen, drawn <= seen))
        found[name] = float(min(2 * above, 2 * below, 1.0))
    return found


def _histogram_p_value(observed: Floats, replicates: Floats) -> float:
    expected = replicates.mean(axis=0)

    def distance(histogram: Floats) -> Floats:
        return np.sum((histogram - expected) ** 2 / (expected + 1), axis=-1)

    return float((1 + np.sum(distance(replicates) >= distance(observed))) / (1 + len(replicates)))


def _histograms(
    ratings: Ratings, precision: Floats, hyper: tuple[Floats, Floats], shares: Floats, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return the statistics of the first `MOST_ITEMS` items, and of a replicate for each draw."""
    item = np.cumsum(np.diff(ratings.item_index, prepend=-1) != 0) - 1
    kept = item < MOST_ITEMS
    item = item[kept]
    n_items = int(item[-1]) + 1
    a, b = beta_shapes(hyper[0], hyper[1])
    replicates = np.empty((precision.size, BINS + 2))
    for k in range(precision.size):
        mu = rng.beta(a[k], b[k], n_items)
        replicates[k] = _statistics(_replicate(ratings, mu[item], precision[k], shares[k], rng), item, ratings.n_levels)
    return _statistics(_coarse(ratings, ratings.unit()[kept]), item, ratings.n_levels), replicates


def _statistics(x: Floats, item: Any, n_levels: int | None) -> Floats:
    """Return the histogram of the item means, and the mean inside the scale where either end was chosen."""
    means, _ = _moments(x, item)
    histogram = np.histogram(means, bins=BINS, range=(0, 1))[0]
    edge = 0.75 / (n_levels or np.inf)  # a level is at the middle of its bin
    inside = (x > edge) & (x < 1 - edge)
    n = np.bincount(item, inside)
    other = np.bincount(item, x * inside) / np.maximum(n, 1)
    at_ends = [end & (n[item] > 0) for end in (x <= edge, x >= 1 - edge)]
    of_ends = [float(other[item[end]].mean()) if end.any() else 0.5 for end in at_ends]
    return np.array([*histogram, *of_ends])


def _replicate(ratings: Ratings, mu: Floats, precision: float, shares: Floats, rng: np.random.Generator) -> Floats:
    """Return judgments, some of them outright ends, given the item mean of each."""
    a, b = np.maximum([mu * precision, (1 - mu) * precision], SMALLEST)
    x = rng.beta(a, b)
    if shares.any():
        log_low, log_high, _ = outright_shares((float(shares[0]), float(shares[1])), sp.special.logit(mu))
        u = rng.random(x.size)
        x = np.where(u < np.exp(log_low), 0.0, np.where(u > 1 - np.exp(log_high), 1.0, x))
    return _coarse_unit(ratings, x)


def _coarse(ratings: Ratings, unit: Floats) -> Floats:
    """Return observed ratings on [0, 1], a level at the middle of its bin."""
    n = ratings.n_levels
    return unit if n is None else (np.round(unit * (n - 1)) + 0.5) / n


def _coarse_unit(ratings: Ratings, x: Floats) -> Floats:
    """Return simulated judgments as recorded on the scale."""
    n = ratings.n_levels
    return x if n is None else (np.minimum(np.floor(x * n), n - 1) + 0.5) / n


def _moments(x: Floats, item: Any) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of each item's ratings."""
    n = np.bincount(item)
    mean = np.bincount(item, x) / n
    return mean, np.sqrt(np.bincount(item, (x - mean[item]) ** 2) / np.maximum(n - 1, 1))


def phi_clusters(
    ratings: Ratings, *, n_clusters: Sequence[int] = (1, 2, 3), folds: int = 10, seed: Seed = None
) -> xr.Dataset:
    """Return finite mixtures over Phi, each item in one of 1, 2, ... clusters, with their predictive scores.

    An item of cluster c has precision p_c; its mean is flat. The clusters' Phi and shares maximise the likelihood of
    the items (EM over a grid of Phi on which every item's likelihood is known); the score is the log predictive density
    of items left out.

    Parameters
    ----------
    ratings
        Ratings on a bounded scale.
    n_clusters
        Numbers of clusters to compare.
    folds
        Parts of the items, each left out once.
    seed
        Seed or generator of the folds.

    Returns
    -------
    Dataset
        `score` (n_clusters) and `score_se`, the standard error of its difference from the first number; `phi` and
        `share` (n_clusters, cluster), NaN where there is no such cluster; `membership` (n_clusters, item, cluster).

    See Also
    --------
    item_fit : single items that one Phi does not fit.

    References
    ----------
    Checco et al., "Let's agree to disagree", HCOMP 2017, section 4.6, doi:10.1609/hcomp.v5i1.13306.

    Examples
    --------
    >>> table = [[3, 3, 3, 4, 3]] * 30 + [[1, 5, 1, 5, 5]] * 30
    >>> found = phi_clusters(Ratings.from_matrix(table, scale=(1, 5), step=1), n_clusters=(1, 2), seed=1)
    >>> bool(found["score"].sel(n_clusters=2) > found["score"].sel(n_clusters=1))
    True
    """
    if folds < 2 or not len(n_clusters):
        raise InputError(f"folds={folds} and n_clusters={list(n_clusters)}: give two folds or more, and a number")
    problem = prepare(ratings, item_mean="flat")
    evidence = np.stack([problem.means.pattern_evidence(float(np.exp(y))) for y in GRID], axis=1)
    rated = problem.patterns.pattern_of_item >= 0
    if rated.sum() < 2:
        raise InputError("each item is left out of the clusters that score it: two rated items at least")
    evidence = evidence[problem.patterns.pattern_of_item[rated]]
    fold = np.random.default_rng(seed_sequence(seed)).permutation(len(evidence)) % folds
    most = max(positive_int(k, "n_clusters") for k in n_clusters)
    phi, share = np.full((len(n_clusters), most), np.nan), np.full((len(n_clusters), most), np.nan)
    member = np.full((len(n_clusters), len(evidence), most), np.nan)
    scores = np.empty((len(n_clusters), len(evidence)))
    for row, k in enumerate(n_clusters):
        where, weight = _mixture(evidence, k)
        phi[row, :k], share[row, :k] = phi_of(np.exp(GRID[where])), weight
        joint = evidence[:, where] + np.log(weight)
        member[row, :, :k] = np.exp(joint - sp.special.logsumexp(joint, axis=1, keepdims=True))
        for f in range(folds):
            where, weight = _mixture(evidence[fold != f], k)
            scores[row, fold == f] = sp.special.logsumexp(evidence[fold == f][:, where] + np.log(weight), axis=1)
    gain = scores - scores[0]
    data = {
        "score": ("n_clusters", scores.sum(axis=1)),
        "score_se": ("n_clusters", np.sqrt(len(evidence) * gain.var(axis=1))),
        "phi": (("n_clusters", "cluster"), phi),
        "share": (("n_clusters", "cluster"), share),
        "membership": (("n_clusters", "item", "cluster"), member),
    }
    return xr.Dataset(data, coords={"n_clusters": list(n_clusters), "item": ratings.items[rated]})


def _mixture(evidence: Floats, n_clusters: int) -> tuple[Any, Floats]:
    """Return grid positions and shares of the clusters by EM, started from quantiles of the items' own best Phi."""
    # EM finds the nearest maximum: the items' own best Phi say where clusters may be.
    own = np.argmax(evidence, axis=1)
    where = np.unique(np.quantile(own, (np.arange(n_clusters) + 0.5) / n_clusters).astype(int))
    while where.size < n_clusters:
        free = np.setdiff1d(np.arange(evidence.shape[1]), where)
        where = np.sort(np.append(where, free[np.argmax(np.abs(free[:, None] - where).min(axis=1))]))
    weight = np.full(n_clusters, 1 / n_clusters)
    for _ in range(EM_STEPS):
        joint = evidence[:, where] + np.log(weight)
        member = np.exp(joint - np.asarray(sp.special.logsumexp(joint, axis=1, keepdims=True)))
        new_weight = np.maximum(member.mean(axis=0), 1e-12)
        new_where = np.argmax(member.T @ evidence, axis=1)
        moved = np.abs(new_weight - weight).max() + np.abs(new_where - where).max()
        where, weight = new_where, new_weight / new_weight.sum()
        if moved < EM_TOLERANCE:
            break
    order = np.argsort(where, kind="stable")
    return where[order], weight[order]
