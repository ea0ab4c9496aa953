"""The posterior of strengths from comparisons, with ties, order and annotators."""

import warnings
from dataclasses import asdict
from typing import Any, Literal

import numpy as np
import xarray as xr

from bayesagree._inference.arguments import checked
from bayesagree._inference.nuts import Sampler, sample_nuts
from bayesagree._inference.results import MAX_BYTES, check_size, result_tree
from bayesagree._inference.streams import Seed, map_blocks, seed_sequence
from bayesagree._numerics.types import Floats
from bayesagree.annotations.comparisons import Comparisons
from bayesagree.comparisons._cells import Likelihood, cells_of, outcome_probabilities
from bayesagree.comparisons._density import DavidsonPrior, Density
from bayesagree.comparisons._selection import checked_form, choose_form
from bayesagree.comparisons.model import model_of
from bayesagree.draws.convergence import ENOUGH_DRAWS, R_HAT_LIMIT, diagnostics
from bayesagree.errors import InputError, positive_int, shorten

type Requested = Literal["auto", "common", "annotator"] | None

AXES = {
    "strength": ("model",),
    "tie": ("annotator",),
    "order": ("annotator",),
    "discrimination": ("annotator",),
    "covariate_effect": ("covariate",),
}


@checked
def davidson(
    comparisons: Comparisons,
    *,
    likelihood: Likelihood = "davidson",
    prior: DavidsonPrior | None = None,
    ties: Requested = "auto",
    order: Requested = "auto",
    discrimination: Requested = "auto",
    item_effects: bool = False,
    draws: int = 1000,
    chains: int = 4,
    seed: Seed = None,
    engine: Literal["hmc", "nuts"] = "hmc",
    sampler: Sampler = None,
) -> xr.DataTree:
    """Posterior of each model's strength from comparisons with ties.

    The first of two models i, j wins, the second wins, or they tie, with log odds that are linear in the difference of
    their strengths, s_i - s_j, times the discrimination of the annotator, plus the advantage of the first place; nu is
    how readily an annotator calls a tie.

    Parameters
    ----------
    comparisons
        Who won against whom.
    ties, order, discrimination
        None: no such effect; "common": one for all annotators; "annotator": each has their own, around a common mean;
        "auto": what predicts held-out comparisons best, named in ``attrs["settings"]``. One discrimination for all
        is the scale of the strengths, so that "common" is None.
    item_effects
        Whether a model's strength varies over items: comparisons of one pair on one item then are not independent.
    likelihood
        ``"davidson"``: weights e^(d/2), e^(-d/2) and nu. ``"rao_kupper"``: a tie where a logistic difference is within
        a threshold log(1 + nu). Either way two equal models tie with probability nu / (2 + nu).
    prior
        By default `DavidsonPrior()`.
    draws, chains
        Draws kept per chain, number of chains.
    seed
        Same seed, same draws.
    engine
        ``"hmc"``: Hamiltonian Monte Carlo on counts; ``"nuts"`` samples `davidson_model`.
    sampler
        Further arguments of `pymc.sample`.

    Returns
    -------
    DataTree
        ``posterior``: ``strength`` (chain, draw, model), log odds in a neutral order, centred in every draw;
        ``win_probability`` (chain, draw, model, other_model), of the average annotator, a tie counting one half;
        where the model has them ``tie``, the log of nu, ``order``, the log odds that the first place adds, both by
        annotator or common; ``discrimination`` (chain, draw, annotator), with geometric mean 1; ``covariate_effect``
        (chain, draw, covariate). ``diagnostics``: ``r_hat``, ``ess`` of the strengths. ``components``: ``component``
        (model): which models are linked by comparisons.

    Raises
    ------
    InputError
        Effects of annotators or items that are unknown, ties without a tie effect.

    Warns
    -----
    UserWarning
        Models that no chain of comparisons links: only the prior compares them.

    References
    ----------
    Davidson, "On extending the Bradley-Terry model to accommodate ties in paired comparison experiments", JASA 65
    (1970); Rao and Kupper, "Ties in paired-comparison experiments", JASA 62 (1967).

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"left": list("AABBC") * 6, "right": list("BCCAA") * 6, "winner": list("AABAA") * 6})
    >>> tree = davidson(Comparisons.from_long(table), draws=200, chains=2, seed=1)
    >>> tree["posterior"]["strength"].mean(("chain", "draw")).idxmax().item()
    'A'
    """
    positive_int(draws, "draws")
    positive_int(chains, "chains")
    if engine not in ("hmc", "nuts"):
        raise InputError(f"engine={engine!r} is not one of 'hmc', 'nuts'")
    prior = prior or DavidsonPrior()
    requested = {"ties": ties, "order": order, "discrimination": discrimination}
    form, scores = checked_form(comparisons, requested, item_effects, likelihood), {}
    sizes = {"chain": chains, "draw": draws, "model": comparisons.models.size, "other_model": comparisons.models.size}
    check_size(sizes, 8, MAX_BYTES, "use fewer draws")
    _warn_unlinked(comparisons)
    # A copy: a SeedSequence counts its children, and a second call would get others.
    root = seed_sequence(seed)
    root = np.random.SeedSequence(root.entropy, spawn_key=root.spawn_key)
    if "auto" in requested.values():
        form, scores = choose_form(comparisons, form, requested, prior, root)
    cells, _ = cells_of(comparisons, oriented=form.order is not None, by_item=form.item_effects)
    density, program = Density(cells, form, prior), ""
    found: dict[str, Any]
    if engine == "nuts":
        sampled = sample_nuts(model_of(density, comparisons), draws=draws, chains=chains, seed=root, sampler=sampler)
        found = {str(name): values.values for name, values in sampled["posterior"].data_vars.items()}
        program = sampled.attrs["sampler"]
    else:
        start = density.start()
        units, _ = density.units(start)
        streams = [np.random.Generator(np.random.SFC64(stream)) for stream in root.spawn(chains)]
        points = np.array(list(map_blocks(lambda rng: density.sample(start, units, draws, rng), streams)))
        found = _natural(density, points)
    posterior: dict[str, Any] = {}
    for name, axes in AXES.items():
        if name in found:
            posterior[name] = (("chain", "draw", *axes[: found[name].ndim - 2]), found[name])
    odds = np.exp(found["average_tie"]) if form.ties else np.zeros((chains, draws))
    win = _win_probability(found["strength"], odds, likelihood)
    posterior["win_probability"] = (("chain", "draw", "model", "other_model"), win)
    for name in density.scale_prior:
        posterior[name] = (("chain", "draw"), found[name])
    r_hat, ess = diagnostics(found["strength"])
    if draws >= ENOUGH_DRAWS and (r_hat > R_HAT_LIMIT).any():
        warnings.warn(
            f"strengths of {shorten(comparisons.models[r_hat > R_HAT_LIMIT])} have not converged (r_hat up to "
            f"{np.nanmax(r_hat):.2f}, limit {R_HAT_LIMIT}); raise draws={draws}",
            UserWarning,
            stacklevel=3,
        )
    groups = {
        "posterior": posterior,
        "diagnostics": {"r_hat": (("model",), r_hat), "ess": (("model",), ess)},
        "components": {"component": (("model",), comparisons.components()["component"].to_numpy())},
    }
    coords = {"model": comparisons.models, "other_model": comparisons.models, "annotator": comparisons.annotators}
    settings = form._asdict() | {"prior": asdict(prior)} | ({"held_out_log_score": scores} if scores else {})
    return result_tree(
        groups, coords | {"covariate": comparisons.covariates}, model="davidson", engine=engine, sampler=program,
        seed=seed, settings=settings,
    )  # fmt: skip


