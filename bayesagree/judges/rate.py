"""Rates of systems from a judge's verdicts on all items and people's votes on some.

A person's vote on an item, or the item's truth, is regressed on the verdicts, and the regression is averaged over all
items of a system (multilevel regression and poststratification):

    m_i = a + b_s + d_n + sum_j (c_j + u_sj) v_ij    v standardised verdicts; b, u ~ N(0, .) by system, and by feature;
                                                     d ~ N(0, .) by how many judges say positive
    target="share":  vote_it ~ Bernoulli(lambda_i), E lambda_i = Phi(m_i)
    target="truth":  truth_i ~ Bernoulli(Phi(m_i)), vote_it ~ Bernoulli(sensitivity or 1 - specificity of people)
    rate_s = sum over the items of s of w_i Phi(m_i),  w ~ Dirichlet(1, ..., 1)

Judges may share their errors, since the verdicts are predictors and nothing is assumed of them: unanimous judges may
know less than nearly unanimous ones. Items may be chosen for people by their verdicts, system and features, since the
regression is given these.

Source: Gelman and Little, "Poststratification into many categories using hierarchical logistic regression", Survey
Methodology 23 (1997); Rubin, "The Bayesian bootstrap", Annals of Statistics 9 (1981),
https://doi.org/10.1214/aos/1176345338. The joint model of votes and verdicts is ours.
"""

from collections.abc import Hashable, Mapping
from dataclasses import asdict, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy as sp
import xarray as xr

from bayesagree._types import Advance, Floats, Named, Rng, Root, silent
from bayesagree.annotations import Labels
from bayesagree.annotations.gold import ItemGroup
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, one_of, positive_int, shorten, warn
from bayesagree.inference.cells import row_shares
from bayesagree.inference.convergence import diagnostics, warn_of_numbers
from bayesagree.inference.intervals import column_hdi
from bayesagree.inference.results import result_tree
from bayesagree.inference.slices import chains_of
from bayesagree.inference.streams import Seed, seed_sequence
from bayesagree.judges._panel import By, Inclusion, Panel, Verdicts, panel_of, regression
from bayesagree.judges._sampler import Votes, modes
from bayesagree.judges.estimators import saving_bound
from bayesagree.judges.prior import CorrectedRatePrior, Target
from bayesagree.metrics.concordant_pairs import ratio
from bayesagree.plausibility.independence import warn_of_dependent

# Cells times draws averaged at a time: 32 MiB an array.
CHUNK = 2**22
# With ten votes a system nearly all of its answer is what the other systems say.
# Fewer items with votes in a system are warned of.
FEW_ITEMS = 10


class Fit(NamedTuple):
    """Predictors of every item (item, column), and draws, chains joined: coefficients (draw, column), people's own."""

    columns: Floats
    coefficient: Floats
    people: dict[str, Floats]


