r"""Plackett-Luce posterior of partial rankings with ties.

Story: each label k of an item has a worth :math:`\lambda_k \sim \mathrm{Gamma}(a, 1)`. An annotator ranks labels by
drawing one after the other without replacement, each time label k with probability proportional to its worth among
those left. We see blocks of labels: inside a block the order is unknown, and labels that are not named come last.
So the probability of a partial ranking is the sum over all complete orders that it allows:

.. math:: \Pr(B_1 \succ B_2 \succ \dots) = \sum_{\sigma \text{ allowed}} \prod_k
          \frac{\lambda_{\sigma_k}}{\lambda_{\sigma_k} + \lambda_{\sigma_{k+1}} + \dots + \lambda_{\sigma_K}}.

Plausibilities :math:`\theta = \lambda / \sum \lambda`, Dirichlet(a) a priori.

Data: partial rankings with ties of the labels of one item by several annotators. Here: four labels, shape a = 0.7.

Source: Stutz et al., "Evaluating AI systems under uncertain ground truth", appendix B.4 (equations 17, 18, 22).

Wrong when annotators share a reason for their order that the item does not have (they are independent given theta),
when a tie means "equally good" rather than "order unknown", and when naming few labels is itself informative.

Two routes, neither of them the package's: enumeration of the orders with quadrature over the simplex (exact, written
to the JSON), and the same sum over orders in plain PyMC (checked against it here).
"""

import itertools
from typing import Any

import arviz as az
import numpy as np
import pymc as pm
import pytensor.tensor as pt
from _reference import write_exact

LABELS = 4


def data() -> dict[str, Any]:
    """Return one item: blocks of labels, best first, for each of four annotators; and the prior shape."""
    return {"rankings": [[[0], [1, 2]], [[0, 3]], [[2], [0], [1], [3]], [[1]]], "labels": LABELS, "shape": 0.7}


def orders(ranking: list[list[int]]) -> list[tuple[int, ...]]:
    """List the complete orders that a partial ranking allows."""
    named = [k for block in ranking for k in block]
    blocks = [*ranking, [k for k in range(LABELS) if k not in named]]
    return [tuple(itertools.chain(*parts)) for parts in itertools.product(*map(itertools.permutations, blocks))]


def model(data: dict[str, Any]) -> pm.Model:
    """Build the model with the sum over orders written out."""
    with pm.Model(coords={"label": range(LABELS)}) as built:
        theta: Any = pm.Dirichlet("theta", np.full(LABELS, data["shape"]), dims="category")
        for r, ranking in enumerate(data["rankings"]):
            allowed = np.array(orders(ranking))
            placed = theta[allowed]
            still = placed[:, ::-1].cumsum(axis=1)[:, ::-1]
            chance: Any = (placed / still).prod(axis=1).sum()
            log_chance: Any = pt.log(chance)
            pm.Potential(f"ranking_{r}", log_chance)
    return built


def exact(data: dict[str, Any], steps: int = 72) -> dict[str, Any]:
    """Integrate over the simplex: logs of the shares relative to the largest, double-exponential nodes.

    The simplex is cut into the regions where each label is the largest; there all log ratios are negative.
    """
    t = np.linspace(-4.0, 4.7, steps)
    log_ratio, weight = -np.exp(t - np.exp(-t)), np.exp(t - np.exp(-t)) * (1 + np.exp(-t))
    grid = np.stack(np.meshgrid(*[log_ratio] * (LABELS - 1), indexing="ij")).reshape(LABELS - 1, -1)
    volume = np.prod(np.meshgrid(*[weight] * (LABELS - 1), indexing="ij"), axis=0).ravel()
    top, first, second = np.zeros(LABELS), np.zeros(LABELS), np.zeros((LABELS, LABELS))
    for largest in range(LABELS):
        theta = np.exp(np.insert(grid, largest, 0.0, axis=0))
        theta /= theta.sum(axis=0)
        density = volume * np.prod(theta ** data["shape"], axis=0)
        for ranking in data["rankings"]:
            chance = np.zeros(density.size)
            for order in orders(ranking):
                placed = theta[list(order)]
                chance += np.prod(placed / placed[::-1].cumsum(axis=0)[::-1], axis=0)
            density *= chance
        top[largest] = density.sum()
        first += theta @ density
        second += (theta * density) @ theta.T
    mean = first / top.sum()
    covariance = second / top.sum() - np.outer(mean, mean)
    return {
        "mean": mean.tolist(),
        "sd": np.sqrt(np.diag(covariance)).tolist(),
        "covariance": covariance.tolist(),
        "probability_top": (top / top.sum()).tolist(),
    }


def main() -> None:
    """Compute the exact posterior, check that it has converged and that plain PyMC agrees, write the reference."""
    observed = data()
    posterior, coarse = exact(observed), exact(observed, steps=56)
    error = max(float(np.abs(np.subtract(posterior[k], coarse[k])).max()) for k in posterior)
    if error > 1e-9:
        raise RuntimeError(f"the quadrature has not converged: {error:.1e} between 56 and 72 nodes")
    with model(observed):
        tree = pm.sample(4000, chains=4, cores=2, random_seed=20, progressbar=False)
    draws = tree["posterior"]["theta"]
    scores = (draws.mean(("chain", "draw")).values - posterior["mean"]) / az.mcse(
        tree["posterior"].to_dataset()
    )["theta"].values
    print(f"NUTS minus exact mean, in Monte-Carlo standard errors: {np.abs(scores).max():.2f} at most")
    write_exact(
        __file__,
        data=observed,
        posterior=posterior,
        source="Stutz et al., appendix B.4: enumeration of orders, quadrature; error below 1e-9",
    )


if __name__ == "__main__":
    main()
