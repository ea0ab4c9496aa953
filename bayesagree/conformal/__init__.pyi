from .coverage import certainty_groups, cross_sets, set_coverage, widest_sets
from .sets import ConformalSets, read_sets

__all__ = ["ConformalSets", "certainty_groups", "cross_sets", "read_sets", "set_coverage", "widest_sets"]
