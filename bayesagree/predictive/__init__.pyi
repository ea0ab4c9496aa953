from .annotator_checks import agreement_check, annotator_table
from .checks import prior_predictive, with_log_likelihood, with_posterior_predictive
from .integrated import integrated_log_likelihood
from .reliability import reliability_curve

__all__ = [
    "agreement_check",
    "annotator_table",
    "integrated_log_likelihood",
    "prior_predictive",
    "reliability_curve",
    "with_log_likelihood",
    "with_posterior_predictive",
]
