"""The posterior of strengths from comparisons, with ties, order and annotators."""

from dataclasses import asdict
from typing import Literal

import numpy as np
import xarray as xr

from bayesagree._types import Advance, Floats, Named, silent
from bayesagree.annotations.comparisons import Comparisons
from bayesagree.comparisons._cells import cells_of, outcome_probabilities
from bayesagree.comparisons._density import Density, form_of
from bayesagree.comparisons.model import model_of
from bayesagree.comparisons.prior import DavidsonPrior
from bayesagree.errors import one_of, positive_int, shorten, warn
from bayesagree.inference.convergence import diagnostics, warn_of_numbers
from bayesagree.inference.nuts import Sampler, sample_nuts
from bayesagree.inference.results import check_size, result_tree
from bayesagree.inference.streams import Seed, one_blas_thread, seed_sequence
from bayesagree.io.doors import as_annotations

Requested = Literal["auto", "common", "annotator"] | None

# Parameters of a result and their dims beside chain and draw.
SCALES = ("average_tie", "average_order", "strength_sd", "item_sd", "tie_sd", "order_sd", "discrimination_sd")
AXES: dict[str, tuple[str, ...]] = {
    "strength": ("model",),
    "tie": ("annotator",),
    "order": ("annotator",),
    "discrimination": ("annotator",),
    **dict.fromkeys(SCALES, ()),
}
# Points of the average model, and points for each unit of log odds, as chess and arenas count them.
ARENA_MEAN, ARENA_POINTS = 1000.0, 400 / np.log(10)


