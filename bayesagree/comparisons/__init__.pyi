from ._density import DavidsonPrior
from .model import davidson_model
from .posterior import davidson
from .tables import effect_table, preference_table

__all__ = ["DavidsonPrior", "davidson", "davidson_model", "effect_table", "preference_table"]
