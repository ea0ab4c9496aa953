"""Specifications of posteriors: the arguments of a model, and how they draw, stream and build a PyMC model.

A new posterior derives from `ItemPosterior` if its items are independent, and from `Posterior` otherwise.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import xarray as xr

from bayesagree._types import Array
from bayesagree.annotations.missing_predictions import on_annotated
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import positive_int
from bayesagree.inference.blocks import (
    DrawBlock,
    Stream,
    by_chain,
    category_axis,
    check_depth,
    label_dtype,
)
from bayesagree.inference.convergence import warn_not_converged
from bayesagree.inference.results import check_size, result_tree
from bayesagree.inference.streams import Seed, block_generators, item_blocks, map_blocks

if TYPE_CHECKING:
    import pymc as pm

# Groups of a result: variables with their dims and values.
Groups = dict[str, dict[str, Any]]
Values = Mapping[str, Array]
# Variables to keep: dims after (chain, draw, item) with their sizes, and type, of each.
Kinds = Mapping[str, tuple[dict[str, int], Any]]
# Draws a block of items.
Drawer = Callable[[slice, np.random.Generator], DrawBlock]

# The meaning of a score under a posterior from annotations alone.
OF_ANNOTATIONS = "score from these annotations alone"
OF_RANKINGS = "score from these rankings alone (no estimate of the score against many annotators)"


@dataclass(frozen=True)
class Request:
    """How much to draw and where: the shared arguments of all posteriors.

    Attributes
    ----------
    client
        The `distributed.Client` whose workers draw; None for threads of this process. A worker holds the annotations
        and, for each of its threads, one block being drawn and about two results. A block of 64 items with S samples
        takes 64 S x 2 bytes x depth for the best labels (Plackett-Luce: also 8 bytes x labels named), 64 S x 8 bytes x
        labels for full plausibilities: 1.5 MB and 0.9 GB for 4000 samples of the best three, or of all, of 419 labels.
    plausibility, numbers
        Whether blocks hold all plausibilities, or the numbers that are the truth, beside the best labels.
    then
        Applied to each block where it was drawn, so that draws need not travel.
    progress
        Called with the number of items of each block that is drawn, or, where chains of ours draw all items at once,
        with the number of chains after every kept draw of theirs.
    """

    draws: int = 1000
    chains: int = 4
    random_seed: Seed = None
    top_labels: int | None = None
    client: Any = None
    plausibility: bool = False
    numbers: bool = False
    then: Callable[[DrawBlock], Any] | None = None
    progress: Callable[[int], None] | None = None

    def __post_init__(self) -> None:
        positive_int(self.draws, "draws")
        positive_int(self.chains, "chains")

    @property
    def samples(self) -> int:
        """Number of draws of all chains."""
        return self.draws * self.chains

    @property
    def variable(self) -> str:
        """What is kept of plausibilities: all of them, or the best labels."""
        return "plausibility" if self.top_labels is None else "top_label"

    def asks(self, **changed: Any) -> "Request":
        """Return what workers see of the request."""
        return replace(self, client=None, then=None, progress=None, **changed)

    def blocks(self, work: Drawer, n_items: int) -> Iterator[Any]:
        """Draw blocks in order, each from its own random stream, whichever thread or worker runs it."""
        blocks, then = item_blocks(n_items), self.then or (lambda block: block)
        jobs = list(zip(blocks, block_generators(self.random_seed, len(blocks))))
        return map_blocks(lambda job: then(work(*job)), jobs, self.client)


@dataclass(frozen=True, eq=False)
class Truths:
    """The truths under which `evaluate` scores predictions.

    Attributes
    ----------
    annotations, predictions
        On the same items and labels, in one order.
    posteriors
        One for each truth.
    request
        How much of each to draw.
    axis, names
        What tells truths apart: ``"reliability"``, ``"group"``, or None where scores under the first stand for
        themselves, beside those under the others; and the names on that axis.
    settings
        What the posterior adds to the settings of the result.
    n_votes
        Votes of each group, shape (group, item), where known.
    unsettled
        Metrics that the annotations do not settle, by the beginning of their names, and what is wrong with them.
    """

    annotations: Any
    predictions: Predictions
    posteriors: "Sequence[Posterior]"
    request: Request
    axis: str | None
    names: Any
    settings: Mapping[str, Any]
    n_votes: Any = None
    unsettled: tuple[tuple[str, ...], str] = (), ""


@dataclass(frozen=True)
class Posterior(ABC):
    """A posterior of the truth without its data: a frozen dataclass, whose fields are the arguments of the model.

    Attributes
    ----------
    name
        Of the posterior, in ``plausibility=`` of `evaluate` and in ``attrs["model"]`` of results.
    target
        The meaning of a score under it.
    exchangeable
        Whether the annotators of an item count as exchangeable.
    takes_predictions
        Whether it learns from the predictions that `evaluate` scores.
    engine
        Name of what draws; ``"exact"`` draws are independent.
    """

    name: ClassVar[str]
    engine: ClassVar[str] = "exact"
    target: ClassVar[str] = OF_ANNOTATIONS
    exchangeable: ClassVar[bool] = True
    takes_predictions: ClassVar[bool] = False

    @abstractmethod
    def draw(self, annotations: Any, request: Request) -> xr.DataTree:
        """Draw a result."""

    @abstractmethod
    def blocks(self, annotations: Any, request: Request) -> Stream:
        """Stream the best labels of each draw, with all plausibilities or numbers on request."""

    @abstractmethod
    def model(self, annotations: Any) -> "pm.Model":
        """Build the same posterior in PyMC."""

    @classmethod
    def arguments(cls) -> tuple[str, ...]:
        """Names of the arguments of the model."""
        return tuple(one.name for one in fields(cls))

    @property
    def asks_threshold(self) -> bool:
        """Whether its truth are numbers, so that questions about labels need a threshold."""
        return "threshold" in self.arguments()

    @property
    def learns_reliability(self) -> bool:
        """Whether the model learns how much an annotation weighs, so that there is no ``reliability=``."""
        return "reliability" not in self.arguments()

    @property
    def checks_chains(self) -> bool:
        """Whether an evaluation refuses chains that disagree, unless ``allow_unmixed=True``."""
        return "allow_unmixed" in self.arguments()

    def at(self, reliability: float) -> Self:
        """Return the posterior with a weight of annotations, where it has one."""
        if self.learns_reliability:
            return self
        # Plackett-Luce repeats rankings a whole number of times.
        level = int(reliability) if float(reliability).is_integer() else float(reliability)
        return replace(self, **{"reliability": level})

    def truths(
        self,
        annotations: Any,
        predictions: Predictions,
        request: Request,
        reliabilities: Sequence[float] = (1.0,),
    ) -> Truths:
        """Return the truths under which `evaluate` scores predictions: here one for each reliability."""
        given = on_annotated(annotations, predictions).aligned(annotations.items, annotations.categories)
        posteriors = [self.at(level) for level in reliabilities]
        settings: dict[str, Any] = {}
        if not self.learns_reliability:
            settings["reliability"] = reliabilities[0] if len(posteriors) == 1 else list(reliabilities)
        if (share := posteriors[0].prior_share(annotations)) is not None:
            settings["prior_share"] = share
        names = np.array(reliabilities)
        return Truths(annotations, given, posteriors, request, "reliability", names, settings)

    def prior_share(self, annotations: Any) -> float | None:
        """Mean weight of the prior in the posterior of an item; None where there is no such number."""
        return None


@dataclass(frozen=True)
class ItemPosterior(Posterior):
    """A posterior of independent items: it draws blocks of items, and this class keeps or streams them."""

    @abstractmethod
    def problem(self, annotations: Any) -> Any:
        """Return what annotations and prior give before any draw; all other methods take it."""

    def drawer(self, problem: Any, request: Request) -> Drawer:
        """Return the function that draws a block of items: ``plausibility`` or, with `top_labels`, ``top_label``.

        Plausibilities will always do; only the best labels of many are drawn faster, and in less memory. A problem that
        knows how its items are drawn is asked.
        """
        return problem.drawer(request)

    def known(self, problem: Any, request: Request) -> Groups:
        """Return the groups known before any draw: parameters of a closed form, data; they name the labels."""
        return {}

    def diagnostics(self, problem: Any, request: Request) -> dict[str, Any]:
        """Return how well chains of parameters that all items share mixed, as variables; most have none."""
        return {}

    def settings(self, annotations: Any) -> dict[str, Any]:
        """Return the arguments of the model, for the settings of a result."""
        return {name: getattr(self, name) for name in self.arguments()}

    def coords(self, problem: Any) -> dict[str, Any]:
        """Return names on axes of its own, beyond items and labels."""
        return {}

    def variables(self, annotations: Any, request: Request) -> Kinds:
        """Return the variables to keep."""
        if request.top_labels is None:
            return {"plausibility": ({"category": annotations.categories.size}, np.float64)}
        n_labels = annotations.categories.size
        return {"top_label": ({"rank": check_depth(request.top_labels, n_labels)}, label_dtype(n_labels))}

    def advice(self, request: Request) -> str:
        """Return the way out where chains disagree."""
        return f"raise draws={request.draws}"

    def scored(self, block: DrawBlock, request: Request) -> DrawBlock:
        """Return a block with the best labels that scores read."""
        return block.ranked(request.top_labels or 1)

    def blocks(self, annotations: Any, request: Request) -> Stream:
        """Stream the draws of `draw` with the same request, in the memory that a few blocks take."""
        problem, asked = self.problem(annotations), request.asks()
        mixed = self.diagnostics(problem, request)  # first, for here alone parameters show their progress
        depth = None if request.plausibility else request.top_labels or 1
        drawer = self.drawer(problem, replace(asked, top_labels=depth))
        n_items = annotations.items.size
        blocks = request.blocks(lambda items, rng: self.scored(drawer(items, rng), asked), n_items)
        return Stream(blocks, {}, mixed)

    def draw(self, annotations: Any, request: Request) -> xr.DataTree:
        """Draw a result."""
        variables = self.variables(annotations, request)
        # The variables of one posterior share their shape.
        last, n_items = next(iter(variables.values()))[0], annotations.items.size
        fewer = "top_labels=L to keep the L best labels of each draw" if "category" in last else "fewer draws"
        check_size(
            {"chain": request.chains, "draw": request.draws, "item": n_items, **last},
            sum(np.dtype(dtype).itemsize for _, dtype in variables.values()),
            f"use {fewer}, or evaluate(), which streams",
        )
        problem = self.problem(annotations)
        groups: Any = self.known(problem, request)
        values = self._kept_draws(n_items, problem, variables, request)
        kept = {name: (("chain", "draw", "item", *last), values[name]) for name, (last, _) in variables.items()}
        groups["posterior"] = groups.get("posterior", {}) | kept
        if "r_hat" in values:
            warn_not_converged(annotations.items, values["r_hat"], self.advice(request))
            worst = {name: (("item",), values[name]) for name in ("r_hat", "ess")}
            groups["diagnostics"] = groups.get("diagnostics", {}) | worst
        coords = {
            "item": annotations.items,
            "rank": np.arange(1, (request.top_labels or 0) + 1),
            "category": category_axis(annotations.categories, getattr(annotations, "has_order", False)),
        }
        if request.top_labels is not None:  # best labels are numbers of labels
            constant = groups.get("constant_data", {})
            groups["constant_data"] = xr.Dataset(constant, {"category": coords["category"]})
        return result_tree(
            groups,
            coords | self.coords(problem),
            model=self.name,
            engine=self.engine,
            random_seed=request.random_seed,
            settings=self.settings(annotations),
        )

    def _kept_draws(self, n_items: int, problem: Any, variables: Kinds, request: Request) -> dict[str, Array]:
        """Return the variables, shape (chain, draw, item, ...), and R-hat and ESS of items where chains made them."""
        shape = (request.chains, request.draws, n_items)
        kept: dict[str, Array] = {
            name: np.empty((*shape, *last.values()), dtype) for name, (last, dtype) in variables.items()
        }
        for block in request.blocks(self.drawer(problem, request.asks()), n_items):
            if request.progress is not None:
                request.progress(block.items.stop - block.items.start)
            block = block.ranked(request.top_labels)
            for name in variables:
                kept[name][:, :, block.items] = by_chain(getattr(block, name), request.chains)
            if block.diagnostics is not None:
                for name, values in zip(("r_hat", "ess"), block.diagnostics.T):
                    kept.setdefault(name, np.full(n_items, np.nan))[block.items] = values
        return kept
