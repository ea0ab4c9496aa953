"""The joint posterior of Phi and of the shares of outright ends under one reading of answers at the ends, or both.

Without outright ends an answer at an end is an interval of a judgment: both shares are 0. Averaged readings are equally
likely before the ratings, and weighted by their evidence, which is equal where no answer lies between the ends
(Hoeting, Madigan, Raftery, Volinsky, "Bayesian model averaging", Statistical Science 14, 1999).
"""

import warnings
from dataclasses import dataclass

import numpy as np
import scipy as sp
from threadpoolctl import threadpool_limits

from bayesagree._numerics.beta import SMALLEST
from bayesagree._numerics.types import Floats
from bayesagree.agreement._exact.item_means import ItemMeans
from bayesagree.agreement._exact.likelihood import Kind
from bayesagree.agreement._exact.outright_density import LEVEL
from bayesagree.agreement._exact.outright_ends import FEWEST, InflatedPosterior, inflated_posterior
from bayesagree.agreement._exact.posterior import PhiPosterior, phi_posterior


@dataclass(frozen=True)
class JointPosterior:
    """Posterior of Phi and of the shares of outright ends.

    Attributes
    ----------
    phi
        Marginal posterior of Phi.
    binned, inflated
        Posteriors of the readings without and with outright ends, None of a reading that is not considered.
    prob_inflated
        Posterior probability of the reading with outright ends.
    """

    phi: PhiPosterior
    binned: PhiPosterior | None
    inflated: InflatedPosterior | None
    prob_inflated: float

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Draw log p, shape (n,), and the shares, shape (n, 2), 0 where there are no outright ends."""
        if self.inflated is None:
            return self.phi.draw(n, rng), np.zeros((n, 2))
        if self.binned is None:
            return self.inflated.draw(n, rng)
        outright = rng.random(n) < self.prob_inflated
        y, shares = np.empty(n), np.zeros((n, 2))
        y[~outright] = self.binned.draw(int((~outright).sum()), rng)
        y[outright], shares[outright] = self.inflated.draw(int(outright.sum()), rng)
        return y, shares


# Small matrices gain nothing from threads of BLAS, which take a processor each while they wait.
@threadpool_limits.wrap(limits=1, user_api="blas")
def joint_posterior(means: ItemMeans, kind: Kind) -> JointPosterior:
    """Return the posterior under a likelihood (see `common_agreement`)."""
    if kind == "inflated":
        inflated = inflated_posterior(means)
        return JointPosterior(inflated.phi, None, inflated, 1.0)
    binned = phi_posterior(means)
    if kind != "averaged":
        return JointPosterior(binned, binned, None, 0.0)
    inflated = inflated_posterior(means, rival=binned.log_evidence)
    if inflated.effective < FEWEST:
        warnings.warn(
            "the posterior with outright ends could not be computed: answers at the ends are read as intervals "
            "(likelihood='binned')",
            UserWarning,
            stacklevel=6,
        )
        return JointPosterior(binned, binned, None, 0.0)
    # Without an answer between the ends the evidence only compares how much prior the readings have at the limits.
    share = 0.5 if means.like.only_ends else sp.special.expit(inflated.phi.log_evidence - binned.log_evidence)
    return JointPosterior(_mixture(binned, inflated.phi, float(share)), binned, inflated, float(share))


def _mixture(first: PhiPosterior, second: PhiPosterior, share: float) -> PhiPosterior:
    """Return the mixture of two posteriors, `share` of it the second."""
    y = np.union1d(first.log_precision, second.log_precision)
    parts = [(1 - share, first), (share, second)]
    log_density = np.full(y.size, -np.inf)
    cdf, errors = np.zeros(y.size), np.zeros(2)
    for weight, one in parts:
        log_part = np.interp(y, one.log_precision, one.log_density, left=-np.inf, right=-np.inf)
        log_density = np.logaddexp(log_density, log_part + np.log(max(weight, SMALLEST)))
        cdf += weight * np.interp(y, one.log_precision, one.cdf, left=0, right=1)
        errors += weight * np.array([one.log_evidence_error, one.interval_error])
    log_evidence = float(np.logaddexp(first.log_evidence, second.log_evidence) - np.log(2))
    return PhiPosterior(y, cdf, log_density, log_evidence, float(errors[0]), float(errors[1]), LEVEL)
