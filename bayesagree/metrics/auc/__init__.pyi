from .concordant_pairs import concordance
from .estimates import auc, hand_till_auc, one_vs_rest_auc
from .posterior import auc_posterior

__all__ = [
    "auc",
    "auc_posterior",
    "concordance",
    "hand_till_auc",
    "one_vs_rest_auc",
]
