"""Plackett-Luce worths of many items, block of items by block, and the worths of labels that nobody named."""

from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from bayesagree._types import Floats
from bayesagree.annotations import Rankings
from bayesagree.errors import InputError, positive, positive_int
from bayesagree.inference.blocks import label_dtype
from bayesagree.inference.convergence import worst_diagnostics
from bayesagree.inference.pseudo_label import spread, top_labels
from bayesagree.plausibility.plackett_luce._cases import Cases, read_cases
from bayesagree.plausibility.plackett_luce._gibbs_kernels import sample_item
from bayesagree.plausibility.plackett_luce._stages import stages_of

type Unranked = Literal["exact", "lumped"]


class WorthPrior(NamedTuple):
    """Shapes of the worths' gamma prior: of each named label, and of all unnamed labels of an item together.

    Attributes
    ----------
    shape
        Of every named label.
    unnamed
        Of the sum over the labels that nobody named, shape (item,): exact, as a sum of gammas is a gamma.
    split
        Of each of them within that sum; 0 splits the sum equally.
    """

    shape: float
    unnamed: Floats
    split: float


def worth_shape(n_labels: int, shape: float | None, unranked: Unranked) -> float:
    """Return the prior shape of the worth of a named label, for one treatment of the labels that nobody named."""
    if unranked not in ("exact", "lumped"):
        raise InputError(f"unranked={unranked!r} is not one of 'exact', 'lumped'")
    usual = 1.0 if unranked == "lumped" else 1.0 / n_labels
    return positive(usual if shape is None else shape, "shape")


def worth_prior(cases: Cases, shape: float | None, unranked: Unranked) -> WorthPrior:
    """Return the prior for one treatment of the labels that nobody named."""
    one = worth_shape(cases.n_labels, shape, unranked)
    if unranked == "lumped":
        return WorthPrior(one, np.where(cases.n_unnamed > 0, one, 0.0), 0.0)
    return WorthPrior(one, np.asarray(cases.n_unnamed * one, dtype=np.float64), one)


class Problem(NamedTuple):
    """The rankings as the samplers read them, and the prior of their worths."""

    cases: Cases
    prior: WorthPrior

    @classmethod
    def of(
        cls,
        rankings: Rankings,
        reliability: int = 1,
        shape: float | None = None,
        unranked: Unranked = "exact",
    ) -> Self:
        """Read rankings, each of them `reliability` times."""
        cases = read_cases(rankings, positive_int(reliability, "reliability"))
        return cls(cases, worth_prior(cases, shape, unranked))


class Run(NamedTuple):
    """How long the sampler runs: `draws` kept per chain, one every `thin` sweeps, after `tune` sweeps."""

    chains: int
    tune: int
    draws: int
    thin: int


class WorthBlock(NamedTuple):
    """Draws for neighbouring items.

    Attributes
    ----------
    items
        Which items, as positions.
    theta
        Per item the shares of its named labels and, last, of all others together: shape (sample, n + 1), rows sum to
        one, sample = chain * draws + draw.
    diagnostics
        Split r-hat and effective sample size of the worst of the item's labels, shape (item, 2).
    rng
        Continues the block's random stream.
    """

    items: slice
    theta: list[Floats]
    diagnostics: Floats
    rng: np.random.Generator


def gibbs_worths(cases: Cases, prior: WorthPrior, run: Run, items: slice, rng: np.random.Generator) -> WorthBlock:
    """Run the Gibbs sampler for one block of items."""
    theta, stages, prior = [], stages_of(cases, items), prior._replace(unnamed=prior.unnamed[items])
    for i in range(items.stop - items.start):
        out = np.empty((run.chains * run.draws, stages.label_start[i + 1] - stages.label_start[i] + 1))
        sample_item(stages, i, prior, run, rng, out)
        theta.append(out)
    return WorthBlock(items, theta, diagnostics_of(theta, run.chains), rng)


def diagnostics_of(theta: list[Floats], chains: int) -> Floats:
    """Return r-hat and effective sample size of the worst label of each item, shape (item, 2)."""
    return np.array([worst_diagnostics(draws, chains) for draws in theta])


def best_labels(cases: Cases, prior: WorthPrior, block: WorthBlock, depth: int) -> NDArray[Any]:
    """Return the best labels of each draw, shape (item, sample, rank).

    Unnamed labels compete too, each with its own random share of their mass ("exact") or an equal one ("lumped"),
    where a random one stands for its equals.
    """
    out = np.empty((len(block.theta), block.theta[0].shape[0], depth), dtype=label_dtype(cases.n_labels))
    for i, theta in enumerate(block.theta):
        named, unnamed = _named_and_unnamed(cases, block.items.start + i)
        top_labels(theta, named, unnamed, prior.split, block.rng, out[i])
    return out


def full_plausibility(cases: Cases, prior: WorthPrior, block: WorthBlock) -> Floats:
    """Return each draw's plausibilities, shape (item, sample, label); "lumped" adds the pseudo-label at the end."""
    extra = 1 if prior.split == 0.0 else 0
    out = np.zeros((len(block.theta), block.theta[0].shape[0], cases.n_labels + extra))
    for i, theta in enumerate(block.theta):
        named, unnamed = _named_and_unnamed(cases, block.items.start + i)
        if extra:
            out[i][:, np.append(named, cases.n_labels)] = theta
        else:
            spread(theta, named, unnamed, prior.split, block.rng, out[i])
    return out


def _named_and_unnamed(cases: Cases, item: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    named = cases.label[cases.label_start[item] : cases.label_start[item + 1]]
    return named, np.setdiff1d(np.arange(cases.n_labels), named, assume_unique=True)


def reduce_block(cases: Cases, prior: WorthPrior, block: WorthBlock, depth: int | None) -> NDArray[Any]:
    """Return the best `depth` labels of each draw, or the full plausibilities, shape (item, sample, ...)."""
    return full_plausibility(cases, prior, block) if depth is None else best_labels(cases, prior, block, depth)
