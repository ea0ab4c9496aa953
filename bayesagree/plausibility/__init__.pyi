from . import dawid_skene, dirichlet, informed, normal_inverse_gamma, plackett_luce
from .calibration import calibrate, calibration_scores, gold_items_needed, label_probability, pool_with_votes
from .dawid_skene import DawidSkenePrior, dawid_skene_batches
from .dirichlet import irn
from .informed import InformedPrior, informed_prior_mean
from .normal_inverse_gamma import NormalInverseGammaPrior
from .plackett_luce import plackett_luce_log_likelihood, plackett_luce_ml
from .plackett_luce.gibbs_step import PlackettLuceGibbs
from .plackett_luce.partial_ranking import PartialRanking
from .registry import POSTERIORS, PosteriorRecord, fitting_posteriors, posterior_for
from .votes import majority_vote

__all__ = [
    "DawidSkenePrior",
    "InformedPrior",
    "NormalInverseGammaPrior",
    "POSTERIORS",
    "PartialRanking",
    "PlackettLuceGibbs",
    "PosteriorRecord",
    "calibrate",
    "calibration_scores",
    "dawid_skene",
    "dawid_skene_batches",
    "dirichlet",
    "fitting_posteriors",
    "gold_items_needed",
    "informed",
    "informed_prior_mean",
    "irn",
    "label_probability",
    "majority_vote",
    "normal_inverse_gamma",
    "plackett_luce",
    "plackett_luce_log_likelihood",
    "plackett_luce_ml",
    "pool_with_votes",
    "posterior_for",
]
