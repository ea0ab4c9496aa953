from ._records import UserMetric
from .another_annotator import human_ceiling
from .concordant_pairs import concordance
from .crowd_auc import auc
from .hard_labels import hard_label_scores
from .partial_rankings import annotator_overlap, partial_average_overlap
from .posterior_auc import auc_posterior
from .posterior_scores import score
from .sklearn_scorer import make_scorer
from .uncertainty_adjusted import (
    accuracy_given_risk,
    average_overlap,
    expected_top_k_accuracy,
    kendall_tau,
    overlap,
    per_item,
    set_accuracy,
    spearman_footrule,
    top_k_accuracy,
    top_k_in_top_m,
)
from .votes_alone import identified_accuracy

__all__ = [
    "UserMetric",
    "accuracy_given_risk",
    "annotator_overlap",
    "auc",
    "auc_posterior",
    "average_overlap",
    "concordance",
    "expected_top_k_accuracy",
    "hard_label_scores",
    "human_ceiling",
    "identified_accuracy",
    "kendall_tau",
    "make_scorer",
    "overlap",
    "partial_average_overlap",
    "per_item",
    "score",
    "set_accuracy",
    "spearman_footrule",
    "top_k_accuracy",
    "top_k_in_top_m",
]
