from .model import dirichlet_model
from .posterior import Dirichlet, dirichlet

__all__ = [
    "Dirichlet",
    "dirichlet",
    "dirichlet_model",
]
