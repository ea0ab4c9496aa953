"""Performance of a model for groups of annotators.

Story.  A model agrees with every annotator j of a group g at their own rate theta_j, on s_j of their n_j labels.
        Rates vary around the mean of the group, group means around a common location.
Prior.  theta_j ~ Beta(mu_g phi, (1 - mu_g) phi), mu_g ~ Beta(m kappa, (1 - m) kappa), m ~ U(0, 1),
        w = (1 + phi)^(-1/2) ~ U(0, 1), b = (1 + kappa)^(-1/2) ~ U(0, 1).
Data.   s_j and n_j of each annotator, and the annotator's group.
Paper.  None: it adds uncertainty to the group performances of Balayn and Bozzon, "Designing evaluations of machine
        learning models for subjective inference" (2019).
Exact.  Here by brute force: a regular grid over w, m, b and each mu_g, with theta_j integrated out (beta-binomial);
        `error` is the change when every axis has half as many cells again.
Wrong   when annotators are no sample of their group, when items differ so much in difficulty that two annotators with
        different items cannot be compared, or when groups are two opposed camps, which one location does not describe.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from _reference import write_exact
from numpy.typing import NDArray
from scipy.stats import beta, betabinom

CELLS = 80


def data() -> dict[str, list[int]]:
    """Return agreements, labels and groups of 19 annotators: three groups of 2, 5 and 12."""
    return {
        "agree": [3, 9, 6, 8, 10, 5, 9, 2, 14, 12, 20, 11, 7, 15, 9, 18, 4, 13, 16],
        "total": [8, 15, 10, 10, 12, 9, 10, 4, 20, 15, 25, 20, 8, 20, 10, 22, 10, 15, 20],
        "group": [0] * 2 + [1] * 5 + [2] * 12,
    }


def exact(data: Mapping[str, Any], cells: int = CELLS) -> dict[str, NDArray[np.float64]]:
    """Return posterior means of the group means and the shared parameters, and the sd of the group means."""
    agree, total, group = (np.array(data[k]) for k in ("agree", "total", "group"))
    middle, edges = (np.arange(cells) + 0.5) / cells, np.linspace(0, 1, 5 * cells + 1)
    mu = (edges[1:] + edges[:-1]) / 2
    m, b = (x.ravel() for x in np.meshgrid(middle, middle, indexing="ij"))
    kappa = b**-2 - 1
    prior = np.diff(beta.cdf(edges, (m * kappa)[:, None], ((1 - m) * kappa)[:, None]), axis=1)
    weight, first, second = np.empty((cells, m.size)), [], []
    for i, phi in enumerate(middle**-2 - 1):
        each = betabinom.logpmf(agree[:, None], total[:, None], mu * phi, (1 - mu) * phi)
        likelihood = np.exp([each[group == g].sum(axis=0) for g in range(3)])
        mass = likelihood @ prior.T
        weight[i] = mass.prod(axis=0)
        first.append(((likelihood * mu) @ prior.T / mass * weight[i]).sum(axis=1))
        second.append(((likelihood * mu**2) @ prior.T / mass * weight[i]).sum(axis=1))
    mean, square = np.sum(first, axis=0) / weight.sum(), np.sum(second, axis=0) / weight.sum()
    return {
        "performance": mean,
        "performance_sd": np.sqrt(square - mean**2),
        "within_spread": np.atleast_1d((weight.sum(axis=1) * middle).sum() / weight.sum()),
        "between_spread": np.atleast_1d((weight.sum(axis=0) * b).sum() / weight.sum()),
        "location": np.atleast_1d((weight.sum(axis=0) * m).sum() / weight.sum()),
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
