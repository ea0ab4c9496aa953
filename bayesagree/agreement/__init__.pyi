from .annotator_effects import annotator_levels
from .bland_altman import limits_of_agreement
from .checks import item_fit
from .intraclass import icc
from .leave_one_out import annotator_agreement
from .phi import common_agreement_model
from .spans import span_f1
from .summary import phi_summary

__all__ = [
    "common_agreement_model",
    "annotator_agreement",
    "annotator_levels",
    "icc",
    "item_fit",
    "limits_of_agreement",
    "phi_summary",
    "span_f1",
]
