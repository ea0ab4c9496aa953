from .independence import independence_check
from .overlap import jaccard_overlap
from .scores import blind_posterior, blind_scores

__all__ = [
    "blind_posterior",
    "blind_scores",
    "independence_check",
    "jaccard_overlap",
]
