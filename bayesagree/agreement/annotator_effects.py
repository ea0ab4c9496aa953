"""Common agreement with annotators' levels: one is stricter than the others, one rates wider than the others.

    x_ij ~ Beta(mu_ij p_j, (1 - mu_ij) p_j),    logit(mu_ij) = logit(mu_i) + shift_j,    p_j = p exp(-spread_j)

Shifts and spreads are normal with a learnt standard deviation (partially pooled) and add up to zero over the
annotators: mu_i is the item's mean for their average, Phi = 1 - 2^(1 - p/2) the agreement that is left once levels are
removed. Draws come from a Gibbs sampler of our own (`_effects_kernels`); `common_agreement_model` is the same in PyMC.
"""

from functools import lru_cache
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
import scipy as sp
import xarray as xr
from numpy.typing import NDArray

from bayesagree._inference.results import result_tree
from bayesagree._inference.streams import block_generators, map_blocks
from bayesagree._numerics.intervals import hdi
from bayesagree._numerics.types import Floats
from bayesagree.agreement import _effects_kernels as kernels
from bayesagree.agreement._exact.likelihood import Kind, likelihood
from bayesagree.agreement._exact.patterns import RatingCounts
from bayesagree.agreement._exact.posterior import phi_of, precision_of
from bayesagree.agreement._exact.problem import MeanPrior, Problem
from bayesagree.agreement.prior import AgreementPrior
from bayesagree.agreement.summary import SAMPLE, Request, phi_summary
from bayesagree.annotations import Ratings
from bayesagree.errors import InputError, warn

type AnnotatorEffects = Literal["none", "shift", "shift_and_spread"]

HYPER = ("mean_location", "mean_spread")
LEVELS = ("annotator_shift", "annotator_spread")
# Sweeps before the first draw and for each draw: the slowest parameter then has some 400 effective draws of 4000 in
# the smallest data sets of the calibration test, thousands in those of a few hundred items.
TUNE, THIN = 300, 1
# A plain fit warns where annotators' levels are no accident (p-value of the F test of two-way analysis of variance)
# and make up a tenth of the variance within items: below, Phi with and without them is the same to two digits.
LEVELS_P_VALUE, LEVELS_SHARE = 1e-3, 0.1
# Alternations between item means and annotators' levels at most, and the move (in variance of ratings) that ends.
ALTERNATIONS, LEAST_MOVE = 200, 1e-9


def check_effects(effects: str, ratings: Ratings, kind: Kind) -> None:
    """Refuse options that the model of annotators' levels does not have."""
    if effects not in get_args(AnnotatorEffects.__value__):
        raise InputError(f"annotator_effects={effects!r} is not 'none', 'shift' or 'shift_and_spread'")
    if effects == "none":
        return
    if np.unique(ratings.annotator_index).size < 2:
        raise InputError(
            "annotators' levels are relative to each other: annotator_effects needs two annotators or more"
        )
    if kind == "inflated":
        raise InputError("likelihood='inflated' has no annotator effects; use 'binned'")


def rating_arrays(ratings: Ratings, means: MeanPrior, kind: Kind, prior: AgreementPrior) -> kernels.RatingArrays:
    """Return the ratings as the sampler reads them."""
    unit = ratings.unit()
    discrete = kind == "binned" and ratings.step is not None
    if kind == "squeezed":
        n = np.bincount(ratings.item_index).max()
        unit = (unit * (n - 1) + 0.5) / n
    elif not discrete and not ((unit > 0) & (unit < 1)).all():
        raise InputError(
            "continuous ratings on an end of the scale have no density: pass step= to Ratings, likelihood='squeezed', "
            "or engine='nuts'"
        )
    rated, item = np.unique(ratings.item_index, return_inverse=True)
    truth = np.full(rated.size, np.nan)
    if means.of_item is not None:
        truth = np.append(np.nan, means.truth)[means.of_item[rated]]
    n_annotators = ratings.annotators.size
    row_of = np.argsort(ratings.annotator_index, kind="stable")
    start = np.searchsorted(ratings.annotator_index[row_of], np.arange(n_annotators + 1))
    return kernels.RatingArrays(
        np.searchsorted(item, np.arange(rated.size + 1)),
        ratings.annotator_index.astype(np.int64),
        ratings.levels() if discrete else np.zeros(unit.size, np.int64),
        np.zeros(unit.size) if discrete else np.log(unit),
        np.zeros(unit.size) if discrete else np.log1p(-unit),
        row_of,
        start,
        truth,
        means.sd,
        _level_table(ratings.n_levels or 1) if discrete else np.empty((0, 0, 0)),
        np.array([prior.phi, prior.mean_location, prior.mean_spread], float),
        np.array([prior.annotator_shift, prior.annotator_spread], float),
    )


