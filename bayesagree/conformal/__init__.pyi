from .coverage import cross_sets, set_coverage
from .sets import ConformalSets

__all__ = ["ConformalSets", "cross_sets", "set_coverage"]
