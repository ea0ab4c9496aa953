"""Plausibilities from partial rankings with ties: the Plackett-Luce posterior.

Each label k of an item has a worth lambda_k ~ Gamma(shape, 1). Annotators watch a race: label k arrives after a time
tau_rk ~ Exp(lambda_k), and annotator r reports the order of arrival. Tied labels arrived in an order that we are not
given (it is summed over; a tie is no observation of equality), unranked labels arrived after all ranked ones. The
plausibility of a label is its share of the total worth, Dirichlet(shape) a priori.

    Pr(block B next) = int_0^inf W e^(-W t) prod_{k in B} (1 - e^(-lambda_k t)) dt,

W the worth of everything that arrives later. The Gibbs sampler draws the arrival times given the worths, in time linear
in the size of the blocks, and the worths given the arrival times.

Source: Stutz et al., "Evaluating AI systems under uncertain ground truth", appendix B.4 (whose sampler is exponential
in the size of a block); Caron and Teh, "Bayesian nonparametric models for ranked data" (arrival times).
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from bayesagree._types import Advance, Named, Rng
from bayesagree.annotations import Rankings
from bayesagree.annotations.rankings import who_competed
from bayesagree.errors import as_python, positive_int, warn
from bayesagree.inference.blocks import DrawBlock
from bayesagree.inference.posterior import OF_RANKINGS, Drawer, Groups, ItemPosterior, Request
from bayesagree.inference.streams import Seed
from bayesagree.io.doors import as_annotations
from bayesagree.plausibility.plackett_luce._sampler import Problem, Run, Unranked, worth_shape
from bayesagree.plausibility.plackett_luce.model import plackett_luce_model

if TYPE_CHECKING:
    import pymc as pm


@dataclass(frozen=True)
class PlackettLuce(ItemPosterior):
    """Specification of the posterior of `plackett_luce`, whose arguments it holds."""

    reliability: int = 1
    shape: float | None = None
    unranked: Unranked = "exact"
    tune: int = 200
    thin: int = 1
    name = "plackett_luce"
    target = OF_RANKINGS
    engine = "gibbs"

    def __post_init__(self) -> None:
        for name in ("tune", "thin"):
            positive_int(getattr(self, name), name)

    def problem(self, annotations: Rankings) -> Problem:
        """Return the rankings as the samplers read them, and the shapes of the worths."""
        _warn_of_choice_sets(annotations)
        return Problem.of(annotations, self.reliability, self.shape, self.unranked)

    def settings(self, annotations: Rankings) -> Named:
        """Return the arguments of the model, and the length of a chain."""
        shape = worth_shape(annotations.categories.size, self.shape, self.unranked)
        return vars(self) | {"shape": shape, "competing": who_competed(annotations)[0]}

    def model(self, annotations: Rankings) -> "pm.Model":
        """Build the same posterior in PyMC."""
        own = {name: value for name, value in vars(self).items() if name not in ("tune", "thin")}
        return plackett_luce_model(annotations, **own)

    def drawer(self, problem: Problem, request: Request) -> Drawer:
        """Return the function that runs the Gibbs sampler on a block of items."""
        run = Run(request.chains, self.tune, request.draws, self.thin)

        def draw(items: slice, rng: Rng) -> DrawBlock:
            theta = problem.draw(items, run, rng)
            values = problem.reduce(items, theta, request.top_labels, rng)
            return DrawBlock(items, diagnostics=problem.diagnostics(items, theta), **{request.variable: values})

        return draw

    def known(self, problem: Problem, request: Request) -> Groups:
        """Return whether anybody named each label."""
        return {"constant_data": {"named": (("item", "category"), problem.named[:, :-1])}}

    def advice(self, request: Request) -> str:
        """Return the way out where chains disagree."""
        return f"raise tune={self.tune}, draws={request.draws} or thin={self.thin}"


def plackett_luce(
    rankings: Rankings,
    *,
    reliability: int = 1,
    shape: float | None = None,
    unranked: Unranked = "exact",
    draws: int = 1000,
    chains: int = 4,
    tune: int = 200,
    thin: int = 1,
    random_seed: Seed = None,
    top_labels: int | None = None,
    client: Any = None,
    progress: Advance | None = None,
) -> xr.DataTree:
    """Draw the plausibilities of each item from their Plackett-Luce posterior.

    Scores are conditional on these rankings alone. A model that is better than the rankings can show scores too low,
    and the interval need not cover its score against many annotators.

    Parameters
    ----------
    rankings
        Partial rankings with ties; items are independent of each other. All labels compete (those on offer, where the
        rankings have `offered`), so that those a ranking does not name have lost to those it names.
    reliability
        Weight of a ranking: it counts so many times, a whole number.
    shape
        Shape of the worths' gamma prior, by default 1/K in "exact" and 1 in "lumped".
    unranked
        Prior of the labels that nobody named. ``"exact"``: all K labels are exchangeable, so that the K - n
        unnamed ones together have shape (K - n) `shape`. ``"lumped"``: all of them together have shape `shape` (the
        released code of the paper), and equal shares of it, but for a thousandth that draws their order.
    draws, chains
        Draws kept per chain, and number of chains.
    tune, thin
        Sweeps discarded at the start of a chain, and sweeps per draw kept.
    random_seed
        Same seed, same draws, on any number of threads.
    top_labels
        Keep only the L best labels of each draw instead of all plausibilities.
    client
        As in `dirichlet`.
    progress
        Called with the number of items of each block that is drawn.

    Returns
    -------
    DataTree
        Group ``posterior``: ``plausibility`` (chain, draw, item, category), which sums to one over category, or
        ``top_label`` (chain, draw, item, rank), positions of labels. Group ``diagnostics``: ``r_hat`` and ``ess``
        (item) of the worst of the item's labels. Group ``constant_data``: ``named`` (item, category), whether
        anybody named the label.

    Raises
    ------
    InputError
        A parameter outside its range.
    SizeError
        A result too large for memory, with its size and the way out.

    Warns
    -----
    UserWarning
        Names the items whose chains disagree; rankings of a few labels each, that look like comparisons of few among
        many, without `offered`, or of an item that name most labels here and fewer there; an item with labels that
        none of its rankings was offered.

    References
    ----------
    Stutz et al., appendix B.4.

    Examples
    --------
    Two annotators put label 0 first; one of them ties the next two, the other names only one of them:

    >>> rankings = Rankings.from_blocks([[[[0], [1, 2]], [[0], [1]]]], labels=4)
    >>> tree = plackett_luce(rankings, shape=1.0, random_seed=1)
    >>> tree["posterior"]["plausibility"].mean(("chain", "draw")).round(1).values.tolist()
    [[0.5, 0.3, 0.2, 0.1]]
    """
    rankings = as_annotations(rankings, (Rankings,), "rankings")
    request = Request(draws, chains, random_seed, top_labels, client, progress=progress)
    return PlackettLuce(reliability, shape, unranked, tune, thin).draw(rankings, request)


def _warn_of_choice_sets(rankings: Rankings) -> None:
    """Warn where rankings look like comparisons of few labels among many, or where nobody was offered a label."""
    n_items = rankings.items.size
    n_labels = rankings.categories.size
    offered = rankings.offered
    if offered is not None:
        known = np.zeros((n_items, n_labels), bool)
        known[np.repeat(rankings.item_index, np.diff(offered.start)), offered.label_index] = True
        if not known.all():
            i, k = np.argwhere(~known)[0]
            warn(
                f"item {as_python(rankings.items[i])!r}: no ranking was offered {as_python(rankings.categories[k])!r}, "
                "so that only the prior says how plausible it is, and it may come out best; leave such labels out of "
                "labels="
            )
        return
    said, doubtful = who_competed(rankings)
    if doubtful:
        warn(said)
    item, size = rankings.item_index, np.diff(rankings.start)
    if not 1 < size[0] < n_labels or (size != size[0]).any():
        return
    pairs = np.unique(np.repeat(item, size) * n_labels + rankings.label_index)
    named, number = (np.bincount(of, minlength=n_items) for of in (pairs // n_labels, item))
    # A few annotators may well disagree wholly; as many rankings as labels are comparisons.
    if (like := np.flatnonzero((number >= named) & (named >= 2 * size[0]))).size:
        warn(
            f"item {as_python(rankings.items[like[0]])!r}: all rankings name {size[0]} of {n_labels} labels, many of "
            "them none in common, and the labels that a ranking does not name count as beaten; if they were not on "
            "offer, say so by Rankings(..., offered=)"
        )
