from .annotator_checks import agreement_check, annotation_parts, annotator_table, label_switching, prior_sensitivity
from .checks import item_loo, prior_predictive, with_log_likelihood, with_posterior_predictive
from .integrated import integrated_log_likelihood
from .reliability import reliability_curve

__all__ = [
    "agreement_check",
    "annotation_parts",
    "annotator_table",
    "integrated_log_likelihood",
    "item_loo",
    "label_switching",
    "prior_predictive",
    "prior_sensitivity",
    "reliability_curve",
    "with_log_likelihood",
    "with_posterior_predictive",
]
