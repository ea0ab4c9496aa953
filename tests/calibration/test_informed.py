"""Simulation-based calibration of the informed posterior: parameters, items and votes from the prior.

The rank of the true mean plausibility and of the true accuracy of a model among the draws is then uniform (decision:
`_record`).
"""

import numpy as np
import pytest
from scipy.special import softmax

from bayesagree import Labels, Predictions, informed_dirichlet, score
from bayesagree.plausibility import InformedPrior
from bayesagree.plausibility.informed._problem import InformedProblem
from bayesagree.plausibility.informed.family import Items, draw_items

DRAWS = 97  # a prime: every draw has parameters of its own
# Wide enough to matter, narrow enough for items that differ: the default prior also draws sets of one certain label.
PRIOR = InformedPrior(
    slope_sd=0.5, share=(1.0, 0.3), open_concentration=(1.0, 0.5), clear_odds=(-1.0, 0.5),
    clear_concentration=(2.5, 0.3), blur=(-3.0, 0.3), entropy_slope_sd=0.3, best_concentration=(1.0, 0.3),
    best_sharpness=(0.7, 0.3), best_odds=(-0.5, 1.5),
)  # fmt: skip


def simulated(rng, n_items=200, votes=4, n_labels=3):
    """Votes, predictions and the plausibilities behind them, from the prior."""
    scores = rng.normal(size=(n_items, n_labels))
    models = Predictions.from_scores({"A": softmax(1.5 * scores, axis=1)}, probabilities=True)
    # The shares of the labels of all votes are given, and those of the votes drawn are near them.
    empty = Labels.from_counts(np.ones((n_items, n_labels), int))
    posterior = InformedProblem.of(empty, models, prior=PRIOR)
    theta = rng.normal(posterior.layout.mean, posterior.layout.sd)[None]
    blank = Items.of(posterior.columns, np.zeros((n_items, n_labels), int))
    truth = draw_items(rng, theta, blank, 1, best=False)[:, 0]
    truth = np.maximum(truth, 1e-300) / np.maximum(truth, 1e-300).sum(axis=1, keepdims=True)
    return Labels.from_counts(rng.multinomial(votes, truth)), models, truth


@pytest.mark.parametrize(("n", "random_seed"), [(40, 1), pytest.param(500, 2, marks=pytest.mark.slow)])
@pytest.mark.filterwarnings("ignore:models .* not independent")
def test_ranks_of_the_truth_are_uniform(calibration, n, random_seed):
    ranks = {"mean plausibility": [], "accuracy": []}
    for stream in np.random.default_rng(random_seed).spawn(n):
        labels, models, truth = simulated(stream)
        tree = informed_dirichlet(labels, models, prior=PRIOR, draws=DRAWS, chains=1, random_seed=stream)
        mean = tree["posterior"]["plausibility"].sel(category=0).mean("item").values.ravel()
        ranks["mean plausibility"].append((mean < truth[:, 0].mean()).sum())
        accuracy = score(tree, models, "accuracy").values.ravel()
        right = (truth.argmax(axis=1) == models.hard_labels()[0]).mean()
        ranks["accuracy"].append((accuracy < right).sum() + stream.integers((accuracy == right).sum() + 1))
    for name, found in ranks.items():
        calibration.uniform("informed_dirichlet", name, found, DRAWS + 1)
