from .inverse_rank_normalization import irn, prirn, prirn_model
from .posterior import dirichlet, dirichlet_model

__all__ = [
    "dirichlet",
    "dirichlet_model",
    "irn",
    "prirn",
    "prirn_model",
]
