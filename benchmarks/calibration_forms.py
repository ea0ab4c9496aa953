"""Which form of calibration against gold is best? Log score of other items, over all crowd sets with gold.

    BAYESAGREE_DATA=<folder> uv run --group bench python benchmarks/crowd_gold.py --keep fits
    uv run python benchmarks/calibration_forms.py fits

Reads the label probabilities that `crowd_gold.py --keep` wrote. Each form is fitted by its posterior mode to 50 or 200
gold items drawn at random (half of the gold where there is less) and scored on the rest, 20 splits. With p the claimed
probabilities, s their mean over items, K labels:

=============  =====================================================================================================
none           q = p
exponent       q ~ p^eta, log eta ~ N(-0.7, 1)
uniform floor  q = (1 - f) p^eta / sum + f / K, logit f ~ N(-3, 1.5)
share floor    q = (1 - f) p^eta / sum + f s, logit f ~ N(-3, 1.5)
bias           q ~ p^eta exp(b), b_k ~ N(0, 0.5^2) (vector scaling with one temperature)
=============  =====================================================================================================
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import optimize, special

SPLITS, FLOOR = 20, 1e-12

type Floats = NDArray[np.float64]


def powers(log_p: Floats, x: Floats) -> Floats:
    return special.log_softmax(np.exp(x[0]) * log_p, axis=1)


def with_floor(log_p: Floats, x: Floats, base: Floats) -> Floats:
    return np.logaddexp(special.log_expit(-x[1]) + powers(log_p, x), special.log_expit(x[1]) + np.log(base))


def biased(log_p: Floats, x: Floats) -> Floats:
    return special.log_softmax(np.exp(x[0]) * log_p + x[1:], axis=1)


def forms(p: Floats) -> dict[str, tuple[Callable[[Floats, Floats], Floats], Floats, Floats]]:
    """Return log q, prior means and prior standard deviations of each form."""
    n_labels = p.shape[1]
    uniform, share = np.full(n_labels, 1 / n_labels), np.maximum(p.mean(axis=0), FLOOR)
    two = np.array([-0.7, -3.0]), np.array([1.0, 1.5])
    return {
        "exponent": (powers, np.array([-0.7]), np.array([1.0])),
        "uniform floor": (lambda log_p, x: with_floor(log_p, x, uniform), *two),
        "share floor": (lambda log_p, x: with_floor(log_p, x, share), *two),
        "bias": (biased, np.append(-0.7, np.zeros(n_labels)), np.append(1.0, np.full(n_labels, 0.5))),
    }


def fit(
    log_q: Callable[[Floats, Floats], Floats], mean: Floats, sd: Floats, log_p: Floats, gold: Floats
) -> Floats:
    rows = np.arange(gold.size)

    def loss(x: Floats) -> float:
        return float(0.5 * (((x - mean) / sd) ** 2).sum() - log_q(log_p, x)[rows, gold].sum())

    bounds = [(m - 6 * s, m + 6 * s) for m, s in zip(mean, sd)]
    return optimize.minimize(loss, mean, method="L-BFGS-B", bounds=bounds).x


def scores(log_q: Floats, gold: Floats) -> tuple[float, float]:
    """Return mean log probability of the gold label, and claim minus accuracy."""
    claim, right = np.exp(log_q.max(axis=1)), log_q.argmax(axis=1) == gold
    return float(log_q[np.arange(gold.size), gold].mean()), float(claim.mean() - right.mean())


def rows_of(path: Path) -> list[dict]:
    name, method = path.stem.split("__")
    kept = np.load(path)
    p, gold = kept["probability"], kept["gold"]
    known = np.flatnonzero(gold >= 0)
    log_p, truth = np.log(np.maximum(p[known], FLOOR)), gold[known]
    rows = []
    for wanted in (50, 200):
        n_used = min(wanted, known.size // 2)
        for split in range(SPLITS):
            order = np.random.default_rng(split).permutation(known.size)
            used, rest = order[:n_used], order[n_used:]
            results = {"none": scores(log_p[rest], truth[rest])}
            for form, (log_q, mean, sd) in forms(p).items():
                x = fit(log_q, mean, sd, log_p[used], truth[used])
                results[form] = scores(log_q(log_p[rest], x), truth[rest])
            rows += [
                {"set": name, "method": method, "gold": wanted, "form": form, "log_score": s, "gap": abs(g)}
                for form, (s, g) in results.items()
            ]
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    frame = pd.DataFrame(
        [row for path in sorted(parser.parse_args().folder.glob("*.npz")) for row in rows_of(path)]
    )
    order = ["none", "exponent", "uniform floor", "share floor", "bias"]
    for column in ("log_score", "gap"):
        table = frame.pivot_table(index=["method", "gold", "set"], columns="form", values=column)[order]
        print(f"\n{column}, mean over {SPLITS} splits\n{table.to_string(float_format='%.3f')}")
        print(f"\nmean over sets\n{table.groupby(level=[0, 1]).mean().to_string(float_format='%.4f')}")
    best = frame.pivot_table(index=["method", "gold", "set"], columns="form", values="log_score")[order[1:]]
    print("\nsets where the form has a better log score than one exponent")
    print(best.gt(best["exponent"], axis=0).groupby(level=[0, 1]).sum().to_string())


if __name__ == "__main__":
    main()
