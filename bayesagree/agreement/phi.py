"""Common agreement Phi (Checco et al. 2017): one number in (-1, 1) for how far annotators agree on a bounded scale.

    x_ij ~ Beta(mu_i p, (1 - mu_i) p),    Phi = 1 - 2^(1 - p/2)

Phi = 1: everybody gives the same rating of an item; 0: ratings as if uniformly at random; -1: two camps at the
two ends. Every item has its own mean mu_i, all share the precision p. `common_agreement` integrates the means out by
quadrature and draws Phi from its exact marginal posterior; `common_agreement_model` is the same model in PyMC.
"""

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import xarray as xr

from bayesagree._inference.results import result_tree
from bayesagree._inference.streams import Seed, seed_sequence
from bayesagree._numerics.intervals import hdi
from bayesagree.agreement._exact.draws import draw_hyper, draw_item_means
from bayesagree.agreement._exact.item_means import HierarchicalMeans
from bayesagree.agreement._exact.likelihood import Kind
from bayesagree.agreement._exact.maximum_likelihood import phi_maximum_likelihood
from bayesagree.agreement._exact.posterior import PhiPosterior, phi_of, phi_posterior
from bayesagree.agreement._exact.problem import ItemMean, Problem, check_options, known_truth, prepare
from bayesagree.agreement._limits import warn_of_limits, warn_of_two_ends
from bayesagree.agreement.model import AgreementPrior, build_model, sample_tree
from bayesagree.annotations import Ratings
from bayesagree.errors import InputError, positive_int
from bayesagree.patterns.patterns import RatingPatterns

if TYPE_CHECKING:
    import pymc as pm


