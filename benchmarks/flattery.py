"""Scores of models that are not independent of the votes, and of honest ones beside them; a table in Markdown.

    [BAYESAGREE_DATA=<folder>] uv run python benchmarks/flattery.py [--sets 24] [--scored 3]   (about five minutes)

Planted models: one of the voters; the most frequent of the votes of each item, with 0, 10 or 30 % of its labels
replaced at random, or on half of the items (an honest model elsewhere); probabilities made of the votes, (votes + 1) /
(n + labels). An honest model sees the plausibilities through noise of its own. Plausibilities of three labels are drawn
from Dirichlet(1, 1, 1). The guard alone is run on many sets, `evaluate` on few. Numbers: means ~ N(3, .7^2), ratings
with sd .8 on a scale from 1 to 5 in steps of 1. On public sets the votes are drawn from all votes of an item without
replacement, and the truth is the score against the plurality of all of them.

"z": how far the votes for a model's label are from votes that are independent of it; "left out": share of sets in which
the model informs no truth; "cannot tell": in which the interval printed also holds the score without it. "Covered": by
the interval of `compare`, and by that of the posterior alone, which all models inform but those left out; in brackets
the Monte-Carlo error of independent scores (those of one set are not).

What the table says: what is printed holds the true score of a planted model in nearly all sets, where the posterior
alone holds that of a copy with 30 % replaced, or on half of the items, in few. Intervals of honest models hold what
they held before; where the votes cannot tell they are about twice as wide, and who knows that all models are
independent says `exclude=[]`. It fails in one set of three for copies of five votes on half of the items, and of
three votes with 30 % replaced, and, as without the guard, for a model that knows the means of ratings exactly, which is
said to be off by .1.
"""

import argparse
import os
import warnings
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from informed import SETS
from numpy.typing import NDArray

from bayesagree import Labels, Predictions, Ratings, compare, evaluate
from bayesagree.plausibility.independence import independence

type Floats = NDArray[np.float64]

PLANTED = ("voter", "copy", "copy, 10 % other", "copy, 30 % other", "copy on half", "soft copy")
HONEST = ("honest A", "honest B", "honest C")
RATED = ("rater", "mean of ratings", "mean, noise .3", "honest", "knows the means")
HEAD = (
    "| world | items | votes | model | true | says | covered | by the posterior alone | width | left out |\n"
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
)


def planted(share: Floats, votes: NDArray, honest: NDArray, rng: np.random.Generator) -> dict[str, Floats]:
    """Outputs of all planted models, (item, label); votes are codes (item, vote)."""
    n, k = share.shape
    counts = np.stack([(votes == label).sum(axis=1) for label in range(k)], axis=1)
    copy = (counts + rng.random(counts.shape) / 2).argmax(axis=1)

    def replaced(part: float, by: NDArray) -> Floats:
        return one_hot(np.where(rng.random(n) < part, by, copy), k)

    return {
        "voter": one_hot(votes[:, 0], k),
        "copy": one_hot(copy, k),
        "copy, 10 % other": replaced(0.1, rng.integers(k, size=n)),
        "copy, 30 % other": replaced(0.3, rng.integers(k, size=n)),
        "copy on half": replaced(0.5, honest),
        "soft copy": (counts + 1) / (counts.sum(axis=1, keepdims=True) + k),
    }


def one_hot(label: NDArray, k: int) -> Floats:
    return 0.97 * np.eye(k)[label] + 0.03 / k


def world(items: int, votes: int, rng: np.random.Generator) -> tuple[Labels, dict[str, Floats], NDArray]:
    """Labels by unnamed voters, outputs of all models, and the best label of each item."""
    share = rng.dirichlet(np.ones(3), items)
    given = (rng.random((items, votes, 1)) > share.cumsum(axis=1)[:, None, :-1]).sum(axis=2)
    outputs = {}
    for name, noise in zip(HONEST, (0.4, 0.7, 1.0)):
        seen = np.log(share + 1e-6) + noise * rng.gumbel(size=share.shape)
        outputs[name] = np.exp(seen) / np.exp(seen).sum(axis=1, keepdims=True)
    outputs |= planted(share, given, outputs["honest B"].argmax(axis=1), rng)
    counts = np.stack([(given == label).sum(axis=1) for label in range(3)], axis=1)
    return Labels.from_counts(counts), outputs, share.argmax(axis=1)


