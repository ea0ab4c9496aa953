"""Votes until the better of two models is known: `annotate_next` from votes alone against random relabelling.

    BAYESAGREE_DATA=<folder> uv run python benchmarks/next_items.py [--sets name,...] [--starts 50] [--rows rows.jsonl]
    uv run python benchmarks/next_items.py --rows rows.jsonl --report
    NUMBA_NUM_THREADS=1 uv run python benchmarks/next_items.py --million

From one vote on each of 500 items (others at every start), real votes are bought in batches (10, then 2% of what was
bought) until Pr(A better than B) leaves (.05, .95): A is better on more items by the most plausible label, items given.
Both ways buy from the same queues of real votes, drawn without replacement, and look at the probability after every
batch, so that the rate of wrong winners is that of a rule with many looks. The true winner is that of all votes of the
same items. Pairs of models that are equal by all votes are left out. A start where random relabelling does not end
before its votes do has no ratio; it is counted.
"""

import argparse
import json
import os
import time
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import scipy as sp
from informed import SETS
from numpy.typing import NDArray

from bayesagree import Labels, Predictions, annotate_next
from bayesagree.inference.dirichlet_argmax import argmax_probabilities

ITEMS, BATCH, CERTAIN = 500, 10, 0.95


class Lead:
    """Pr(the first model is right on more items): the differences of many items are summed by a normal law."""

    def __init__(self, predicted: NDArray) -> None:
        self.predicted = predicted
        self.mean, self.variance = np.zeros((2, predicted.shape[1]))

    def probability(self, counts: NDArray, changed: NDArray) -> float:
        """Look again at the items that changed."""
        rows = changed[self.predicted[0, changed] != self.predicted[1, changed]]
        if rows.size:
            top = argmax_probabilities(counts[rows] + 1 / counts.shape[1])
            first, second = (top[np.arange(rows.size), of_model[rows]] for of_model in self.predicted)
            self.mean[rows] = first - second
            self.variance[rows] = first + second - self.mean[rows] ** 2
        return float(sp.stats.norm.cdf(self.mean.sum() / np.sqrt(self.variance.sum())))


class Votes:
    """Real votes in random order, bought one by one."""

    def __init__(self, every: NDArray, rng: np.random.Generator) -> None:
        self.queue = [rng.permutation(np.repeat(np.arange(row.size), row)) for row in every]
        self.counts = np.zeros(every.shape, np.int64)
        self.bought = np.zeros(len(every), np.int64)
        self.size = every.sum(axis=1)
        self.buy(np.arange(len(every)))

    def buy(self, items: NDArray) -> None:
        """Take the next vote of each item."""
        for i in items:
            self.counts[i, self.queue[i][self.bought[i]]] += 1
            self.bought[i] += 1

    def left(self) -> NDArray:
        """Items with votes to sell."""
        return np.flatnonzero(self.bought < self.size)


def chosen(way: str, votes: Votes, predictions: Predictions, size: int, rng: np.random.Generator) -> NDArray:
    """Items of the next batch."""
    left = votes.left()
    n = min(size, left.size)
    if way == "random":
        return rng.choice(left, n, replace=False)
    listed = annotate_next(
        Labels.from_counts(votes.counts),
        predictions,
        n=len(votes.counts),
        plausibility="dirichlet",
        random_seed=rng,
    )
    items = listed["item"].to_numpy()
    return items[np.isin(items, left)][:n]


