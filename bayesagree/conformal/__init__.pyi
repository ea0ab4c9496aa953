from ._weighted import certainty_groups
from .calibration import conformalize
from .coverage import cross_sets, set_coverage, widest_sets
from .exchangeability import exchangeability_check
from .mass import conformalize_mass
from .regions import PlausibilityRegions, plausibility_regions
from .scores import aps, margin, probability, raps
from .sets import ConformalSets, read_sets

__all__ = [
    "ConformalSets",
    "PlausibilityRegions",
    "aps",
    "certainty_groups",
    "conformalize",
    "conformalize_mass",
    "cross_sets",
    "exchangeability_check",
    "margin",
    "plausibility_regions",
    "probability",
    "raps",
    "read_sets",
    "set_coverage",
    "widest_sets",
]