def common_agreement(
    ratings: Ratings | RatingPatterns,
    *,
    item_mean: ItemMean = "hierarchical",
    truth_sd: float | None = None,
    likelihood: Kind = "binned",
    engine: Literal["exact", "nuts"] = "exact",
    draws: int = 1000,
    chains: int = 4,
    item_means: bool = False,
    seed: Seed = None,
) -> xr.DataTree:
    """Estimate how far annotators agree, with its posterior.

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
        ``"binned"``: a level m of M stands for the interval [m/M, (m + 1)/M); continuous ratings have the Beta density,
        or, where one sits on an end of the scale, stand for intervals as wide as the smallest gap between values,
        and no narrower than a millionth of the scale: values nearer to each other are read to that precision.
        ``"density"``: continuous ratings inside the scale only. ``"squeezed"``: the preprocessing of the code published
        with the paper, x -> (x (n - 1) + 1/2)/n with n ratings of the item; biased, for comparison with published
        numbers (5 ratings on 5 levels: 0.24 where Phi is 0, 0.65 where it is 0.5).
    engine
        ``"exact"``: quadrature and independent draws. ``"nuts"``: samples `common_agreement_model`.
    draws, chains
        Draws of the posterior.
    item_means
        Whether to draw the item means as well (the exact engine integrates them out).
    seed
        Seed or generator; same seed, same draws.

    Returns
    -------
    DataTree
        ``posterior``: `phi` (chain, draw), with hierarchical means `mean_location` m and `mean_spread` s on
        request, and
        `item_mean` (chain, draw, item) in units of the scale. ``agreement``: `mean`, `sd`, `lower` and `upper` (HDI
        0.95), `prob_positive` = Pr(Phi > 0), `map` (mode of the marginal posterior), `ml` (Phi and all item means
        maximising the likelihood together), `log_evidence` and the errors of the quadrature; its attribute `claim` is
        agreement, disagreement or undecided. ``density``: the posterior density of Phi on a grid.

    Raises
    ------
    InputError
        Repeated (item, annotator) pairs, unknown options, a truth outside the scale or of an unknown item.
    ConvergenceError
        The quadrature did not reach 1e-6 in the log marginal likelihood or 1e-4 in the ends of the interval.

    Warns
    -----
    UserWarning
        Where the paper's limits apply: flat means and fewer than five ratings an item, two levels, one item, item means
        piled up at the two ends of the scale.

    Examples
    --------
    >>> ratings = Ratings.from_matrix([[4, 4, 5, 4, 4], [1, 2, 1, 1, 2], [3, 3, 3, 4, 3]], scale=(1, 5), step=1)
    >>> tree = common_agreement(ratings, seed=1)
    >>> tree["agreement"].attrs["claim"], round(float(tree["agreement"]["mean"]), 2)
    ('agreement', 0.87)

    References
    ----------
    Checco, Roitero, Maddalena, Mizzaro, Demartini, "Let's agree to disagree: fixing agreement measures for
    crowdsourcing", HCOMP 2017, sections 4.2-4.7. The published code has a flat prior on p, improper in Phi; here Phi is
    uniform on (-1, 1). The hierarchical item mean is ours: it removes the bias of section 5.2.
    """
    draws, chains = positive_int(draws, "draws"), positive_int(chains, "chains")
    settings = _settings(item_mean, truth_sd, likelihood)
    problem = prepare(ratings, item_mean=item_mean, truth_sd=truth_sd, likelihood=likelihood)
    warn_of_limits(ratings, problem, item_mean)
    if engine == "nuts":
        single = _single(ratings, "engine='nuts'")
        model = common_agreement_model(single, item_mean=item_mean, truth_sd=truth_sd, likelihood=likelihood)
        return _with_claim(
            sample_tree(model, single, draws=draws, chains=chains, item_means=item_means, seed=seed, settings=settings)
        )
    if engine != "exact":
        raise InputError(f"engine={engine!r} is not 'exact' or 'nuts'")
    names = _single(ratings, "item_means=True").items if item_means else np.empty(0)
    posterior = phi_posterior(problem.means)
    rng = np.random.default_rng(seed_sequence(seed))
    y = posterior.draw(chains * draws, rng)
    variables: dict[str, Any] = {"phi": (("chain", "draw"), phi_of(np.exp(y)).reshape(chains, draws))}
    coords: dict[str, Any] = {}
    hyper = draw_hyper(problem.means, y, rng) if isinstance(problem.means, HierarchicalMeans) else None
    if hyper is not None:
        for name, value in zip(("mean_location", "mean_spread"), hyper):
            variables[name] = (("chain", "draw"), value.reshape(chains, draws))
        warn_of_two_ends(ratings, problem, y, hyper, rng)
    if item_means:
        coords["item"] = names[problem.patterns.pattern_of_item >= 0]
        means = draw_item_means(problem.means, problem.patterns, y, hyper, rng)
        low, high = ratings.scale
        variables["item_mean"] = (("chain", "draw", "item"), (low + (high - low) * means).reshape(chains, draws, -1))
    groups = {"posterior": variables} | _exact_groups(posterior, problem, coords)
    tree = result_tree(groups, coords, model="common_agreement", engine="exact", seed=seed, settings=settings)
    return _with_claim(tree)


def common_agreement_model(
    ratings: Ratings,
    *,
    item_mean: ItemMean = "hierarchical",
    truth_sd: float | None = None,
    likelihood: Kind = "binned",
    prior: AgreementPrior | None = None,
) -> "pm.Model":
    """Build the common-agreement model in PyMC, to sample it, change a prior or join it with another model.

    One row of `rating` is one observed rating (1-D, so that posterior predictive checks and LOO work); `phi`,
    `precision`, `item_mean` (item, on the unit scale), with hierarchical means `mean_location` and `mean_spread`. The
    options are those of `common_agreement`, which has the same posterior under the uniform priors that are the default;
    `prior` changes them (then `phi_share` = (1 + Phi) / 2 is the free variable of a Phi that is not uniform).
    ``pymc.sample_prior_predictive`` works under all of them; a mean or a continuous rating nearer to an end than floats
    can tell is drawn as that end.

    Raises
    ------
    InputError
        As `common_agreement`.

    Examples
    --------
    >>> ratings = Ratings.from_matrix([[4, 4, 5], [1, 2, 1]], scale=(1, 5), step=1)
    >>> [v.name for v in common_agreement_model(ratings).free_RVs]
    ['phi', 'mean_location', 'mean_spread', 'item_mean']
    """
    check_options(ratings, likelihood)
    truth, sd, group = known_truth(ratings, item_mean, truth_sd)
    hierarchical = isinstance(item_mean, str) and item_mean == "hierarchical"
    return build_model(
        ratings, truth, sd, group, hierarchical=hierarchical, kind=likelihood, prior=prior or AgreementPrior()
    )


