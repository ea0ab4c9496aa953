"""Performance of a model for groups of annotators, any metric.

Story.  A model has a performance y_j for every annotator j of a group g, normal around the mean of the group; group
        means are normal around a common location.
Prior.  mu_g ~ Normal(m, t^2), y_j ~ Normal(mu_g, s^2), t^2 / (s^2 + t^2) ~ U(0, 1), p(m, s) = 1/s.
Data.   One number and one group per annotator.
Paper.  None: it adds uncertainty to the group performances of Balayn and Bozzon, "Designing evaluations of machine
        learning models for subjective inference" (2019).
Exact.  Here by brute force: a regular grid over m, log s, r = t^2 / (s^2 + t^2) and each mu_g, nothing integrated by
        hand. `error` is the change when every axis has half as many cells again.
Wrong   when the metric piles up at an end of its range, when annotators gave very different numbers of labels (their
        values then differ in noise), or when groups are two opposed camps, which one location does not describe.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from _reference import write_exact
from numpy.typing import NDArray
from scipy.stats import norm

CELLS = 64


def data() -> dict[str, Any]:
    """Return the mean absolute error of a model for 12 annotators: three groups of 2, 4 and 6."""
    return {
        "value": [0.9, 1.4, 1.1, 0.7, 1.0, 0.8, 1.6, 1.5, 1.2, 1.9, 1.4, 1.7],
        "group": [0] * 2 + [1] * 4 + [2] * 6,
    }


def exact(data: Mapping[str, Any], cells: int = CELLS) -> dict[str, NDArray[np.float64]]:
    """Return posterior means and standard deviations of the group means, and the mean of r."""
    value, group = np.array(data["value"]), np.array(data["group"])
    location, mu = np.linspace(-1.5, 4, 2 * cells), np.linspace(-0.5, 3, 6 * cells)
    log_scale, share = np.linspace(-2.6, 0.6, cells), (np.arange(cells) + 0.5) / cells
    total, r_sum, first, second = 0.0, 0.0, np.zeros(3), np.zeros(3)
    for s in np.exp(log_scale):
        each = norm.logpdf(value[:, None], mu, s)
        likelihood = np.exp([each[group == g].sum(axis=0) for g in range(3)])
        for r in share:
            prior = norm.pdf(mu[:, None], location, s * np.sqrt(r / (1 - r)))
            mass = likelihood @ prior
            weight = mass.prod(axis=0)
            total, r_sum = total + weight.sum(), r_sum + r * weight.sum()
            ratio = weight / np.maximum(mass, 1e-300)
            first += (((likelihood * mu) @ prior) * ratio).sum(axis=1)
            second += (((likelihood * mu**2) @ prior) * ratio).sum(axis=1)
    mean = first / total
    return {
        "performance": mean,
        "performance_sd": np.sqrt(second / total - mean**2),
        "between_share": np.atleast_1d(r_sum / total),
    }


def main() -> None:
    """Compute on two grids and write the finer one, with the difference as its error."""
    known = data()
    coarse, fine = exact(known), exact(known, CELLS * 3 // 2)
    write_exact(
        __file__,
        data=known,
        posterior={k: {"mean": fine[k].tolist(), "error": np.abs(fine[k] - coarse[k]).tolist()} for k in fine},
        source="brute-force integration on a regular grid",
    )


if __name__ == "__main__":
    main()
