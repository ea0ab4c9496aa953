from .patterns import LabelPatterns, RankingPatterns, RatingPatterns

__all__ = [
    "LabelPatterns",
    "RankingPatterns",
    "RatingPatterns",
]
