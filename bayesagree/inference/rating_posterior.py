"""Posteriors of ratings: a mean and a variance of each item, the truth as a number or as a side of a threshold."""

from dataclasses import dataclass

import numpy as np

from bayesagree.annotations import Ratings
from bayesagree.errors import InputError
from bayesagree.inference.blocks import DrawBlock, Stream
from bayesagree.inference.posterior import ItemPosterior, Kinds, Request
from bayesagree.inference.top_labels import sides


@dataclass(frozen=True)
class RatingPosterior(ItemPosterior):
    """A posterior that draws the ``mean`` and ``variance`` of each item's ratings.

    A threshold divides the scale into the labels "below" and "at_or_above", for predicted labels.
    """

    threshold: float | None = None

    def variables(self, annotations: Ratings, request: Request) -> Kinds:
        """Return the variables to keep: mean and variance of each item."""
        if request.top_labels is not None:
            raise InputError("ratings have no labels; leave top_labels out")
        return {name: ({}, np.float64) for name in ("mean", "variance")}

    def scored(self, block: DrawBlock, request: Request) -> DrawBlock:
        """Return the sides of the threshold that the means are on, or the means themselves."""
        return sides(block, self.threshold, keep=request.numbers, depth=request.top_labels or 1)

    def blocks(self, annotations: Ratings, request: Request) -> Stream:
        """Stream the order of the labels "below" and "at_or_above" the threshold, or the means themselves."""
        if self.threshold is None and not request.numbers:
            raise InputError(
                "ratings have no labels; pass threshold=c to ask whether the mean is below c or not"
            )
        if request.plausibility:
            raise InputError(
                f"plausibility={self.name!r} has no plausibilities of labels, which these scores compare with"
            )
        return super().blocks(annotations, request)
