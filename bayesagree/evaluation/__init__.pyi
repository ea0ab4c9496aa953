from .comparison import compare, practical_equivalence
from .gates import assert_better
from .humans import human_baseline
from .scoring import evaluate

__all__ = [
    "assert_better",
    "compare",
    "evaluate",
    "human_baseline",
    "practical_equivalence",
]
