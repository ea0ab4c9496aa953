"""Draws of a posterior whose items are independent: one route for every model, by its fast engine or by NUTS."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree._inference.nuts import Sampler, sample_nuts, sampler_stats
from bayesagree._inference.results import MAX_BYTES, check_size, result_tree
from bayesagree._inference.storage import Destination, KeptDraws, Store, Variable
from bayesagree._inference.streams import Seed
from bayesagree.draws.blocks import Schedule, check_depth, label_dtype
from bayesagree.draws.convergence import diagnostics, warn_not_converged
from bayesagree.errors import InputError, positive_int

if TYPE_CHECKING:
    import pymc as pm

type Groups = dict[str, dict[str, tuple[tuple[str, ...], Any]]]
type Values = Mapping[str, NDArray[Any]]
type Block = tuple[slice, Values]
"""Which items, and each variable of them in its own dims."""


@dataclass(frozen=True)
class Request:
    """How much to draw, by which engine, and where the draws go: the shared arguments of all posteriors."""

    draws: int
    chains: int
    seed: Seed
    engine: str
    sampler: Sampler = None
    top_labels: int | None = None
    max_bytes: int = MAX_BYTES
    client: Any = None
    to: Destination = None

    def __post_init__(self) -> None:
        positive_int(self.draws, "draws")
        positive_int(self.chains, "chains")
        if self.engine == "nuts" and (self.client is not None or self.to is not None):
            raise InputError(
                "client= and to= are for the fast engines, which work block by block; not for engine='nuts'"
            )
        if self.engine != "nuts" and self.sampler is not None:
            raise InputError(f"sampler= holds arguments of PyMC's sampler; not for engine={self.engine!r}")


class ItemPosterior(ABC):
    """One posterior with its data and prior; `draw_posterior` makes the result of it.

    Attributes
    ----------
    name
        Of the model, in ``attrs["model"]``.
    engine
        Name of the fast engine.
    recorded
        Variables of `model` that NUTS keeps; None for all.
    annotations
        Labels, ratings or rankings.
    """

    name: ClassVar[str]
    engine: ClassVar[str]
    recorded: ClassVar[list[str] | None] = None
    annotations: Any

    @property
    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """The arguments that define the model."""

    @property
    def categories(self) -> NDArray[Any]:
        """Names on the axis of full plausibilities."""
        return self.annotations.categories

    @abstractmethod
    def model(self) -> "pm.Model":
        """Build the same posterior in PyMC."""

    @abstractmethod
    def draw(self, request: Request, schedule: Schedule) -> Iterator[Any]:
        """Yield draws of the fast engine, each a `Block`."""

    @abstractmethod
    def from_nuts(self, sampled: xr.DataTree, request: Request) -> Values:
        """Return the variables of the result from draws of `model`, all items at once."""

    @abstractmethod
    def groups(self, request: Request) -> Groups:
        """Return the groups known before any draw: parameters of a closed form, data."""

    def coords(self) -> dict[str, Any]:
        """Return names on axes of its own, beyond items and labels."""
        return {}

    def variables(self, request: Request) -> dict[str, tuple[dict[str, int], Any]]:
        """Return the variables to keep: dims after (chain, draw, item) with their sizes, and type, of each."""
        if request.top_labels is None:
            return {"plausibility": ({"category": self.categories.size}, np.float64)}
        n_labels = self.annotations.categories.size
        return {"top_label": ({"rank": check_depth(request.top_labels, n_labels)}, label_dtype(n_labels))}

    def advice(self, request: Request) -> str:
        """Return the way out where chains disagree."""
        return f"raise draws={request.draws} or sampler={{'tune': ...}}"


def draw_posterior(posterior: ItemPosterior, request: Request) -> xr.DataTree:
    """Draw the result of a posterior: into memory, or into the store that ``to=`` names."""
    if request.engine not in (posterior.engine, "nuts"):
        raise InputError(f"engine={request.engine!r} is not one of {posterior.engine!r}, 'nuts'")
    annotations, variables = posterior.annotations, posterior.variables(request)
    sizes = {"chain": request.chains, "draw": request.draws, "item": annotations.items.size}
    store = Store.at(
        request.to, request.seed, model=posterior.name, **posterior.settings, annotations=annotations,
        draws=request.draws, chains=request.chains, top_labels=request.top_labels,
    )  # fmt: skip
    if store is None:
        _check_size(sizes, variables, request)
    elif (finished := store.finished()) is not None:
        return finished
    groups = posterior.groups(request)
    kept = KeptDraws(_kept(sizes, variables, chains_of_items=_has_chains(posterior, request)), store)
    program = ""
    if request.engine == "nuts":
        how = {"draws": request.draws, "chains": request.chains, "seed": request.seed, "sampler": request.sampler}
        sampled = sample_nuts(posterior.model(), **how, recorded=posterior.recorded)
        blocks: Iterable[Block] = [(slice(0, annotations.items.size), posterior.from_nuts(sampled, request))]
        groups["sample_stats"], program = sampler_stats(sampled), sampled.attrs["sampler"]
    else:
        blocks = posterior.draw(request, Schedule(request.client, first=kept.first))
    for items, values in blocks:
        kept.put(items, values)
    for name, variable in kept.variables.items():
        groups.setdefault(variable.group, {})[name] = kept.variable(name)
    if "r_hat" in kept.variables:
        warn_not_converged(
            annotations.items, np.asarray(groups["diagnostics"]["r_hat"][1]), posterior.advice(request), stacklevel=4
        )
    ranks = next((last["rank"] for last, _ in variables.values() if "rank" in last), 0)
    coords: dict[str, Any] = {"item": annotations.items, "rank": np.arange(1, ranks + 1), **posterior.coords()}
    if hasattr(annotations, "categories"):
        coords["category"] = posterior.categories if request.top_labels is None else annotations.categories
    return kept.finish(
        result_tree(
            groups, coords, model=posterior.name, engine=request.engine, sampler=program, seed=request.seed,
            settings=posterior.settings,
        )
    )  # fmt: skip


def worst_of_items(draws: NDArray[Any]) -> dict[str, NDArray[np.float64]]:
    """Return the largest R-hat and smallest ESS of each item's parameters, draws (chain, draw, item, parameter)."""
    chains, n_draws, n_items, n = draws.shape
    r_hat, ess = (values.reshape(n_items, n) for values in diagnostics(draws.reshape(chains, n_draws, -1)))
    known = np.isfinite(r_hat)
    nothing = ~known.any(axis=1)
    return {
        "r_hat": np.where(nothing, np.nan, np.where(known, r_hat, -np.inf).max(axis=1)),
        "ess": np.where(nothing, np.nan, np.where(known, ess, np.inf).min(axis=1)),
    }


