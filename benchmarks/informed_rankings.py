"""Coverage of top-1 and top-3 accuracy from few rankings and the predictions of models, and the dermatology data.

    OMP_NUM_THREADS=1 BAYESAGREE_DATA=... python benchmarks/informed_rankings.py [sets a world, 20]

writes benchmarks/results/informed_rankings.md. Truth is the label of the largest plausibility, of which the rankings of
readers are Plackett-Luce draws. Models: "any" name it in a share of the items and any label in the others; "unclear" in
a share that falls with its plausibility; "noisy" look at log plausibilities with noise, a part of it shared.
"""

import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import bayesagree as ba
from bayesagree.datasets import load
from studies.systems import noisy_models

RESULT = Path(__file__).parent / "results" / "informed_rankings.md"
METRICS = ["accuracy", "top_3_accuracy"]


class World(NamedTuple):
    """A kind of test set: readers name the best `named` of `labels`, plausibilities are Dirichlet(`shape`)."""

    kind: str
    readers: int
    labels: int
    shape: float
    models: int = 1
    items: int = 120
    named: int = 3

    def __str__(self) -> str:
        """Return the row's name."""
        several = f", {self.models} models" if self.models > 1 else ""
        return f"{self.kind}, {self.readers} readers, {self.labels} labels, {self.items} items{several}"


WORLDS = (
    World("any", 9, 12, 0.1),
    World("any", 3, 12, 0.1),
    World("any", 5, 12, 0.1, models=3),
    World("unclear", 9, 12, 0.1),
    World("unclear", 3, 12, 0.1),
    World("unclear", 5, 12, 0.1, models=3),
    World("noisy", 15, 10, 0.15),
    World("noisy", 9, 12, 0.1),
    World("noisy", 3, 12, 0.1),
    World("noisy", 5, 12, 0.1, models=3),
    World("noisy", 5, 50, 0.03, models=2),
    World("unclear", 6, 50, 0.03),
    World("noisy", 5, 400, 0.005, models=2),
    World("noisy", 5, 12, 0.1, items=40),
)


def draw(world: World, seed: int) -> tuple[ba.Rankings, ba.Predictions, np.ndarray]:
    """Draw a test set: rankings, models, and their true scores (metric, model)."""
    n, k = world.items, world.labels
    rng = np.random.default_rng([seed, n, k, world.readers, world.models])
    theta = rng.dirichlet(np.full(k, world.shape), n)
    arrival = rng.standard_exponential((n, world.readers, k)) / np.maximum(theta[:, None], 1e-300)
    rankings = ba.Rankings.from_blocks(
        np.expand_dims(arrival.argsort(axis=2)[:, :, : world.named], 3).tolist(), labels=k
    )
    truth, share, log = theta.argmax(axis=1), 0.6 * (world.models > 1), np.log(theta + 1e-4)
    common, same, luck, other = (
        rng.normal(size=(n, k)),
        rng.random(n) < share,
        rng.random(n),
        rng.integers(0, k, n),
    )
    scores = {}
    for m in range(world.models):
        if world.kind == "noisy":
            score = log + 1.5 * (np.sqrt(share) * common + np.sqrt(1 - share) * rng.normal(size=(n, k)))
        else:
            right = 0.86 * (theta.max(axis=1) if world.kind == "unclear" else 1.0)
            found = np.where(same, luck, rng.random(n)) < right
            said = np.where(found, truth, np.where(same, other, rng.integers(0, k, n)))
            score = 0.3 * log + rng.normal(size=(n, k))
            score[np.arange(n), said] = score.max(axis=1) + 1
        weight = np.exp(score - score.max(axis=1, keepdims=True))
        scores[f"m{m}"] = weight / weight.sum(axis=1, keepdims=True)
    place = np.stack([(one > one[np.arange(n), truth][:, None]).sum(axis=1) for one in scores.values()])
    true = np.stack([(place < depth).mean(axis=1) for depth in (1, 3)])
    return rankings, ba.Predictions.from_scores(scores, labels=range(k)), true


