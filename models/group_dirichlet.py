"""Plausibilities as each of two groups sees them, around what the groups have in common.

Story.  What all annotators have in common of an item is m_i; a group's own view is the common one on most items, and
        on the others it stands for another label.
Prior.  m_i ~ Beta(a_0, a_1), log a_k ~ Normal(-log 2, 1/2).
        t_i ~ m_i; of the smaller group, with probability d ~ Uniform, Beta(a + e_l), l the label that t_i is not; else
        m_i.
Data.   Counts of no and yes of two groups on five items.
Paper.  Ivey et al., NUTMEG (2025), for the question.
Exact.  Here by brute force: parameters on grids, all distributions integrated in closed form.
Wrong   where three people with habits of their own are called a group.
"""

import numpy as np
from _reference import write_exact
from scipy.special import gammaln, logsumexp

SHAPE_SD = 0.5


def data() -> list[list[list[int]]]:
    """Return counts (group, item, label)."""
    return [[[0, 3], [3, 0], [2, 1], [0, 3], [0, 1]], [[5, 0], [4, 1], [2, 3], [0, 5], [0, 0]]]


def exact(counts: list[list[list[int]]], cells: int = 12) -> dict[str, list]:
    """Return E d and Pr(apart) by item."""
    n = np.array(counts, float)
    grid = np.linspace(-3.5, 3.5, cells)
    first, second = (a.ravel() for a in np.meshgrid(*[np.exp(-np.log(2) + SHAPE_SD * grid)] * 2, indexing="ij"))
    shape, prior = np.stack([first, second], axis=1), np.add.outer(-(grid**2) / 2, -(grid**2) / 2).ravel()
    smaller, larger = n[np.argsort(n.sum(axis=(1, 2)))]
    share = (np.arange(400) + 0.5) / 400
    log_p, odds = np.repeat(prior[:, None], share.size, axis=1), []
    for one, other in zip(smaller, larger):
        together = _log_beta(shape) - _log_beta(shape + one + other)
        apart = []
        for t in range(2):
            common, own = np.eye(2)[t], np.eye(2)[1 - t]
            chance = np.log(shape[:, t] / shape.sum(axis=1))
            of_common = _log_beta(shape + common) - _log_beta(shape + common + other)
            apart.append(chance + of_common + _log_beta(shape + own) - _log_beta(shape + own + one))
        yes = np.log(share) + np.asarray(logsumexp(apart, axis=0))[:, None]
        whole = np.logaddexp(yes, np.log1p(-share) + together[:, None])
        odds.append(yes - whole)
        log_p = log_p + whole
    p = np.exp(log_p - log_p.max())
    p /= p.sum()
    return {"apart": [float((p @ share).sum())], "apart_items": [float((p * np.exp(o)).sum()) for o in odds]}


def _log_beta(shape: np.ndarray) -> np.ndarray:
    """Return the log of the constant of a Dirichlet density."""
    return gammaln(shape.sum(axis=-1)) - gammaln(shape).sum(axis=-1)


def main() -> None:
    """Write the reference posterior."""
    counts = data()
    write_exact(
        __file__, data={"counts": counts}, posterior=exact(counts, 12), source="three-dimensional integration"
    )


if __name__ == "__main__":
    main()
