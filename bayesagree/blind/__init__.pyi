from .cases import BlindCase, blind_case, read_blind_case
from .experiment import blind_experiment
from .independence import independence_check, jaccard_overlap
from .scores import blind_posterior, blind_scores

__all__ = [
    "BlindCase",
    "blind_case",
    "blind_experiment",
    "blind_posterior",
    "blind_scores",
    "independence_check",
    "jaccard_overlap",
    "read_blind_case",
]
