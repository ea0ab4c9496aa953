from .inverse_ranks import irn
from .model import prirn_model
from .posterior import PrIRN, prirn

__all__ = [
    "PrIRN",
    "irn",
    "prirn",
    "prirn_model",
]
