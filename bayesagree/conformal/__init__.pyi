from ._groups import certainty_groups
from .calibration import conformalize
from .coverage import cross_sets, set_coverage, widest_sets
from .exchangeability import exchangeability_check
from .mass import conformalize_mass
from .p_values import combine_p_values, ecdf_p_values, effective_tests
from .regions import PlausibilityRegions, plausibility_regions
from .scores import aps, margin, probability, raps
from .sets import ConformalSets, read_sets

__all__ = [
    "ConformalSets",
    "PlausibilityRegions",
    "aps",
    "certainty_groups",
    "combine_p_values",
    "conformalize",
    "conformalize_mass",
    "cross_sets",
    "ecdf_p_values",
    "effective_tests",
    "exchangeability_check",
    "margin",
    "plausibility_regions",
    "probability",
    "raps",
    "read_sets",
    "set_coverage",
    "widest_sets",
]