def corrected_rate(
    verdicts: Verdicts,
    people: Labels,
    *,
    system: ItemGroup | None = None,
    positive: Hashable,
    by: By = None,
    inclusion: Inclusion = None,
    target: Target = "share",
    prior: CorrectedRatePrior | None = None,
    ci_prob: float = 0.95,
    draws: int = 1000,
    chains: int = 4,
    random_seed: Seed = None,
    progress: Advance = silent,
) -> xr.DataTree:
    """Estimate the share of people who call an item of each system positive, or the share of items that are.

    A posterior from verdicts of judges on all items and votes of people on some. ``target="truth"`` is the share of
    items. The two differ where people err: if items have two votes or more print both (`judge_table` names the target
    of each row).

    Parameters
    ----------
    verdicts
        Item x judge, on every item: labels, or ratings whose place on the scale counts. Repeated verdicts (several
        samples of one judge) are averaged; a judge may leave items out.
    people
        One or several labels by people on some of these items. Which ones may depend on system, features and verdicts.
        Several answers of one person to an item are one vote, their mean.
    system
        System whose output each item is; by default all items are of one system.
    positive
        The label that counts. Any other label is negative.
    by
        Features of the items, ``{feature: {item: level}}`` or a table indexed by item: what a verdict says may depend
        on them.
    inclusion
        Probability with which each item was to be chosen for people, where the choice depended on more than verdicts,
        systems and features, such as a judge's doubt. It becomes a predictor, by its logarithm and in strata (the
        posterior's way of weighting by its inverse).
    target
        ``"share"``: the expected share of people who would call an item positive. Votes are unbiased for it, whoever
        is right. ``"truth"``: the share of items whose true label is positive, where people err; needs two or more
        votes on many items, for the people's accuracy is learnt from their disagreement. One vote an item leaves it to
        `prior`: the interval is then right on average over worlds of that prior, and for no single one.
    prior
        By default `CorrectedRatePrior()`.
    ci_prob
        Probability of the intervals in ``derived``.
    draws, chains
        Draws per chain and number of chains.
    random_seed
        Same seed, same draws.
    progress
        Called with the number of new draws of the regression: chains x draws with the judges, then without.

    Returns
    -------
    DataTree
        ``posterior``: ``rate`` (chain, draw, system), of items like these; ``rate_people_alone``, the same model
        without the judges; ``sensitivity`` and ``specificity`` (chain, draw, system, judge), mean verdict on positive
        and one minus that on negative items; ``max_saving`` (chain, draw, system, judge), see `saving_bound`;
        ``intercept`` and ``slope`` (judge); ``vote_correlation``, of the latent opinions of two people on an item
        given the verdicts, or ``people_sensitivity`` and ``people_specificity``.
        ``derived``: mean and HDI of the rates (``rate_mean``, ``rate_lower``, ``rate_upper``) and of differences
        (system minus other_system), ``prob_better``, ``saving``: the variance of ``rate_people_alone`` over that of
        ``rate``. ``raw``: ``rate`` (system, judge), mean verdict. ``diagnostics``: ``r_hat``,
        ``ess`` of the rates.

    Raises
    ------
    InputError
        People's items without verdicts, items without a system, an unknown positive label, unknown judges.

    References
    ----------
    Gelman and Little (1997); Mundlak, "On the pooling of time series and cross section data", Econometrica 46 (1978),
    https://doi.org/10.2307/1913646.

    See Also
    --------
    alternative_annotator_test, effective_judges, prediction_powered_mean

    Examples
    --------
    >>> rng = np.random.default_rng(3)
    >>> good = rng.random(300) < 0.7
    >>> called = np.where(rng.random(300) < 0.8, good, ~good)
    >>> verdicts = Labels.from_matrix(called[:, None], annotators=["judge"])
    >>> people = Labels.from_matrix(good[:80, None], items=range(80), annotators=["ann"])
    >>> tree = corrected_rate(verdicts, people, positive=True, draws=200, chains=1, random_seed=1)
    >>> bool(tree["derived"]["rate_lower"] < good.mean() < tree["derived"]["rate_upper"])
    True
    """
    panel = panel_of(verdicts, people, system, positive, by, inclusion)
    chosen = prior or CorrectedRatePrior()
    _check(panel, target)
    _warn_of_dependent(panel)
    shape = (positive_int(chains, "chains"), positive_int(draws, "draws"))
    # A copy spawns: a SeedSequence counts its children, and a second call would get others.
    root = seed_sequence(random_seed)
    full, alone, weights = np.random.SeedSequence(root.entropy, spawn_key=root.spawn_key).spawn(3)
    rngs = [np.random.default_rng(s) for s in weights.spawn(2)]
    fit = _fit(panel, target, chosen, full, shape, progress)
    averages = _averages(panel, fit, rngs[0])
    bare = replace(panel, judges=panel.judges[:0], verdict=panel.verdict[:, :0])
    without = _fit(bare, target, chosen, alone, shape, progress)
    averages["rate_people_alone"] = _averages(bare, without, rngs[1])["rate"]
    slopes = {"intercept": fit.coefficient[:, 0], "slope": fit.coefficient[:, 1 : 1 + panel.judges.size]}
    dims = {"slope": ("judge",)} | dict.fromkeys(averages, ("system", "judge"))
    posterior = {
        name: (
            ("chain", "draw", *dims.get(name, ())[: values.ndim - 1]),
            values.reshape(*shape, *values.shape[1:]),
        )
        for name, values in (averages | slopes | fit.people).items()
    }
    names = panel.system.levels
    r_hat, ess = diagnostics(posterior["rate"][1])
    warn_of_numbers(
        {f"rate of {name}": posterior["rate"][1][..., s] for s, name in enumerate(names)},
        f"raise draws={draws}; if chains found different answers to how often people and the judges "
        f"{shorten(panel.judges)} are right, collect more votes per item",
    )
    raw: Any = pd.DataFrame(panel.verdict).groupby(panel.system.code).mean()
    groups = {
        "posterior": posterior,
        "derived": _derived(averages, ci_prob),
        "raw": {"rate": (("system", "judge"), raw.to_numpy())},
        "constant_data": _data(panel),
        "diagnostics": {"r_hat": (("system",), r_hat), "ess": (("system",), ess)},
    }
    settings = {
        "target": target,
        "positive": positive,
        "prior": asdict(chosen),
        "ci_kind": "hdi",
        "ci_prob": ci_prob,
        "by": [factor.name for factor in panel.factors[1:]],
    }
    coords = {"system": names, "other_system": names, "judge": panel.judges}
    return result_tree(
        groups, coords, model="corrected_rate", engine="slices", random_seed=random_seed, settings=settings
    )


