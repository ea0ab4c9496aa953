"""Does the interval of Phi hold what it promises? Recovery of known Phi, and false claims on random answers.

CI runs 6 cells x 16 repetitions, every night 300. The full study takes half an hour; it is resumable:

    python tests/calibration/test_phi.py study.csv recovery 200 [1/2]
    python tests/calibration/test_phi.py study.csv random 1000 [1/2]

appends one line per finished cell, skips the cells it finds there, and prints the pooled result; 1/2 and 2/2 are halves
of the cells for two processes. `benchmarks/phi_study.py` makes the tables in benchmarks/results/phi.md from the file.
"""

import csv
import itertools
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from scipy.stats import binom

from bayesagree import simulate
from bayesagree.agreement._exact.posterior import phi_posterior
from bayesagree.agreement._exact.problem import prepare
from bayesagree.agreement.checks import THRESHOLD, item_mean_check


class Cell(NamedTuple):
    """One setting of the recovery study; `levels` 0 is a continuous scale."""

    phi: float
    shape: float
    raters: int
    levels: int
    items: int = 1000
    item_mean: str = "hierarchical"


PHI = (-0.6, -0.3, 0.0, 0.3, 0.5, 0.8, 0.95)
SCALES = ((3, 5), (5, 5), (5, 11), (10, 5), (5, 0))
CELLS = [Cell(phi, shape, *scale) for scale, shape, phi in itertools.product(SCALES, (1.0, 2.0), PHI)]
RANDOM = [
    Cell(0.0, np.inf, r, k, n, prior)
    for prior, n, r, k in itertools.product(("hierarchical", "flat"), (100, 1000), (3, 5, 10), (5, 11))
]
CI_CELLS = [
    Cell(-0.6, 1.0, 3, 5, 300), Cell(0.0, 2.0, 5, 5, 300), Cell(0.3, 1.0, 5, 5, 300), Cell(0.5, 2.0, 3, 5, 300),
    Cell(0.8, 1.0, 10, 5, 300), Cell(0.95, 2.0, 5, 5, 300),
]  # fmt: skip
CI_REPETITIONS = 8


def estimate(cell, seed):
    """Return mean and interval of Phi on simulated ratings; infinite shape: every mean 1/2, uniform random answers."""
    means = 0.5 if np.isinf(cell.shape) else (cell.shape, cell.shape)
    problem = simulate.ratings(
        n_items=cell.items, ratings_per_item=cell.raters, phi=cell.phi, n_levels=cell.levels or None, item_mean=means,
        seed=seed,
    )  # fmt: skip
    posterior = phi_posterior(prepare(problem.ratings, item_mean=cell.item_mean).means)
    lower, upper = posterior.hdi()
    return posterior.summary().mean, lower, upper


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
    found = [estimate(Cell(0.0, np.inf, 3, 5, 1000, "flat"), seed) for seed in range(10)]
    assert all(lower > 0 for _, lower, _ in found)


def test_item_means_at_two_ends_are_noticed():
    rng = np.random.default_rng(5)
    for seed in range(5):
        means = rng.choice([0.15, 0.85], 1000)
        problem = simulate.ratings(n_items=1000, ratings_per_item=3, phi=0.3, item_mean=means, seed=seed)
        assert item_mean_check(problem.ratings, draws=300, seed=seed)["p_value"] < THRESHOLD


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
        problem = simulate.ratings(n_items=8, ratings_per_item=4, phi=rng.uniform(-1, 1), item_mean=means, seed=rng)
        posterior = phi_posterior(prepare(problem.ratings, item_mean=item_mean).means)
        ranks[k] = min(999, int(1000 * (1 - posterior.prob_above(problem.phi))))
    calibration.uniform(f"common_agreement, {item_mean}", "phi", ranks, 1000)


@pytest.mark.slow
@pytest.mark.parametrize("cell", CI_CELLS, ids=str)
def test_interval_covers_the_truth_in_a_cell_at_length(cell, calibration):
    covered, _, _ = run(cell, 300, first_seed=1000)
    name = f"Phi {cell.phi:g}, means Beta({cell.shape:g}, {cell.shape:g}), {cell.raters} raters, {cell.levels} levels"
    calibration.coverage("common_agreement", name, covered)


@pytest.mark.slow
def test_false_claims_of_agreement(tmp_path):
    cells = [cell for cell in RANDOM if cell.item_mean == "hierarchical"]
    assert all(row["claims"] <= 0.065 for row in study(tmp_path / "phi.csv", cells, 1000))


def study(path, cells, repetitions):
    """Run the cells that the file does not have yet; return the rows of all."""
    names = [*Cell._fields, "repetitions", "coverage", "bias", "claims", "seconds"]
    if not path.exists():
        path.write_text(",".join(names) + "\n")
    for number, cell in enumerate(cells):
        if (cell, repetitions) in read(path):
            continue
        start = time.process_time()
        covered, bias, claims = run(cell, repetitions)
        row = [*cell, repetitions, covered.mean(), bias.mean(), claims.mean(), round(time.process_time() - start, 1)]
        with path.open("a") as file:
            csv.writer(file).writerow(row)
        sys.stderr.write(f"{number + 1}/{len(cells)} {cell} covered {covered.mean():.3f} bias {bias.mean():+.4f}\n")
    found = read(path)
    return [found[cell, repetitions] for cell in cells]


def read(path):
    """Return the finished cells: (cell, repetitions) -> row."""
    found = {}
    for row in csv.DictReader(path.read_text().splitlines()):
        prior = row.pop("item_mean")
        values = {name: float(value) for name, value in row.items()}
        cell = Cell(*(values[name] for name in Cell._fields[:-1]), prior)
        found[cell, values["repetitions"]] = values
    return found


if __name__ == "__main__":
    file, kind, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    part, parts = map(int, sys.argv[4].split("/")) if len(sys.argv) > 4 else (1, 1)
    rows = study(file, {"recovery": CELLS, "random": RANDOM}[kind][part - 1 :: parts], count)
    coverage, mean_bias = (np.array([row[name] for row in rows]) for name in ("coverage", "bias"))
    sys.stderr.write(
        f"pooled: covered {coverage.mean():.4f}, least {coverage.min():.3f}, bias {mean_bias.mean():+.5f}\n"
    )