def race(way: str, every: NDArray, predicted: NDArray, random_seed: list[int]) -> tuple[int | None, float]:
    """Votes bought until the decision, None where they end before; and the last probability of the first model."""
    rng = np.random.default_rng(random_seed)
    votes = Votes(every, rng)
    predictions = Predictions.from_labels(dict(zip("AB", predicted)), labels=list(range(every.shape[1])))
    lead, bought, items = Lead(predicted), 0, np.arange(len(every))
    while True:
        probability = lead.probability(votes.counts, items)
        if abs(probability - 0.5) >= CERTAIN - 0.5:
            return bought, probability
        items = chosen(way, votes, predictions, max(BATCH, bought // 50), rng)
        if items.size == 0:
            return None, probability
        votes.buy(items)
        bought += items.size


def cases(
    name: str, every: NDArray, probability: NDArray, start: int
) -> list[dict[str, float | int | str | None]]:
    """Both ways of buying, for all pairs of models on the items of one start."""
    rows = np.random.default_rng([start]).choice(len(every), min(ITEMS, len(every)), replace=False)
    truth, predicted = every[rows].argmax(axis=1), probability[:, rows].argmax(axis=2)
    right = (predicted == truth).mean(axis=1)
    found = []
    for a, b in combinations(range(len(predicted)), 2):
        if right[a] == right[b]:
            continue
        row = {"set": name, "start": start, "pair": f"{a}-{b}", "difference": float(right[a] - right[b])}
        for way in ("random", "next"):
            bought, first = race(way, every[rows], predicted[[a, b]], [start, a, b])
            row |= {
                way: bought,
                f"{way}_wrong": bought is not None and bool((first > 0.5) != (right[a] > right[b])),
            }
        found.append(row)
    return found


def report(rows: pd.DataFrame) -> str:
    """Medians of votes and their ratio, and the rate of wrong winners, per set."""
    lines = [
        "| set | cases | decided before votes end: random, next | votes, median: random, next "
        "| ratio, median (quartiles) | wrong winner: random, next (error) |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, part in rows.groupby("set", sort=False):
        # Decided at the start, both need no vote.
        raced = part[(part.random != 0) & part.random.notna()]
        ratio = raced["next"].fillna(np.inf) / raced.random
        decided = part[["random", "next"]].notna().mean()
        wrong = part[["random_wrong", "next_wrong"]].mean()
        error = part.groupby("start")["next_wrong"].mean().sem()
        low, middle, high = ratio.quantile([0.25, 0.5, 0.75])
        lines.append(
            f"| {name} | {len(part)} ({len(raced)} with a ratio) | {decided.random:.2f}, {decided['next']:.2f} "
            f"| {raced.random.median():.0f}, {raced['next'].median():.0f} | {middle:.2f} ({low:.2f} to {high:.2f}) "
            f"| {wrong.random_wrong:.3f}, {wrong.next_wrong:.3f} ({error:.3f}) |"
        )
    return "\n".join(lines)


def million() -> None:
    """Print the processor time of the next thousand of a million items, compiled, for each goal."""
    rng = np.random.default_rng(1)
    truth = rng.dirichlet([0.6, 0.4, 0.3], 1_000_000)
    labels = Labels.from_counts(rng.multinomial(3, truth))
    log = np.log(truth + 1e-3)
    noisy = {name: np.exp(log + rng.normal(0, sd, log.shape)) for name, sd in (("A", 1.2), ("B", 1.6))}
    models = Predictions.from_scores(noisy)
    for goal in ("decision", "metric", "certainty"):
        for run in range(2):
            began = time.process_time()
            annotate_next(labels, models, n=1000, goal=goal, plausibility="dirichlet", random_seed=1)
            if run:
                print(f"{goal}: {time.process_time() - began:.1f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=Path, default=Path("next_items.jsonl"))
    parser.add_argument("--sets", default="chaosnli-snli,cifar10h,popquorn")
    parser.add_argument("--starts", type=int, default=50)
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--million", action="store_true")
    asked = parser.parse_args()
    if asked.million:
        million()
        return
    done = (
        pd.read_json(asked.rows, lines=True)
        if asked.rows.exists() and asked.rows.stat().st_size
        else pd.DataFrame(columns=["set", "start"])
    )
    if asked.report:
        print(report(done))
        return
    folder, seen = Path(os.environ["BAYESAGREE_DATA"]), set(zip(done["set"], done.start))
    for name in asked.sets.split(","):
        every, probability = SETS[name](folder)
        for start in range(asked.starts):
            if (name, start) not in seen:
                rows = cases(name, every, probability, start)
                with asked.rows.open("a") as file:
                    file.writelines(json.dumps(row) + "\n" for row in rows)


if __name__ == "__main__":
    main()
