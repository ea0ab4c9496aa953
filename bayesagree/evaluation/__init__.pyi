from .batches import evaluate_batches
from .comparison import compare, practical_equivalence
from .paired_tests import copeland_rank, paired_t_test
from .rank_correlation import correlation, swap_rate, williams_test
from .scoring import evaluate

__all__ = [
    "compare",
    "copeland_rank",
    "correlation",
    "evaluate",
    "evaluate_batches",
    "paired_t_test",
    "practical_equivalence",
    "swap_rate",
    "williams_test",
]
