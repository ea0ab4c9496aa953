from .comparison import practical_equivalence

__all__ = ["practical_equivalence"]
