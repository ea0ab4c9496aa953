"""Does the interval of Phi hold what it promises? The study at length is benchmarks/phi_study.py."""

from typing import NamedTuple

import numpy as np
import pytest
from scipy.stats import binom

from bayesagree import simulate
from bayesagree.agreement._phi.posterior import joint_posterior, precision_of
from bayesagree.agreement._phi.problem import prepare


class Cell(NamedTuple):
    """One setting of the recovery study; `levels` 0 is a continuous scale."""

    phi: float
    shape: float
    raters: int
    levels: int
    items: int = 1000
    item_mean: str = "hierarchical"


CI_CELLS = [
    Cell(-0.6, 1.0, 3, 5, 300), Cell(0.0, 2.0, 5, 5, 300), Cell(0.3, 1.0, 5, 5, 300), Cell(0.5, 2.0, 3, 5, 300),
    Cell(0.8, 1.0, 10, 5, 300), Cell(0.95, 2.0, 5, 5, 300),
]  # fmt: skip
CI_REPETITIONS = 8


def estimate(cell, random_seed):
    """Return mean and interval of Phi on simulated ratings; infinite shape: every mean 1/2, uniform random answers."""
    means = 0.5 if np.isinf(cell.shape) else (cell.shape, cell.shape)
    problem = simulate.ratings(
        n_items=cell.items, ratings_per_item=cell.raters, phi=cell.phi, n_levels=cell.levels or None, item_mean=means,
        random_seed=random_seed,
    )  # fmt: skip
    posterior = joint_posterior(prepare(problem.ratings, item_mean=cell.item_mean, likelihood="binned")).phi
    found = posterior.summary()
    return found.mean, found.lower, found.upper


def run(cell, repetitions, first_seed=0):
    """Return coverage, bias and the share of claims of agreement over repetitions."""
    found = np.array([estimate(cell, first_seed + r) for r in range(repetitions)])
    covered = (found[:, 1] <= cell.phi) & (cell.phi <= found[:, 2])
    return covered, found[:, 0] - cell.phi, found[:, 1] > 0


def test_interval_covers_the_truth_in_a_few_cells():
    results = [run(cell, CI_REPETITIONS) for cell in CI_CELLS[::2]]  # every night all, at length
    covered = np.concatenate([c for c, _, _ in results])
    low, high = binom.ppf([1e-4, 1 - 1e-4], covered.size, 0.95)
    assert low <= covered.sum() <= high
    for (hits, bias, _), cell in zip(results, CI_CELLS[::2]):
        assert hits.sum() >= binom.ppf(1e-4, CI_REPETITIONS, 0.95), cell
        # Bias as far as the repetitions show it: 4 standard errors and the study's bound.
        assert abs(bias.mean()) < 0.005 + 4 * bias.std(ddof=1) / np.sqrt(CI_REPETITIONS), cell


def test_flat_means_take_random_answers_for_agreement():
    """The paper's own bias (figure 3): three raters, flat item means."""
    found = [estimate(Cell(0.0, np.inf, 3, 5, 1000, "flat"), random_seed)[0] for random_seed in range(10)]
    assert np.mean(found) > 4 * np.std(found, ddof=1) / np.sqrt(10)


@pytest.mark.parametrize(
    ("item_mean", "n"),
    [("flat", 200), *(pytest.param(*c, marks=pytest.mark.slow) for c in (("flat", 2000), ("hierarchical", 200)))],
)
def test_ranks_of_phi(item_mean, n, calibration):
    """Phi and the means from their prior, eight items and four ratings: where the truth lies in the exact posterior."""
    rng, ranks = np.random.default_rng(n), np.empty(n, int)
    for k in range(n):
        means = (1.0, 1.0)
        if item_mean == "hierarchical":
            location, spread = rng.random(2)
            size = spread**-2 - 1
            means = (location * size, (1 - location) * size)
        problem = simulate.ratings(
            n_items=8, ratings_per_item=4, phi=rng.uniform(-1, 1), item_mean=means, random_seed=rng
        )
        posterior = joint_posterior(prepare(problem.ratings, item_mean=item_mean, likelihood="binned")).phi
        ranks[k] = min(999, int(1000 * (posterior.weight @ (posterior.y <= np.log(precision_of(problem.phi))))))
    calibration.uniform(f"common_agreement, {item_mean}", "phi", ranks, 1000)


@pytest.mark.slow
@pytest.mark.parametrize("cell", CI_CELLS, ids=str)
def test_interval_covers_the_truth_in_a_cell_at_length(cell, calibration):
    covered, _, _ = run(cell, 300, first_seed=1000)
    name = f"Phi {cell.phi:g}, means Beta({cell.shape:g}, {cell.shape:g}), {cell.raters} raters, {cell.levels} levels"
    calibration.coverage("common_agreement", name, covered)
