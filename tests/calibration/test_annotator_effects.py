"""Phi with annotators' levels: ranks of parameters drawn from their prior, coverage with and without levels.

CI runs 30 data sets (20 with spreads) and 6, every night 300 and 100. `benchmarks/annotator_levels.py` makes the table
of coverage.
"""

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import binom

import bayesagree as ba
from bayesagree.annotations import Ratings

N_ITEMS, N_ANNOTATORS, LEVELS, KEPT = 10, 4, 5, 100
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def zero_sum(rng, sd, n):
    """Draw values that add up to zero."""
    x = rng.normal(0, sd, n)
    return x - x.mean()


def rated(rng, mu, shift, spread, phi, levels):
    """Return ratings of all items by all annotators; 0 levels: continuous."""
    precision = 2 * (1 - np.log2(1 - phi)) * np.exp(-spread)
    mean = expit(logit(mu)[:, None] + shift)
    a, b = np.maximum([mean * precision, (1 - mean) * precision], 1e-300)
    x = rng.beta(a, b)
    if not levels:
        return Ratings.from_matrix(np.clip(x, 1e-12, 1 - 1e-12), scale=(0, 1))
    return Ratings.from_matrix(np.minimum((x * levels).astype(int), levels - 1), scale=(0, levels - 1), step=1)


def ranks_of(seed, effects):
    """Simulate from the prior, and return how many of `KEPT` posterior draws lie below each truth."""
    rng = np.random.default_rng(seed)
    phi, m, s = rng.uniform(-1, 1), *rng.random(2)
    size = s**-2 - 1
    mu = np.clip(rng.beta(m * size, (1 - m) * size, N_ITEMS), 1e-12, 1 - 1e-12)
    sd, sd_spread = abs(rng.normal(0, [1, 0.5]))
    shift = zero_sum(rng, sd, N_ANNOTATORS)
    spread = zero_sum(rng, sd_spread, N_ANNOTATORS) * (effects == "shift_and_spread")
    ratings = rated(rng, mu, shift, spread, phi, LEVELS)
    tree = ba.common_agreement(ratings, annotator_effects=effects, draws=6 * KEPT, chains=1, seed=seed)
    drawn = tree["posterior"].to_dataset().isel(chain=0, draw=slice(5, None, 6))
    truth = {"phi": phi, "mean_location": m, "annotator_shift_sd": sd, "annotator_shift": shift[0]}
    if effects == "shift_and_spread":
        truth |= {"annotator_spread": spread[0], "annotator_spread_sd": sd_spread}
    found = drawn.isel(annotator=0)
    return {name: int((found[name] < value).sum()) for name, value in truth.items()}


@pytest.mark.parametrize(
    ("effects", "n"),
    [
        ("shift", 30),
        ("shift_and_spread", 20),
        *(pytest.param(e, 300, marks=pytest.mark.slow) for e in ("shift", "shift_and_spread")),
    ],
)
def test_ranks(effects, n, calibration):
    found = [ranks_of(seed, effects) for seed in range(n)]
    for name in found[0]:
        calibration.uniform(f"common_agreement, {effects}", name, np.array([f[name] for f in found]), KEPT + 1)


def covered(seed, sd, levels=5, n_items=60, n_annotators=5, phi=0.6):
    """Whether the intervals of the plain fit and of the fit with levels hold the true Phi, and of a shift its truth."""
    rng = np.random.default_rng(seed)
    shift = zero_sum(rng, sd, n_annotators)
    ratings = rated(rng, rng.beta(2, 2, n_items), shift, np.zeros(n_annotators), phi, levels)
    plain = ba.common_agreement(ratings, draws=10, seed=seed)["agreement"]
    tree = ba.common_agreement(ratings, annotator_effects="shift", draws=300, seed=seed)
    table = ba.agreement.annotator_levels(tree).sort_values("annotator")
    inside = [float(g["lower"]) < phi < float(g["upper"]) for g in (plain, tree["agreement"])]
    of_shifts = (table["lower"].values < shift) & (table["upper"].values > shift)
    return [*inside, of_shifts.mean(), float(plain["mean"]), float(tree["agreement"]["mean"])]


@pytest.mark.parametrize("n", [6, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize("sd", [0.0, 1.0])
def test_interval_covers_with_and_without_levels(sd, n):
    found = np.array([covered(seed, sd) for seed in range(n)])
    assert found[:, 1].sum() >= binom.ppf(1e-4, n, 0.95)
    if sd:
        assert found[:, 0].sum() < n / 2  # the plain fit answers another question
    else:
        # No levels: the same answer to a tenth of the interval.
        assert abs((found[:, 4] - found[:, 3]).mean()) < 0.02
