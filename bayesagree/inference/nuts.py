"""Draws of the package's PyMC models by the No-U-Turn sampler."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import xarray as xr

from bayesagree.inference.streams import Seed, n_threads, seed_sequence

if TYPE_CHECKING:
    import pymc as pm

# Further arguments of `pymc.sample`, for instance ``{"target_accept": 0.95}``.
Sampler = Mapping[str, Any] | None


def sample_nuts(
    model: "pm.Model", *, draws: int, chains: int, random_seed: Seed, sampler: Sampler = None
) -> xr.DataTree:
    """Sample a model, quietly, on all processors; ``attrs["sampler"]`` names the program that drew.

    The sampler is PyMC's own wherever it runs, so that a seed means the same draws everywhere;
    ``{"nuts_sampler": "nutpie"}`` asks for another.
    """
    import pymc as pm

    how: dict[str, Any] = {"nuts_sampler": "pymc", "progressbar": False, "quiet": True}
    how |= {"cores": min(chains, n_threads()), "model": model, **(sampler or {})}
    seeds = [int(word) for word in seed_sequence(random_seed).generate_state(chains)]
    tree = pm.sample(draws, chains=chains, random_seed=seeds, **how)
    made_by = tree["posterior"].attrs
    tree.attrs["sampler"] = f"{made_by['inference_library']} {made_by['inference_library_version']}"
    return tree
