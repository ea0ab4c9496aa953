from .comparison import practical_equivalence
from .humans import human_baseline

__all__ = ["human_baseline", "practical_equivalence"]
