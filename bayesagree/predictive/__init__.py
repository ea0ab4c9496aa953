"""Is the posterior any good: predictive checks, reliability curves, checks of annotators."""

from bayesagree.predictive.checks import item_loo, prior_predictive, with_log_likelihood, with_posterior_predictive
from bayesagree.predictive.reliability import reliability_curve

__all__ = ["item_loo", "prior_predictive", "reliability_curve", "with_log_likelihood", "with_posterior_predictive"]
