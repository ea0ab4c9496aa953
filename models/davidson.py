"""Strengths of models from comparisons with ties and the advantage of the first place.

Story.  Every model i has a strength s_i. With d = s_i - s_j + gamma for i shown first and j second, the first wins, the
        second wins, or they tie with log weights d / 2, -d / 2 and log nu.
Prior.  s_i ~ Normal(0, 1), log nu ~ Normal(0, 1), gamma ~ Normal(0, .5).
Data.   Wins, losses and ties of pairs of models, by the order in which they were shown.
Paper.  Davidson, "On extending the Bradley-Terry model to accommodate ties in paired comparison experiments", JASA 65
        (1970); the symmetric form of the order is ours.
Exact.  Importance sampling from Student's t with 8 degrees of freedom around the mode, 16 scrambled Sobol sequences;
        the error is that of their mean.
Wrong   when A beats B, B beats C and C beats A, or when annotators differ.
"""

import numpy as np
from _reference import write_exact
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import stdtrit
from scipy.stats import qmc

N_MODELS = 4
SD = np.array([1.0] * N_MODELS + [1.0, 0.5])
"""Prior standard deviations of the strengths, of log nu and of gamma."""
DEGREES = 8
REPLICATES, POINTS = 16, 2**15


def data() -> list[list[int]]:
    """Return rows of first, second, wins of the first, wins of the second, ties."""
    return [
        [0, 1, 6, 2, 2],
        [1, 0, 3, 5, 1],
        [0, 2, 4, 1, 3],
        [2, 1, 2, 4, 2],
        [2, 3, 5, 2, 4],
        [3, 0, 0, 4, 1],
    ]


def log_density(points: NDArray[np.float64], table: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the log of prior times likelihood at points (point, parameter)."""
    first, second, *counts = table.T
    half = (points[:, first] - points[:, second] + points[:, -1:]) / 2
    weights = np.stack([half, -half, np.broadcast_to(points[:, -2:-1], half.shape)])
    likelihood = (np.array(counts)[:, None, :] * (weights - np.logaddexp.reduce(weights, axis=0))).sum(
        axis=(0, 2)
    )
    prior = -0.5 * (points / SD) ** 2 - np.log(SD * np.sqrt(2 * np.pi))
    return likelihood + prior.sum(axis=1)


def exact(rows: list[list[int]]) -> dict[str, dict[str, list[float]]]:
    """Return means and standard deviations, and Pr(best), each with its error."""
    table, size = np.array(rows), N_MODELS + 2
    mode = minimize(lambda x: -log_density(x[None], table)[0], np.zeros(size)).x
    step = 1e-3 * np.eye(size)
    ends = np.array([[mode + a + b for b in step] + [mode + a - b for b in step] for a in (*step, *-step)])
    height = log_density(ends.reshape(-1, size), table).reshape(2 * size, 2 * size)
    curvature = (
        -(height[:size, :size] - height[:size, size:] - height[size:, :size] + height[size:, size:]) / 4e-6
    )
    root = np.linalg.cholesky(np.linalg.inv(curvature))
    found: dict[str, list[NDArray[np.float64]]] = {}
    for random_seed in range(REPLICATES):
        sobol = qmc.Sobol(size + 1, rng=random_seed).random(POINTS)
        normal = stdtrit(np.inf, np.clip(sobol[:, :-1], 1e-12, 1 - 1e-12))
        chi2 = qmc_chi2(sobol[:, -1])
        away = normal / np.sqrt(chi2 / DEGREES)[:, None]
        points = mode + away @ root.T
        log_weight = log_density(points, table) + (DEGREES + size) / 2 * np.log1p(
            (away**2).sum(axis=1) / DEGREES
        )
        weight = np.exp(log_weight - log_weight.max())
        weight /= weight.sum()
        strength = points[:, :N_MODELS] - points[:, :N_MODELS].mean(axis=1, keepdims=True)
        best = np.eye(N_MODELS)[strength.argmax(axis=1)]
        for name, values in (("strength", strength), ("tie", points[:, -2:-1]), ("order", points[:, -1:])):
            mean = weight @ values
            found.setdefault(f"{name}_mean", []).append(mean)
            found.setdefault(f"{name}_sd", []).append(np.sqrt(weight @ (values - mean) ** 2))
        found.setdefault("best", []).append(weight @ best)
    return {
        name: {
            "value": np.mean(v, axis=0).tolist(),
            "error": (np.std(v, axis=0) / np.sqrt(REPLICATES)).tolist(),
        }
        for name, v in found.items()
    }


def qmc_chi2(uniform: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return chi-squared variables of uniform ones."""
    from scipy.stats import chi2

    return chi2.ppf(np.clip(uniform, 1e-12, 1 - 1e-12), DEGREES)


def main() -> None:
    """Write the reference posterior."""
    rows = data()
    write_exact(
        __file__,
        data={"rows": rows, "prior_sd": SD.tolist()},
        posterior=exact(rows),
        source="importance sampling around the mode, scrambled Sobol sequences",
    )


if __name__ == "__main__":
    main()
