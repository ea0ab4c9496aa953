"""The frame of all samplers: chains that move side by side, and what is kept of them."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesagree._types import Floats, Rng
from bayesagree.inference.blocks import best_labels
from bayesagree.plausibility.dawid_skene._crowd import Crowd


class Sampler(ABC):
    """Chains of one variant.

    Attributes
    ----------
    prevalence
        Share of each label, (chain, category).
    expected
        Expectation of the plausibilities given the other unknowns, (chain, item, category).
    tune, thin
        Sweeps before the first draw, and from one to the next, where nobody says how many.
    """

    tune, thin = 500, 1
    crowd: Crowd
    prevalence: Floats
    expected: Floats

    @abstractmethod
    def sweep(self, rng: Rng) -> None:
        """Draw every unknown."""

    @abstractmethod
    def plausibility(self, rng: Rng) -> Floats:
        """Return the present draw of the plausibilities; bring `expected` and `prevalence` up to date."""

    @abstractmethod
    def confusion(self, rng: Rng) -> Floats:
        """Return whole confusion matrices, (chain, annotator, category, observed category)."""

    def right(self, rng: Rng) -> Floats:
        """Return the chance of the right label, (chain, annotator, category)."""
        return np.diagonal(self.confusion(rng), axis1=2, axis2=3)

    def hyperparameters(self) -> dict[str, Floats]:
        """Return what items or annotators share, and parameters of items, (chain, ...)."""
        return {}


class Chains(NamedTuple):
    """What is kept of the chains of a variant beside its draws.

    Attributes
    ----------
    at, names
        Positions and variables of the draws.
    expected
        Mean over draws of the conditional expectations, (chain, item, category).
    watched
        Conditional expectations of the label with most votes of a few items, (chain, draw, item).
    """

    at: NDArray[np.int64]
    names: tuple[str, ...]
    expected: Floats
    watched: Floats


def run_chains(
    sampler: Sampler,
    rng: Rng,
    draws: dict[str, NDArray[Any]],
    at: NDArray[np.int64],
    *,
    tune: int,
    thin: int = 1,
    size: int | None = None,
    items: NDArray[np.int64] | None = None,
    top_labels: int | None = None,
    confusion: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Chains:
    """Run the chains; write plausibilities or best labels, accuracies or confusion, and hyperparameters into `draws`.

    `draws` has `size` draws by name, (chain, draw, ...), of which these are those `at`; what is missing is added.
    """
    apart = rng.spawn(1)[0]  # what is kept does not change the draws
    items = np.zeros(1, np.int64) if items is None else items
    best = sampler.crowd.shares[items].argmax(axis=1)
    kept: dict[str, Any] = {}
    expected, watched = np.zeros(1), []
    for _ in range(tune):
        sampler.sweep(rng)
    for place in at:
        for _ in range(thin):
            sampler.sweep(rng)
        drawn = sampler.plausibility(rng)
        kept = {"top_label": best_labels(drawn, top_labels)} if top_labels else {"plausibility": drawn}
        kept["prevalence"] = sampler.prevalence
        if confusion:
            matrices = sampler.confusion(apart)
            right, kept["confusion"] = np.diagonal(matrices, axis1=2, axis2=3), matrices.astype(np.float32)
        else:
            right = sampler.right(apart)
        kept["accuracy"] = np.einsum("cjk,ck->cj", right, sampler.prevalence)
        kept |= sampler.hyperparameters()
        for name, values in kept.items():
            if name not in draws:
                draws[name] = np.empty((len(values), size or at.size, *values.shape[1:]), values.dtype)
            draws[name][:, place] = values
        expected = expected + sampler.expected / at.size
        watched.append(sampler.expected[:, items, best])
        if progress is not None:
            progress(len(drawn))
    return Chains(at, tuple(kept), expected, np.stack(watched, axis=1))