@lru_cache(maxsize=4)
def _level_table(n_levels: int) -> Floats:
    """Return the log probability of each level, shape (level, log precision, logit)."""
    each = sp.sparse.csr_array(np.eye(n_levels))
    values, group = np.arange(n_levels) / max(n_levels - 1, 1), np.zeros(n_levels, np.int64)
    levels = RatingCounts(values, each, np.ones(n_levels), np.arange(n_levels), group)
    like = likelihood(levels, "binned", discrete=True)
    half = kernels.FARTHEST_U
    at = 2 * np.sinh(np.linspace(-half, half, kernels.N_LOGITS))
    y = np.linspace(*kernels.LOG_PRECISION, kernels.N_PRECISIONS)
    return np.ascontiguousarray(np.stack([like.table(float(np.exp(v)), at) for v in y], axis=1))


def _item_of_row(data: kernels.RatingArrays) -> NDArray[np.int64]:
    return np.repeat(np.arange(data.item_start.size - 1), np.diff(data.item_start))


def sample_effects(
    ratings: Ratings, means: MeanPrior, kind: Kind, prior: AgreementPrior, effects: str, request: Request
) -> xr.DataTree:
    """Return draws of Phi with annotators' levels, with the summary of Phi."""
    data = rating_arrays(ratings, means, kind, prior)
    item, (chains, draws) = _item_of_row(data), request.shape
    spread = effects == "shift_and_spread"
    n_items, n_annotators = data.item_start.size - 1, ratings.annotators.size
    # Half a rating at the middle: an item unanimous at an end would start at an infinite logit.
    mean = (np.bincount(item, ratings.unit()) + 0.5) / (np.bincount(item) + 1)
    start = np.append(sp.special.logit(mean), np.log(4.0))

    def run(rng: np.random.Generator) -> tuple[Floats, Floats, Floats, Floats]:
        hyper, z = np.empty((draws, 5)), np.empty((draws if request.keep_item_means else 0, n_items))
        shifts, spreads = np.empty((draws, n_annotators)), np.empty((draws, n_annotators))
        # Chains from different places, so that R-hat can tell whether they forgot them.
        near = start + rng.normal(0, 0.3, start.size)
        kernels.run_chain(rng, data, item, near, means.hierarchical, spread, TUNE, THIN, hyper, z, shifts, spreads)
        return hyper, z, shifts, spreads

    drawn = map_blocks(run, block_generators(request.options["seed"], chains))
    hyper, z, shifts, spreads = (np.stack(values) for values in zip(*drawn))
    variables: dict[str, Any] = {"phi": (SAMPLE, phi_of(np.exp(hyper[..., 0])))}
    if means.hierarchical:
        variables |= {name: (SAMPLE, hyper[..., k]) for k, name in enumerate(HYPER, 1)}
    variables |= {"annotator_shift": ((*SAMPLE, "annotator"), shifts), "annotator_shift_sd": (SAMPLE, hyper[..., 3])}
    if spread:
        variables["annotator_spread"] = ((*SAMPLE, "annotator"), spreads)
        variables["annotator_spread_sd"] = (SAMPLE, hyper[..., 4])
    coords = {"annotator": ratings.annotators}
    if request.keep_item_means:
        low, high = ratings.scale
        coords["item"] = ratings.items[np.unique(ratings.item_index)]
        variables["item_mean"] = ((*SAMPLE, "item"), low + (high - low) * sp.special.expit(z))
    trace = xr.DataTree.from_dict({"posterior": xr.Dataset({"phi": variables["phi"]})})
    summary = {str(name): ((), value.item()) for name, value in phi_summary(trace, ci_prob=request.ci_prob).items()}
    groups = {"posterior": variables, "agreement": summary}
    return result_tree(groups, coords, sampler="gibbs", **request.options)


def item_log_likelihood(ratings: Ratings, problem: Problem, kind: Kind, parameters: dict[str, Floats]) -> Floats:
    """Return the log likelihood of each rated item, its mean integrated out, shape (sample, item)."""
    data = rating_arrays(ratings, MeanPrior(False), kind, AgreementPrior())
    of_item = problem.patterns.pattern_of_item
    prior_of_item = problem.patterns.group[of_item[of_item >= 0]]
    y = np.log(precision_of(parameters["phi"]))
    shift = parameters["annotator_shift"]
    spread = parameters.get("annotator_spread", np.zeros_like(shift))
    out = np.empty((y.size, prior_of_item.size))
    for s in range(y.size):
        hyper = tuple(float(parameters[name][s]) for name in HYPER) if HYPER[0] in parameters else None
        narrowest = float(np.exp(y[s] - spread[s].min()))
        at, log_prior = problem.means.log_prior(narrowest, hyper, 1.0)  # pyright: ignore[reportArgumentType]
        kernels.item_evidence(data, prior_of_item, shift[s], spread[s], y[s], at, log_prior, out[s])
    return out


