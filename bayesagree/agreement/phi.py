"""Common agreement Phi (Checco et al. 2017): one number in (-1, 1) for the agreement of annotators on a bounded scale.

    x_ij ~ Beta(mu_i p, (1 - mu_i) p),    Phi = 1 - 2^(1 - p/2)

Phi = 1: equal ratings of every item; 0: ratings as if uniformly at random; -1: two camps at the two ends. Every item
has its own mean mu_i, all share the precision p. `common_agreement` integrates the means out by quadrature and draws
the other parameters by adaptive importance sampling; `common_agreement_model` is the same model in PyMC.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import xarray as xr

from bayesagree._types import SAMPLE, Advance, Named, silent
from bayesagree.agreement import limits
from bayesagree.agreement import model as parts
from bayesagree.agreement._phi.likelihood import Kind
from bayesagree.agreement._phi.posterior import draw_item_means, joint_posterior, phi_of
from bayesagree.agreement._phi.problem import ItemMean, Problem, checked_prior, prepare
from bayesagree.agreement.annotator_effects import HYPER, AnnotatorEffects, check_effects, warn_of_levels
from bayesagree.agreement.summary import decision
from bayesagree.annotations import Ratings
from bayesagree.errors import InputError, one_of, positive_int, probability
from bayesagree.inference.results import result_tree
from bayesagree.inference.streams import Seed, seed_sequence
from bayesagree.io.doors import as_annotations

if TYPE_CHECKING:
    import pymc as pm

# What makes another mean or precision of each annotation from it, its item and its annotator.
Change = Callable[[Any, Any, Any], Any] | None


def common_agreement(
    ratings: Ratings,
    *,
    scale: tuple[float, float] | None = None,
    item_mean: ItemMean = "hierarchical",
    truth_sd: float | None = None,
    likelihood: Kind = "averaged",
    annotator_effects: AnnotatorEffects = "none",
    ci_prob: float = 0.95,
    draws: int = 1000,
    chains: int = 4,
    random_seed: Seed = None,
    engine: Literal["exact", "nuts"] = "exact",
    sampler: Mapping[str, Any] | None = None,
    keep_item_means: bool = False,
    progress: Advance = silent,
) -> xr.DataTree:
    """Estimate the common agreement Phi of ratings on a bounded scale.

    Phi, m and s are uniform, the standard deviation of annotators' levels is half-normal; other priors stand in
    `common_agreement_model`.

    Parameters
    ----------
    ratings
        Ratings on a bounded scale; or their table or file, as `read_annotations` reads it.
    scale
        Lowest and highest possible rating, for a table or a file.
    item_mean
        Prior of the item means: ``"hierarchical"`` (one Beta distribution for all items), ``"flat"`` (the paper's,
        biased to agreement below five ratings per item), or a mapping item -> known truth in units of the scale.
    truth_sd
        Standard deviation of the known truths in units of the scale, by default a tenth of its length.
    likelihood
        How an answer is read: ``"binned"``, a level is an interval; ``"inflated"``, an answer at an end of the scale
        may also be no judgment; ``"averaged"``, both of these weighted by their evidence. Continuous ratings
        inside the scale have a density.
    annotator_effects
        ``"none"`` or ``"shift"`` (strict and lenient annotators). Phi is then the agreement
        that is left once the annotators' levels are removed, with the likelihood ``"binned"``. PyMC draws it by NUTS,
        which takes longer: half a minute to some minutes for a hundred items.
    ci_prob
        Probability of the interval.
    draws, chains, random_seed
        Draws of the posterior; same seed, same draws.
    engine
        ``"exact"``: quadrature over the item means and importance sampling. ``"nuts"``: PyMC, always with annotator
        effects; it samples one reading of answers at the ends, not ``"averaged"``.
    sampler
        Further arguments of `pymc.sample` for NUTS, such as ``{"target_accept": 0.95}``.
    keep_item_means
        Whether to draw the item means as well (the exact engine integrates them out).
    progress
        Called with the number of new values of the parameters at which the exact engine has found the likelihood:
        4,000 to 20,000 in all, for each reading of answers at the ends. NUTS shows its own by
        ``sampler={"progressbar": True}``.

    Returns
    -------
    DataTree
        ``posterior``: `phi` (chain, draw) and the other parameters of the model. ``agreement``: `mean`, `sd`, `lower`
        and `upper` (HDI), `prob_positive` and, from the exact engine, `share_at_ends`, `prob_inflated`, `log_evidence`
        and its error, `effective_draws` and Pareto's `k_hat` (reliable below .7); its attribute `decision` is
        agreement, disagreement or undecided. The page "Agreement" of the concepts explains each.

    Raises
    ------
    InputError
        Repeated (item, annotator) pairs, unknown options, a truth outside the scale or of an unknown item.
    ConvergenceError
        An item's likelihood is too narrow for the quadrature, or fewer than 50 draws of the importance sampling are
        effective.

    Warns
    -----
    UserWarning
        Where the paper's limits apply, Phi or its sign depends on how answers at the ends are read, or `step` is
        missing.

    See Also
    --------
    common_agreement_model, agreement_table, phi_summary, item_fit

    References
    ----------
    Checco et al., "Let's agree to disagree", HCOMP 2017, sections 4.2-4.7, doi:10.1609/hcomp.v5i1.13306.

    Examples
    --------
    >>> ratings = Ratings.from_matrix([[4, 4, 5, 4, 4], [1, 2, 1, 1, 2], [3, 3, 3, 4, 3]], scale=(1, 5), step=1)
    >>> tree = common_agreement(ratings, random_seed=1)
    >>> tree["agreement"].attrs["decision"], round(float(tree["agreement"]["mean"]), 2)
    ('agreement', 0.87)
    """
    ratings = as_annotations(ratings, (Ratings,), "ratings", scale=scale)
    probability(ci_prob, "ci_prob")
    shape = positive_int(chains, "chains"), positive_int(draws, "draws")
    if annotator_effects != "none" and likelihood == "averaged":
        likelihood = "binned"  # outright ends are not modelled together with annotators' levels
    check_effects(annotator_effects, ratings, likelihood)
    engine = "nuts" if annotator_effects != "none" else one_of(engine, "engine", ("exact", "nuts"))
    problem = prepare(ratings, item_mean=item_mean, truth_sd=truth_sd, likelihood=likelihood)
    limits.warn_of_few(ratings, problem, item_mean)
    if annotator_effects == "none":
        warn_of_levels(ratings)
    # Settings are JSON, whose keys are text.
    known = item_mean if isinstance(item_mean, str) else {str(k): float(v) for k, v in item_mean.items()}
    interval = {"ci_kind": "hdi", "ci_prob": ci_prob}
    settings = {"item_mean": known, "truth_sd": truth_sd, "likelihood": likelihood} | interval
    settings |= {"annotator_effects": annotator_effects}
    drawn = "importance" if engine == "exact" else engine
    options = {"model": "common_agreement", "engine": drawn, "random_seed": random_seed, "settings": settings}
    if engine == "nuts":
        model = common_agreement_model(
            ratings,
            item_mean=item_mean,
            truth_sd=truth_sd,
            likelihood=problem.kind,
            annotator_effects=annotator_effects,
        )
        tree = parts.sample_tree(model, shape, ci_prob, sampler, options, keep_item_means=keep_item_means)
    else:
        tree = _exact_tree(problem, shape, ci_prob, options, progress, keep_item_means=keep_item_means)
    agreement = tree["agreement"].to_dataset()
    claim = decision(*(float(agreement[end]) for end in ("lower", "upper")))
    claim = limits.supported_decision(problem, claim, ci_prob, plain=annotator_effects == "none")
    tree["agreement"].attrs |= interval | {"decision": claim}
    return tree


def common_agreement_model(
    ratings: Ratings,
    *,
    item_mean: ItemMean | Callable[[], Any] = "hierarchical",
    truth_sd: float | None = None,
    likelihood: Kind = "binned",
    annotator_effects: AnnotatorEffects = "none",
    phi: Callable[[], Any] | None = None,
    mean: Change = None,
    precision: Change = None,
) -> "pm.Model":
    """Build the common-agreement model in PyMC, to sample, change or extend.

    Parameters
    ----------
    ratings, truth_sd, annotator_effects
        As `common_agreement`, which has the same posterior.
    likelihood
        As there, one reading of the answers at the ends: NUTS cannot move between the two, so ``"averaged"`` needs two
        models.
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

    Returns
    -------
    pymc.Model
        `phi`, `precision`,
        `item_mean` (item) in units of the scale and `unit_item_mean` on (0, 1), with hierarchical means `mean_location`
        and `mean_spread`, with annotator effects `annotator_shift` (annotator) and `annotator_shift_sd`. Coordinates
        item and annotator have the names of the ratings; `item_of_annotation`, `annotator_of_annotation` and
        `observed_rating` are data. One row of `rating` is one observed rating (1-D, so that posterior predictive checks
        and LOO work), in units of the scale where it has levels, otherwise on (0, 1). ``pymc.sample_prior_predictive``
        works under all priors; a mean or a continuous rating nearer to an end than floats resolve is drawn as that
        end.

    Raises
    ------
    InputError
        As `common_agreement`.

    See Also
    --------
    common_agreement : the exact engine, and NUTS draws of this model.
    integrated_log_likelihood : to compare your own model with ours.

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
            "likelihood='averaged' is two models, and NUTS cannot move between them: pass likelihood='binned' or "
            "'inflated'"
        )
    check_effects(annotator_effects, ratings, likelihood)
    own = {"phi": phi, "item_mean": own_means, "mean": mean, "precision": precision}
    return parts.build_model(ratings, means, likelihood, annotator_effects, own)


