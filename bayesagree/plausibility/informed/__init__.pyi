from .model import informed_dirichlet_model
from .posterior import InformedDirichlet, informed_dirichlet
from .prior import InformedPrior

__all__ = [
    "InformedDirichlet",
    "InformedPrior",
    "informed_dirichlet",
    "informed_dirichlet_model",
]
