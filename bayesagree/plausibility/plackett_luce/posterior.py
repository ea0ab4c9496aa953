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

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree._inference.results import MAX_BYTES, check_size, result_tree
from bayesagree._inference.storage import Destination, KeptDraws, Store, Variable, refuse_nuts
from bayesagree._inference.streams import Seed
from bayesagree.annotations import Rankings
from bayesagree.errors import InputError, positive, positive_int
from bayesagree.plausibility._draws.blocks import HERE, Schedule, label_dtype
from bayesagree.plausibility._draws.convergence import warn_not_converged
from bayesagree.plausibility.dirichlet._draws import by_chain, check_depth, way_out
from bayesagree.plausibility.plackett_luce._cases import Cases, read_cases
from bayesagree.plausibility.plackett_luce._sampler import Run, Unranked, gibbs_results, worth_prior

if TYPE_CHECKING:
    import pymc as pm

type Stats = dict[str, tuple[tuple[str, ...], Any]]

UNRANKED = "unranked"
"""Name of the pseudo-label for all labels that nobody named (-1 where labels are numbers)."""


def plackett_luce(
    rankings: Rankings,
    *,
    reliability: int = 1,
    shape: float | None = None,
    rate: float = 1.0,
    unranked: Unranked = "exact",
    exponent: float = 1.0,
    draws: int = 1000,
    tune: int = 200,
    chains: int = 4,
    thin: int = 1,
    seed: Seed = None,
    engine: Literal["gibbs", "nuts"] = "gibbs",
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
        Trust in one annotator: every ranking counts so many times, a whole number.
    shape
        Shape of the worths' gamma prior, by default 1/K in "exact" and 1 in "lumped".
    rate
        Its rate. Rankings say nothing about the scale of the worths, so no plausibility depends on it.
    unranked
        What the prior says about labels that nobody named. ``"exact"``: all K labels are alike, so that the K - n
        unnamed ones together have shape (K - n) `shape`. ``"lumped"``: one pseudo-label of shape `shape` stands for
        all of them (the released code of the paper); it is the last label of full plausibilities. Where only the best
        labels are kept (`top_labels`, `evaluate`) its mass is split equally.
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
        Group ``posterior``: ``plausibility`` (chain, draw, item, category), which sums to one over label, or
        ``top_label`` (chain, draw, item, rank), positions of labels. Group ``sample_stats``: ``r_hat`` and ``ess``
        (item) of the worst of the item's labels. Group ``constant_data``: ``named`` (item, category), whether
        anybody named the label.

    Raises
    ------
    InputError
        A parameter outside its range, or one that the engine does not know.
    SizeError
        A result above `max_bytes`, with its size and the way out.

    Warns
    -----
    UserWarning
        Names the items whose chains disagree.

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
    run = Run(*(positive_int(v, n) for v, n in zip((chains, tune, draws, thin), Run._fields)))
    cases = read_cases(rankings, positive_int(reliability, "reliability"))
    prior = worth_prior(cases, shape, unranked)
    depth = None if top_labels is None else check_depth(top_labels, cases.n_labels)
    settings = {
        "reliability": reliability, "shape": prior.shape,
        "rate": positive(rate, "rate"), "unranked": unranked, "exponent": exponent, "tune": tune, "thin": thin,
    }  # fmt: skip
    store = Store.at(
        to,
        seed,
        model="plackett_luce",
        **settings,
        annotations=rankings,
        draws=draws,
        chains=chains,
        top_labels=top_labels,
    )
    if store is None:
        _check_result(cases, run, depth, unranked, max_bytes)
    elif (finished := store.finished()) is not None:
        return finished
    stats: Stats = {}
    if engine == "gibbs":
        if exponent != 1:
            raise InputError(f"exponent={exponent!r} needs engine='nuts'; engine='gibbs' repeats rankings instead")
        kept = KeptDraws(_variables(cases, run, depth, unranked), store)
        results = gibbs_results(cases, prior, run, seed, depth, Schedule(client, first=kept.first))
    elif engine == "nuts":
        from bayesagree.plausibility.plackett_luce.model import nuts_results

        refuse_nuts(client, to)
        kept = KeptDraws(_variables(cases, run, depth, unranked), None)
        model = plackett_luce_model(
            rankings, reliability=reliability, shape=shape, rate=rate, unranked=unranked, exponent=exponent
        )
        results, stats = nuts_results(cases, prior, run, seed, depth, model)
    else:
        raise InputError(f"engine={engine!r} is not one of 'gibbs', 'nuts'")
    name = "plausibility" if depth is None else "top_label"
    for items, values, mixing in results:
        kept.put(items, {name: by_chain(values, run.chains), "r_hat": mixing[:, 0], "ess": mixing[:, 1]})
    stats |= {key: (("item",), np.asarray(kept.variable(key)[1])) for key in ("r_hat", "ess")}
    warn_not_converged(rankings.items, stats["r_hat"][1], f"raise tune={tune}, draws={draws} or thin={thin}")
    named = cases.named(pseudo=depth is None and unranked == "lumped")
    return kept.finish(
        result_tree(
            {
                "posterior": {name: kept.variable(name)},
                "sample_stats": stats,
                "constant_data": {"named": (("item", "category"), named)},
            },
            {
                "item": rankings.items,
                "category": _label_names(rankings.categories, named.shape[1]),
                "rank": _ranks(depth),
            },
            model="plackett_luce",
            engine=engine,
            seed=seed,
            settings=settings,
        )
    )


def plackett_luce_blocks(
    rankings: Rankings,
    *,
    depth: int,
    reliability: int = 1,
    shape: float | None = None,
    rate: float = 1.0,
    unranked: Unranked = "exact",
    draws: int = 1000,
    tune: int = 200,
    chains: int = 4,
    thin: int = 1,
    seed: Seed = None,
    schedule: Schedule = HERE,
) -> Iterator[Any]:
    """Stream the `depth` best labels of each draw, block of items by block: `plackett_luce` for any number of items.

    The same draws as `plackett_luce` with the same seed.
    """
    run = Run(*(positive_int(v, n) for v, n in zip((chains, tune, draws, thin), Run._fields)))
    positive(rate, "rate")
    cases = read_cases(rankings, positive_int(reliability, "reliability"))
    prior = worth_prior(cases, shape, unranked)
    return gibbs_results(cases, prior, run, seed, check_depth(depth, cases.n_labels), schedule)


def plackett_luce_model(
    rankings: Rankings,
    *,
    reliability: int = 1,
    shape: float | None = None,
    rate: float = 1.0,
    unranked: Unranked = "exact",
    exponent: float = 1.0,
) -> "pm.Model":
    """Build the same posterior as a PyMC model.

    Returns
    -------
    pymc.Model
        Free variable ``worth`` (slot): for each item its named labels in order, then all others together; observed
        ``ranks`` (ranking, position), a `bayesagree.distributions.PartialRanking`. The parameters are those of
        `plackett_luce`.

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
    from bayesagree.plausibility.plackett_luce.model import worth_model

    cases = read_cases(rankings, positive_int(reliability, "reliability"))
    return worth_model(
        cases,
        worth_prior(cases, shape, unranked),
        rate=positive(rate, "rate"),
        exponent=positive(exponent, "exponent"),
        items=rankings.items,
    )


def _check_result(cases: Cases, run: Run, depth: int | None, unranked: Unranked, max_bytes: int) -> None:
    sizes = {"chain": run.chains, "draw": run.draws, "item": cases.n_items}
    if depth is None:
        check_size(sizes | {"category": cases.n_labels + (unranked == "lumped")}, 8, max_bytes, way_out(depth))
    else:
        itemsize = np.dtype(label_dtype(cases.n_labels)).itemsize
        check_size(sizes | {"rank": depth}, itemsize, max_bytes, way_out(depth))


def _variables(cases: Cases, run: Run, depth: int | None, unranked: Unranked) -> dict[str, Variable]:
    """Return what is kept of each item."""
    dims, shape = ("chain", "draw", "item"), (run.chains, run.draws, cases.n_items)
    per_item = Variable(("item",), (cases.n_items,), np.float64, "sample_stats")
    if depth is None:
        draws = Variable((*dims, "category"), (*shape, cases.n_labels + (unranked == "lumped")), np.float64)
        return {"plausibility": draws, "r_hat": per_item, "ess": per_item}
    draws = Variable((*dims, "rank"), (*shape, depth), label_dtype(cases.n_labels))
    return {"top_label": draws, "r_hat": per_item, "ess": per_item}


def _ranks(depth: int | None) -> NDArray[np.int64]:
    return np.arange(1, (depth or 0) + 1)


def _label_names(labels: NDArray[Any], width: int) -> NDArray[Any]:
    """Return the labels' names, with one for the pseudo-label where there is a column for it."""
    if width == labels.size:
        return labels
    return np.append(labels, -1 if labels.dtype.kind in "iuf" else UNRANKED)
