from .another_annotator import human_ceiling
from .concordant_pairs import concordance
from .crowd_auc import auc
from .hard_labels import hard_label_scores
from .posterior_auc import auc_posterior
from .posterior_scores import score
from .records import UserMetric
from .uncertainty_adjusted import accuracy_given_risk, per_item, top_k_accuracy

__all__ = [
    "UserMetric",
    "accuracy_given_risk",
    "auc",
    "auc_posterior",
    "concordance",
    "hard_label_scores",
    "human_ceiling",
    "per_item",
    "score",
    "top_k_accuracy",
]
