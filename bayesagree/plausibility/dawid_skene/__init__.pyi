from .model import dawid_skene_model
from .posterior import dawid_skene
from .prior import DawidSkenePrior

__all__ = [
    "DawidSkenePrior",
    "dawid_skene",
    "dawid_skene_model",
]
