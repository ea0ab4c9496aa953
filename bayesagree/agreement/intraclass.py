"""Intraclass correlations of ratings with any missing pattern, from components of variance.

A rating is x_ij = mu + r_i + c_j + e_ij with normal items, annotators and errors. In units of the variance of errors
those of items and annotators are a and b, and the six coefficients of Shrout and Fleiss, of one rating or of k,

    "1,1"  a / (a + 1), without annotators in the model        "1,k"  a / (a + 1 / k)
    "2,1"  a / (a + b + 1), agreement                          "2,k"  a / (a + (b + 1) / k)
    "3,1"  a / (a + 1), consistency                            "3,k"  a / (a + 1 / k).

mu (flat) and the error (log flat) are integrated out, which leaves the restricted likelihood of a and b: its maximum is
the estimate (REML), of complete ratings that of the analysis of variance, which may be negative. With a / (a + 1)
and b / (b + 1) uniform the posterior has two dimensions and is summed over a grid. About these annotators alone, the
variance of their own levels, drawn given a and b, takes the place of b.

Sources: Shrout and Fleiss, "Intraclass correlations: uses in assessing rater reliability", Psychological Bulletin 86
(1979), doi:10.1037/0033-2909.86.2.420; Harville, "Bayesian inference for variance components using only error
contrasts", Biometrika 61 (1974), doi:10.1093/biomet/61.2.383.
"""

import numpy as np
import pandas as pd
import scipy as sp

from bayesagree._types import Floats, Pair, Rng
from bayesagree.agreement._coefficients import FEWEST, Row, few, together
from bayesagree.agreement._patterns import pair_counts
from bayesagree.annotations import Ratings
from bayesagree.errors import InputError, positive_int, shorten, warn
from bayesagree.inference.intervals import hdi
from bayesagree.inference.streams import Seed, seed_sequence
from bayesagree.io.doors import as_annotations

# Names of the kinds in `agreement_table`; those of means end in ``_mean``.
NAMES = {"1": "icc_one_way", "2": "icc_agreement", "3": "icc_consistency"}
# Whom the intervals of `icc` are about.
OTHERS = "annotators like these"
# Annotators up to which `agreement_table` has them: the time grows with their cube.
MOST_ANNOTATORS = 100
KINDS = ("1,1", "2,1", "3,1", "1,k", "2,k", "3,k")
# Why a kind does not exist; differences of standardised ratings that are rounding.
ALIKE = "the mean ratings of items do not differ"
TINY = 1e-12
# Places of the grid on each axis; draws; logarithms below the top that hold nothing: e^-18.
NODES, DRAWS, FLAT = 40, 4000, 18.0


