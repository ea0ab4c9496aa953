"""Coverage of the 95 % interval of the AUC against labels.

uv run python benchmarks/auc_intervals.py [sets]          (writes results/auc_intervals.md)

Worlds: items whose probability of a positive label is Beta(2 m, 2 (1 - m)) ("ambiguous"), or .05 or .95 ("crisp"), with
a share m = .5 or .15 of positives; 1, 3 or 10 votes per item; a model that scores the probability plus normal noise of
standard deviation .1, .5 or 2. The true value is that of 200,000 items. `covered` pools the numbers of votes and the
models of a row, with its Monte-Carlo error; data sets whose labels are all of one kind, which have no AUC, are left
out. `bootstrap` is the Bayesian bootstrap of the items without pseudo-items. A cell is one world, number of votes and
model.
"""

import sys
import warnings
from itertools import product
from pathlib import Path

import numpy as np

from bayesagree import Labels, Predictions
from bayesagree.inference.intervals import hdi
from bayesagree.metrics import posterior_auc as posterior
from bayesagree.metrics.concordant_pairs import ScoreOrder

SETS, ITEMS, NOISE, VOTES = 100, (15, 30, 100, 300), (0.1, 0.5, 2.0), (1, 3, 10)
PAGE = Path(__file__).parent / "results" / "auc_intervals.md"


def probabilities(kind: str, share: float, n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw each item's probability of a positive label."""
    if kind == "ambiguous":
        return rng.beta(2 * share, 2 * (1 - share), n)
    return np.where(rng.random(n) < share, 0.95, 0.05)


def cell(kind: str, share: float, n: int, votes: int, sets: int) -> np.ndarray:
    """Return, by (set, model): covered and width with pseudo-items, then without."""
    rng = np.random.default_rng([n, votes, int(100 * share)])
    large = probabilities(kind, share, 200_000, rng)
    noise = np.array(NOISE)[:, None]
    true = ScoreOrder(large + noise * rng.normal(size=(3, large.size))).weighted(large, 1 - large)
    found = []
    while len(found) < sets:
        p = probabilities(kind, share, n, rng)
        positive = rng.binomial(votes, p)
        if not 0 < positive.sum() < votes * n:
            continue
        scores = 1 / (1 + np.exp(-(p + noise * rng.normal(size=(3, n)))))
        models = Predictions.from_scores(dict(zip("abc", np.stack([1 - scores, scores], axis=2))))
        labels = Labels.from_counts(np.column_stack([votes - positive, positive]))
        rows = []
        for mass in ((2.0, 1.0), (0.0, 0.0)):
            posterior.CHANCE, posterior.PERFECT = mass
            tree = posterior.auc_posterior(labels, models, draws=600, chains=1, random_seed=rng)
            drawn = tree["posterior"]["auc"].values[0]
            ends = [hdi(drawn[~np.isnan(drawn[:, m]), m]) for m in range(3)]
            rows += [
                [low <= t <= high for (low, high), t in zip(ends, true)],
                [high - low for low, high in ends],
            ]
        found.append(rows)
    return np.moveaxis(np.array(found, float), 1, 2)


def main(sets: int) -> None:
    """Run all worlds and write the page."""
    warnings.simplefilter("ignore")
    lines = ["| items | positives | world | covered | width | bootstrap | its width |", "| --- " * 7 + "|"]
    summary = ["", "| items | cells | mean coverage | least | below .93 | above .97 |", "| --- " * 6 + "|"]
    for n in ITEMS:
        shares = []
        for share, kind in product((0.5, 0.15), ("ambiguous", "crisp")):
            found = np.stack([cell(kind, share, n, votes, sets) for votes in VOTES])
            shares += found[..., 0].mean(axis=1).ravel().tolist()
            held, width, old, old_width = found.mean(axis=(0, 1, 2))
            error = found[..., 0].mean(axis=2).std() / np.sqrt(3 * sets)
            lines.append(f"| {n} | {share} | {kind} | {held:.3f} ({error:.3f}) | {width:.2f} | {old:.3f} | "
                         f"{old_width:.2f} |")  # fmt: skip
            print(lines[-1], flush=True)
        v = np.array(shares)
        ends = f"{(v < 0.93).mean():.2f} | {(v > 0.97).mean():.2f}"
        summary.append(f"| {n} | {v.size} | {v.mean():.3f} | {v.min():.3f} | {ends} |")
    head, _, text = (__doc__ or "").strip().partition("\n\n")
    command, _, text = text.partition("\n\n")
    PAGE.write_text("\n".join([f"# {head.rstrip('.')}\n\n    {command}\n\n{text}\n", *lines, *summary]) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else SETS)