def _natural(density: Density, points: Floats) -> dict[str, Floats]:
    """Return the variables of the result from points (chain, draw, parameter)."""
    rows: dict[str, list[Any]] = {}
    for point in points.reshape(-1, points.shape[-1]):
        for name, value in density.variables(point).items():
            rows.setdefault(name, []).append(value)
    return {name: np.array(values).reshape(*points.shape[:2], *np.shape(values[0])) for name, values in rows.items()}


def _win_probability(strength: Floats, odds: Floats, likelihood: Likelihood) -> Floats:
    """Return the probability that the first of each pair wins in a neutral order, (chain, draw, model, model)."""
    n = strength.shape[-1]
    out = np.full((*strength.shape, n), 0.5)
    for m in range(n):
        distance = strength[..., m : m + 1] - strength[..., m + 1 :]
        win, _, tie = outcome_probabilities(distance, odds[..., None], likelihood)
        out[..., m, m + 1 :] = win + tie / 2
        out[..., m + 1 :, m] = 1 - out[..., m, m + 1 :]
    return out


def _warn_unlinked(comparisons: Comparisons) -> None:
    table = comparisons.components()
    if comparisons.overview()["components"] > 1:
        parts = [shorten(part["model"], 3) for _, part in table.groupby("component")]
        warnings.warn(
            f"no comparison links the {len(parts)} components ({'; '.join(parts[:5])}): only the prior compares models "
            "of two components; collect comparisons between them (Comparisons.components() lists them)",
            UserWarning,
            stacklevel=4,
        )
