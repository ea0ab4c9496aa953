from .comparison import compare, practical_equivalence
from .gates import assert_better
from .scoring import evaluate

__all__ = [
    "assert_better",
    "compare",
    "evaluate",
    "practical_equivalence",
]
