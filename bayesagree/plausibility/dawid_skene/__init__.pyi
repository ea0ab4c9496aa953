from ._ordered_model import ordered_model
from .model import dawid_skene_model
from .posterior import DawidSkene, dawid_skene
from .prior import DawidSkenePrior

__all__ = [
    "DawidSkene",
    "DawidSkenePrior",
    "dawid_skene",
    "dawid_skene_model",
    "ordered_model",
]