@one_blas_thread()
def davidson(
    comparisons: Comparisons,
    *,
    prior: DavidsonPrior | None = None,
    ties: Requested = "auto",
    order: Requested = "auto",
    discrimination: Requested = "auto",
    item_effects: bool = False,
    draws: int = 1000,
    chains: int = 4,
    random_seed: Seed = None,
    engine: Literal["hmc", "nuts"] = "hmc",
    sampler: Sampler = None,
    progress: Advance = silent,
) -> xr.DataTree:
    """Posterior of each model's strength from comparisons with ties.

    The first of two models i, j wins, the second wins, or they tie, with log odds that are linear in the difference of
    their strengths, s_i - s_j, times the discrimination of the annotator, plus the advantage of the first place: with
    this sum d they have weights e^(d/2), e^(-d/2) and nu. Two equal models tie with probability nu / (2 + nu).

    Parameters
    ----------
    comparisons
        Who won against whom. What an annotator compared again, in one order on one item, weighs by how far the
        outcomes agree: m that are alike are one, m that agree by chance are m.
    ties, order, discrimination
        None: no such effect; "common": one for all annotators; "annotator": each has their own, around a common mean;
        "auto": each of 2 to 300 annotators has their own where they made ten comparisons on average, else one for all;
        ``attrs["settings"]`` names them. One discrimination for all is the scale of the strengths, so that "common" is
        None.
    item_effects
        Whether a model's strength varies over items: comparisons of one pair on one item then are not independent.
        Up to 3,000 strengths of a model on an item; "auto" then leaves discriminations out: chains with both mix
        slowly, and need several thousand draws.
    prior
        By default `DavidsonPrior()`.
    draws, chains
        Draws kept per chain, number of chains.
    random_seed
        Same seed, same draws.
    engine
        ``"hmc"``: Hamiltonian Monte Carlo on counts; ``"nuts"`` samples `davidson_model`.
    sampler
        Further arguments of `pymc.sample`.
    progress
        Called with the number of new draws of ``"hmc"``: chains x draws or a few more in all.

    Returns
    -------
    DataTree
        ``posterior``: ``strength`` (chain, draw, model), log odds in a neutral order, centred in every draw;
        ``arena``, the same as points of an arena, 1000 + 400 / log(10) strength; ``win_probability``
        (chain, draw, model, other_model), of the average annotator, a tie counting one half; ``win_rate``
        (chain, draw, model), its mean over the other models; where the model has them ``tie``, the log of nu,
        ``order``, the log odds that the first place adds, both by annotator or common, with ``average_tie`` and
        ``average_order``; ``discrimination`` (chain, draw, annotator), with geometric mean 1. ``diagnostics``:
        ``r_hat``, ``ess`` of the strengths, and of every other parameter under its name, such as ``tie_r_hat``.
        ``components``: ``component`` (model): which models are linked by comparisons, and the number of each model's
        ``comparisons``.

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
    (1970).

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"left": list("AABBC") * 6, "right": list("BCCAA") * 6, "winner": list("AABAA") * 6})
    >>> tree = davidson(Comparisons.from_long(table), draws=200, chains=2, random_seed=1)
    >>> tree["posterior"]["strength"].mean(("chain", "draw")).idxmax().item()
    'A'
    """
    comparisons = as_annotations(comparisons, (Comparisons,), "comparisons")
    one_of(engine, "engine", ("hmc", "nuts"))
    prior = prior or DavidsonPrior()
    requested = {"ties": ties, "order": order, "discrimination": discrimination}
    form = form_of(comparisons, requested, item_effects)
    sizes = {"chain": positive_int(chains, "chains"), "draw": positive_int(draws, "draws")}
    n_models = comparisons.models.size
    check_size(sizes | {"model": n_models, "other_model": n_models}, 8, "use fewer draws")
    _warn_unlinked(comparisons)
    density = Density(cells_of(comparisons, **form.cells), form, prior)
    program = ""
    found: Named
    if engine == "nuts":
        sampled = sample_nuts(
            model_of(density, comparisons), draws=draws, chains=chains, random_seed=random_seed, sampler=sampler
        )
        found = {str(name): values.values for name, values in sampled["posterior"].data_vars.items()}
        program = sampled.attrs["sampler"]
    else:
        start = density.start()
        density.recentred(start)
        rng = np.random.default_rng(seed_sequence(random_seed))
        found = density.variables(density.sample(start, draws, chains, rng, progress))
    posterior = {}
    checks = {}
    for name, axes in AXES.items():
        if name in found:
            dims = axes[: found[name].ndim - 2]
            posterior[name] = (("chain", "draw", *dims), found[name])
            prefix = "" if name == "strength" else f"{name}_"
            values = diagnostics(found[name] if dims else found[name][..., None])
            checks |= {
                f"{prefix}{key}": (dims, v if dims else v[0]) for key, v in zip(("r_hat", "ess"), values)
            }
    odds = np.exp(found["average_tie"]) if form.ties else np.zeros((chains, draws))
    win = _win_probability(found["strength"], odds)
    of_model = ("chain", "draw", "model")
    posterior["arena"] = of_model, ARENA_MEAN + ARENA_POINTS * found["strength"]
    posterior["win_rate"] = of_model, (win.sum(axis=-1) - 0.5) / (n_models - 1)
    posterior["win_probability"] = (*of_model, "other_model"), win
    slow = ", or leave out discrimination or item_effects" if form.item_effects and form.discrimination else ""
    warn_of_numbers({name: found[name] for name in AXES if name in found}, f"raise draws={draws}{slow}")
    linked = comparisons.components()[["component", "comparisons"]]
    parts = {str(name): (("model",), values.to_numpy()) for name, values in linked.items()}
    coords = dict.fromkeys(("model", "other_model"), comparisons.models) | {"annotator": comparisons.annotators}
    settings = form._asdict() | {"prior": asdict(prior)}
    how = {"engine": engine, "sampler": program, "random_seed": random_seed, "settings": settings}
    groups = {"posterior": posterior, "diagnostics": checks, "components": parts}
    return result_tree(groups, coords, model="davidson", **how)


def _win_probability(strength: Floats, odds: Floats) -> Floats:
    """Return the probability that the first of each pair wins in a neutral order, (chain, draw, model, model)."""
    out = np.empty((*strength.shape, strength.shape[-1]))
    for m in range(strength.shape[-1]):
        win, _, tie = outcome_probabilities(strength[..., m : m + 1] - strength, odds[..., None])
        out[..., m, :] = win + tie / 2
    return out


def _warn_unlinked(comparisons: Comparisons) -> None:
    parts = [shorten(part["model"], 3) for _, part in comparisons.components().groupby("component")]
    if len(parts) > 1:
        warn(
            f"no comparison links the {len(parts)} components ({'; '.join(parts[:5])}): only the prior compares models "
            "of two components; collect comparisons between them (Comparisons.components() lists them)"
        )
