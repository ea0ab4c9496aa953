"""Sets that hold a stated mass: a plain twin over all draws, and what the guarantee counts."""

import _conformal as cases
import numpy as np
import pytest

import bayesagree as ba
from bayesagree import InputError, Labels
from bayesagree.conformal import conformalize_mass, set_coverage


def plain_threshold(draws, score, mass, alpha):
    """Return the largest threshold whose sets miss the mass in at most alpha (n + 1) - 1 items, draws averaged."""
    n = score.shape[0]
    best = -np.inf
    for t in np.unique(score):
        held = (draws * (score >= t)).sum(axis=2)
        if (held < mass - 1e-9).mean(axis=0).sum() <= alpha * (n + 1) - 1 + 1e-9:
            best = t
    return best


@pytest.mark.parametrize("mass", [0.5, 0.8, 0.95])
def test_the_threshold_is_that_of_its_plain_twin(mass):
    truth, predictions = cases.items(40)
    counts = np.random.default_rng(2).multinomial(5, truth.values / truth.values.sum(axis=1, keepdims=True))
    tree = ba.dirichlet(Labels.from_counts(counts), draws=50, chains=1, seed=1)
    sets = conformalize_mass(tree, predictions, mass=mass, coverage=0.8)
    draws = tree["posterior"]["plausibility"].values[0].astype(np.float64)
    assert float(sets.threshold[0]) == plain_threshold(draws, predictions.scores[0], mass, 0.2)


def test_a_point_estimate_is_one_draw():
    truth, predictions = cases.items(60)
    sets = conformalize_mass(truth, predictions, mass=0.7, coverage=0.8)
    assert float(sets.threshold[0]) == plain_threshold(truth.values[None], predictions.scores[0], 0.7, 0.2)
    found = set_coverage(truth, sets.predict_set(predictions), mass=0.7).set_index("quantity")["value"]
    # On the calibration items themselves at most alpha (n + 1) - 1 sets miss the mass.
    assert found["mass_coverage"] >= 1 - (0.2 * 61 - 1) / 60 - 1e-9


def test_more_mass_makes_larger_sets():
    truth, predictions = cases.items(100)
    size = [
        conformalize_mass(truth, predictions, mass=q).predict_set(predictions).values.sum() for q in (0.3, 0.6, 0.9)
    ]
    assert size == sorted(size)


def test_a_mass_of_one_is_refused():
    truth, predictions = cases.items(20)
    with pytest.raises(InputError, match="mass=1 must lie strictly between"):
        conformalize_mass(truth, predictions, mass=1)
