"""Simulation-based calibration of the informed posterior: parameters, items and votes from the prior.

The rank of the true mean plausibility and of the true accuracy of a model among the draws is then uniform (decision:
`_record`).
"""

import numpy as np
import pytest
from scipy.special import softmax

from bayesagree import Labels, Predictions, informed_dirichlet
from bayesagree.metrics import top_k_accuracy
from bayesagree.plausibility import InformedPrior
from bayesagree.plausibility.informed._problem import InformedProblem

DRAWS = 97  # a prime: every draw has parameters of its own
# Wide enough to matter, narrow enough for items that differ: the default prior also draws sets of one certain label.
PRIOR = InformedPrior(
    slope_sd=0.5, level_sd=0.5, clarity_sd=0.5, confusion_sd=0.5, open_concentration=(1.0, 0.5), clear_odds=(-1.0, 0.5),
    clear_concentration=(2.5, 0.3), blur=(-3.0, 0.3), entropy_slope_sd=0.3,
)  # fmt: skip


def simulated(rng, n_items=200, votes=4, n_labels=3):
    """Votes, predictions and the plausibilities behind them, from the prior."""
    scores = rng.normal(size=(n_items, n_labels))
    models = Predictions.from_scores({"A": softmax(1.5 * scores, axis=1)}, probabilities=True)
    empty = Labels.from_counts(np.ones((n_items, n_labels), int))
    posterior = InformedProblem.of(empty, models, prior=PRIOR)
    layout, (dense, hit, _) = posterior.layout, posterior.covariates
    theta = rng.normal(layout.mean, layout.sd)
    slopes, level, clarity, confusion, t = layout.parts(theta)
    columns = np.concatenate([dense, hit[:, :, None] == np.arange(n_labels)], axis=1)
    eta = np.einsum("f,ifk->ik", slopes, columns) + level
    eta += softmax(eta, axis=1) @ confusion.reshape(n_labels, n_labels)
    mean = 0.999 * softmax(eta, axis=1) + 0.001 / n_labels
    h = 3 * (-(mean * np.log(mean)).sum(axis=1) / np.log(n_labels) - 0.4)
    weight = softmax(np.c_[np.zeros(n_items), (t[2] + t[3] * h)[:, None] + np.log(mean) + clarity], axis=1)
    kind = (rng.random((n_items, 1)) > weight.cumsum(axis=1)[:, :-1]).sum(axis=1)
    blur, clear = 1 / (1 + np.exp(-t[5])), np.exp(t[4])
    home = np.eye(n_labels)[np.maximum(kind - 1, 0)]
    open_shape = np.exp(t[0] + t[1] * h)[:, None] * mean
    shape = np.where(kind[:, None] == 0, open_shape, clear * ((1 - blur) * home + blur * mean))
    gamma = rng.standard_gamma(shape) + 1e-300
    truth = gamma / gamma.sum(axis=1, keepdims=True)
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
        accuracy = top_k_accuracy(tree, models).values.ravel()
        right = (truth.argmax(axis=1) == models.hard_labels()[0]).mean()
        ranks["accuracy"].append((accuracy < right).sum() + stream.integers((accuracy == right).sum() + 1))
    for name, found in ranks.items():
        calibration.uniform("informed_dirichlet", name, found, DRAWS + 1)
