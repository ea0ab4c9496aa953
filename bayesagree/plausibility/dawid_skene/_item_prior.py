"""The prior of an item's true label, learnt from what models predict of it: a regression inside of EM.

In the place of one prevalence for all items, with covariates x_i of the predictions as in `informed_dirichlet`,

    Pr(z_i = k) = softmax(sum_f slope_f x_if + level)_k,    slope_f ~ N(0, .5^2),  level_k ~ N(0, 1.5^2).

The M step raises sum_ik Pr(z_i = k | labels) log Pr(z_i = k) plus the log prior of the slopes, by one step of Newton's
method: what annotators are and what the models are worth are learnt together.

Source: Raykar et al., "Learning from crowds", JMLR 11 (2010) 1297-1322, section 2.4, with models' outputs as features.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from bayesagree.plausibility.informed.covariates import Covariates
from bayesagree.plausibility.informed.parameters import InformedPrior

type Floats = NDArray[np.float64]


class LearntPrior:
    """Log prior of the true labels of all items, and the slopes it has come to."""

    def __init__(self, covariates: Covariates, annotated: NDArray[np.bool_]) -> None:
        n_items, n_slopes, n_labels = covariates.dense.shape
        hits = covariates.hit[:, :, None] == np.arange(n_labels)
        level = np.broadcast_to(np.eye(n_labels), (n_items, n_labels, n_labels))
        self.columns = np.concatenate([covariates.dense, hits, level], axis=1, dtype=np.float64)
        self.annotated = annotated
        prior, n_slopes = InformedPrior(), self.columns.shape[1] - n_labels
        self.precision = np.repeat([prior.slope_sd, prior.level_sd], (n_slopes, n_labels)) ** -2.0
        self.theta = np.zeros(n_slopes + n_labels)

    def learn(self, probability: Floats) -> tuple[Floats, float]:
        """Step towards Pr(z_i = k | labels), (item, category); return log Pr(z_i = k) and the slopes' log prior."""
        x, target = self.columns[self.annotated], probability[self.annotated]
        share = np.exp(_log_prior(self.theta, x))
        slope = np.einsum("ik,ifk->f", target - share, x) - self.precision * self.theta
        mean = np.einsum("ik,ifk->if", share, x)
        flat = (x * np.sqrt(share)[:, None, :]).transpose(0, 2, 1).reshape(-1, self.theta.size)
        step = np.linalg.solve(flat.T @ flat - mean.T @ mean + np.diag(self.precision), slope)
        here = self.value(self.theta, x, target)
        # Far from the maximum a whole step may overshoot; near it rounding alone would halve for ever.
        while self.value(self.theta + step, x, target) < here and float(step @ slope) > 1e-12 * abs(here):
            step /= 2
        self.theta = self.theta + step
        return _log_prior(self.theta, self.columns), -0.5 * float(self.precision @ self.theta**2)

    def value(self, theta: Floats, x: Floats, target: Floats) -> float:
        """Return what the M step raises."""
        return float((target * _log_prior(theta, x)).sum() - 0.5 * self.precision @ theta**2)


def _log_prior(theta: Floats, x: Floats) -> Floats:
    return log_softmax(np.einsum("f,ifk->ik", theta, x), axis=1)
