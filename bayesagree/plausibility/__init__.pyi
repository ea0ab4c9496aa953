from . import dawid_skene, dirichlet, informed, normal_inverse_gamma, plackett_luce
from .dawid_skene import DawidSkenePrior, dawid_skene_batches
from .dirichlet import irn
from .informed import InformedPrior, informed_prior_mean
from .normal_inverse_gamma import NormalInverseGammaPrior
from .plackett_luce import plackett_luce_log_likelihood, plackett_luce_ml
from .registry import POSTERIORS, PosteriorRecord, fitting_posteriors, posterior_for
from .votes import majority_vote

__all__ = [
    "POSTERIORS",
    "DawidSkenePrior",
    "InformedPrior",
    "NormalInverseGammaPrior",
    "PosteriorRecord",
    "dawid_skene",
    "dawid_skene_batches",
    "dirichlet",
    "fitting_posteriors",
    "informed",
    "informed_prior_mean",
    "irn",
    "majority_vote",
    "normal_inverse_gamma",
    "plackett_luce",
    "plackett_luce_log_likelihood",
    "plackett_luce_ml",
    "posterior_for",
]
