"""Cost of the main engines against size: seconds at growing sizes, and the exponent of a log-log fit.

    uv run python benchmarks/run.py scaling [LARGEST]       (all sizes by default; 1e4 tries the table out)

Items grow from 10^3 to 10^7, annotators from 10 to 10^5, labels from 2 to 10^4, about tenfold at a time, as long as the
next call should take less than a minute; what does not grow stands in the row. Each row runs in a process of its own
after a call that compiles; data are made outside the timing; each time the median of five calls or of what fits into
ten seconds, with the least and the largest in parentheses. Exponents are those of the medians; "last" is the exponent
of the last step alone: small calls have a fixed cost, and the fit is flatter than what follows. Writes
benchmarks/results/scaling.md when all sizes were asked for.
"""

import multiprocessing
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from timing import Spread, timed

from bayesagree import (
    Labels,
    Predictions,
    Rankings,
    annotation_certainty,
    common_agreement,
    dirichlet,
    evaluate,
    krippendorff_alpha,
    simulate,
)
from bayesagree.metrics import concordance
from bayesagree.plausibility.dawid_skene._crowd import Crowd
from bayesagree.plausibility.dawid_skene.em import dawid_skene_em

LIMIT = 60.0
"""A row ends where the next call, growing as the last step did, would take more seconds."""
PER_ITEM = 5
ITEMS, ANNOTATORS = [10**p for p in range(3, 8)], [10**p for p in range(1, 6)]
LABELS = [2, 10, 100, 1000, 10_000]

type Call = Callable[[], object]


class Sweep(NamedTuple):
    """One row: an engine, what grows, and what makes the call for a size."""

    engine: str
    grows: str
    sizes: list[int]
    call: Callable[[int], Call]


