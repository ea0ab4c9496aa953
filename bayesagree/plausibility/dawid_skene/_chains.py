"""The frame of all samplers: chains that move side by side, and what is kept of them."""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesagree._types import Floats, Rng
from bayesagree.inference.blocks import best_labels
from bayesagree.inference.posterior import Request
from bayesagree.plausibility.dawid_skene._crowd import Crowd

# How many items and annotators have convergence diagnostics: they are exchangeable, and a sample tells of all.
MONITORED = 50


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

    @abstractmethod
    def hyperparameters(self) -> dict[str, Floats]:
        """Return what items or annotators share, and parameters of items, (chain, ...)."""

    def draw(self, rng: Rng, sweeps: int) -> Floats:
        """Return the draw of the plausibilities after some sweeps."""
        for _ in range(sweeps):
            self.sweep(rng)
        return self.plausibility(rng)


class Part(NamedTuple):
    """What one variant has of a result: positions and names of its draws, and a mean, (item, category).

    It is that of the conditional expectations, added up over the draws and divided by the number of all draws.
    """

    at: NDArray[np.int64]
    names: tuple[str, ...]
    expected: Floats


def run_chains(
    sampler: Sampler,
    rng: Rng,
    draws: dict[str, NDArray[Any]],
    at: NDArray[np.int64],
    request: Request,
    *,
    thin: int,
    confusion: bool = False,
) -> Part:
    """Run the chains; write what is kept of each into `draws`, (chain, draw, ...) by name, at these positions.

    ``label_probability`` are the conditional expectations of the label with most votes of the monitored items.
    """
    apart = rng.spawn(1)[0]  # what is kept does not change the draws
    items = monitored_items(sampler.crowd.n_items)
    best = sampler.crowd.shares[items].argmax(axis=1)
    kept, expected = {}, np.zeros(1)
    for place in at:
        drawn = sampler.draw(rng, thin)
        matrices = {"confusion": sampler.confusion(apart).astype(np.float32)} if confusion else {}
        right = np.diagonal(matrices["confusion"], axis1=2, axis2=3) if confusion else sampler.right(apart)
        kept = {
            request.variable: best_labels(drawn, request.top_labels) if request.top_labels else drawn,
            "prevalence": sampler.prevalence,
            "accuracy": np.einsum("cjk,ck->cj", right, sampler.prevalence),
            "label_probability": sampler.expected[:, items, best],
        } | matrices | sampler.hyperparameters()  # fmt: skip
        for name, values in kept.items():
            if name not in draws:
                draws[name] = np.empty((len(values), request.draws, *values.shape[1:]), values.dtype)
            draws[name][:, place] = values
        expected = expected + sampler.expected.mean(axis=0) / request.draws
        if request.progress is not None:
            request.progress(len(drawn))
    return Part(at, tuple(kept), expected)


def monitored_items(n_items: int) -> NDArray[np.int64]:
    """Choose items at even distances."""
    return np.unique(np.linspace(0, n_items - 1, min(MONITORED, n_items)).astype(np.int64))
