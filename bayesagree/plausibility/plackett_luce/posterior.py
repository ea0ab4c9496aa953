"""Plausibilities from partial rankings with ties: the Plackett-Luce posterior.

Each label k of an item has a worth lambda_k ~ Gamma(shape, rate). Annotators watch a race: label k arrives after a time
tau_rk ~ Exp(lambda_k), and annotator r reports the order of arrival. Tied labels arrived in an order that we are not
told (it is summed over; a tie is no observation of equality), unranked labels arrived after all ranked ones. The
plausibility of a label is its share of the total worth, Dirichlet(shape) a priori.

    Pr(block B next) = int_0^inf W e^(-W t) prod_{k in B} (1 - e^(-lambda_k t)) dt,

W the worth of everything that arrives later. The Gibbs sampler draws the arrival times given the worths, in time linear
in the size of the blocks, and the worths given the arrival times.

Source: Stutz et al., "Evaluating AI systems under uncertain ground truth", appendix B.4 (whose sampler is exponential
in the size of a block); Caron and Teh, "Bayesian nonparametric models for ranked data" (arrival times).
"""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree._inference.arguments import checked
from bayesagree._inference.nuts import Sampler
from bayesagree._inference.results import MAX_BYTES
from bayesagree._inference.storage import Destination
from bayesagree._inference.streams import Seed
from bayesagree.annotations import Rankings
from bayesagree.draws.blocks import LOCAL, Schedule, by_chain, check_depth
from bayesagree.draws.pseudo_label import UNNAMED_SHAPE, with_pseudo_label
from bayesagree.draws.run import Block, Groups, ItemPosterior, Request, Values, draw_posterior
from bayesagree.errors import InputError, as_python, positive, positive_int
from bayesagree.plausibility.plackett_luce._cases import Cases, Competing, read_cases
from bayesagree.plausibility.plackett_luce._sampler import Run, Unranked, WorthPrior, gibbs_results, worth_prior

if TYPE_CHECKING:
    import pymc as pm


MOST_SETS = 100
"""Sets of labels of one item that are compared with each other, for a warning."""


@dataclass(frozen=True, eq=False)
class PlackettLucePosterior(ItemPosterior):
    """The posterior of `plackett_luce`, with its data and prior."""

    annotations: Rankings
    reliability: int = 1
    shape: float | None = None
    rate: float = 1.0
    unranked: Unranked = "exact"
    exponent: float = 1.0
    tune: int = 200
    thin: int = 1
    competing: Competing = "all"
    name = "plackett_luce"
    engine = "gibbs"
    recorded: ClassVar[list[str] | None] = ["worth"]

    def __post_init__(self) -> None:
        for name in ("tune", "thin"):
            positive_int(getattr(self, name), name)
        positive(self.rate, "rate")
        positive(self.exponent, "exponent")

    @cached_property
    def cases(self) -> Cases:
        """The rankings as the samplers read them."""
        return read_cases(self.annotations, positive_int(self.reliability, "reliability"), competing=self.competing)

    @cached_property
    def prior(self) -> WorthPrior:
        """Shapes of the worths."""
        return worth_prior(self.cases, self.shape, self.unranked)

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments that define the model, and the length of a chain."""
        own = ("reliability", "rate", "unranked", "competing", "exponent", "tune", "thin")
        return {name: getattr(self, name) for name in own} | {"shape": self.prior.shape}

    @property
    def categories(self) -> NDArray[Any]:
        """The labels, and for ``unranked="lumped"`` the pseudo-label at their end."""
        labels = self.annotations.categories
        return with_pseudo_label(labels) if self.unranked == "lumped" else labels

    def model(self, worth: Callable[[Any, Any, Any], Any] | None = None) -> "pm.Model":
        """Build the same posterior in PyMC, or one with worths of the user's own."""
        from bayesagree.plausibility.plackett_luce.model import worth_model

        return worth_model(self, worth, with_pseudo_label(self.annotations.categories))

    def run(self, draws: int, chains: int) -> Run:
        """Return how long the chains run."""
        return Run(positive_int(chains, "chains"), self.tune, positive_int(draws, "draws"), self.thin)

    def draw(self, request: Request, schedule: Schedule) -> Iterator[Block]:
        """Yield draws of the Gibbs sampler, with their diagnostics."""
        if self.exponent != 1:
            raise InputError(f"exponent={self.exponent!r} needs engine='nuts'; engine='gibbs' repeats rankings instead")
        (name,), run = self.variables(request), self.run(request.draws, request.chains)
        blocks = gibbs_results(self.cases, self.prior, run, request.seed, request.top_labels, schedule)
        for items, values, worst, *_ in blocks:
            yield items, {name: by_chain(values, request.chains), "r_hat": worst[:, 0], "ess": worst[:, 1]}

    def from_nuts(self, sampled: xr.DataTree, request: Request) -> Values:
        """Read plausibilities or best labels from PyMC's draws of the worths."""
        from bayesagree.plausibility.plackett_luce.model import read_worths

        (name,) = self.variables(request)
        values, worst = read_worths(sampled, self.cases, self.prior, request.seed, request.top_labels)
        return {name: by_chain(values, request.chains), "r_hat": worst[:, 0], "ess": worst[:, 1]}

    def groups(self, request: Request) -> Groups:
        """Return whether anybody named each label."""
        pseudo = self.unranked == "lumped" and request.top_labels is None
        constant: dict[str, Any] = {"named": (("item", "category"), self.cases.named(pseudo=pseudo))}
        return {"constant_data": constant | ({UNNAMED_SHAPE: ((), 0.0)} if pseudo else {})}

    def advice(self, request: Request) -> str:
        """Return the way out where chains disagree."""
        return f"raise tune={self.tune}, draws={request.draws} or thin={self.thin}"


