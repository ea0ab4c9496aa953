from .model import informed_dirichlet_model
from .posterior import informed_dirichlet

__all__ = [
    "informed_dirichlet",
    "informed_dirichlet_model",
]
