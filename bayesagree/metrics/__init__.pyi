from .another_annotator import human_ceiling
from .concordant_pairs import concordance
from .crowd_auc import auc
from .hard_labels import hard_label_scores
from .partial_rankings import annotator_overlap, partial_average_overlap
from .posterior_auc import auc_posterior
from .posterior_scores import score
from .records import UserMetric
from .sklearn_scorer import make_scorer
from .uncertainty_adjusted import (
    accuracy_given_risk,
    expected_top_k_accuracy,
    per_item,
    top_k_accuracy,
    top_k_in_top_m,
)

__all__ = [
    "UserMetric",
    "accuracy_given_risk",
    "annotator_overlap",
    "auc",
    "auc_posterior",
    "concordance",
    "expected_top_k_accuracy",
    "hard_label_scores",
    "human_ceiling",
    "make_scorer",
    "partial_average_overlap",
    "per_item",
    "score",
    "top_k_accuracy",
    "top_k_in_top_m",
]