@checked
def plackett_luce(
    rankings: Rankings,
    *,
    reliability: int = 1,
    shape: float | None = None,
    rate: float = 1.0,
    unranked: Unranked = "exact",
    competing: Competing = "all",
    exponent: float = 1.0,
    draws: int = 1000,
    chains: int = 4,
    tune: int = 200,
    thin: int = 1,
    seed: Seed = None,
    engine: Literal["gibbs", "nuts"] = "gibbs",
    sampler: Sampler = None,
    top_labels: int | None = None,
    max_bytes: int = MAX_BYTES,
    client: Any = None,
    to: Destination = None,
) -> xr.DataTree:
    """Draw the plausibilities of each item from their Plackett-Luce posterior.

    Parameters
    ----------
    rankings
        Partial rankings with ties; items are independent of each other.
    reliability
        Weight of a ranking: it counts so many times, a whole number.
    shape
        Shape of the worths' gamma prior, by default 1/K in "exact" and 1 in "lumped".
    rate
        Its rate. Rankings say nothing about the scale of the worths, so no plausibility depends on it.
    unranked
        Prior of the labels that nobody named. ``"exact"``: all K labels are exchangeable, so that the K - n
        unnamed ones together have shape (K - n) `shape`. ``"lumped"``: one pseudo-label of shape `shape` stands for
        all of them (the released code of the paper); it is the last label of full plausibilities. Certainties and
        metrics split its mass equally and draw the order of the labels behind it.
    competing
        Which labels a ranking is about. ``"all"``: those on offer (all labels, where the rankings have no `offered`),
        so that those it does not name have lost to those it names. ``"named"``: the labels it names and no others, as
        in pairwise comparisons of few among many.
    exponent
        Worths enter the race to this power: the paper's continuous reliability. Needs ``engine="nuts"``.
    draws, chains
        Draws kept per chain, and number of chains.
    tune, thin
        Sweeps discarded at the start of a chain, and sweeps per draw kept. ``engine="nuts"`` ignores `thin`.
    seed
        Same seed, same draws, on any number of threads.
    engine
        ``"gibbs"`` is exact and fast; ``"nuts"`` samples `plackett_luce_model` with PyMC, the same posterior.
    top_labels
        Keep only the L best labels of each draw instead of all plausibilities.
    max_bytes
        Largest result to keep in memory.
    client, to
        As in `dirichlet`.

    Returns
    -------
    DataTree
        Group ``posterior``: ``plausibility`` (chain, draw, item, category), which sums to one over category, or
        ``top_label`` (chain, draw, item, rank), positions of labels. Group ``diagnostics``: ``r_hat`` and ``ess``
        (item) of the worst of the item's labels. Group ``constant_data``: ``named`` (item, category), whether
        anybody named the label, and ``unnamed_shape`` where the last label is the pseudo-label.

    Raises
    ------
    InputError
        A parameter outside its range, or one that the engine does not know.
    SizeError
        A result above `max_bytes`, with its size and the way out.

    Warns
    -----
    UserWarning
        Names the items whose chains disagree; rankings of a few labels each, that look like comparisons of few among
        many, without `offered`.

    References
    ----------
    Stutz et al., appendix B.4.

    Examples
    --------
    Two annotators put label 0 first; one of them ties the next two, the other names only one of them:

    >>> rankings = Rankings.from_blocks([[[[0], [1, 2]], [[0], [1]]]], labels=4)
    >>> tree = plackett_luce(rankings, shape=1.0, seed=1)
    >>> tree["posterior"]["plausibility"].mean(("chain", "draw")).round(1).values.tolist()
    [[0.5, 0.3, 0.2, 0.1]]
    """
    posterior = PlackettLucePosterior(rankings, reliability, shape, rate, unranked, exponent, tune, thin, competing)
    _warn_of_choice_sets(rankings, competing)
    return draw_posterior(posterior, Request(draws, chains, seed, engine, sampler, top_labels, max_bytes, client, to))


