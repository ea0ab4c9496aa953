"""Do sets cover what annotators say? Coverage on public data from many and few votes, and in simulations; a page.

    BAYESAGREE_DATA=<folder> uv run python benchmarks/conformal.py

Writes benchmarks/results/conformal.md. A quarter of an hour on two cores.
"""

import datetime
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import scipy as sp
import xarray as xr

import bayesagree as ba
from bayesagree import Labels, Predictions, conformalize, dirichlet
from bayesagree.conformal import set_coverage

RESULTS = Path(__file__).parent / "results" / "conformal.md"
HALVES, HALVES_OF_DRAWS, FEW = 200, 10, (1, 3, 5)
COVERAGE = MASS = 0.9
QUANTITIES = ("coverage", "voted coverage", "size", "Pr(mass >= .9)")


# Public data ----------------------------------------------------------------------------------------------------------


def few_votes(counts: np.ndarray, rng: np.random.Generator) -> dict[int, np.ndarray]:
    """Draw the first 1, 3 and 5 votes of each item without replacement; counts (item, category) of each number."""
    total = counts.sum(axis=1)
    votes = np.full((len(counts), total.max()), -1)
    for i, row in enumerate(counts):
        votes[i, : total[i]] = np.repeat(np.arange(row.size), row)
    key = np.where(votes >= 0, rng.random(votes.shape), 2.0)
    first = np.take_along_axis(votes, np.argsort(key, axis=1)[:, : max(FEW)], axis=1)
    return {k: (first[:, :k, None] == np.arange(counts.shape[1])).sum(axis=1) for k in FEW}


