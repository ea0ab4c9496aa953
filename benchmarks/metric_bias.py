"""Bias of soft-label scores with three votes an item, on chaosnli-snli and cifar10h.

uv run python benchmarks/metric_bias.py          (needs BAYESAGREE_DATA; writes results/metric_bias.md)

Three votes of each item are drawn from all of its votes, without replacement, again and again; the score from them is
compared with the score from all votes (about 100 on chaosnli-snli, 51 on cifar10h, where the unbiased form of all votes
is the target, for the shares of 51 votes are biased themselves). `votes` is the unbiased form, `shares` the plug-in of
the vote shares, `dirichlet` the posterior mean of the Dirichlet posterior. `informed` is the posterior mean of
`informed_dirichlet` with all models of the set, 1500 items at a time; of the biased metrics that of the shares of all
votes, those not drawn being drawn from the plausibilities. One model; MC is the Monte-Carlo error.
"""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree import Labels, Predictions, dirichlet, informed_dirichlet, score
from bayesagree.datasets import load
from bayesagree.metrics._unbiased import unbiased_terms
from bayesagree.metrics.registry import Metric

LINEAR = ("agreement", "cross_entropy", "soft_brier")
OTHER = ("total_variation", "jensen_shannon", "entropy_calibration_error")
VOTES = 3
DRAWINGS = {"chaosnli-snli": 100, "cifar10h": 40}
# Plug-ins and posteriors are the slow part, and their bias is a hundred times the Monte-Carlo error.
PLUG_INS, POSTERIORS, INFORMED = 20, 3, 20


def without_replacement(counts: NDArray[np.int64], n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw n of the votes of every item."""
    return np.stack([rng.multivariate_hypergeometric(row, n) for row in counts])


def informed_errors(
    counts: NDArray[np.int64], given: Predictions, model: Predictions, names: dict[str, list[Any]], rng: Any
) -> dict[str, float]:
    """Scores of the model under the informed posterior from a few votes, less those from all, on 1500 items."""
    chosen = np.sort(rng.permutation(len(counts))[:1500])
    counts = counts[chosen]
    few = without_replacement(counts, VOTES, rng)
    some = {"items": [names["items"][i] for i in chosen], "labels": names["labels"]}
    covariates, scored = (
        Predictions.from_scores(dict(zip(p.models.tolist(), p.scores[:, chosen])), **some) for p in (given, model)
    )
    labels = Labels.from_counts(few, **some)
    drawn = informed_dirichlet(labels, covariates, draws=25, seed=rng)["posterior"]["plausibility"]
    rest = (counts - few).sum(axis=1)
    votes = drawn.copy(data=few + rng.multinomial(np.broadcast_to(rest, drawn.shape[:3]), drawn.values))
    shares = xr.DataTree.from_dict({"posterior": (votes / votes.sum("category")).to_dataset(name="plausibility")})
    truth = xr.DataArray(
        counts / counts.sum(axis=1, keepdims=True), dims=("item", "category"), coords=labels_of(labels)
    )
    full, found = Labels.from_counts(counts, **some), {}
    tree = xr.DataTree.from_dict({"posterior": drawn.to_dataset()})
    for metric in (*LINEAR, *OTHER):
        if metric in LINEAR:
            target = unbiased_terms(Metric.named(metric), full, scored).mean()
            found[metric] = score(tree, scored, metric).mean().item() - target
        else:
            found[metric] = score(shares, scored, metric).mean().item() - score(truth, scored, metric).item()
    return found


def labels_of(labels: Labels) -> dict[str, Any]:
    """Return the coordinates of plausibilities."""
    return {"item": labels.items, "category": labels.categories}


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
    full = Labels.from_counts(counts, **names)
    dims = {"dims": ("item", "category"), "coords": labels_of(labels)}
    target, found = {}, {}
    for metric in (*LINEAR, *OTHER):
        if metric in LINEAR:
            target[metric] = unbiased_terms(Metric.named(metric), full, model).mean()
        else:
            shares = counts / counts.sum(axis=1, keepdims=True)
            target[metric] = score(xr.DataArray(shares, **dims), model, metric).item()
    for drawing in range(DRAWINGS[name]):
        few = Labels.from_counts(without_replacement(counts, VOTES, rng), **names)
        for metric in LINEAR:
            found.setdefault((metric, "votes"), []).append(unbiased_terms(Metric.named(metric), few, model).mean())
        if drawing >= PLUG_INS:
            continue
        shares = few.counts() / VOTES
        tree = dirichlet(few, draws=20, seed=drawing) if drawing < POSTERIORS else None
        for metric in (*LINEAR, *OTHER):
            found.setdefault((metric, "shares"), []).append(score(xr.DataArray(shares, **dims), model, metric).item())
            if tree is not None:
                found.setdefault((metric, "dirichlet"), []).append(score(tree, model, metric).mean().item())
    informed = [informed_errors(counts, given, model, names, rng) for _ in range(INFORMED)]
    lines = []
    for metric in (*LINEAR, *OTHER):
        cells = []
        for form in ("votes", "shares", "dirichlet"):
            values = found.get((metric, form))
            if values is None:
                cells.append("none exists")
                continue
            error = np.std(values, ddof=1) / np.sqrt(len(values))
            cells.append(f"{np.mean(values) - target[metric]:+.4f} (MC {error:.4f})")
        errors = np.array([e[metric] for e in informed])
        cells.append(f"{errors.mean():+.4f} (MC {errors.std(ddof=1) / np.sqrt(errors.size):.4f})")
        lines.append(f"| {name} | {metric} | {target[metric]:.4f} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    return lines


def main() -> None:
    """Write the table."""
    warnings.simplefilter("ignore", UserWarning)
    rng = np.random.default_rng(1)
    head = [
        "| data | metric | all votes | votes | shares | dirichlet | informed |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    rows = [line for name in DRAWINGS for line in rows_of(name, rng)]
    text = (__doc__ or "").replace("uv run python", "    uv run python")
    Path(__file__).parent.joinpath("results", "metric_bias.md").write_text(
        "# Bias of scores from three votes\n\n" + text + "\n" + "\n".join(head + rows) + "\n"
    )


if __name__ == "__main__":
    main()
