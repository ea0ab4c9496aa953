from .batches import LabelBatches
from .patterns import LabelPatterns, RankingPatterns, RatingPatterns

__all__ = [
    "LabelBatches",
    "LabelPatterns",
    "RankingPatterns",
    "RatingPatterns",
]
