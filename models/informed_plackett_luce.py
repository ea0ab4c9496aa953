"""Informed Plackett-Luce: plausibilities from few rankings and the label that a model predicts.

Story.   Without predictions theta_i ~ Dirichlet(a, a, a). A model names label y_i. What is known of the item then is
             p(theta_i | y_i)  ~  theta_iy^r exp(w [y is the largest of theta_i]) Dirichlet(theta_i; a),
         r further readers who put y first, and a weight of y being the best label. Readers rank by Plackett-Luce.
Priors.  log r ~ N(-1, 1.5^2);  w ~ N(.35 log 3, 2.5^2).
Data.    Rankings of three labels by two readers an item, four items; one label of the model for each.
Paper.   Stutz et al., "Evaluating AI systems under uncertain ground truth", appendix B.4; empirical Bayes.
Exact.   r and w on a grid; items by draws of the Dirichlet distribution, weighted by the probabilities of the rankings.
Wrong    when the model was trained on these rankings, and when a few kinds of items hide behind one r and one w.
"""

import itertools

import numpy as np
from _reference import write_exact

SEED, DRAWS, LABELS = 20261127, 40_000, 3


def data() -> dict:
    """Return rankings (blocks, best first), predicted labels and the shape of the prior."""
    return {
        "rankings": [[[[0], [1]], [[0]]], [[[1]], [[0], [1]]], [[[2], [0]], [[1], [2]]], [[[0, 1]], [[2]]]],
        "predictions": [0, 1, 2, 0],
        "shape": 0.6,
    }


def chance(ranking: list[list[int]], theta: np.ndarray) -> np.ndarray:
    """Sum the probabilities of the complete orders that a ranking allows, shape (sample,)."""
    named = [k for block in ranking for k in block]
    blocks = [*ranking, [k for k in range(LABELS) if k not in named]]
    total = np.zeros(len(theta))
    for parts in itertools.product(*map(itertools.permutations, blocks)):
        placed = theta[:, list(itertools.chain(*parts))]
        total += (placed / placed[:, ::-1].cumsum(axis=1)[:, ::-1]).prod(axis=1)
    return total


def exact(given: dict, seed: int) -> dict[str, np.ndarray]:
    """Return the mean plausibilities of each item, and the probability of each label to be best."""
    theta = np.random.default_rng(seed).dirichlet(np.full(LABELS, given["shape"]), DRAWS)
    best = theta.argmax(axis=1)[:, None] == np.arange(LABELS)
    log_r, w = np.meshgrid(
        -1 + 1.5 * np.linspace(-3.5, 3.5, 36), 0.35 * np.log(3) + 2.5 * np.linspace(-3.5, 3.5, 36)
    )
    seen = [np.prod([chance(one, theta) for one in item], axis=0) for item in given["rankings"]]
    mass, found = np.zeros(log_r.size), np.zeros((log_r.size, 2, len(seen), LABELS))
    for k, (a, b) in enumerate(zip(log_r.ravel(), w.ravel())):
        mass[k] = -(((a + 1) / 1.5) ** 2 + ((b - 0.35 * np.log(3)) / 2.5) ** 2) / 2
        for i, (weight, y) in enumerate(zip(seen, given["predictions"])):
            tilt = theta[:, y] ** min(np.exp(a), np.exp(3.0)) * np.exp(b * best[:, y])
            of_item = weight * tilt
            mass[k] += np.log(of_item.mean()) - np.log(tilt.mean())
            found[k, 0, i], found[k, 1, i] = of_item @ theta / of_item.sum(), of_item @ best / of_item.sum()
    share = np.exp(mass - mass.max())
    share /= share.sum()
    return dict(zip(("plausibility", "best"), np.tensordot(share, found, 1)))


def main() -> None:
    """Write the reference posterior: the mean over eight sets of draws, and its error."""
    given = data()
    runs = [exact(given, SEED + k) for k in range(8)]
    posterior = {}
    for name in ("plausibility", "best"):
        values = np.array([run[name] for run in runs])
        posterior[name] = {"mean": values.mean(axis=0), "error": values.std(axis=0, ddof=1) / np.sqrt(8)}
    write_exact(
        __file__, data=given, posterior=posterior, source="a grid of two parameters; weighted draws of items"
    )


if __name__ == "__main__":
    main()
