"""Posteriors of ratings: a mean and a variance of each item, the truth as a number or as a side of a threshold."""

from dataclasses import dataclass

import numpy as np

from bayesagree.annotations import Ratings
from bayesagree.errors import InputError
from bayesagree.inference.blocks import LOCAL, DrawBlock, Schedule, Stream
from bayesagree.inference.posterior import Drawn, ItemPosterior, Kinds, Request
from bayesagree.inference.top_labels import number_block

VARIABLES = ("mean", "variance")


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
        return {name: ({}, np.float64) for name in VARIABLES}

    def blocks(
        self, annotations: Ratings, request: Request, schedule: Schedule = LOCAL, *, plausibility: bool = False
    ) -> Stream:
        """Stream the order of the labels "below" and "at_or_above" the threshold, or the means themselves."""
        if self.threshold is None and not request.numbers:
            raise InputError(
                "ratings have no labels; pass threshold=c to ask whether the mean is below c or not"
            )
        if plausibility:
            raise InputError(
                f"plausibility={self.name!r} has no plausibilities of labels, which these scores compare with"
            )
        drawer = self.drawer(self.problem(annotations), request)

        def draw(items: slice, rng: np.random.Generator) -> DrawBlock:
            drawn: Drawn = drawer(items, rng)
            mean, variance = (np.asarray(drawn.values[name]) for name in VARIABLES)
            return number_block(
                items, mean, variance, self.threshold, keep=request.numbers, depth=request.top_labels or 1
            )

        return Stream(schedule.draw(draw, annotations.items.size, request.random_seed))
