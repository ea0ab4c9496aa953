from ._density import DavidsonPrior
from .model import davidson_model
from .posterior import davidson

__all__ = ["DavidsonPrior", "davidson", "davidson_model"]
