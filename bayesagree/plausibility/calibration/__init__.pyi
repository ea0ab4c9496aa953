from .recalibration import calibrate, calibration_scores, gold_items_needed, label_probability, pool_with_votes

__all__ = [
    "calibrate",
    "calibration_scores",
    "gold_items_needed",
    "label_probability",
    "pool_with_votes",
]
