"""Finite mixtures over Phi: whether clusters of items have a Phi of their own (Checco et al., section 4.6)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy as sp
import xarray as xr

from bayesagree._types import Floats
from bayesagree.agreement._phi.posterior import pattern_evidence, phi_of
from bayesagree.agreement._phi.problem import prepare
from bayesagree.annotations import Ratings
from bayesagree.errors import InputError, positive_int
from bayesagree.inference.streams import Seed, seed_sequence

# log p at which every item's likelihood is tabulated, 5 % apart: Phi from -0.97 to 1 - 2^-29.
GRID = np.linspace(np.log(0.05), np.log(60), 141)
# Steps of EM at most, and the move of the shares that ends it.
EM_STEPS, EM_TOLERANCE = 500, 1e-7


def phi_clusters(
    ratings: Ratings, *, n_clusters: Sequence[int] = (1, 2, 3), folds: int = 10, random_seed: Seed = None
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
    random_seed
        Seed or generator of the folds.

    Returns
    -------
    Dataset
        `score` (n_clusters) and `score_se`, the standard error of its difference from the first number; `phi` and
        `share` (n_clusters, cluster), NaN where there is no such cluster; `membership` (n_clusters, item, cluster).

    References
    ----------
    Checco et al., "Let's agree to disagree", HCOMP 2017, section 4.6, doi:10.1609/hcomp.v5i1.13306.

    Examples
    --------
    >>> table = [[3, 3, 3, 4, 3]] * 30 + [[1, 5, 1, 5, 5]] * 30
    >>> found = phi_clusters(Ratings.from_matrix(table, scale=(1, 5), step=1), n_clusters=(1, 2), random_seed=1)
    >>> bool(found["score"].sel(n_clusters=2) > found["score"].sel(n_clusters=1))
    True
    """
    if folds < 2 or not len(n_clusters):
        raise InputError(
            f"folds={folds} and n_clusters={list(n_clusters)}: give two folds or more, and a number"
        )
    problem = prepare(ratings, item_mean="flat")
    evidence = pattern_evidence(problem, GRID)
    rated = problem.patterns.pattern_of_item >= 0
    if rated.sum() < 2:
        raise InputError("each item is left out of the clusters that score it: two rated items at least")
    evidence = evidence[problem.patterns.pattern_of_item[rated]]
    fold = np.random.default_rng(seed_sequence(random_seed)).permutation(len(evidence)) % folds
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
            scores[row, fold == f] = sp.special.logsumexp(
                evidence[fold == f][:, where] + np.log(weight), axis=1
            )
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