def rows(sets: int) -> Iterator[str]:
    """Yield a row of the table for each world."""
    for world in WORLDS:
        held, bias, width, alone = ([] for _ in range(4))
        for seed in range(sets):
            rankings, models, true = draw(world, seed)
            tree = ba.evaluate(rankings, models, metrics=METRICS, draws=250, random_seed=seed)
            found = np.stack(
                [np.asarray(tree["posterior"][name]).reshape(-1, world.models) for name in METRICS]
            )
            low, high = np.quantile(found, [0.025, 0.975], axis=1)
            held.append(((low <= true) & (true <= high)).mean(axis=1))
            bias.append((found.mean(axis=1) - true).mean(axis=1))
            width.append((high - low).mean(axis=1))
            proved = tree["annotations_only"]
            alone.append([float(proved[name].mean() - t.mean()) for name, t in zip(METRICS, true)])
        error = np.std(held, axis=0, ddof=1) / np.sqrt(sets)
        cells = [f"{c:.2f} ({e:.2f})" for c, e in zip(np.mean(held, axis=0), error)]
        cells += [f"{v:+.3f}" for v in np.mean(bias, axis=0)] + [f"{v:.3f}" for v in np.mean(width, axis=0)]
        cells += [f"{v:+.3f}" for v in np.mean(alone, axis=0)]
        print(world, *cells, flush=True)
        yield f"| {world} | {' | '.join(cells)} |"


def dermatology() -> list[str]:
    """Score noisy copies of half of the readers of each case against the other half, under each posterior."""
    data: Any = load("derm-ddx").annotations
    cases = [data.of_item(i) for i in np.flatnonzero(np.bincount(data.item_index) >= 4)[:500]]
    labels = data.categories.tolist()
    halves = [ba.Rankings.from_blocks([one[half::2] for one in cases], labels=labels) for half in (0, 1)]
    models, rankings = noisy_models(halves[0], n_models=3, random_seed=1), halves[1]
    lines = [
        f"{len(cases)} cases of four readers or more; models are noisy copies of every other reader, the others rank.",
        "",
        "| posterior | " + " | ".join(f"{m}, top 1, top 3" for m in map(str, models.models)) + " |",
        "| --- |" + " --- |" * models.models.size,
    ]
    for name in ("informed_plackett_luce", "plackett_luce", "prirn"):
        tree = ba.evaluate(rankings, models, plausibility=name, metrics=METRICS, draws=100, random_seed=1)
        cells = []
        for m in range(models.models.size):
            one = [np.asarray(tree["posterior"][metric]).reshape(400, -1)[:, m] for metric in METRICS]
            ends = [np.quantile(v, [0.025, 0.975]) for v in one]
            cells.append(
                ", ".join(f"{v.mean():.3f} [{low:.3f}, {high:.3f}]" for v, (low, high) in zip(one, ends))
            )
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def main() -> None:
    """Write the page."""
    warnings.simplefilter("ignore")
    sets = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    lines = [
        "# Scores against many readers, from few rankings and predictions",
        "",
        f"{sets} simulated sets a row (`benchmarks/informed_rankings.py` says how; readers name three labels): how "
        "often 95 % intervals hold the true top-1 and top-3 accuracy (Monte-Carlo error), bias, width, and the bias of "
        "Plackett-Luce from rankings alone.",
        "",
        "| world | held, top 1 | top 3 | bias, top 1 | top 3 | width, top 1 | top 3 | alone, top 1 | top 3 |",
        "| --- |" + " --- |" * 8,
    ]
    for row in rows(sets):
        lines.append(row)
        RESULT.write_text("\n".join([*lines, ""]))
    if "BAYESAGREE_DATA" in os.environ:
        lines += ["", "## Dermatology", "", *dermatology()]
    RESULT.write_text("\n".join([*lines, ""]))


if __name__ == "__main__":
    main()