def public(
    name: str, items: int, votes: int, rng: np.random.Generator
) -> tuple[Labels, dict[str, Floats], NDArray]:
    """Votes drawn from those of a public set, its models and the planted ones, and the plurality of all votes."""
    every, given = SETS[name](Path(os.environ["BAYESAGREE_DATA"]))
    rows = rng.choice(len(every), items, replace=False)
    every, k = every[rows], every.shape[1]
    drawn = np.stack([rng.permutation(np.repeat(np.arange(k), row))[:votes] for row in every])
    outputs = dict(zip(HONEST, given[:3, rows]))
    outputs |= planted(every / every.sum(axis=1, keepdims=True), drawn, outputs["honest B"].argmax(axis=1), rng)
    counts = np.stack([(drawn == label).sum(axis=1) for label in range(k)], axis=1)
    return Labels.from_counts(counts), outputs, every.argmax(axis=1)


def rated(items: int, ratings: int, rng: np.random.Generator) -> tuple[Ratings, dict[str, Floats], Floats]:
    mean = rng.normal(3, 0.7, items)
    given = np.clip(np.round(mean[:, None] + rng.normal(0, 0.8, (items, ratings))), 1, 5)
    outputs = {
        "rater": given[:, 0],
        "mean of ratings": given.mean(axis=1),
        "mean, noise .3": given.mean(axis=1) + rng.normal(0, 0.3, items),
        "honest": mean + rng.normal(0, 0.5, items),
        "knows the means": mean,
    }
    return Ratings.from_matrix(given, scale=(1, 5), step=1), outputs, mean


def guarded(cells: list[tuple[Any, ...]], sets: int) -> Iterator[str]:
    """Rows: share of sets in which a model is left out, and in which the annotations cannot tell."""
    yield "| | items | votes | model | z, mean (largest) | left out | cannot tell |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for make, what, items, votes in cells:
        found = defaultdict(list)
        for r in range(sets):
            annotations, outputs, _ = make(items, votes, np.random.default_rng([60, items, votes, r]))
            of = Predictions.from_numbers if isinstance(annotations, Ratings) else Predictions.from_scores
            one = independence(annotations, of(outputs))
            for m, name in enumerate(outputs):
                found[name].append((one.z[m], one.dependent[m], one.unsure[m]))
        for name, rows in found.items():
            z, out, unsure = np.array(rows, float).T
            yield (
                f"| {what} | {items} | {votes} | {name} | {np.nanmean(z):.1f} ({np.nanmax(z):.1f}) | {share(out)} "
                f"| {unsure.mean():.2f} |"
            )


def share(hit: NDArray) -> str:
    p = np.mean(hit)
    return f"{p:.2f} ({np.sqrt(p * (1 - p) / len(hit)):.2f})"


def scored(what: str, make: Any, cells: list[tuple[int, int]], sets: int) -> Iterator[str]:
    """Rows: scores that `evaluate` gives to planted models, alone and beside honest ones, and to these."""
    for items, votes in cells:
        found = defaultdict(list)
        for r in range(3 * sets):
            annotations, outputs, best = make(items, votes, np.random.default_rng([61, items, votes, r]))
            fields: list[tuple[str, tuple[str, ...]]] = [("three honest models", HONEST)]
            fields += [(f"{p}, alone", (p,)) for p in PLANTED if r < sets or p == "voter"]
            for field, names in fields:
                for _, row in of_field(annotations, {name: outputs[name] for name in names}, best, r):
                    found[field].append(row)
        yield from rows_of(what, items, votes, found)


def beside(cells: list[tuple[int, int]], sets: int) -> Iterator[str]:
    """Rows: a planted model beside two honest ones, and these beside it and alone."""
    for items, votes in cells:
        found = defaultdict(list)
        for r in range(sets):
            annotations, outputs, best = world(items, votes, np.random.default_rng([64, items, votes, r]))
            for p in ("voter", "copy, 30 % other"):
                for name, row in of_field(annotations, {n: outputs[n] for n in (p, *HONEST[1:])}, best, r):
                    found[f"{p}, beside honest" if name == p else f"honest, beside {p}"].append(row)
            for _, row in of_field(annotations, {n: outputs[n] for n in HONEST[1:]}, best, r):
                found["two honest models"].append(row)
        yield from rows_of("simulated", items, votes, found)


