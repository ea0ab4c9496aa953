"""The hot paths of `limits`: what a unit of each path's work takes, and what it cannot do without.

Each takes the prices, and how many times smaller its problem is to be.
"""

from typing import NamedTuple, cast

import numpy as np
import prices
from prices import Prices, generator, nanoseconds, price_of
from timing import Spread

from bayesagree.annotations import Rankings
from bayesagree.datasets import load
from bayesagree.datasets.simulate import crowd_labels
from bayesagree.inference.blocks import best_labels
from bayesagree.metrics.concordant_pairs import ScoreOrder
from bayesagree.plausibility.dawid_skene._crowd import Crowd
from bayesagree.plausibility.dawid_skene._variants import SAMPLERS
from bayesagree.plausibility.dawid_skene.prior import DawidSkenePrior
from bayesagree.plausibility.plackett_luce._sampler import Problem, Run


class HotPath(NamedTuple):
    """One hot path: nanoseconds that a unit of its work takes, and at least must take."""

    name: str
    unit: str
    nanoseconds: Spread
    floor: float
    floor_is: str

    @property
    def ratio(self) -> float:
        """Return how many times its floor the path takes."""
        return self.nanoseconds.median / self.floor


def selection(price: Prices, small: int) -> HotPath:
    samples = 200 // small
    values = generator().random((64, samples, 419))
    spent = nanoseconds(lambda: best_labels(values, 3), values.size)
    floor = prices.price(lambda: values.argmax(axis=2), values.size)
    return HotPath(
        "the best three of 419 plausibilities on record", "label", spent, floor, "numpy's argmax: the best one"
    )


def gibbs(price: Prices, small: int) -> HotPath:
    rng, sweeps, n_items = generator(), 2000 // small, 100
    cases = cast(Rankings, load("derm-ddx").annotations)
    few = Rankings.from_blocks([cases.of_item(i) for i in range(n_items)], labels=cases.categories)
    problem, items = Problem.of(few, unranked="lumped"), slice(0, n_items)
    races = problem.races

    def sample() -> None:
        problem.draw(items, Run(1, sweeps - 1, 1, 1), rng)

    edge = np.append(
        True, (np.diff(races.block) != 0) | (np.diff(np.repeat(races.times, np.diff(races.entry_start))) != 0)
    )
    edge[races.entry_start[:-1]] = True
    first = np.flatnonzero(edge)
    size = np.diff(np.append(first, edge.size))
    race = np.searchsorted(races.entry_start, first, side="right") - 1
    ranked = races.block[first] < races.block[races.entry_start[race + 1] - 1]
    tie, repeats = ranked & (size > 1), races.times[race]
    single, sums = (ranked & (size == 1) & (repeats == 1)).sum(), (ranked & (size == 1) & (repeats > 1)).sum()
    tied_labels, choices = (repeats * size)[tie].sum(), (repeats * (size - 1))[tie].sum()
    # Beside the worths: their total, and the factor of the tail.
    worths = races.label.size + 2 * n_items
    gamma = price_of(lambda rng, k: rng.standard_gamma(2.0), 10**7 // small)
    floor = (worths + sums) * gamma + (single + tied_labels) * price.exponential + choices * price.uniform
    n = worths + sums + single + tied_labels
    spent = nanoseconds(sample, sweeps * n)
    name = "Gibbs sweep of Plackett-Luce, dermatology"
    return HotPath(
        name, "worth or wait", spent, floor / n, "a gamma for each worth and wait, waits and order of ties"
    )


def pairs(price: Prices, small: int) -> HotPath:
    rng, n_items = generator(), 100_000 // small
    scores, truth = rng.random((4, n_items)), rng.random(n_items)
    spent = nanoseconds(lambda: ScoreOrder(scores).graded(truth), scores.size)
    floor = prices.price(lambda: np.argsort(scores, axis=1), scores.size)
    name = f"AUC against a graded truth, {n_items:,} items"
    return HotPath(name, "item", spent, floor, "numpy's argsort of the scores")


def mixed_membership(price: Prices, small: int) -> HotPath:
    n_items, n_annotators, n_labels, sweeps = 20_000 // small, 100, 5, 5
    labels = crowd_labels(
        n_items=n_items, n_annotators=n_annotators, n_labels=n_labels, labels_per_item=5, random_seed=1
    ).labels
    crowd, rng = Crowd.of_labels(labels), generator()
    sampler = SAMPLERS["mixed_membership"](crowd, DawidSkenePrior(), 1, rng)
    sampler.draw(rng, 100)
    spent = nanoseconds(
        lambda: [sampler.sweep(rng) for _ in range(sweeps)], sweeps * crowd.item.size * n_labels
    )
    # Annotations are drawn one by one, then those of an item with equal latent labels together.
    place = (crowd.annotator * n_labels + crowd.label) * n_labels
    floor = 2 * prices.read_in(place) + (price.uniform + prices.add_in(place)) / n_labels
    name = f"a sweep of mixed membership, {n_items * 5:,} annotations, {n_annotators} annotators, {n_labels} labels"
    return HotPath(
        name,
        "annotation and candidate",
        spent,
        floor,
        "its chance read twice; of an annotation, a uniform and its count",
    )


PATHS = [
    selection, gibbs, pairs, mixed_membership,
]  # fmt: skip
ON_PUBLIC_DATA = (gibbs,)