def _fit(
    panel: Panel,
    target: Target,
    prior: CorrectedRatePrior,
    seed: Root,
    shape: tuple[int, int],
    progress: Advance,
) -> Fit:
    """Draw the coefficients of the regression, and people's parameters."""
    data = regression(panel, prior)
    rng = np.random.default_rng(seed)
    votes = Votes(panel, data, target, prior)
    points = chains_of(votes.density, modes(votes, rng), shape[1], shape[0], rng, progress).reshape(
        -1, votes.size
    )
    return Fit(data.columns, votes.coefficients(points), dict(zip(votes.names, votes.people(points).T)))


def _averages(panel: Panel, fit: Fit, rng: Rng) -> dict[str, Floats]:
    """Average the regression over the items of each system: rate (draw, system), confusion (draw, system, judge)."""
    n_draws = len(fit.coefficient)
    n_systems = panel.system.levels.size
    n_judges = panel.judges.size
    rate = np.empty((n_draws, n_systems))
    sensitivity, specificity = (np.empty((n_draws, n_systems, n_judges)) for _ in range(2))
    for s in range(n_systems):
        of_system = panel.system.code == s
        used = fit.columns[of_system].any(axis=0)  # not those of other systems
        coefficient = fit.coefficient[:, used]
        columns = fit.columns[of_system][:, used]
        verdict = np.nan_to_num(panel.verdict[of_system], nan=-1.0)
        # Items that no predictor tells apart are one cell.
        _, first, size = np.unique(np.hstack([columns, verdict]), axis=0, return_index=True, return_counts=True)
        columns, present = columns[first], verdict[first] >= 0
        verdict = np.where(present, verdict[first], 0.0)
        step = max(CHUNK // size.size, 1)
        for start in range(0, n_draws, step):
            rows = slice(start, min(start + step, n_draws))
            mean = coefficient[rows] @ columns.T
            weight = row_shares(rng.standard_gamma(size, size=mean.shape))
            yes = weight * sp.special.ndtr(mean)
            rate[rows, s] = yes.sum(axis=1)
            # NaN of a judge without a verdict on this system.
            sensitivity[rows, s] = ratio(yes @ verdict, yes @ present)
            specificity[rows, s] = ratio((weight - yes) @ (present - verdict), (weight - yes) @ present)
    if n_judges == 0:
        return {"rate": rate}
    bound = saving_bound(np.broadcast_to(rate[:, :, None], sensitivity.shape), sensitivity, specificity)
    return {"rate": rate, "sensitivity": sensitivity, "specificity": specificity, "max_saving": bound}


def _derived(averages: Mapping[str, Floats], ci_prob: float) -> Named:
    rate, alone = averages["rate"], averages["rate_people_alone"]
    lower, upper = column_hdi(rate, ci_prob)
    pairs = rate[:, :, None] - rate[:, None, :]
    low, high = column_hdi(pairs, ci_prob)
    found = {"rate_mean": rate.mean(axis=0), "rate_lower": lower, "rate_upper": upper}
    found |= {"saving": alone.var(axis=0) / rate.var(axis=0), "difference": pairs.mean(axis=0)}
    found |= {"difference_lower": low, "difference_upper": high, "prob_better": (pairs > 0).mean(axis=0)}
    return {name: (("system", "other_system")[: v.ndim], v) for name, v in found.items()}


def _data(panel: Panel) -> Named:
    code, n = panel.system.code, panel.system.levels.size
    counts = {"n_items": np.ones(code.size), "n_items_with_votes": panel.seen, "n_votes": panel.votes}
    return {name: (("system",), np.bincount(code, v, n).astype(int)) for name, v in counts.items()}


def _check(panel: Panel, target: str) -> None:
    one_of(target, "target", ("share", "truth"))
    if not panel.seen.any():
        raise InputError("no item has a vote of a person, and verdicts alone cannot be corrected")
    number = np.bincount(panel.system.code, panel.seen, panel.system.levels.size)
    if (number < FEW_ITEMS).any():
        few = panel.system.levels[number < FEW_ITEMS]
        others = " and the other systems" * (number.size > 1)
        warn(
            f"people labelled fewer than {FEW_ITEMS} items of {shorten(few)}: their rates rest on the prior{others}"
        )
    if target == "truth" and np.mean(panel.votes[panel.seen] > 1) < 0.5:
        warn(
            'target="truth" with one vote on most items: how often people are right is not learnt from the votes but '
            'comes from the prior (people_right, people_wrong); collect a second vote, or use target="share"'
        )


def _warn_of_dependent(panel: Panel) -> None:
    """Warn of judges whose verdicts are not independent of the people's votes."""
    positive = np.rint(panel.positive).astype(int)
    counts = np.stack([panel.votes - positive, positive], axis=1)[panel.seen]
    said = np.where(np.isnan(panel.verdict), np.nan, panel.verdict > 0.5)[panel.seen]
    if np.isfinite(said).any():
        models = Predictions.from_labels(dict(zip(panel.judges.tolist(), said.T)), labels=[0, 1])
        warn_of_dependent(Labels.from_counts(counts, labels=[0, 1]), models)
