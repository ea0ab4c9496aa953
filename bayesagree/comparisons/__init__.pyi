from .prior import DavidsonPrior
from .tables import effect_table, preference_table

__all__ = ["DavidsonPrior", "effect_table", "preference_table"]
