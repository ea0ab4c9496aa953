"""Plausibilities as each of two groups sees them, around what the groups have in common.

Story.  What all annotators have in common of an item is m_i; a group's own view is near it (graded), or it is the
        common one on most items and on the others stands for another label (divided).
Prior.  m_i ~ Beta(a_0, a_1), log a_k ~ Normal(-log 2, 1/2).
        Graded, without leaning (r_g = 0): lambda_ig ~ Beta(s_g m_i), log s_g ~ Normal(log 10, 1).
        Divided: t_i ~ m_i; of the smaller group, with probability d ~ Uniform, Beta(a + e_l), l the label that t_i is
        not; else m_i.
Data.   Counts of no and yes of two groups on five items.
Paper.  Teh et al., Hierarchical Dirichlet processes (2006).
Exact.  Here by brute force: parameters and common plausibilities on grids, the groups' own integrated in closed form.
Wrong   where three people with habits of their own are called a group.
"""

import numpy as np
from _reference import write_exact
from scipy.special import gammaln, logsumexp

SHAPE_SD, SIMILARITY, SIMILARITY_SD = 0.5, 10.0, 1.0


def data() -> list[list[list[int]]]:
    """Return counts (group, item, label)."""
    return [[[0, 3], [3, 0], [2, 1], [0, 3], [0, 1]], [[5, 0], [4, 1], [2, 3], [0, 5], [0, 0]]]


def exact(counts: list[list[list[int]]], cells: int = 12) -> dict[str, list]:
    """Return E lambda_ig(yes) and E log s_g of the graded form, E d and Pr(apart) by item of the divided one."""
    n = np.array(counts, float)
    grid = np.linspace(-3.5, 3.5, cells)
    first, second = (a.ravel() for a in np.meshgrid(*[np.exp(-np.log(2) + SHAPE_SD * grid)] * 2, indexing="ij"))
    shape, prior = np.stack([first, second], axis=1), np.add.outer(-(grid**2) / 2, -(grid**2) / 2).ravel()
    return _graded(n, shape, prior, np.log(SIMILARITY) + SIMILARITY_SD * grid) | _divided(n, shape, prior)


def _graded(n: np.ndarray, shape: np.ndarray, prior: np.ndarray, log_s: np.ndarray) -> dict[str, list]:
    x = np.linspace(-90, 90, 721)
    log_m = np.stack([-np.logaddexp(0, x), -np.logaddexp(0, -x)], axis=1)  # no, yes
    of_common = _log_beta(shape)[:, None] + shape @ log_m.T + np.log(x[1] - x[0])
    s = np.exp(log_s)
    log_prior_s = -((log_s - np.log(SIMILARITY)) ** 2) / (2 * SIMILARITY_SD**2)
    log_p = prior[:, None, None] + log_prior_s[None, :, None] + log_prior_s[None, None, :]
    expected = []
    for i in range(n.shape[1]):
        votes = [_own(n[g, i], s, log_m) for g in range(2)]
        top = of_common.max(axis=1, keepdims=True)
        common = np.exp(of_common - top)
        both = np.exp(votes[0])[:, None] * np.exp(votes[1])[None]
        whole = np.einsum("am,stm->ast", common, both)
        mean = []
        for g in range(2):
            seen = (s[:, None] * np.exp(log_m[:, 1]) + n[g, i, 1]) / (s[:, None] + n[g, i].sum())
            seen = seen[:, None] if g == 0 else seen[None]
            mean.append(np.einsum("am,stm->ast", common, both * seen) / whole)
        expected.append(mean)
        log_p = log_p + np.log(whole) + top[:, :, None]
    p = np.exp(log_p - log_p.max())
    p /= p.sum()
    yes = [[float((p * of_item[g]).sum()) for of_item in expected] for g in range(2)]
    return {"graded_yes": yes, "log_similarity": [float(p.sum(axis=(0, 2)) @ log_s), float(p.sum(axis=(0, 1)) @ log_s)]}


def _own(votes: np.ndarray, s: np.ndarray, log_m: np.ndarray) -> np.ndarray:
    """Return the log probability of a group's votes in order, (similarity, common)."""
    around = s[:, None, None] * np.exp(log_m)
    found = np.zeros(around.shape[:2])
    for k in range(2):
        for r in range(int(votes[k])):
            found += np.log(around[:, :, k] + r)
    for r in range(int(votes.sum())):
        found -= np.log(s + r)[:, None]
    return found


def _divided(n: np.ndarray, shape: np.ndarray, prior: np.ndarray) -> dict[str, list]:
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
    write_exact(__file__, data={"counts": counts}, posterior=exact(counts, 12), source="five-dimensional integration")


if __name__ == "__main__":
    main()
