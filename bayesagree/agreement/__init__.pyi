from ._pymc_likelihoods import BinnedBeta
from .annotator_effects import annotator_levels
from .bland_altman import limits_of_agreement
from .checks import item_fit, item_mean_check, phi_clusters
from .coefficients import agreement_table, krippendorff_alpha
from .differences import agreement_difference
from .intraclass import icc, icc_model
from .leave_one_out import annotator_agreement
from .phi import common_agreement, common_agreement_model
from .prior import AgreementPrior
from .spans import span_f1
from .summary import phi_difference, phi_summary

__all__ = [
    "AgreementPrior",
    "BinnedBeta",
    "agreement_difference",
    "agreement_table",
    "annotator_agreement",
    "annotator_levels",
    "common_agreement",
    "common_agreement_model",
    "icc",
    "icc_model",
    "item_fit",
    "item_mean_check",
    "krippendorff_alpha",
    "limits_of_agreement",
    "phi_clusters",
    "phi_difference",
    "phi_summary",
    "span_f1",
]
