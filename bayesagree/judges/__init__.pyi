from .estimators import prediction_powered_mean
from .independence import effective_judges
from .prior import CorrectedRatePrior
from .tables import judge_table

__all__ = ["CorrectedRatePrior", "effective_judges", "judge_table", "prediction_powered_mean"]
