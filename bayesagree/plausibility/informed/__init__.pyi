from .cross_fit import informed_prior_mean
from .model import informed_dirichlet_model
from .parameters import InformedPrior
from .posterior import informed_dirichlet

__all__ = [
    "InformedPrior",
    "informed_dirichlet",
    "informed_dirichlet_model",
    "informed_prior_mean",
]