def crowd(n_items: int = 10_000, n_annotators: int = 100, n_labels: int = 5) -> Labels:
    """Simulate five labels an item by annotators who are right with probability 0.7."""
    rng = np.random.default_rng(1)
    item = np.repeat(np.arange(n_items), PER_ITEM)
    first = rng.integers(0, n_annotators, n_items)[:, None]
    annotator = ((first + np.arange(PER_ITEM) * (n_annotators // PER_ITEM)) % n_annotators).ravel()
    truth, other = rng.integers(0, n_labels, n_items)[item], rng.integers(0, n_labels, item.size)
    label = np.where(rng.random(item.size) < 0.7, truth, other)
    rows = (np.arange(n_items), np.arange(n_annotators), item, annotator)
    return Labels(*rows, np.arange(n_labels), label, np.ones(item.size, np.int64))


def ranked(
    n_items: int = 200, n_labels: int = 20, n_annotators: int = PER_ITEM
) -> tuple[Rankings, Predictions]:
    """Simulate rankings of up to three labels by every annotator, and the scores of two models."""
    rng, named = np.random.default_rng(1), min(3, n_labels)
    n = n_items * n_annotators
    label = (rng.integers(0, n_labels, n)[:, None] + np.arange(named)) % n_labels
    rankings = Rankings(
        np.arange(n_items), np.arange(n_annotators), np.repeat(np.arange(n_items), n_annotators),
        np.tile(np.arange(n_annotators), n_items), np.arange(n_labels), np.arange(0, n * named + 1, named),
        label.ravel(), np.tile(np.arange(named), n),
    )  # fmt: skip
    scores = {name: rng.random((n_items, n_labels)) for name in "AB"}
    return rankings, Predictions.from_scores(scores, labels=list(range(n_labels)))


def phi(n_items: int = 100, n_ratings: int = PER_ITEM, n_levels: int | None = None) -> Call:
    ratings = simulate.ratings(
        n_items=n_items, ratings_per_item=n_ratings, n_levels=n_levels, phi=0.4, random_seed=1
    ).ratings
    return lambda: common_agreement(ratings, random_seed=1)


def alpha(labels: Labels) -> Call:
    return lambda: krippendorff_alpha(labels)


def certainty(labels: Labels) -> Call:
    return lambda: annotation_certainty(
        dirichlet(labels, draws=1, chains=1, random_seed=1, top_labels=1), exact=True
    )


def prirn(rankings: Rankings, models: Predictions) -> Call:
    return lambda: evaluate(rankings, models, plausibility="prirn", draws=100, chains=1, random_seed=1)


def em(labels: Labels) -> Call:
    return lambda: dawid_skene_em(Crowd.of_labels(labels), max_iterations=10, tolerance=-1)


def auc(n_items: int) -> Call:
    rng = np.random.default_rng(1)
    scores, truth = rng.random((10, n_items)), rng.random(n_items)
    return lambda: concordance(scores, truth)


SWEEPS = [
    Sweep("Phi, 5 ratings an item on 5 levels", "items", ITEMS, lambda n: phi(n, n_levels=5)),
    Sweep("Phi, 5 continuous ratings an item", "items", ITEMS, phi),
    Sweep("Phi, 100 items, continuous ratings", "annotators", ANNOTATORS, lambda n: phi(n_ratings=n)),
    Sweep("nominal alpha, 5 labels", "items", ITEMS, lambda n: alpha(crowd(n))),
    Sweep("nominal alpha, 10,000 items", "annotators", ANNOTATORS, lambda n: alpha(crowd(n_annotators=n))),
    Sweep("nominal alpha, 10,000 items", "labels", LABELS, lambda n: alpha(crowd(n_labels=n))),
    Sweep("exact Dirichlet certainty, 5 labels", "items", ITEMS, lambda n: certainty(crowd(n))),
    Sweep(
        "exact Dirichlet certainty, 1000 items", "labels", LABELS, lambda n: certainty(crowd(1000, n_labels=n))
    ),
    Sweep("evaluate with PrIRN, 20 labels, 100 draws", "items", ITEMS, lambda n: prirn(*ranked(n))),
    Sweep(
        "evaluate with PrIRN, 200 items, 100 draws",
        "annotators",
        ANNOTATORS,
        lambda n: prirn(*ranked(200, 20, n)),
    ),
    Sweep("evaluate with PrIRN, 200 items, 100 draws", "labels", LABELS, lambda n: prirn(*ranked(200, n))),
    Sweep("Dawid-Skene EM, 10 iterations, 5 labels", "items", ITEMS, lambda n: em(crowd(n))),
    Sweep("Dawid-Skene EM, 10,000 items", "annotators", ANNOTATORS, lambda n: em(crowd(n_annotators=n))),
    Sweep("Dawid-Skene EM, 10,000 items", "labels", LABELS, lambda n: em(crowd(n_labels=n))),
    Sweep("AUC of 10 models, graded truth", "items", ITEMS, auc),
]


NOTES = """
Of the last steps above 1.05: PrIRN with 10^5 annotators goes through 6 x 10^7 entries in memory that it has not touched
before; of 21 seconds of an earlier version 17 were the system's, which hands out and clears that memory (`getrusage`),
and two runs still differ threefold. The AUC of 10^7 items reads arrays that no cache holds in random order, each read
seven times as long as at 10^5 ([limits](limits.md)), and a fifth of its processor time is the system's again. That of
exact certainty was not taken apart. Of more than 10,000 distinct continuous items the exact posterior keeps only the
bins next to the ends of the scale apart, so that a million of them cost one and a half times as much as a hundred
thousand."""


def seconds(call: Call) -> Spread:
    times = []
    while len(times) < 5 and sum(times) < 10:
        times.append(timed(call, 1).median)
    return Spread.of(times)


def next_seconds(found: list[tuple[int, Spread]]) -> float:
    """Guess the time of the next size: it grows as the last step did; two sizes are tried in any case."""
    times = [t.median for _, t in found]
    return times[-1] * times[-1] / times[-2] if len(times) > 1 else 0.0


def measure(number: int, largest: float) -> list[tuple[int, Spread]]:
    """Return (size, seconds) of one sweep up to a size."""
    sweep, found = SWEEPS[number], []
    sweep.call(sweep.sizes[0])()
    for size in sweep.sizes:
        if size > largest or (found and next_seconds(found) > LIMIT):
            break
        found.append((size, seconds(sweep.call(size))))
    return found


def line(sweep: Sweep, found: list[tuple[int, Spread]]) -> str:
    size, cost = np.log([(n, t.median) for n, t in found]).T
    steps = [(d - c) / (b - a) for (a, c), (b, d) in pairwise(zip(size, cost))]
    fit, last = (f"{np.polyfit(size, cost, 1)[0]:.2f}", f"{steps[-1]:.2f}") if steps else ("", "")
    times = ", ".join(str(t) for _, t in found)
    return f"| {sweep.engine} | {found[0][0]:,} to {found[-1][0]:,} {sweep.grows} | {times} | {fit} | {last} |"


def table(largest: float = np.inf) -> list[str]:
    """Print the rows as they come, and return them."""
    lines = ["| engine | size | seconds at each size | exponent | last |", "| --- | --- | --- | ---: | ---: |"]
    print(*lines, sep="\n", flush=True)
    for number, sweep in enumerate(SWEEPS):
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            lines.append(line(sweep, pool.apply(measure, (number, largest))))
        print(lines[-1], flush=True)
    return lines + NOTES.split("\n")
