"""Coverage of the intervals of `davidson`, beside a bootstrap and a sandwich of the model of Bradley and Terry.

`python -m benchmarks.comparisons` writes results/comparisons.md; names of worlds as arguments make their rows anew.

Own worlds are drawn from the prior: whatever the sizes, intervals of a correct posterior hold their share there, also
among the worlds whose comparisons have something in common, such as a model that never loses. The other worlds are
unlike the prior: strengths of spread 1, effects of fixed spreads, and a model whose losses became wins. In both some
annotators may always take the left one, which no world of the prior has. Leaderboards take a tie for half a win and fit
Bradley and Terry's model by maximum likelihood: evalica resamples comparisons, arena-rank takes the sandwich
covariance. Both are computed here from these definitions, for strengths of their own: those that endless comparisons by
the honest annotators, in both orders, would give.
"""

import sys
import time
import warnings
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from bayesagree import Comparisons, davidson
from bayesagree.inference.intervals import column_hdi
from bayesagree.inference.tiers import rank_probabilities, rank_sets

RESULT = Path(__file__).parent / "results" / "comparisons.md"
ROUNDS = 200
"""Resamples of each bootstrap."""
NORMAL = 2000
"""Draws of the normal distribution of the sandwich."""
RIDGE = 1 / 400
"""Precision of strengths: so small that only strengths without a maximum of the likelihood notice it."""


class World(NamedTuple):
    """Sizes of a world."""

    name: str
    models: int
    comparisons: int
    annotators: int
    repeats: int
    own: bool = True
    order: float | None = None
    """Advantage of the first place where it is the same for all."""

    @property
    def draws(self) -> int:
        """Draws of each of two chains."""
        return 1000 if self.own else 400


# Models, comparisons, annotators; repeats of own worlds and of those unlike the prior.
SIZES = [
    ("few", 3, 50, 1, 250, 100),
    ("few, one never loses", 5, 100, 1, 120, 100),
    ("unequal battles", 10, 400, 8, 60, 60),
    ("annotators who always take the left", 8, 600, 10, 100, 60),
    ("many annotators, one model never loses", 20, 1500, 30, 24, 40),
    ("large", 60, 10_000, 20, 12, 40),
]
WORLDS = [World(*size[:4], size[4]) for size in SIZES]
WORLDS += [World(f"{size[0]}, spread 1", *size[1:4], size[5], own=False) for size in SIZES]
# Judges who prefer the first place strongly: odds of 7 and of 20 to one.
WORLDS += [World(f"the first place adds {by:g}", 4, 180, 1, 100, own=False, order=by) for by in (2.0, 3.0)]


def chances(half: np.ndarray, tie: np.ndarray) -> np.ndarray:
    """Return the probabilities that the first wins, the second wins, and of a tie, (..., outcome)."""
    odds = np.exp(np.stack(np.broadcast_arrays(half, -half, tie), axis=-1))
    return odds / odds.sum(axis=-1, keepdims=True)


