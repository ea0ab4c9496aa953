from . import auc
from ._records import UserMetric
from .another_annotator import human_ceiling
from .hard_labels import hard_label_scores
from .identified import identified_accuracy
from .partial_rankings import annotator_overlap, partial_average_overlap
from .posterior_scores import score
from .sklearn_scorer import make_scorer
from .top_k import accuracy_given_risk, expected_top_k_accuracy, top_k_in_top_m
from .uncertainty_adjusted import (
    average_overlap,
    kendall_tau,
    overlap,
    per_item,
    set_accuracy,
    spearman_footrule,
    top_k_accuracy,
)

__all__ = [
    "UserMetric",
    "accuracy_given_risk",
    "annotator_overlap",
    "auc",
    "average_overlap",
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
