from .estimators import prediction_powered_mean, rogan_gladen
from .independence import effective_judges
from .prior import CorrectedRatePrior
from .tables import judge_table, verdict_predictions, warnings_of

__all__ = [
    "CorrectedRatePrior",
    "effective_judges",
    "judge_table",
    "prediction_powered_mean",
    "rogan_gladen",
    "verdict_predictions",
    "warnings_of",
]
