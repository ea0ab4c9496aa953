"""Phi with annotators' levels, by NUTS: the truth of simulated crowds, with and without levels.

`benchmarks/annotator_levels.py` makes the table of coverage.
"""

import numpy as np
import pytest
from scipy.special import expit, logit

import bayesagree as ba
from bayesagree.annotations import Ratings

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def rated(rng, mu, shift, phi, levels=5):
    """Return ratings of all items by all annotators."""
    precision = 2 * (1 - np.log2(1 - phi))
    mean = expit(logit(mu)[:, None] + shift)
    x = rng.beta(mean * precision, (1 - mean) * precision)
    return Ratings.from_matrix(np.minimum((x * levels).astype(int), levels - 1), scale=(0, levels - 1), step=1)


def covered(random_seed, sd, n_items=60, n_annotators=5, phi=0.6, **how):
    """Whether the intervals of the plain fit and of the fit with levels hold the true Phi, and of a shift its truth."""
    rng = np.random.default_rng(random_seed)
    shift = rng.normal(0, sd, n_annotators)
    shift -= shift.mean()
    ratings = rated(rng, rng.beta(2, 2, n_items), shift, phi)
    plain = ba.common_agreement(ratings, draws=10, random_seed=random_seed)["agreement"]
    tree = ba.common_agreement(ratings, annotator_effects="shift", random_seed=random_seed, **how)
    table = ba.agreement.annotator_levels(tree).sort_values("annotator")
    inside = [float(g["lower"]) < phi < float(g["upper"]) for g in (plain, tree["agreement"])]
    of_shifts = (table["lower"].values < shift) & (table["upper"].values > shift)
    return [*inside, of_shifts.mean(), float(plain["mean"]), float(tree["agreement"]["mean"])]


@pytest.mark.nuts
@pytest.mark.parametrize("sd", [0.0, 1.0])
def test_phi_is_found_once_levels_are_removed(sd):
    _, shift, of_shifts, mean_plain, mean_shift = covered(1, sd, draws=300, chains=2)
    assert shift
    assert of_shifts >= 0.8
    if sd:
        assert abs(mean_shift - 0.6) < 0.5 * abs(mean_plain - 0.6)  # the plain fit answers another question
    else:
        assert mean_shift == pytest.approx(mean_plain, abs=0.05)


@pytest.mark.slow
@pytest.mark.nuts
def test_intervals_cover(n=10):
    found = np.array([covered(random_seed, 1.0, draws=300, chains=2) for random_seed in range(n)])
    assert found[:, 1].sum() >= n - 3
