from .concordant_pairs import concordance
from .hard_labels import hard_label_scores
from .posterior_auc import auc_posterior
from .posterior_scores import human_ceiling
from .records import UserMetric
from .uncertainty_adjusted import accuracy_given_risk, per_item, top_k_accuracy

__all__ = [
    "UserMetric",
    "accuracy_given_risk",
    "auc_posterior",
    "concordance",
    "hard_label_scores",
    "human_ceiling",
    "per_item",
    "top_k_accuracy",
]
