"""Results: every posterior leaves the package as an `xarray.DataTree` that ArviZ reads."""

import json
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import numpy as np
import xarray as xr

from bayesagree._types import SAMPLE
from bayesagree.errors import InputError, SizeError

# How each engine draws.
INFERENCE = {
    "exact": "independent draws of the exact posterior",
    "importance": "adaptive importance sampling",
    "hmc": "Hamiltonian Monte Carlo",
    "slices": "elliptical slice sampling with jumps",
    "gibbs": "Gibbs sampling",
    "gibbs, weighted": "Gibbs sampling, draws weighted by the predictions",
    "nuts": "No-U-Turn sampling",
    "em": "maximum of the posterior by EM",
    "trace": "draws that were given",
}
# Largest result that is kept in memory, 4 GiB.
MAX_BYTES = 2**32


def result_tree(
    groups: Mapping[str, Mapping[str, Any]],
    coords: Mapping[str, Any],
    *,
    model: str,
    engine: str,
    sampler: str = "",
    random_seed: Any,
    settings: Mapping[str, Any],
) -> xr.DataTree:
    """Build a result from ``{group: {variable: (dims, values[, attrs])}}``; each group takes the coordinates it uses.

    `model` names what was fitted, `sampler` the program that drew, `engine` how (in words: ``attrs["inference"]``).
    attrs hold strings and numbers only (netCDF knows nothing else): settings and seed are JSON. The tree has them once,
    so that it prints its numbers early; what ArviZ expects of a group is in each of draws.
    """
    library = {"inference_library": "bayesagree", "inference_library_version": version("bayesagree")}
    attrs = {"model": model, "inference": INFERENCE.get(engine, engine), "sampler": sampler or engine}
    datasets = {}
    for group, variables in groups.items():
        data: Any = variables
        if not isinstance(data, xr.Dataset):
            data = xr.Dataset({name: variable(*given) for name, given in data.items()})
        names = {dim: np.arange(data.sizes[dim]) for dim in SAMPLE if dim in data.sizes} | {**coords}
        data = data.assign_coords({dim: variable(dim, names[dim]) for dim in names if dim in data.sizes})
        datasets[f"/{group}"] = data.assign_attrs(library if "draw" in data.sizes else {})
    tree = xr.DataTree.from_dict(datasets)
    tree.attrs.update(attrs | result_attrs(random_seed, settings))
    return tree


def variable(dims: Any, values: Any, attrs: Any = None) -> xr.Variable:
    """Return a variable without a look for arrays of Dask, which takes the time of its import."""
    return xr.Variable(dims, np.asarray(values), attrs or getattr(values, "attrs", None), fastpath=True)


def result_attrs(random_seed: Any, settings: Mapping[str, Any]) -> dict[str, str]:
    """Return seed and settings as attrs, in JSON."""
    seed = int(random_seed) if isinstance(random_seed, int | np.integer) else None
    return {"seed": json.dumps(seed), "settings": json.dumps(settings, default=plain)}


def plain(value: Any) -> Any:
    """Return numbers of NumPy as those of Python, and what else JSON does not know as text."""
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else str(value)


def settings_of(tree: xr.DataTree) -> dict[str, Any]:
    """Return the settings that a result was made with."""
    return json.loads(tree.attrs.get("settings", "{}"))


def parameters_of(tree: xr.DataTree) -> xr.Dataset:
    """Return the closed-form parameters of a posterior, none where it has no such form."""
    return tree["posterior_parameters"].to_dataset() if "posterior_parameters" in tree else xr.Dataset()


def concentration_of(tree: xr.DataTree) -> xr.DataArray | None:
    """Return the concentrations (item, category) of a Dirichlet posterior, None where it has another form."""
    found = parameters_of(tree).get("concentration")
    if found is None or set(found.dims) != {"item", "category"}:
        return None
    return found.transpose("item", "category")


def seed_of(tree: xr.DataTree) -> int:
    """Return the number that a result was drawn with, 0 where its seed was none."""
    return json.loads(tree.attrs.get("seed", "null")) or 0


def require_from(maker: str, tree: xr.DataTree, *variables: str) -> None:
    """Refuse a result of another function: one without a variable, given as ``group/variable``, of those of `maker`."""
    for group, name in (variable.split("/") for variable in variables):
        if group not in tree or name not in tree[group].to_dataset():
            raise InputError(f"this result has no {name} (group {group}); pass a result of {maker}")


def check_size(shape: Mapping[str, int], itemsize: int, way_out: str) -> None:
    """Refuse a result that would not fit, before anything is computed."""
    size = itemsize * int(np.prod([int(n) for n in shape.values()], dtype=object))
    if size > MAX_BYTES:
        dims = " x ".join(f"{n} {dim}" for dim, n in shape.items())
        most = f"more than the {MAX_BYTES / 2**30:g} that are kept"
        raise SizeError(f"{dims} takes {size / 2**30:.2f} GiB, {most}; {way_out}")