def _has_chains(posterior: ItemPosterior, request: Request) -> bool:
    return request.engine == "nuts" or posterior.engine == "gibbs"


def _kept(
    sizes: Mapping[str, int], variables: Mapping[str, tuple[dict[str, int], Any]], *, chains_of_items: bool
) -> dict[str, Variable]:
    kept = {}
    for name, (last, dtype) in variables.items():
        shape = {**sizes, **last}
        kept[name] = Variable(tuple(shape), tuple(shape.values()), dtype)
    if chains_of_items:
        per_item = Variable(("item",), (sizes["item"],), np.float64, "diagnostics")
        kept |= {"r_hat": per_item, "ess": per_item}
    return kept


def _check_size(
    sizes: Mapping[str, int], variables: Mapping[str, tuple[dict[str, int], Any]], request: Request
) -> None:
    """Refuse a result that would not fit; the variables of one posterior share their shape."""
    last = next(iter(variables.values()))[0]
    itemsize = sum(np.dtype(dtype).itemsize for _, dtype in variables.values())
    fewer = "pass top_labels=L to keep only the L best labels of each draw" if "category" in last else "use fewer draws"
    way_out = f"{fewer}, to= for a file, or evaluate(), which streams"
    check_size({**sizes, **last}, itemsize, request.max_bytes, way_out)
