"""Draws of the package's PyMC models by the No-U-Turn sampler."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import xarray as xr

from bayesagree.errors import InputError
from bayesagree.inference.streams import Seed, n_threads, seed_sequence

if TYPE_CHECKING:
    import pymc as pm

# Further arguments of `pymc.sample`, for instance ``{"target_accept": 0.95}``.
Sampler = Mapping[str, Any] | None

# Arguments of `pymc.sample` that the package sets.
OURS = ("draws", "chains", "random_seed", "model", "return_inferencedata")

_DEFAULTS: dict[str, Any] = {"nuts_sampler": "pymc", "progressbar": False, "quiet": True}


def sample_nuts(
    model: "pm.Model",
    *,
    draws: int,
    chains: int,
    tune: int | None = None,
    random_seed: Seed,
    sampler: Sampler = None,
) -> xr.DataTree:
    """Sample a model, quietly, on all processors; ``attrs["sampler"]`` names the program that drew.

    Parameters
    ----------
    model
        A PyMC model.
    draws, chains, tune
        Draws kept per chain, number of chains, and steps before the first draw (by default PyMC's own 1000).
    random_seed
        Same seed, same draws.
    sampler
        Further arguments of `pymc.sample`. The sampler is PyMC's own wherever it runs, so that a seed means the same
        draws everywhere; ``{"nuts_sampler": "nutpie"}`` asks for another.
    """
    import pymc as pm

    chosen: dict[str, Any] = _DEFAULTS | {"cores": min(chains, n_threads())}
    chosen |= dict(sampler or {})
    if taken := [name for name in OURS if name in chosen]:
        raise InputError(
            f"sampler={dict(sampler or {})!r}: {taken[0]} is an argument of its own; leave it out there"
        )
    if tune is not None:
        chosen["tune"] = tune
    with model:
        tree = pm.sample(
            draws,
            chains=chains,
            random_seed=[int(word) for word in seed_sequence(random_seed).generate_state(chains)],
            **chosen,
        )
    made_by = tree["posterior"].attrs
    tree.attrs["sampler"] = f"{made_by['inference_library']} {made_by['inference_library_version']}"
    return tree


def sampler_stats(sampled: xr.DataTree) -> xr.Dataset:
    """Return the sampler's numbers of each draw, dims (chain, draw): divergences, energy, step size and the others."""
    stats = sampled["sample_stats"].to_dataset()
    return stats[
        [name for name, of in stats.items() if of.dims == ("chain", "draw") and of.dtype.kind in "biuf"]
    ]
