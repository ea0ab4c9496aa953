from .batches import LabelBatches
from .patterns import LabelPatterns, RatingPatterns

__all__ = ["LabelBatches", "LabelPatterns", "RatingPatterns"]
