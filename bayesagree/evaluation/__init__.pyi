from .comparison import compare, practical_equivalence
from .gates import assert_better
from .paired_tests import copeland_rank, paired_t_test
from .rank_correlation import correlation, swap_rate, williams_test
from .scoring import evaluate

__all__ = [
    "assert_better",
    "compare",
    "copeland_rank",
    "correlation",
    "evaluate",
    "paired_t_test",
    "practical_equivalence",
    "swap_rate",
    "williams_test",
]
