"""Calibrating a classifier against labels on which people do not agree, from 1, 3, 5 and all votes per item.

BAYESAGREE_DATA=<folder> uv run python benchmarks/calibration_votes.py [splits]    (writes results/calibration_votes.md)

Three classifiers of ChaosNLI-SNLI (1,514 items, 100 votes) and of CIFAR-10H (10,000 images, about 51 votes, 3,000
others in each split). A calibration is fitted on 500 items, of which k votes are drawn without replacement, and tested
on the other items against the shares of all their votes. `temperature` raises the probabilities to one power;
`Dirichlet` is Dirichlet calibration, log q = W log p + b, with a ridge of .01 per item towards W = 1 and b = 0. Both
minimise the log loss against a target:

- `majority`: the most frequent of the k votes, ties at random; `shares`: the shares of the k votes (with Dirichlet and
  all votes, the Dirichlet-Soft of Tao et al.); `informed`: the mean plausibilities of `informed_dirichlet` from the k
  votes and the three classifiers.

Log loss: -sum_k share_k log q_k, mean over items. True-label calibration error: 15 bins of as many items by the
confidence in the best label; |mean confidence - mean share of that label|, mean over bins. Means over classifiers and
splits, in brackets the standard error of the difference to temperature on the majority of the same votes (over splits).
"""

import os
import sys
import warnings
from pathlib import Path

import numpy as np
import scipy as sp
from informed import chaosnli, cifar10h
from numpy.typing import NDArray

from bayesagree import Labels, Predictions, informed_dirichlet

SPLITS, FITTED, TESTED, RIDGE, BINS = 8, 500, 2500, 0.01, 15
PAGE = Path(__file__).parent / "results" / "calibration_votes.md"

type Floats = NDArray[np.float64]


def calibrated(log_p: Floats, target: Floats, log_test: Floats, kind: str) -> Floats:
    """Fit a calibration on log probabilities and targets, (item, label); return tested log probabilities."""
    k = target.shape[1]
    start = np.zeros(1) if kind == "temperature" else np.append(np.eye(k).ravel(), np.zeros(k))

    def scaled(x: Floats, given: Floats) -> Floats:
        logits = (
            given * np.exp(x[0]) if kind == "temperature" else given @ x[: k * k].reshape(k, k).T + x[k * k :]
        )
        return sp.special.log_softmax(logits, axis=1)

    def loss(x: Floats) -> tuple[float, Floats]:
        log_q = scaled(x, log_p)
        gap = (np.exp(log_q) - target) / len(log_p)
        if kind == "temperature":
            slope = np.array([(gap * log_p).sum() * np.exp(x[0])])
            return -float((target * log_q).sum()) / len(log_p), slope
        away = x - start
        slope = np.append((gap.T @ log_p).ravel(), gap.sum(axis=0)) + RIDGE * away
        return -float((target * log_q).sum()) / len(log_p) + RIDGE / 2 * float(away @ away), slope

    return scaled(sp.optimize.minimize(loss, start, jac=True, method="L-BFGS-B").x, log_test)


def scores(log_q: Floats, share: Floats) -> tuple[float, float]:
    """Return log loss and true-label calibration error."""
    best = log_q.argmax(axis=1)[:, None]
    confidence, right = (np.take_along_axis(a, best, axis=1)[:, 0] for a in (np.exp(log_q), share))
    bins = np.array_split(np.argsort(confidence), BINS)
    error = np.mean([abs(confidence[some].mean() - right[some].mean()) for some in bins])
    return -float((share * log_q).sum(axis=1).mean()), float(error)


def split(
    every: NDArray, probability: Floats, random_seed: int
) -> dict[tuple[str, str, str], list[tuple[float, float]]]:
    """Return scores of each classifier by (calibration, target, votes) on one split of the items."""
    rng = np.random.default_rng(random_seed)
    rows = rng.permutation(len(every))
    fitted, tested = rows[:FITTED], rows[FITTED : FITTED + TESTED]
    log_p = np.log(np.maximum(probability / probability.sum(axis=2, keepdims=True), 1e-6))
    share = every[tested] / every[tested].sum(axis=1, keepdims=True)
    found = {("none", "", ""): [scores(sp.special.log_softmax(one[tested], axis=1), share) for one in log_p]}
    names = [f"model {j}" for j in range(len(log_p))]
    models = Predictions.from_scores(dict(zip(names, np.exp(sp.special.log_softmax(log_p[:, fitted], axis=2)))))
    for votes in (1, 3, 5, 0):
        few = every[fitted]
        if votes:
            few = np.stack([rng.multivariate_hypergeometric(row, min(votes, row.sum())) for row in few])
        majority = np.eye(few.shape[1])[(few + rng.random(few.shape) / 2).argmax(axis=1)]
        targets = {"majority": majority, "shares": few / few.sum(axis=1, keepdims=True)}
        if votes:
            tree = informed_dirichlet(
                Labels.from_counts(few), models, draws=100, chains=2, random_seed=random_seed
            )
            targets["informed"] = tree["posterior"]["plausibility"].mean(("chain", "draw")).values.astype(float)
        for kind in ("temperature", "Dirichlet"):
            for name, target in targets.items():
                every_model = [
                    scores(calibrated(one[fitted], target, one[tested], kind), share) for one in log_p
                ]
                found[kind, name, str(votes or "all")] = every_model
    return found


def write(runs: dict[str, list[dict[tuple[str, str, str], list[tuple[float, float]]]]]) -> None:
    """Write the page of the runs of each set."""
    lines = [
        "| set | splits | calibration | target | votes | log loss | calibration error |",
        "| --- " * 7 + "|",
    ]
    for name, splits in runs.items():
        means = {key: np.array([np.mean(run[key], axis=0) for run in splits]) for key in splits[0]}
        for key, values in means.items():
            cells = [f"{v:.4f}" for v in values.mean(axis=0)]
            beside = means.get(("temperature", "majority", key[2]))
            if beside is not None and key[:2] != ("temperature", "majority"):
                errors = (values - beside).std(axis=0, ddof=1) / np.sqrt(len(splits))
                cells = [f"{cell} ({error:.4f})" for cell, error in zip(cells, errors)]
            lines.append(f"| {name} | {len(splits)} | {' | '.join([*key, *cells])} |")
    head, _, text = (__doc__ or "").strip().partition("\n\n")
    command, _, text = text.partition("\n\n")
    PAGE.write_text("\n".join([f"# {head.rstrip('.')}\n\n    {command}\n\n{text}\n", *lines]) + "\n")


def main(splits: int) -> None:
    """Run all splits and write the page."""
    warnings.simplefilter("ignore")
    folder = Path(os.environ["BAYESAGREE_DATA"])
    runs = {}
    for name, load in (("ChaosNLI-SNLI", chaosnli), ("CIFAR-10H", cifar10h)):
        every, probability = load(folder)
        runs[name] = [split(every, probability[:3], random_seed) for random_seed in range(splits)]
    write(runs)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else SPLITS)
