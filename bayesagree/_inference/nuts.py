"""Sampling a plausibility's PyMC model into the same result as its fast engine."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree._inference.results import result_tree
from bayesagree._inference.streams import Seed, n_threads, seed_sequence

if TYPE_CHECKING:
    import pymc as pm


def sample_nuts(
    model: "pm.Model", *, draws: int, chains: int, seed: Seed, sampler: Mapping[str, Any] | None = None
) -> xr.DataTree:
    """Run NUTS on a model of this package, quietly, on all processors; `sampler` holds arguments of `pymc.sample`."""
    import pymc as pm

    with model:
        return pm.sample(
            draws,
            chains=chains,
            cores=min(chains, n_threads()),
            random_seed=[int(w) for w in seed_sequence(seed).generate_state(chains)],
            progressbar=False,
            quiet=True,
            **(sampler or {}),
        )


def sample_plausibility(
    model: "pm.Model",
    concentration: NDArray[np.float64],
    *,
    name: str,
    draws: int,
    chains: int,
    seed: Seed,
    settings: Mapping[str, Any],
) -> xr.DataTree:
    """Sample a model whose plausibilities are Dirichlet a posteriori."""
    sampled = sample_nuts(model, draws=draws, chains=chains, seed=seed)
    posterior, stats = sampled["posterior"], sampled["sample_stats"]
    dims = ("chain", "draw", "item", "category")
    return result_tree(
        {
            "posterior": {"plausibility": (dims, posterior["plausibility"].values)},
            "sample_stats": {k: (("chain", "draw"), stats[k].values) for k in ("diverging", "energy", "step_size")},
            "constant_data": {"concentration": (("item", "category"), concentration)},
        },
        {"item": np.asarray(model.coords["item"]), "category": np.asarray(model.coords["category"])},
        model=name,
        engine="nuts",
        seed=seed,
        settings=settings,
    )
