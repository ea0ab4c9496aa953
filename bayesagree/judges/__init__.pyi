from ._regression import CorrectedRatePrior
from .allocation import label_allocation
from .annotator_test import alternative_annotator_test
from .estimators import (
    Allocation,
    RateEstimate,
    calibration_allocation,
    prediction_powered_mean,
    rogan_gladen,
    saving_bound,
)
from .independence import effective_judges, n_effective
from .model import corrected_rate_model
from .panels import best_panel
from .rate import corrected_rate
from .tables import judge_table, system_pairs, verdict_predictions, warnings_of

__all__ = [
    "Allocation",
    "CorrectedRatePrior",
    "RateEstimate",
    "alternative_annotator_test",
    "best_panel",
    "calibration_allocation",
    "corrected_rate",
    "corrected_rate_model",
    "effective_judges",
    "judge_table",
    "label_allocation",
    "n_effective",
    "prediction_powered_mean",
    "rogan_gladen",
    "saving_bound",
    "system_pairs",
    "verdict_predictions",
    "warnings_of",
]