def measured(sets: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return the four quantities of sets (model, item, category), shape (quantity, model)."""
    held = (sets * shares).sum(axis=2)
    winner = np.take_along_axis(sets, shares.argmax(axis=1)[None, :, None], axis=2)
    return np.stack([held.mean(1), winner.mean((1, 2)), sets.sum(2).mean(1), (held >= MASS - 1e-9).mean(1)])


class Half:
    """One random half of a set that calibrates, the other that is tested against all its votes."""

    def __init__(self, data: ba.datasets.Dataset, rng: np.random.Generator) -> None:
        self.data, self.rng = data, rng
        self.counts = data.annotations.counts()
        order = rng.permutation(len(self.counts))
        self.own, self.new = (np.sort(part) for part in np.array_split(order, 2))
        self.few = few_votes(self.counts[self.own], rng)
        models = data.predictions
        self.models = replace(models, items=models.items[self.own], scores=models.scores[:, self.own])
        self.tested = replace(models, items=models.items[self.new], scores=models.scores[:, self.new])

    def labels(self, k: int | None) -> Labels:
        """Return k votes of each calibration item, or all."""
        counts = self.counts[self.own] if k is None else self.few[k]
        return Labels.from_counts(
            counts, items=list(self.models.items), labels=list(self.data.annotations.categories)
        )

    def result(self, sets: ba.conformal.ConformalSets) -> np.ndarray:
        """Measure sets on the other half."""
        shares = self.counts[self.new] / self.counts[self.new].sum(axis=1, keepdims=True)
        return measured(sets.predict_set(self.tested).values, shares)


def halves(name: str, number: int) -> Iterator[Half]:
    data, rng = ba.datasets.load(name), np.random.default_rng(1)
    for _ in range(number):
        yield Half(data, rng)


def posterior(half: Half, k: int | None) -> xr.DataTree:
    return dirichlet(half.labels(k), draws=100, chains=4, random_seed=half.rng)


def informed(half: Half, k: int | None) -> xr.DataTree:
    return ba.informed_dirichlet(half.labels(k), half.models, draws=100, chains=4, random_seed=half.rng)


def sampled(half: Half, k: int | None) -> xr.DataArray:
    """Return the shares of ten labels an item, drawn from those of its votes: the published method."""
    shares = ba.vote_shares(half.labels(k)).dropna("item")
    return shares.copy(data=half.rng.multinomial(10, shares.values) / 10)


WAYS: dict[str, Callable[[Half, int | None], ba.conformal.ConformalSets]] = {
    "vote winner": lambda half, k: conformalize(half.labels(k), half.models, method="majority"),
    "vote shares, exact": lambda half, k: conformalize(half.labels(k), half.models),
    "vote shares, Monte Carlo, 10 labels an item": lambda half, k: conformalize(sampled(half, k), half.models),
    "flat Dirichlet mean, exact": lambda half, k: conformalize(posterior(half, k), half.models),
    "informed posterior mean, exact": lambda half, k: conformalize(informed(half, k), half.models),
}
SLOW = tuple(way for way in WAYS if "Dirichlet" in way or "informed" in way)


def public(name: str) -> list[dict]:
    """Measure every way on random halves; values are means over halves of the first model, and of all models."""
    found: dict[tuple, list[np.ndarray]] = {}
    for h, half in enumerate(halves(name, HALVES)):
        for way, calibrate in WAYS.items():
            if way in SLOW and h >= HALVES_OF_DRAWS:
                continue
            for k in (None, *FEW):
                found.setdefault((way, k), []).append(half.result(calibrate(half, k)))
    rows = []
    for (way, k), values in found.items():
        stacked = np.stack(values)  # (half, quantity, model)
        mean, error = stacked.mean(axis=0), stacked.std(axis=0, ddof=1) / np.sqrt(len(stacked))
        worst = np.abs(mean[0] - COVERAGE).argmax()
        cells = [f"{m:.3f} ({e:.4f})" for m, e in zip(mean[:, 0], error[:, 0])]
        row = {"calibrated on": way, "votes": "all" if k is None else str(k)} | dict(zip(QUANTITIES, cells))
        spread, farthest = f"{stacked[:, 0, 0].std():.4f}", f"{mean[0, worst]:.3f}"
        rows.append(row | {"sd over halves": spread, "farthest model": farthest, "halves": len(stacked)})
    return rows


# Simulation -----------------------------------------------------------------------------------------------------------


def world(rng: np.random.Generator, n: int, n_labels: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Draw plausibilities and predictions, each (item, category)."""
    logits = 2 * rng.standard_normal((n, n_labels))
    return softmax(logits), softmax(logits + rng.standard_normal(logits.shape))


def softmax(logits: np.ndarray) -> np.ndarray:
    return sp.special.softmax(logits, axis=-1)


def midpoint(truth: np.ndarray, p: np.ndarray) -> float:
    """Return the threshold of the reference code: a quantile at floor(alpha (n + 1)) / n, interpolated halfway."""
    n = len(p)
    winner = p[np.arange(n), truth.argmax(axis=1)]
    return float(np.quantile(winner, np.floor((1 - COVERAGE) * (n + 1) + 1e-9) / n, method="midpoint"))


def guarantee() -> list[dict]:
    """Measure the coverage of new items over many calibration sets, each way against what it promises to cover."""
    rows = []
    new_truth, new_p = world(np.random.default_rng(0), 100_000)
    on_top = np.eye(5)[new_truth.argmax(axis=1)]
    against = {"plausibility": new_truth, "vote winner": on_top}
    order = np.argsort(new_p.ravel())
    rest = {}
    for name, weight in against.items():
        above = np.cumsum(weight.ravel()[order][::-1])[::-1]
        rest[name] = np.append(above, 0) / len(new_p)
    score = np.sort(new_p.ravel())

    def coverage(name: str, threshold: float) -> float:
        return float(rest[name][np.searchsorted(score, threshold, side="left")])

    ways: dict[str, tuple[str, Callable]] = {
        "exact": ("plausibility", lambda t, p, rng: fitted(t, p, method="exact")),
        "exact on 3 votes per item": (
            "plausibility", lambda t, p, rng: fitted(rng.multinomial(3, t) / 3, p, method="exact")),
        "Monte Carlo, 10 labels an item": (
            "plausibility", lambda t, p, rng: fitted(rng.multinomial(10, t) / 10, p, method="exact")),
        "vote winner": ("vote winner", lambda t, p, rng: fitted(t, p, method="majority")),
        "vote winner, quantile of the reference code": ("vote winner", lambda t, p, rng: midpoint(t, p)),
    }  # fmt: skip
    for n, runs in ((9, 2000), (50, 2000), (500, 500)):
        for way, (name, calibrate) in ways.items():
            rng = np.random.default_rng(2)
            found = []
            for _ in range(runs):
                truth, p = world(rng, n)
                found.append(coverage(name, calibrate(truth, p, rng)))
            error = np.std(found, ddof=1) / np.sqrt(runs)
            rows.append({"n": n, "calibrated by": way, "covers": name, "coverage": f"{np.mean(found):.4f}",
                         "error": f"{error:.4f}", "promise": COVERAGE})  # fmt: skip
    return rows


def fitted(truth: np.ndarray, p: np.ndarray, **options) -> float:
    names = {"item": np.arange(len(p)), "category": np.arange(p.shape[1])}
    shares = xr.DataArray(truth / truth.sum(axis=1, keepdims=True), names, ("item", "category"))
    return conformalize(shares, Predictions.from_scores({"A": p}), **options).threshold.item()


def intervals() -> list[dict]:
    """Measure how often the intervals of `set_coverage` hold what these very sets reach on new items."""
    rows, big = [], world(np.random.default_rng(3), 50_000)
    names = {"item": np.arange(50_000), "category": np.arange(5)}
    shares = xr.DataArray(big[0] / big[0].sum(axis=1, keepdims=True), names, ("item", "category"))
    for level in (0.5, 0.9, 0.99):
        sets = conformalize(shares, Predictions.from_scores({"A": big[1]}), coverage=level)
        chosen = sets.predict_set(Predictions.from_scores({"A": big[1]}))
        true = set_coverage(shares, chosen).set_index("quantity")["value"]
        for n in (20, 100, 500):
            rng, held = np.random.default_rng(4), []
            for _ in range(600):
                some = rng.choice(50_000, n, replace=False)
                table = set_coverage(shares[some], chosen[:, some]).set_index("quantity")
                held.append((table["lower"] <= true) & (true <= table["upper"]))
            share = pd.DataFrame(held).mean()
            rows.append({"sets of coverage": level, "items": n, **{q: f"{share[q]:.3f}" for q in share.index}})
    return rows


# Speed ----------------------------------------------------------------------------------------------------------------


def speed() -> list[dict]:
    rng, rows = np.random.default_rng(5), []
    for n, k in ((1_000_000, 10), (2_000, 419)):
        truth, p = rng.dirichlet(np.full(k, 0.3), n), rng.dirichlet(np.full(k, 0.3), n)
        shares = xr.DataArray(truth, {"item": np.arange(n), "category": np.arange(k)}, ("item", "category"))
        models, best = Predictions.from_scores({"A": p}), np.inf
        for _ in range(3):
            start = time.perf_counter()
            sets = conformalize(shares, models)
            best = min(best, time.perf_counter() - start)
        start = time.perf_counter()
        sets.predict_set(models)
        rows.append({"items": f"{n:,}", "labels": k, "conformalize, s": f"{best:.2f}",
                     "predict_set, s": f"{time.perf_counter() - start:.2f}"})  # fmt: skip
    return rows


def table(rows: list[dict]) -> str:
    lines = [list(rows[0]), ["---"] * len(rows[0]), *(row.values() for row in rows)]
    return "\n".join("| " + " | ".join(map(str, cells)) + " |" for cells in lines)


TEXT = """# Conformal sets under ambiguous ground truth

{date}, `benchmarks/conformal.py`. Wanted coverage .9; the score is the probability of the model. Brackets hold
Monte-Carlo errors.

## Public data

A random half of the items calibrates from all votes of each item, or from 1, 3 or 5 of them; the other half is tested
against all votes. *Coverage* is the mean share of the votes inside the sets, *voted coverage* the share of sets with
the vote winner. Values are of the first model; then follow the standard deviation of its coverage over halves, and the
mean coverage of that of all models which is farthest from .9.

{public}

Sets of vote winners leave out more than they promise, and the more votes there are, the more. Exact sets on vote shares
are right from a single vote, for their threshold is linear in the shares. A flat Dirichlet mean is biased towards
uniform and covers too much.

## The guarantee

Mean coverage of new items over many calibration sets of n simulated items (five labels).

{guarantee}

The quantile of the reference code interpolates, and covers too little where n is small. Vote winners have what order
statistics say, 1 - floor(.1 (n + 1)) / (n + 1); the other forms have at least .9, and more where n is small, for the
weight of an item is spread over its labels.

## Intervals

Share of 600 test sets whose 95 % interval of `set_coverage` held what the same sets reach on all items; Monte-Carlo
error .009.

{intervals}

## Speed

Two shared processors; one model.

{speed}
"""


def main() -> None:
    warnings.simplefilter("ignore", UserWarning)
    parts = [f"### {name}\n\n{table(public(name))}" for name in ("chaosnli-snli", "cifar10h")]
    text = TEXT.format(
        date=datetime.date.today(), public="\n\n".join(parts), guarantee=table(guarantee()),
        intervals=table(intervals()), speed=table(speed()),
    )  # fmt: skip
    RESULTS.write_text(text)


if __name__ == "__main__":
    main()