def level_share(ratings: Ratings, values: Floats | None = None) -> tuple[float, float]:
    """Return the share of the variance within items that annotators' levels make up, and the p-value of the F test.

    Two-way analysis of variance of the ratings, or of other values of each, without interaction, any missing pattern:
    an additive level of each annotator, fitted by alternation; the share is adjusted for the number of annotators as
    R^2 is, and can be negative.
    """
    item, annotator = ratings.item_index, ratings.annotator_index
    unit = ratings.unit() if values is None else values
    of_item, of_annotator = np.bincount(item), np.bincount(annotator)
    free, levels = item.size - np.count_nonzero(of_item), np.count_nonzero(of_annotator) - 1
    of_item, of_annotator = np.maximum(of_item, 1), np.maximum(of_annotator, 1)  # names without a rating
    if levels < 1 or free <= levels or not unit.any():
        return 0.0, 1.0
    within = unit - (np.bincount(item, unit) / of_item)[item]
    total = float(within @ within)
    if total == 0:
        return 0.0, 1.0
    rest = total
    for index, n in ALTERNATIONS * ((annotator, of_annotator), (item, of_item)):
        level = np.bincount(index, within) / n
        move = float(n @ level**2)
        if move < LEAST_MOVE * total:
            break
        rest -= move
        within -= level[index]
    ratio = ((total - rest) / levels) / max(rest / (free - levels), 1e-300)
    return 1 - rest / (free - levels) / (total / free), float(sp.special.fdtrc(levels, free - levels, ratio))


def levels_matter(ratings: Ratings) -> bool:
    """Whether annotators' levels are no accident and explain much of the disagreement."""
    share, p_value = level_share(ratings)
    return share >= LEVELS_SHARE and p_value < LEVELS_P_VALUE


def warn_of_levels(ratings: Ratings) -> None:
    """Warn where annotators' levels explain much of the disagreement, or of the answers at an end."""
    if not isinstance(ratings, Ratings):
        return
    share, p_of_share = level_share(ratings)
    for end, name in enumerate(("low", "high")) if ratings.n_levels != 2 else ():
        at_end = (ratings.rating == ratings.scale[end]).astype(float)
        of_end, p_value = level_share(ratings, at_end)
        if of_end >= max(share, LEVELS_SHARE) and p_value < LEVELS_P_VALUE:
            rate = np.bincount(ratings.annotator_index, at_end) / np.maximum(np.bincount(ratings.annotator_index), 1)
            most = int(np.argmax(rate))
            warn(
                f"annotators differ in how often they choose the {name} end of the scale, {ratings.annotators[most]!s} "
                f"in {rate[most]:.0%} of the answers, all together in {at_end.mean():.0%}: Phi is biased and its "
                "interval too short; fit again without such annotators"
            )
    if share >= LEVELS_SHARE and p_of_share < LEVELS_P_VALUE:
        warn(
            f"annotators' own levels make up {share:.0%} of the variance within items (some are stricter than others): "
            "Phi is the agreement of the ratings as they stand; annotator_effects='shift' also gives the agreement "
            "that is left once levels are removed"
        )


def annotator_levels(tree: xr.DataTree, *, ci_prob: float = 0.95) -> pd.DataFrame:
    """Return the level of each annotator with its interval, strictest first.

    Parameters
    ----------
    tree
        Any result with `annotator_shift` (chain, draw, annotator) in its posterior, as of `common_agreement` with
        ``annotator_effects``, or a trace of your own model.
    ci_prob
        Probability of the intervals.

    Returns
    -------
    DataFrame
        One row per annotator: annotator; shift, its lower and upper (HDI), the mean log odds by which the annotator
        rates above the average of all; prob_above = Pr(shift > 0); where the annotators' spreads are known also spread,
        spread_lower, spread_upper: log of the factor by which an annotator's precision is lower than the average.

    Raises
    ------
    InputError
        A posterior without `annotator_shift`.

    See Also
    --------
    common_agreement : its argument `annotator_effects`.

    Examples
    --------
    >>> table = [[1, 2, 4], [2, 3, 5], [1, 1, 3], [3, 3, 5], [2, 2, 4]]
    >>> ratings = Ratings.from_matrix(table, scale=(1, 5), step=1, annotators=["a", "b", "c"])
    >>> tree = common_agreement(ratings, annotator_effects="shift", draws=200, seed=1)
    >>> annotator_levels(tree)["annotator"].tolist()
    ['a', 'b', 'c']
    """
    posterior = tree["posterior"].to_dataset()
    if "annotator_shift" not in posterior:
        raise InputError("no annotator_shift in this posterior; pass annotator_effects='shift' to common_agreement")
    rows: dict[str, Any] = {"annotator": posterior["annotator"].values}
    for name, column in zip(LEVELS, ("shift", "spread")):
        if name not in posterior:
            continue
        drawn = posterior[name].transpose(*SAMPLE, "annotator").values
        lower, upper = np.transpose([hdi(drawn[..., j], ci_prob) for j in range(drawn.shape[-1])])
        prefix = "" if column == "shift" else "spread_"
        rows |= {column: drawn.mean(axis=(0, 1)), prefix + "lower": lower, prefix + "upper": upper}
        if column == "shift":
            rows["prob_above"] = (drawn > 0).mean(axis=(0, 1))
    return pd.DataFrame(rows).sort_values("shift", kind="stable", ignore_index=True)
