from . import dawid_skene, dirichlet, informed, normal_inverse_gamma, plackett_luce
from .registry import POSTERIORS, PosteriorRecord, fitting_posteriors, posterior_for
from .votes import majority_vote

__all__ = [
    "POSTERIORS",
    "PosteriorRecord",
    "dawid_skene",
    "dirichlet",
    "fitting_posteriors",
    "informed",
    "majority_vote",
    "normal_inverse_gamma",
    "plackett_luce",
    "posterior_for",
]