def plackett_luce_blocks(
    rankings: Rankings,
    *,
    depth: int,
    reliability: int = 1,
    shape: float | None = None,
    rate: float = 1.0,
    unranked: Unranked = "exact",
    competing: Competing = "all",
    draws: int = 1000,
    chains: int = 4,
    tune: int = 200,
    thin: int = 1,
    seed: Seed = None,
    schedule: Schedule = LOCAL,
) -> Iterator[Any]:
    """Stream the `depth` best labels of each draw, block of items by block: `plackett_luce` for any number of items.

    The same draws as `plackett_luce` with the same seed.
    """
    posterior = PlackettLucePosterior(
        rankings, reliability, shape, rate, unranked, tune=tune, thin=thin, competing=competing
    )
    _warn_of_choice_sets(rankings, competing)
    depth = check_depth(depth, rankings.categories.size)
    return gibbs_results(posterior.cases, posterior.prior, posterior.run(draws, chains), seed, depth, schedule)


@checked
def plackett_luce_model(
    rankings: Rankings,
    *,
    reliability: int = 1,
    shape: float | None = None,
    rate: float = 1.0,
    unranked: Unranked = "exact",
    competing: Competing = "all",
    exponent: float = 1.0,
    worth: Callable[[Any, Any, Any], Any] | None = None,
) -> "pm.Model":
    """Build the same posterior as a PyMC model.

    Parameters
    ----------
    rankings, reliability, shape, rate, unranked, competing, exponent
        As `plackett_luce`.
    worth
        Worths of one's own: a function, called inside the model, of the shape of each worth's prior, the number of its
        item and that of its label, each (slot), that returns positive worths (slot). The last label stands for all
        that nobody named.

    Returns
    -------
    pymc.Model
        Free variable ``worth`` (slot): for each item its named labels in order, then all others together;
        ``plausibility`` (item, category), whose last label stands for all that nobody named; observed ``ranks``
        (ranking, position), a `bayesagree.plausibility.PartialRanking`. ``observed_ranks``, ``competitor`` (the slots
        that a ranking is about), ``item_of_slot``, ``category_of_slot``, ``item_of_ranking`` and, where they are known,
        ``annotator_of_ranking`` are data. Traces feed certainties, metrics and plots; with many items and labels keep
        the worths only (``pymc.sample(var_names=["worth"])``) or call `plackett_luce`. Inside the model
        `bayesagree.plausibility.PlackettLuceGibbs` samples the worths much faster than NUTS.

    Raises
    ------
    InputError
        An exponent other than 1 where several labels are unnamed and not lumped.

    Examples
    --------
    >>> rankings = Rankings.from_blocks([[[[0, 2], [1]], [[2]]]], labels=3)
    >>> [v.name for v in plackett_luce_model(rankings).free_RVs]
    ['worth']
    """
    posterior = PlackettLucePosterior(rankings, reliability, shape, rate, unranked, exponent, competing=competing)
    return posterior.model(worth)


def _warn_of_choice_sets(rankings: Rankings, competing: Competing) -> None:
    """Warn where rankings look like comparisons of few labels among many, which then count as losers."""
    size = np.diff(rankings.start)
    if competing != "all" or rankings.offered is not None or not 1 < size[0] < rankings.categories.size:
        return
    if (size != size[0]).any() or rankings.block[rankings.start[1:] - 1].min() == 0:
        return
    sets = np.sort(rankings.label_index.reshape(-1, size[0]), axis=1)
    for i in range(rankings.items.size):
        of_item = sets[rankings.item_index == i]
        own = np.unique(of_item, axis=0)
        # A few annotators may well disagree wholly; as many rankings as labels are comparisons.
        if len(of_item) >= np.unique(own).size and any(
            not np.intersect1d(a, b).size for a, b in combinations(own[:MOST_SETS], 2)
        ):
            warnings.warn(
                f"item {as_python(rankings.items[i])!r}: all rankings name {size[0]} of {rankings.categories.size} "
                "labels, some of them none in common, and the labels that a ranking does not name count as beaten; if "
                "they were not on offer, say so by Rankings(..., offered=) or competing='named'",
                UserWarning,
                stacklevel=3,
            )
            return