class VarianceComponents:
    """The restricted likelihood of shares a / (a + 1) of items and b / (b + 1) of annotators."""

    def __init__(self, ratings: Ratings, *, two_way: bool) -> None:
        item, annotator = (
            np.unique(code, return_inverse=True)[1] for code in (ratings.item_index, ratings.annotator_index)
        )
        x = np.asarray(ratings.rating, float)
        self.scale = x.std() or 1.0
        x = (x - x.mean()) / self.scale
        self.n, self.size = x.size, np.bincount(item).astype(float)
        if not two_way:
            annotator = np.empty(0, int)
        # Columns: a constant, the ratings, the annotators; sums of products over all ratings and within items.
        cells = pair_counts(np.arange(annotator.size), annotator, (x.size, len(set(annotator))))
        rows = pair_counts(item, np.arange(x.size), (self.size.size, x.size))
        self.table = sp.sparse.hstack([np.stack([np.ones(x.size), x], axis=1), cells], "csr")
        self.cross, self.of_item = (self.table.T @ self.table).toarray(), rows @ self.table

    def log_likelihood(self, share: float, shares: Floats) -> Floats:
        """Return the log restricted likelihood of one share of items and several of annotators."""
        a, b = share / (1 - share), shares / (1 - shares)
        _, value, _, _, (one, _, rest) = self._freed(share, shares)
        spread = np.log1p(b[:, None] * value).sum(axis=1) + np.log1p(a * self.size).sum()
        return -0.5 * (spread + np.log(one) + (self.n - 1) * np.log(rest))

    def variances(self, shares: Floats) -> Floats:
        """Return the variances of items, annotators and errors at shares of the first two, those of the errors best."""
        *_, (_, _, rest) = self._freed(shares[0], shares[1:])
        return rest / (self.n - 1) * self.scale**2 * np.append(shares / (1 - shares), 1.0)

    def _freed(self, share: float, shares: Floats) -> tuple[Floats, Floats, Floats, Floats, tuple[Floats, ...]]:
        """Free the sums of products of items, then of annotators.

        Returns how far annotators are shrunk, (share, direction), the information about each direction, the directions,
        constant and ratings along them, and the sums left: weight of the constant, its product with the ratings, sum of
        squares.
        """
        a = share / (1 - share)
        b = (shares / (1 - shares))[:, None]
        weight = self.of_item.multiply((a / (1 + a * self.size))[:, None])
        inner = self.cross - (self.of_item.T @ weight.tocsr()).toarray()
        value, vectors = np.linalg.eigh(inner[2:, 2:])
        value = np.maximum(value, 0.0)
        along = vectors.T @ inner[2:, :2]
        shrunk = b / (1 + b * value)
        one, both, two = (
            inner[p, q] - shrunk @ (along[:, p] * along[:, q]) for p, q in ((0, 0), (0, 1), (1, 1))
        )
        return shrunk, value, vectors, along, (one, both, np.maximum(two - both**2 / one, 1e-12))

    def draws(self, rng: Rng, *, fixed: bool = False) -> Pair:
        """Return the shares of highest likelihood, (2,), and draws, (draw, 2).

        With the annotators `fixed` the spread of the levels of these annotators takes the place of b.
        """
        low = np.zeros((2, 1))
        high = np.ones((2, 1))
        middle = (np.arange(NODES) + 0.5) / NODES
        for last in (False, False, False, True):  # towards what is not nothing
            axes = low + (high - low) * middle
            step = (high - low) / NODES
            log = np.stack([self.log_likelihood(share, axes[1]) for share in axes[0]])
            near = log > log.max() - FLAT
            if not last:
                ends = np.array([axis[near.any(1 - k)][[0, -1]] for k, axis in enumerate(axes)])
                low = np.clip(ends[:, :1] - step, 0, 1)
                high = np.clip(ends[:, 1:] + step, 0, 1)
        mass = np.exp(log - log.max()).ravel()
        cell = np.stack(np.divmod(rng.choice(mass.size, DRAWS, p=mass / mass.sum()), NODES))
        drawn = (np.take_along_axis(axes, cell, axis=1) + (rng.random((DRAWS, 2)).T - 0.5) * step).T
        climbed = sp.optimize.minimize(
            lambda s: -self.log_likelihood(s[0], s[1:])[0],
            [axis[k] for axis, k in zip(axes, np.unravel_index(log.argmax(), log.shape))],
            method="L-BFGS-B",
            bounds=[(0.0, 1 - 1e-9)] * 2,
            options={"ftol": 1e-15, "gtol": 1e-9},
        )
        for k in np.unique(cell[0]) if fixed else ():
            some = cell[0] == k
            spread = self.levels(float(axes[0, k]), drawn[some, 1], rng).var(axis=1, ddof=1)
            drawn[some, 1] = spread / (1 + spread)
        return climbed.x, drawn

    def levels(self, share: float, shares: Floats, rng: Rng) -> Floats:
        """Draw the levels of the annotators, in standard deviations of the error, (draw, annotator)."""
        shrunk, _, vectors, along, (one, both, rest) = self._freed(share, shares)
        error = np.sqrt(rest / rng.chisquare(self.n - 1, shares.size))
        centre = both / one + error / np.sqrt(one) * rng.standard_normal(shares.size)
        mean = shrunk * (along[:, 1] - centre[:, None] * along[:, 0]) / error[:, None]
        return (mean + np.sqrt(shrunk) * rng.standard_normal(mean.shape)) @ vectors.T


