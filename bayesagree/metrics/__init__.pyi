from .concordant_pairs import concordance
from .hard_labels import hard_label_scores
from .posterior_auc import auc_posterior
from .records import UserMetric
from .sklearn_scorer import make_scorer
from .uncertainty_adjusted import accuracy_given_risk, per_item

__all__ = [
    "make_scorer",
    "UserMetric",
    "accuracy_given_risk",
    "auc_posterior",
    "concordance",
    "hard_label_scores",
    "per_item",
]
