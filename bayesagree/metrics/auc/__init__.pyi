from .concordant_pairs import concordance
from .estimates import auc
from .posterior import auc_posterior

__all__ = [
    "auc",
    "auc_posterior",
    "concordance",
]