def effects(world: World, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Return strengths, and log odds of a tie, advantages of the first place and discriminations of annotators."""
    a, by = world.annotators, world.annotators > 1
    if world.own:  # as `DavidsonPrior`
        spread = np.abs(rng.normal(size=4)) * [1, by, by * 0.5, by * 0.5]
        strength = spread[0] * rng.normal(size=world.models)
        tie, order = (
            rng.normal() + spread[1] * rng.normal(size=a),
            rng.normal(0, 1.5) + spread[2] * rng.normal(size=a),
        )
        return strength, tie, order, np.exp(spread[3] * rng.normal(size=a))
    strength, tie = rng.normal(size=world.models), rng.normal(-0.3, 0.6 * by, a)
    if world.order is not None:
        return strength, tie, np.full(a, world.order), np.ones(a)
    return strength, tie, rng.normal(0.2, 0.3 * by, a), np.exp(rng.normal(0, 0.3 * by, a))


def drawn(world: World, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Return comparisons of a world, the true strengths, and those of Bradley and Terry's model without end.

    Strengths are centred; a model whose losses became wins has none.
    """
    m, n, a = world.models, world.comparisons, world.annotators
    weight = rng.dirichlet(np.full(m, 1.5)) + 0.2 / m if "unequal" in world.name else np.full(m, 1 / m)
    weight = weight / weight.sum()
    honest = np.arange(a) >= 2 * ("always take the left" in world.name)
    while True:
        strength, tie, order, slope = effects(world, rng)
        strength -= strength.mean()
        slope /= np.exp(np.log(slope[honest]).mean())
        # The second of a pair is drawn by weight among the others.
        left = rng.choice(m, n, p=weight)
        right = (
            np.log(weight) + rng.gumbel(size=(n, m)) - np.where(np.arange(m) == left[:, None], np.inf, 0)
        ).argmax(1)
        if world.order is not None:  # of each pair one is first in four fifths of its comparisons
            turned = (rng.random(n) < 0.8) == (left > right)
            left, right = np.where(turned, right, left), np.where(turned, left, right)
        who, apart = rng.integers(0, a, n), strength[:, None] - strength
        chance = chances((slope[who] * apart[left, right] + order[who]) / 2, tie[who])
        outcome = (rng.random((n, 1)) > np.cumsum(chance, axis=1)).sum(axis=1)
        outcome[~honest[who]] = 0
        losses = np.bincount(np.concatenate([left[outcome == 1], right[outcome == 0]]), minlength=m)
        if not world.own or "never loses" not in world.name or losses.min() == 0:
            break
    of_first, of_second = (chances((slope * apart[..., None] + side * order) / 2, tie) for side in (1, -1))
    both = (of_first + of_second)[:, :, honest].mean(axis=2) / 2
    scores, truth = both[..., 0] + both[..., 2] / 2, strength.copy()
    if not world.own and "never loses" in world.name:
        # The strongest model: losses become wins, so that its strength is beyond what the data bound.
        best = int(strength.argmax())
        outcome[(left == best) & (outcome == 1)] = 0
        outcome[(right == best) & (outcome == 0)] = 1
        truth[best] = np.nan
        scores[best] = 1 - both[best, :, 2] / 2
        scores[:, best] = 1 - scores[best]
    often = weight[:, None] * weight * (1 / (1 - weight) + 1 / (1 - weight)[:, None]) * (1 - np.eye(m))
    without_end = maximum(1e6 * (often * scores)[None])[0]
    columns = {
        "left": left,
        "right": right,
        "winner": np.array(["left", "right", "tie"])[outcome],
        "annotator": who,
    }
    return pd.DataFrame(columns), truth, np.where(np.isnan(truth), np.nan, without_end)


def maximum(wins: np.ndarray) -> np.ndarray:
    """Return the strengths of maximum likelihood of numbers of wins, (round, model, model), by Newton's method."""
    strength, games = np.zeros(wins.shape[:2]), wins + wins.transpose(0, 2, 1)
    for _ in range(25):
        expected = 1 / (1 + np.exp(strength[:, None, :] - strength[:, :, None]))
        slope = (wins - games * expected).sum(axis=2) - RIDGE * strength
        step = np.linalg.solve(curvature(games, expected), slope[..., None])[..., 0]
        strength += np.clip(step, -2, 2)
    return strength


def curvature(games: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Return the negative second derivatives of the log likelihood, (round, model, model)."""
    weight, eye = games * expected * (1 - expected), np.eye(games.shape[-1])
    return eye * (weight.sum(axis=2)[..., None] + RIDGE) - weight


def half_wins(table: pd.DataFrame, models: int, rows: np.ndarray) -> np.ndarray:
    """Return the wins of each model over each other in some rows, a tie as half a win of each."""
    left, right = table["left"].to_numpy()[rows], table["right"].to_numpy()[rows]
    score = table["winner"].map({"left": 1.0, "right": 0.0, "tie": 0.5}).to_numpy()[rows]
    found = np.bincount(left * models + right, score, models**2) + np.bincount(
        right * models + left, 1 - score, models**2
    )
    return found.reshape(models, models)


def bootstrap(table: pd.DataFrame, models: int, rng: np.random.Generator) -> np.ndarray:
    """Return strengths of maximum likelihood of resampled comparisons, shape (round, model)."""
    n = len(table)
    return maximum(np.stack([half_wins(table, models, rng.integers(0, n, n)) for _ in range(ROUNDS)]))


def sandwich(table: pd.DataFrame, models: int, rng: np.random.Generator) -> np.ndarray:
    """Return draws around the maximum of the likelihood with the sandwich covariance, (draw, model)."""
    wins = half_wins(table, models, np.arange(len(table)))[None]
    strength = maximum(wins)
    expected = 1 / (1 + np.exp(strength[:, None, :] - strength[:, :, None]))
    left, right = table["left"].to_numpy(), table["right"].to_numpy()
    score = table["winner"].map({"left": 1.0, "right": 0.0, "tie": 0.5}).to_numpy()
    slopes = (np.eye(models)[left] - np.eye(models)[right]) * (score - expected[0, left, right])[:, None]
    bread = np.linalg.inv(curvature(wins + wins.transpose(0, 2, 1), expected)[0])
    return rng.multivariate_normal(strength[0], bread @ (slopes.T @ slopes) @ bread, NORMAL)


def covered(draws: np.ndarray, truth: np.ndarray, ends: Any) -> dict[str, float]:
    """Return the shares of strengths, differences and places that intervals hold, and the mean width of the first.

    Strengths are compared as differences from the mean of the models whose strength is known.
    """
    known = np.isfinite(truth)
    inside, real = draws[:, known], truth[known]
    centred, goal = inside - inside.mean(axis=1, keepdims=True), real - real.mean()
    first, second = np.triu_indices(goal.size, 1)
    found = {}
    for name, values, aim in (
        ("strengths", centred, goal),
        ("differences", inside[:, first] - inside[:, second], real[first] - real[second]),
    ):
        lower, upper = ends(values)
        found[name] = float(((lower <= aim) & (aim <= upper)).mean())
        found[f"width of {name}"] = float((upper - lower).mean())
    best, worst = rank_sets(rank_probabilities(draws))
    place = (-np.where(known, truth, np.inf)).argsort().argsort() + 1
    found["rank sets"] = float(((best <= place) & (place <= worst)).mean())
    found["places in a set"] = float((worst - best + 1).mean())
    return found


def rows_of(world: World) -> list[str]:
    """Return the rows of a world, one for each kind of interval."""
    found: dict[str, list[dict[str, float]]] = {"davidson": [], "bootstrap": [], "sandwich": []}
    for random_seed in range(world.repeats):
        rng = np.random.default_rng(random_seed)
        table, truth, theirs = drawn(world, rng)
        games = Comparisons.from_long(table, annotator="annotator" if world.annotators > 1 else None)
        if games.models.size < world.models:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            tree = davidson(games, draws=world.draws, chains=2, random_seed=random_seed)
        draws = tree["posterior"]["strength"].values.reshape(-1, world.models)
        if "always take the left" in world.name and "discrimination" in tree["posterior"]:
            # The unit of strengths is the mean discrimination: here that of the honest annotators.
            slope = tree["posterior"]["discrimination"].values.reshape(len(draws), -1)
            draws = draws * np.exp(np.log(slope[:, 2:]).mean(axis=1, keepdims=True))
        found["davidson"].append(covered(draws, truth, column_hdi))
        for name, draw in (("bootstrap", bootstrap), ("sandwich", sandwich)):
            found[name].append(covered(draw(table, world.models, rng), theirs, percentiles))
    people = "1 annotator" if world.annotators == 1 else f"{world.annotators} annotators"
    size, rows = f"{world.models} models, {world.comparisons} comparisons, {people}", []
    for method, parts in found.items():
        table_ = pd.DataFrame(parts)
        mean, error = table_.mean(), table_.std() / np.sqrt(len(table_))
        cells = [f"{mean[k]:.3f} ± {error[k]:.3f}" for k in ("strengths", "differences", "rank sets")]
        widths = [f"{mean[k]:.2f}" for k in ("width of strengths", "places in a set")]
        rows.append(f"| {world.name} | {size} | {len(parts)} | {method} | {' | '.join(cells + widths)} |")
    return rows


def main() -> None:
    """Write the tables."""
    jobs: dict[str, Any] = {world.name: partial(rows_of, world) for world in WORLDS}
    for name in sys.argv[1:] or jobs:
        start = time.perf_counter()
        new = jobs[name]()
        old = RESULT.read_text().splitlines() if RESULT.exists() else []
        rows = {key: [line for line in old if line.startswith(f"| {key} |")] for key in jobs} | {name: new}
        RESULT.write_text(TEXT + "".join(f"{line}\n" for part in rows.values() for line in part))
        sys.stderr.write(f"{name}: {time.perf_counter() - start:.0f} s\n" + "\n".join(new) + "\n")


def percentiles(draws: np.ndarray) -> np.ndarray:
    """Return the ends of intervals of 95 % with equal tails."""
    return np.quantile(draws, [0.025, 0.975], axis=0)


TEXT = """# Coverage of the intervals of strengths, differences and places

Share of true strengths, differences and places that intervals of 95 % hold, ± the Monte-Carlo error over the worlds.
`davidson` has all settings at their defaults. The other two take a tie for half a win and maximise the likelihood of
Bradley and Terry's model: the bootstrap of evalica (200 rounds here) and the sandwich covariance of arena-rank, both
computed from these definitions. They are compared with what they would find in endless comparisons by the honest
annotators, which is the strength on another scale: widths are not those of `davidson`. Rank sets are whole places, so
that they hold more than 95 % where models are well apart. Made by `python -m benchmarks.comparisons`; the docstring of
that file describes the worlds.

The first rows are of worlds drawn from the prior of `davidson` (2 chains of 1000 draws), in which intervals of a
posterior that is correct hold 95 % on average, also where a model never loses. The rows named "spread 1" are of worlds
unlike the prior (2 chains of 400 draws, whose highest density intervals lose .005): all strengths have a spread of 1,
effects have fixed spreads, and the losses of the best model became wins where one never loses. Of ten
annotators there two always take the left one: no world of the prior has such ones, and they count in the mean
discrimination, which is the unit of strengths; the row is in the unit of the honest ones. The other two intervals hold
.79 to .82 there.

| world | size | worlds | intervals | strengths | differences | rank sets | width of strengths | places in a set |
|---|---|---|---|---|---|---|---|---|
"""

if __name__ == "__main__":
    main()