def icc(
    ratings: Ratings,
    *,
    k: int | None = None,
    ci_prob: float = 0.95,
    random_seed: Seed = None,
) -> pd.DataFrame:
    """Compute intraclass correlations: how well one rating, or the mean of k, distinguishes items.

    Parameters
    ----------
    ratings
        Ratings by known annotators, with any missing pattern.
    k
        Ratings of which the mean is taken; by default the mean number per item, rounded.
    ci_prob
        Probability of the intervals.
    random_seed
        Of the draws.

    Returns
    -------
    DataFrame
        One row per kind, ``"1,1"``, ``"2,1"``, ``"3,1"``, ``"1,k"``, ``"2,k"``, ``"3,k"`` (1: the annotators of an
        item are any; 2: agreement, an annotator's level counts as error; 3: consistency, it does not): kind, k,
        estimate (of complete ratings that of the analysis of variance, else REML), lower, upper (shortest interval of
        the posterior, or to the estimate), ci_prob, and about, ``"annotators like these"``: `agreement_table` has the
        rows about these annotators alone. The items are taken as independent; `agreement_table` with ``cluster=`` has
        alpha for items of clusters. ``attrs["variances"]`` are the components (REML): of items, of annotators and of
        errors.

    Raises
    ------
    InputError
        Fewer than two items or annotators; no item with two ratings; ratings that are all equal.

    Warns
    -----
    UserWarning
        Kinds that do not exist, NaN.

    References
    ----------
    Shrout and Fleiss, Psychological Bulletin 86 (1979) 420-428, doi:10.1037/0033-2909.86.2.420.

    Examples
    --------
    >>> ratings = Ratings.from_matrix(  # Shrout and Fleiss, table 2
    ...     [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], scale=(1, 10)
    ... )
    >>> icc(ratings, random_seed=1)["estimate"].round(2).tolist()
    [0.17, 0.29, 0.71, 0.44, 0.62, 0.91]
    """
    ratings = as_annotations(ratings, (Ratings,), "ratings")
    if lacking := _lacks(ratings):
        raise InputError(
            f"{lacking}: an intraclass correlation needs two items, two annotators, an item with two ratings, and "
            "ratings that differ"
        )
    k = None if k is None else positive_int(k, "k")
    rows, variances = _rows(ratings, k, ci_prob, random_seed)
    table = pd.DataFrame(rows).assign(ci_prob=ci_prob, about=OTHERS)
    if len(none := table["kind"][table["estimate"].isna()]):
        warn(f"kinds {shorten(none)} do not exist: {ALIKE}")
    table.attrs["variances"] = dict(zip(("item", "annotator", "error"), variances.tolist()))
    return table


def icc_rows(ratings: Ratings, ci_prob: float, random_seed: Seed) -> dict[str, Row]:
    """Return the rows of `agreement_table`, about these annotators: of all kinds that exist by name."""
    if lacking := _lacks(ratings, MOST_ANNOTATORS):
        nothing = dict.fromkeys(("estimate", "lower", "upper"), np.nan) | {"ci_kind": "hdi", "note": lacking}
        return dict.fromkeys((NAMES["2"], NAMES["3"]), nothing)
    rows = {}
    n_items = np.unique(ratings.item_index).size
    found, variances = _rows(ratings, None, ci_prob, random_seed, fixed=True)
    parts = ": item {:.3g}, annotator {:.3g}, error {:.3g}".format(*variances)
    for row in found:
        kind, k = row.pop("kind"), row.pop("k")
        note = f"mean of {k} ratings; " * (k > 1) + "components of variance" + parts * (kind in ("2,1", "3,1"))
        if np.isnan(row["estimate"]):
            note += f"; {ALIKE}"
        if n_items < FEWEST:
            row |= {"lower": np.nan, "upper": np.nan}
            note = together(note, few(n_items))
        rows[NAMES[kind[0]] + "_mean" * (k > 1)] = row | {"ci_kind": "hdi", "note": note}
    return rows


