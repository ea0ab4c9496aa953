from . import (
    certainty,
    dawid_skene,
    dirichlet,
    group_dirichlet,
    informed,
    informed_normal,
    normal_inverse_gamma,
    plackett_luce,
    prirn,
)
from .calibration import calibrate, calibration_scores, gold_items_needed, label_probability, pool_with_votes
from .dawid_skene import DawidSkene, DawidSkenePrior, ordered_model
from .dirichlet import Dirichlet
from .group_dirichlet import GroupDirichlet, GroupDirichletPrior
from .informed import InformedDirichlet, InformedPrior
from .informed_normal import InformedNormal, InformedNormalPrior
from .normal_inverse_gamma import NormalInverseGamma, NormalInverseGammaPrior
from .plackett_luce import PlackettLuce, plackett_luce_log_likelihood, plackett_luce_ml
from .plackett_luce.gibbs_step import PlackettLuceGibbs
from .plackett_luce.partial_ranking import PartialRanking
from .prirn import PrIRN, irn
from .registry import POSTERIORS, PosteriorRecord, fitting_posteriors, posterior_for
from .votes import majority_vote

__all__ = [
    "DawidSkene",
    "DawidSkenePrior",
    "Dirichlet",
    "GroupDirichlet",
    "GroupDirichletPrior",
    "InformedDirichlet",
    "InformedNormal",
    "InformedNormalPrior",
    "InformedPrior",
    "NormalInverseGamma",
    "NormalInverseGammaPrior",
    "POSTERIORS",
    "PartialRanking",
    "PlackettLuce",
    "PlackettLuceGibbs",
    "PosteriorRecord",
    "PrIRN",
    "calibrate",
    "calibration_scores",
    "certainty",
    "dawid_skene",
    "dirichlet",
    "fitting_posteriors",
    "gold_items_needed",
    "group_dirichlet",
    "informed",
    "informed_normal",
    "irn",
    "label_probability",
    "majority_vote",
    "normal_inverse_gamma",
    "ordered_model",
    "plackett_luce",
    "plackett_luce_log_likelihood",
    "plackett_luce_ml",
    "pool_with_votes",
    "posterior_for",
    "prirn",
]
