from .patterns import LabelBatches, LabelPatterns, RatingPatterns

__all__ = ["LabelBatches", "LabelPatterns", "RatingPatterns"]
