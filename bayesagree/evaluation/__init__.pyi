from .comparison import compare, practical_equivalence
from .gates import assert_better
from .paired_tests import copeland_rank, paired_t_test
from .rank_correlation import correlation, swap_rate, williams_test
from .rankings import certainty_correlation, model_ranks, ranking_study, saturated_items
from .scoring import evaluate

__all__ = [
    "assert_better",
    "certainty_correlation",
    "compare",
    "copeland_rank",
    "correlation",
    "evaluate",
    "model_ranks",
    "paired_t_test",
    "practical_equivalence",
    "ranking_study",
    "saturated_items",
    "swap_rate",
    "williams_test",
]
