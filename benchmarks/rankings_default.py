"""Top-1 accuracy of a known model against rankings of few readers, under each posterior of rankings.

    uv run python benchmarks/rankings_default.py

writes benchmarks/results/rankings_default.md: half a minute.
"""

import warnings
from pathlib import Path

import numpy as np

import bayesagree as ba
from bayesagree.inference.intervals import column_hdi

RESULT = Path(__file__).parent / "results" / "rankings_default.md"
ITEMS, READERS, LABELS, NAMED, SETS = 120, 9, 12, 3, 20
POSTERIORS = {
    "plackett_luce": {},
    "prirn, reliability 10": {"reliability": 10},
    "prirn, reliability 30": {"reliability": 30},
    "prirn, reliability 1": {"reliability": 1},
}


def world(random_seed: int) -> tuple[ba.Rankings, ba.Predictions, float]:
    """Draw rankings of readers, a model, and the share of items on which it names the most plausible label."""
    rng = np.random.default_rng(random_seed)
    theta = rng.dirichlet(np.full(LABELS, 0.1), ITEMS)
    arrival = rng.standard_exponential((ITEMS, READERS, LABELS)) / np.maximum(theta[:, None], 1e-12)
    named = np.argsort(arrival, axis=2)[:, :, :NAMED]
    truth = theta.argmax(axis=1)
    said = np.where(rng.random(ITEMS) < 0.86, truth, rng.integers(0, LABELS, ITEMS))
    models = ba.Predictions.from_labels({"m": said.tolist()}, labels=list(range(LABELS)))
    return ba.Rankings.from_blocks(np.expand_dims(named, 3).tolist(), labels=LABELS), models, (said == truth).mean()


def main() -> None:
    """Score the models of all sets and write the page."""
    warnings.simplefilter("ignore")
    found: dict[str, list[tuple[float, bool]]] = {name: [] for name in POSTERIORS}
    truths = []
    for random_seed in range(SETS):
        rankings, models, truth = world(random_seed)
        truths.append(truth)
        for name, options in POSTERIORS.items():
            how = {"metrics": ["accuracy"], "draws": 250, "chains": 2, "random_seed": random_seed}
            tree = ba.evaluate(rankings, models, plausibility=name.split(",")[0], **how, **options)
            draws = tree["posterior"]["accuracy"].values.reshape(-1, 1)
            lower, upper = column_hdi(draws, 0.95)
            found[name].append((draws.mean(), bool(lower[0] <= truth <= upper[0])))
    lines = [
        "# Scores against rankings of few readers",
        "",
        f"{SETS} simulated sets of {ITEMS} items: {READERS} readers name {NAMED} of {LABELS} labels, best first, by "
        "Plackett-Luce from plausibilities Dirichlet(.1). The model names the most plausible label in "
        f"{np.mean(truths):.3f} of the items, any label in the others.",
        "",
        "| posterior | mean top-1 accuracy | 95 % intervals that hold the truth |",
        "| --- | ---: | ---: |",
    ]
    for name, rows in found.items():
        mean, covered = np.mean(rows, axis=0)
        lines.append(f"| {name} | {mean:.3f} | {covered:.2f} |")
    lines += [
        "",
        "No posterior of rankings alone estimates the score of a model that is better than the readers; the score that "
        "the rankings prove is too low. At reliability 1 PrIRN lets all readers of an item count as one.",
        "",
    ]
    RESULT.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
