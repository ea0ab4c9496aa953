"""Bias of soft-label scores with three votes an item, on chaosnli-snli and cifar10h.

uv run python benchmarks/metric_bias.py          (needs BAYESAGREE_DATA; writes results/metric_bias.md)

Three votes of each item are drawn from all of its votes, without replacement, again and again; the score from them is
compared with the score from all votes (about 100 on chaosnli-snli, 51 on cifar10h; for the soft Brier score less the
variance of their shares). `shares` is the plug-in of the vote shares, `dirichlet` the posterior mean of the Dirichlet
posterior, `informed` that of the informed one, which sees all models of the set. One model is scored; MC is the
Monte-Carlo error over the draws of votes.
"""

import warnings
from pathlib import Path

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree import Labels, Predictions, dirichlet, informed_dirichlet, score
from bayesagree.datasets import load

METRICS = (
    "agreement",
    "cross_entropy",
    "soft_brier",
    "total_variation",
    "jensen_shannon",
)
VOTES = 3
DRAWINGS = {"chaosnli-snli": 40, "cifar10h": 20}
# Posteriors are the slow part, and their bias is a hundred times the Monte-Carlo error.
POSTERIORS = 3
INFORMED = {"chaosnli-snli": 10, "cifar10h": 3}


def without_replacement(counts: NDArray[np.int64], n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw n of the votes of every item."""
    return np.stack([rng.multivariate_hypergeometric(row, n) for row in counts])


def rows_of(name: str, rng: np.random.Generator) -> list[str]:
    """Return the lines of one data set."""
    data = load(name)
    labels, given = data.annotations, data.predictions
    counts = labels.counts()
    p = given.scores[0].astype(float)
    p = np.sqrt(p / p.sum(axis=1, keepdims=True))  # softmax at temperature 2
    names = {"items": labels.items.tolist(), "labels": labels.categories.tolist()}
    table = {"model": p / p.sum(axis=1, keepdims=True)}
    model = Predictions.from_scores(table, items=given.items.tolist(), labels=given.categories.tolist())
    dims = {"dims": ("item", "category"), "coords": {"item": labels.items, "category": labels.categories}}
    target, found = {}, {}
    size = counts.sum(axis=1, keepdims=True)
    spare = (1 - ((counts / size) ** 2).sum(axis=1)) / (size[:, 0] - 1)
    for metric in METRICS:
        target[metric] = score(xr.DataArray(counts / size, **dims), model, metric).item()
    target["soft_brier"] -= spare.mean()
    for drawing in range(DRAWINGS[name]):
        few = Labels.from_counts(without_replacement(counts, VOTES, rng), **names)
        shares = few.counts() / VOTES
        trees = {"dirichlet": dirichlet(few, draws=20, random_seed=drawing)} if drawing < POSTERIORS else {}
        if drawing < INFORMED[name]:
            trees["informed"] = informed_dirichlet(few, given, draws=50, random_seed=drawing)
        for metric in METRICS:
            found.setdefault((metric, "shares"), []).append(
                score(xr.DataArray(shares, **dims), model, metric).item()
            )
            for form, tree in trees.items():
                found.setdefault((metric, form), []).append(score(tree, model, metric).mean().item())
    lines = []
    for metric in METRICS:
        cells = []
        for form in ("shares", "dirichlet", "informed"):
            values = found[metric, form]
            error = np.std(values, ddof=1) / np.sqrt(len(values))
            cells.append(f"{np.mean(values) - target[metric]:+.4f} (MC {error:.4f})")
        lines.append(f"| {name} | {metric} | {target[metric]:.4f} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    return lines


def main() -> None:
    """Write the table."""
    warnings.simplefilter("ignore", UserWarning)
    rng = np.random.default_rng(1)
    head = ["| data | metric | all votes | shares | dirichlet | informed |", "| --- " * 6 + "|"]
    rows = [line for name in DRAWINGS for line in rows_of(name, rng)]
    text = (__doc__ or "").replace("uv run python", "    uv run python")
    Path(__file__).parent.joinpath("results", "metric_bias.md").write_text(
        "# Bias of scores from three votes\n\n" + text + "\n" + "\n".join(head + rows) + "\n"
    )


if __name__ == "__main__":
    main()