def _lacks(ratings: Ratings, most: float = np.inf) -> str:
    size = np.bincount(ratings.item_index, minlength=1)
    people = np.unique(ratings.annotator_index).size
    told = {
        f"more than {most} annotators": people <= most,
        "fewer than two items": np.count_nonzero(size) > 1,
        "no item has two ratings": size.max() > 1,
        "fewer than two annotators": people > 1,
        "all ratings are equal": np.unique(ratings.rating).size > 1,
    }
    return next((why for why, exists in told.items() if not exists), "")


def _rows(
    ratings: Ratings, k: int | None, ci_prob: float, random_seed: Seed, *, fixed: bool = False
) -> tuple[list[Row], Floats]:
    """Return kind, k, estimate and interval, which holds the estimate, of all kinds, and the variances (REML)."""
    rng = np.random.default_rng(seed_sequence(random_seed))
    rows = []
    matrix, people = None, np.unique(ratings.annotator_index).size
    if ratings.rating.size == np.unique(ratings.item_index).size * people and not ratings.has_repeats:
        matrix = ratings.to_matrix().dropna(how="all").dropna(axis=1, how="all").to_numpy()
        matrix = (matrix - matrix.mean()) / matrix.std()  # what is tiny depends on the unit
    k = max(round(ratings.item_index.size / np.unique(ratings.item_index).size), 2) if k is None else k
    fits, variances, undefined = {}, np.empty(0), ()
    if matrix is not None and np.ptp(matrix.mean(axis=1)) < TINY:
        # Without variance of items means have none, nor has the consistency of ratings without errors.
        undefined = ("1,k", "3,k", "3,1")[: 2 + (np.ptp(matrix, axis=0).max() < TINY)]
    for two_way in (False, True):
        components = VarianceComponents(ratings, two_way=two_way)
        top, drawn = components.draws(rng, fixed=fixed and two_way)
        variances = components.variances(top)
        fits[two_way] = (top if matrix is None else _of_variance_analysis(matrix, two_way=two_way)), drawn
    for name in KINDS:
        (top, drawn), mean = fits[name[0] != "1"], k if name.endswith("k") else 1
        lower = upper = estimate = np.nan
        if name not in undefined:
            estimate = float(correlation(name, top[None], mean)[0])
            lower, upper = hdi(correlation(name, drawn, mean), ci_prob)
        ends = {"lower": min(lower, estimate), "upper": max(upper, estimate)}
        rows.append({"kind": name, "k": mean, "estimate": estimate} | ends)
    return rows, variances


def _of_variance_analysis(X: Floats, *, two_way: bool) -> Floats:
    """Return the shares of items and annotators by mean squares, which may be negative."""
    (n, k), rest = X.shape, X - X.mean(axis=1, keepdims=True)
    level = rest.mean(axis=0) * two_way
    error = max(float(((rest - level) ** 2).sum()) / ((n - 1) * (k - 1) if two_way else n * (k - 1)), 1e-12)
    of_items = k * X.mean(axis=1).var(ddof=1)
    of_level = n * (level**2).sum() / (k - 1)
    a = (of_items / error - 1) / k
    b = (of_level / error - 1) / n * two_way
    return np.array([a / (1 + a), b / (1 + b)])


def correlation(kind: str, shares: Floats, k: int) -> Floats:
    """Return a coefficient of the mean of k ratings from shares of items and annotators, (draw, 2)."""
    a, b = (shares / (1 - shares)).T
    return a / (a + (1 + (b if kind[0] == "2" else 0.0)) / k)