def of_field(
    labels: Labels, outputs: dict[str, Floats], best: NDArray, random_seed: int
) -> Iterator[tuple[str, tuple]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = evaluate(labels, Predictions.from_scores(outputs), draws=100, random_seed=random_seed)
    row = compare(tree, "accuracy")
    alone = compare(tree.filter(lambda node: node.name != "without_unsure"), "accuracy")
    for name in outputs:
        true = (outputs[name].argmax(axis=1) == best).mean()
        ends = [c.loc[name, ["lower", "upper"]].to_numpy() for c in (row, alone)]
        held = [low - 1e-9 <= true <= high + 1e-9 for low, high in ends]
        out = row["warning"][name].startswith("not")
        yield name, (true, row["score"][name], *held, ends[0][1] - ends[0][0], out)


def rows_of(what: str, items: int, votes: int, found: dict[str, list]) -> Iterator[str]:
    for name, rows in found.items():
        true, says, held, alone, width, out = np.array(rows, float).T
        yield (
            f"| {what} | {items} | {votes} | {name} | {true.mean():.3f} | {says.mean():.3f} | {share(held)} "
            f"| {alone.mean():.2f} | {width.mean():.3f} | {out.mean():.2f} |"
        )


def scored_numbers(cells: list[tuple[int, int]], sets: int) -> Iterator[str]:
    for items, votes in cells:
        found = defaultdict(list)
        for r in range(sets):
            ratings, outputs, mean = rated(items, votes, np.random.default_rng([62, items, votes, r]))
            for names in (
                ([n] for n in RATED[:3]),
                ([n, "honest"] for n in RATED[:3]),
                [["honest", "knows the means"]],
            ):
                for some in names:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        tree = evaluate(
                            ratings,
                            Predictions.from_numbers({n: outputs[n] for n in some}),
                            draws=250,
                            random_seed=r,
                        )
                    row = compare(tree, metric="mae")
                    alone = compare(tree.filter(lambda node: node.name != "without_unsure"), metric="mae")
                    for m, name in enumerate(some):
                        true = np.abs(outputs[name] - mean).mean()
                        ends = [c.loc[name, ["lower", "upper"]].to_numpy() for c in (row, alone)]
                        held = [low <= true <= high for low, high in ends]
                        out = row["warning"][name].startswith("not")
                        field = name + (", alone" if len(some) == 1 else f", beside {some[1 - m]}")
                        found[field].append((true, row["score"][name], *held, ends[0][1] - ends[0][0], out))
        yield from rows_of("numbers, MAE", items, votes, found)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", type=int, default=24)
    parser.add_argument("--scored", type=int, default=3)
    how = parser.parse_args()
    sizes = [(items, votes) for items in (100, 500) for votes in (2, 3, 5, 10)]
    cells: list[tuple[Any, ...]] = [(world, "simulated", *size) for size in sizes]
    cells += [(rated, "numbers", 100, 3), (rated, "numbers", 300, 3), (rated, "numbers", 300, 8)]
    data = "BAYESAGREE_DATA" in os.environ
    real = [("chaosnli-snli", 500, 3), ("chaosnli-snli", 500, 10), ("dices350", 300, 5)] if data else []
    cells += [(partial(public, name), name, items, votes) for name, items, votes in real]
    lines = ["## The guard alone", "", f"{how.sets} sets a row.", "", *guarded(cells, how.sets)]
    lines += [
        "",
        "## Scores",
        "",
        f"{how.scored} sets a row, {3 * how.scored} of three honest models and of voters alone, 8 of models beside "
        "honest ones, 10 of numbers.",
        "",
        HEAD,
    ]
    for found in (
        scored("simulated", world, sizes, how.scored),
        *(scored(name, partial(public, name), [(items, votes)], how.scored) for name, items, votes in real[:2]),
        beside([(500, 10), (500, 5), (100, 10)], 8),
        scored_numbers([(100, 3), (300, 3)], 10),
    ):
        for line in found:
            print(line, flush=True)
            lines.append(line)
    text = "\n".join(lines)
    (Path(__file__).parent / "results" / "flattery.md").write_text(
        f"# Scores that are not flattered\n\n{__doc__}\n{text}\n"
    )


if __name__ == "__main__":
    main()