def _exact_tree(
    problem: Problem,
    shape: tuple[int, int],
    ci_prob: float,
    options: Named,
    progress: Advance,
    *,
    keep_item_means: bool,
) -> xr.DataTree:
    """Return draws (chain, draw) from the engine's posterior, in the form of every result."""
    likelihood = options["settings"]["likelihood"]
    rng = np.random.default_rng(seed_sequence(options["random_seed"]))
    joint = joint_posterior(problem, progress)
    limits.warn_of_readings(joint)
    posterior = joint.phi
    drawn = posterior.draw(shape[0] * shape[1], rng)
    variables: Named = {"phi": (SAMPLE, phi_of(np.exp(drawn.y)).reshape(shape))}
    coords = {}
    if likelihood in parts.OUTRIGHT:
        variables |= {n: (SAMPLE, v.reshape(shape)) for n, v in zip(parts.END_SHARES, drawn.shares.T)}
    if drawn.hyper is not None:
        variables |= {n: (SAMPLE, v.reshape(shape)) for n, v in zip(HYPER, drawn.hyper.T)}
        limits.warn_of_misfits(problem, posterior, rng)
    if keep_item_means:
        low, high = problem.ratings.scale
        coords["item"] = problem.ratings.items[problem.patterns.pattern_of_item >= 0]
        means = low + (high - low) * draw_item_means(problem, drawn, rng)
        variables["item_mean"] = ((*SAMPLE, "item"), means.reshape(*shape, -1))
    summary = posterior.summary(ci_prob)._asdict()
    summary |= {name: getattr(posterior, name) for name in ("log_evidence", "log_evidence_error", "k_hat")}
    summary |= {
        "effective_draws": posterior.effective,
        "share_at_ends": limits.share_at_ends(problem),
        "bin_width": problem.like.bin_width,
    }
    if likelihood == "averaged":
        summary["prob_inflated"] = joint.prob_inflated
    groups = {
        "posterior": variables,
        "agreement": {name: ((), value) for name, value in summary.items()},
    }
    return result_tree(groups, coords, **options)
