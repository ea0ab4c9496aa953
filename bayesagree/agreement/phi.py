"""Common agreement Phi (Checco et al. 2017): one number in (-1, 1) for the agreement of annotators on a bounded scale.

    x_ij ~ Beta(mu_i p, (1 - mu_i) p),    Phi = 1 - 2^(1 - p/2)

Phi = 1: equal ratings of every item; 0: ratings as if uniformly at random; -1: two camps at the two ends. Every item
has its own mean mu_i, all share the precision p. `common_agreement` integrates the means out by quadrature and draws
Phi from its exact marginal posterior; `common_agreement_model` is the same model in PyMC.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import xarray as xr

from bayesagree._inference.arguments import checked
from bayesagree._inference.streams import Seed, seed_sequence
from bayesagree.agreement import limits
from bayesagree.agreement import model as parts
from bayesagree.agreement._exact.averaged import joint_posterior
from bayesagree.agreement._exact.likelihood import Kind
from bayesagree.agreement._exact.patterns import collapse
from bayesagree.agreement._exact.problem import ItemMean, Problem, checked_prior, prepare
from bayesagree.agreement._exact_tree import exact_tree
from bayesagree.agreement.annotator_effects import AnnotatorEffects, check_effects, sample_effects, warn_of_levels
from bayesagree.agreement.prior import AgreementPrior
from bayesagree.agreement.summary import decision
from bayesagree.annotations import Ratings
from bayesagree.errors import InputError, positive_int, probability
from bayesagree.io.patterns.patterns import RatingPatterns

if TYPE_CHECKING:
    import pymc as pm


@checked
def common_agreement(
    ratings: Ratings | RatingPatterns,
    *,
    item_mean: ItemMean = "hierarchical",
    truth_sd: float | None = None,
    likelihood: Kind = "averaged",
    annotator_effects: AnnotatorEffects = "none",
    prior: AgreementPrior | None = None,
    ci_prob: float = 0.95,
    draws: int = 1000,
    chains: int = 4,
    seed: Seed = None,
    engine: Literal["exact", "nuts"] = "exact",
    sampler: Mapping[str, Any] | None = None,
    keep_item_means: bool = False,
) -> xr.DataTree:
    """Return the posterior of the common agreement Phi.

    Parameters
    ----------
    ratings
        Ratings on a bounded scale; items may have different numbers of ratings. Of data larger than memory their
        patterns (`RatingPatterns`), which have the same posterior.
    item_mean
        Prior of the item means on the unit scale. ``"hierarchical"``: mu_i ~ Beta(m t, (1 - m) t), m ~ U(0, 1),
        s = (1 + t)^(-1/2) ~ U(0, 1): random answers do not look like agreement. ``"flat"``: mu_i ~ U(0, 1), the paper's
        prior, biased to agreement below five ratings an item. A mapping item -> known truth (in units of the scale):
        mu_i ~ N(truth, truth_sd^2) on the scale, flat for items it does not name.
    truth_sd
        Standard deviation of the known truths in units of the scale, by default a tenth of its length.
    likelihood
        ``"averaged"``: ``"binned"`` and ``"inflated"``, two readings of the answers at the ends of the scale, weighted
        by their evidence, equally likely before the ratings; ``"binned"`` where no answer lies at an end, or none
        between the ends, since nothing then tells the readings apart.
        ``"binned"``: a level m of M stands for the interval [m/M, (m + 1)/M); continuous ratings have the Beta density,
        or, where one sits on an end of the scale, stand for intervals as wide as the smallest gap between values,
        and no narrower than a millionth of the scale: values nearer to each other are read to that precision.
        ``"inflated"``: as binned, but an answer at an end of the scale may also be an outright end that is no judgment
        on the scale; the shares of such answers are learnt for both ends (see Notes). Phi is that of the judgments.
        ``"density"``: continuous ratings inside the scale only. ``"squeezed"``: the preprocessing of the code published
        with the paper, x -> (x (n - 1) + 1/2)/n with n the most ratings of an item; biased, for comparison with
        published numbers (5 ratings on 5 levels: 0.24 where Phi is 0, 0.65 where it is 0.5).
    annotator_effects
        Levels of the annotators, relative to each other and partially pooled. ``"none"``: Phi is the agreement of the
        ratings as they stand. ``"shift"``: logit(mu_ij) = logit(mu_i) + shift_j; ``"shift_and_spread"``: also
        p_j = p exp(-spread_j). Phi is then the agreement that is left once levels are removed.
    prior
        By default uniform for Phi, m and s; half-normal standard deviations of shifts and spreads.
    ci_prob
        Probability of the interval.
    draws, chains
        Draws of the posterior.
    seed
        Seed or generator; same seed, same draws.
    engine
        ``"exact"``: quadrature and independent draws; with annotator effects Gibbs sampling (``attrs["sampler"]``).
        ``"nuts"``: samples `common_agreement_model`; of averaged readings both models, and each draw is taken from one
        of them by the evidence that the exact engine finds.
    sampler
        Further arguments of `pymc.sample` for ``engine="nuts"``, such as ``{"target_accept": 0.95}``.
    keep_item_means
        Whether to draw the item means as well (the exact engine integrates them out).

    Returns
    -------
    DataTree
        ``posterior``
            `phi` (chain, draw); with outright ends `low_end_share` and `high_end_share` (chain, draw), the share of
            such answers on an item of mean 1/2 if there are none at the other end (0 in draws of the other reading);
            with hierarchical means `mean_location` m and `mean_spread` s (chain, draw), the square root of their
            overdispersion; on request `item_mean` (chain, draw, item) in units of the scale; with annotator effects
            `annotator_shift` (chain, draw, annotator) in log odds and its standard deviation `annotator_shift_sd`,
            likewise `annotator_spread`.
        ``agreement``
            `mean`, `sd`, `lower` and `upper` (HDI), `prob_positive` = Pr(Phi > 0). From the exact engine also `map`
            (mode of the marginal posterior), `ml` (joint maximum likelihood of Phi and all item means, without outright
            ends), with known truths `joint_map` (their joint posterior mode, the paper's estimate of section 4.4),
            `share_at_ends` (share of the items on which all ratings are one and the same end of the scale),
            `prob_inflated` of averaged readings, `log_evidence` and the errors of the quadrature. Its attribute
            `decision` is agreement, disagreement or undecided. Unanimous answers at an end of the scale fit polarised
            annotators as they fit agreeing ones, so that disagreement is stated only if it also holds without those
            items, and, with ``"binned"``, if end answers read as points inside the scale do not say agreement.
        ``density``
            Posterior `density` of Phi (grid), from the exact engine.
        ``sample_stats``
            Statistics of the sampler (chain, draw), from ``engine="nuts"``.

    Raises
    ------
    InputError
        Repeated (item, annotator) pairs, unknown options, a truth outside the scale or of an unknown item.
    ConvergenceError
        The quadrature did not reach 1e-6 in the log marginal likelihood or 1e-4 in the ends of the interval; with
        ``"inflated"``, half a unit, or half a standard deviation of Phi (it stops at a fiftieth; ``"averaged"`` warns).

    Warns
    -----
    UserWarning
        Where the paper's limits apply: flat means and fewer than five ratings an item, fewer than five levels, one
        item, one rating an item, item means piled up at the two ends of the scale; where continuous ratings lie on a
        grid of few levels (`step` forgotten); where the sign of Phi comes from answers at the ends of the scale, or a
        claim of agreement from what the levels stand for; where no item has two different ratings.

    Notes
    -----
    What Phi says at the ends of the scale. A Beta distribution whose mean lies at an end puts all its mass there,
    whatever its precision. So items on which all answers are one and the same end say nothing about Phi: alone they
    leave it its prior, and they are never called disagreement. Items with many, not all, answers at an end fit two
    readings: judgments polarised between the ends (Phi < 0), or agreeing judgments beside answers that are outright
    ends, such as "not at all". ``"binned"`` knows the first alone. ``"inflated"`` learns from the answers between the
    ends which it is: with item mean mu, the odds of an outright low end against a judgment are
    w_low / (1 - w_low) (1 - mu) / mu, those of an outright high end the mirror image; the roots of both shares w are
    uniform on (0, 1). ``"averaged"`` weighs the two readings by their evidence: `prob_inflated` is the posterior
    probability of outright ends. Two camps at the two ends, with nothing between, fit both readings; nothing tells them
    apart, and they are read as judgments. Coverage and false claims of all three, with and without outright ends, stand
    in benchmarks/results/phi_ends.md, with the time that averaging costs.

    See Also
    --------
    common_agreement_model : the same model in PyMC, with other priors.
    agreement_table : Phi beside the classic coefficients.
    phi_difference : the posterior of a difference between two groups or rounds.
    item_fit, item_mean_check, phi_clusters : checks of the assumption of one Phi and one prior.

    References
    ----------
    Checco, Roitero, Maddalena, Mizzaro, Demartini, "Let's agree to disagree: fixing agreement measures for
    crowdsourcing", HCOMP 2017, sections 4.2-4.7, doi:10.1609/hcomp.v5i1.13306. The published code has a flat prior on
    p, improper in Phi; here Phi is uniform on (-1, 1). The hierarchical item mean is ours: it removes the bias of
    section 5.2. Outright ends: compare Kubinec, "Ordered beta regression", Political Analysis 31 (2023),
    doi:10.1017/pan.2022.20.

    Examples
    --------
    >>> ratings = Ratings.from_matrix([[4, 4, 5, 4, 4], [1, 2, 1, 1, 2], [3, 3, 3, 4, 3]], scale=(1, 5), step=1)
    >>> tree = common_agreement(ratings, seed=1)
    >>> tree["agreement"].attrs["decision"], round(float(tree["agreement"]["mean"]), 2)
    ('agreement', 0.87)
    """
    shape = positive_int(chains, "chains"), positive_int(draws, "draws")
    probability(ci_prob, "ci_prob")
    prior = prior or AgreementPrior()
    if annotator_effects != "none" and likelihood == "averaged":
        likelihood = "binned"  # outright ends are not modelled together with annotators' levels
    problem = prepare(ratings, item_mean=item_mean, truth_sd=truth_sd, likelihood=likelihood, prior=prior)
    limits.warn_of_limits(ratings, problem, item_mean)
    limits.warn_of_saturation(ratings, problem)
    if annotator_effects == "none":
        warn_of_levels(ratings)
    known = item_mean if isinstance(item_mean, str) else {str(k): float(v) for k, v in item_mean.items()}
    interval = {"ci_kind": "hdi", "ci_prob": ci_prob}
    settings = {"item_mean": known, "truth_sd": truth_sd, "likelihood": likelihood} | interval
    settings |= {"annotator_effects": annotator_effects, "prior": asdict(prior)}
    options = {"model": "common_agreement", "engine": engine, "seed": seed, "settings": settings}
    if engine == "nuts":
        single = problem.single_ratings("engine='nuts'")
        given = {"item_mean": item_mean, "truth_sd": truth_sd, "annotator_effects": annotator_effects, "prior": prior}
        tree = _sampled_tree(single, problem, given, shape, ci_prob, keep_item_means, sampler, options)
    elif engine == "exact" and annotator_effects != "none":
        single = problem.single_ratings("annotator_effects")
        check_effects(annotator_effects, single, likelihood)
        means = checked_prior(single, item_mean, truth_sd, likelihood)
        tree = sample_effects(
            single, means, likelihood, prior, annotator_effects, shape, ci_prob, keep_item_means, options
        )
    elif engine == "exact":
        tree = exact_tree(ratings, problem, shape, ci_prob, keep_item_means, options)
    else:
        raise InputError(f"engine={engine!r} is not 'exact' or 'nuts'")
    found = limits.Interval.of(tree)
    claim = decision(found.lower, found.upper)
    if annotator_effects == "none":
        supported = limits.supported_decision(problem, claim, ci_prob)
        limits.warn_of_binning(ratings, found)
    else:

        def refit(other: Ratings, truth: ItemMean, kind: Kind) -> xr.DataTree:
            means = checked_prior(other, truth, truth_sd, kind)
            return sample_effects(other, means, kind, prior, annotator_effects, shape, ci_prob, False, options)

        single = problem.single_ratings("annotator_effects")
        supported = limits.supported_with_levels(single, likelihood, claim, item_mean, refit)
    tree["agreement"].attrs |= interval | {"decision": supported}
    return tree


@checked
def common_agreement_model(
    ratings: Ratings,
    *,
    item_mean: ItemMean | Callable[[], Any] = "hierarchical",
    truth_sd: float | None = None,
    likelihood: Kind = "binned",
    annotator_effects: AnnotatorEffects = "none",
    prior: AgreementPrior | None = None,
    phi: Callable[[], Any] | None = None,
    mean: Callable[[Any, Any, Any], Any] | None = None,
    precision: Callable[[Any, Any, Any], Any] | None = None,
    collapsed: bool = False,
) -> "pm.Model":
    """Return the common-agreement model in PyMC, to sample it, replace a part of it or join it with another model.

    Parameters
    ----------
    ratings, truth_sd, annotator_effects, prior
        As `common_agreement`, which has the same posterior.
    likelihood
        As there, one reading of the answers at the ends: NUTS does not go from one to the other, so that ``"averaged"``
        is two models.
    item_mean
        As there, or a function without arguments that returns the item means on (0, 1), one per item: with covariates
        of the items, say. It is called inside the model, as are the following.
    phi
        Function without arguments that returns Phi, a random variable or an expression: one number, or one for each
        group, say, of which `precision` takes the right one.
    mean
        Function of the mean of the item, the number of the item and that of the annotator, each symbolic with one
        entry per annotation, that returns the mean of the annotation on (0, 1).
    precision
        Function of the precision of `phi`, the number of the item and that of the annotator that returns the
        precision of each annotation.
    collapsed
        Whether the item means are integrated out, by quadrature once for each distinct pattern of ratings: three
        variables to sample in place of one an item. For levels (`step`), hierarchical or flat means and no parts of
        one's own but `prior`; the model then has no `item_mean` and no `rating`.

    Returns
    -------
    pymc.Model
        `phi` (where its prior is not uniform, `phi_share` = (1 + Phi) / 2 is the free variable), `precision`,
        `item_mean` (item) in units of the scale and `unit_item_mean` on (0, 1), with hierarchical means `mean_location`
        and `mean_spread`, with annotator effects `annotator_shift` (annotator) and `annotator_shift_sd`. Coordinates
        item and annotator have the names of the ratings; `item_of_annotation`, `annotator_of_annotation` and
        `observed_rating` are data. One row of `rating` is one observed rating (1-D, so that posterior predictive checks
        and LOO work), in units of the scale where it has levels, otherwise on (0, 1). ``pymc.sample_prior_predictive``
        works under all priors; a mean or a continuous rating nearer to an end than floats can tell is drawn as that
        end.

    Raises
    ------
    InputError
        As `common_agreement`.

    See Also
    --------
    common_agreement : the exact engine, and NUTS draws of this model.
    integrated_log_likelihood : to compare a model of one's own with ours.

    References
    ----------
    Checco et al., "Let's agree to disagree", HCOMP 2017, section 4.2, doi:10.1609/hcomp.v5i1.13306.

    Examples
    --------
    >>> ratings = Ratings.from_matrix([[4, 4, 5], [1, 2, 1]], scale=(1, 5), step=1)
    >>> [v.name for v in common_agreement_model(ratings).free_RVs]
    ['phi', 'mean_location', 'mean_spread', 'unit_item_mean']
    """
    own_means = item_mean if callable(item_mean) else None
    means = checked_prior(ratings, "hierarchical" if callable(item_mean) else item_mean, truth_sd, likelihood)
    if likelihood == "averaged":
        raise InputError(
            "likelihood='averaged' is two models: build 'binned' and 'inflated', or common_agreement(engine='nuts')"
        )
    check_effects(annotator_effects, ratings, likelihood)
    if collapsed:
        if any((callable(item_mean), phi, mean, precision)) or not parts.collapsible(ratings, means, annotator_effects):
            raise InputError(
                "collapsed=True is for ratings on levels, hierarchical or flat item means, no annotator effects and no "
                "functions of one's own"
            )
        return parts.build_collapsed_model(collapse(ratings), means, likelihood, prior or AgreementPrior())
    return parts.build_model(
        ratings, means, likelihood, annotator_effects, prior or AgreementPrior(),
        parts.OwnParts(phi, own_means, mean, precision),
    )  # fmt: skip


def _sampled_tree(
    ratings: Ratings,
    problem: Problem,
    given: dict[str, Any],
    shape: tuple[int, int],
    ci_prob: float,
    keep_item_means: bool,
    sampler: Mapping[str, Any] | None,
    options: dict[str, Any],
) -> xr.DataTree:
    """Return NUTS draws of the model, of averaged readings of both models mixed by the exact engine's evidence."""
    means = checked_prior(ratings, given["item_mean"], given["truth_sd"], problem.kind)
    collapsed = not keep_item_means and parts.collapsible(ratings, means, given["annotator_effects"])

    def sampled(kind: Kind) -> xr.DataTree:
        model = common_agreement_model(ratings, likelihood=kind, collapsed=collapsed, **given)
        return parts.sample_tree(model, shape, ci_prob, keep_item_means, sampler, options)

    if options["settings"]["likelihood"] != "averaged":
        return sampled(problem.kind)
    joint = joint_posterior(problem.means, problem.kind)
    outright = np.random.default_rng(seed_sequence(options["seed"])).random(shape) < joint.prob_inflated
    trees = sampled("binned"), sampled("inflated") if joint.inflated is not None else None
    return parts.mixed_tree(*trees, outright, joint.prob_inflated, ci_prob)