def _exact_groups(posterior: PhiPosterior, problem: Problem, coords: dict[str, Any]) -> dict[str, Any]:
    summary = posterior.summary()
    scalars = {
        "mean": summary.mean, "sd": summary.sd, "lower": summary.lower, "upper": summary.upper, "map": summary.mode,
        "ml": phi_maximum_likelihood(problem.like), "prob_positive": summary.prob_positive,
        "log_evidence": posterior.log_evidence, "log_evidence_error": posterior.log_evidence_error,
        "interval_error": posterior.interval_error, "bin_width": problem.like.bin_width,
    }  # fmt: skip
    thin = slice(None, None, 10)
    coords["grid"] = posterior.phi[thin]
    return {
        "agreement": {name: ((), value) for name, value in scalars.items()},
        "density": {"density": (("grid",), posterior.phi_density()[thin])},
    }


def _single(ratings: Ratings | RatingPatterns, purpose: str) -> Ratings:
    if isinstance(ratings, Ratings):
        return ratings
    raise InputError(f"{purpose} needs the single ratings, which patterns do not keep; pass Ratings")


def _with_claim(tree: xr.DataTree) -> xr.DataTree:
    found = tree["agreement"].to_dataset()
    tree["agreement"].attrs |= {
        "ci_kind": "hdi",
        "ci_prob": 0.95,
        "claim": claim(float(found["lower"]), float(found["upper"])),
    }
    return tree


def claim(lower: float, upper: float) -> str:
    """Name what an interval of Phi lets one claim: agreement above 0, disagreement below, else undecided."""
    return "agreement" if lower > 0 else "disagreement" if upper < 0 else "undecided"


def phi_difference(first: xr.DataTree, second: xr.DataTree) -> xr.Dataset:
    """Compare two groups of annotators, or two rounds: the posterior of Phi_first - Phi_second.

    Parameters
    ----------
    first, second
        Results of `common_agreement` on different annotations (their posteriors are taken as independent).

    Returns
    -------
    Dataset
        `difference` (chain, draw), `mean`, `lower` and `upper` (HDI 0.95) and `prob_positive`.

    Raises
    ------
    InputError
        Different numbers of chains or draws.

    Examples
    --------
    >>> one = Ratings.from_matrix([[4, 4, 5, 4], [1, 2, 1, 1]], scale=(1, 5), step=1)
    >>> two = Ratings.from_matrix([[1, 4, 5, 2], [1, 5, 1, 4]], scale=(1, 5), step=1)
    >>> difference = phi_difference(common_agreement(one, seed=1), common_agreement(two, seed=2))
    >>> float(difference["prob_positive"]) > 0.9
    True
    """
    a, b = (tree["posterior"].to_dataset()["phi"] for tree in (first, second))
    if a.shape != b.shape:
        raise InputError(
            f"posteriors of {a.shape} and {b.shape} (chain, draw); use the same draws= and chains= for both"
        )
    difference = a.values - b.values
    low, high = hdi(difference)
    data = {
        "difference": (("chain", "draw"), difference), "mean": difference.mean(), "lower": low, "upper": high,
        "prob_positive": (difference > 0).mean(),
    }  # fmt: skip
    return xr.Dataset(data, attrs={"ci_kind": "hdi", "ci_prob": 0.95})


def _settings(item_mean: ItemMean, truth_sd: float | None, likelihood: str) -> dict[str, Any]:
    known = item_mean if isinstance(item_mean, str) else {str(k): float(v) for k, v in item_mean.items()}
    return {"item_mean": known, "truth_sd": truth_sd, "likelihood": likelihood, "ci_kind": "hdi", "ci_prob": 0.95}
