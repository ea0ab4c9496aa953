from .em_batches import dawid_skene_batches, label_probability
from .model import dawid_skene_model
from .posterior import dawid_skene
from .prior import DawidSkenePrior

__all__ = [
    "DawidSkenePrior",
    "dawid_skene",
    "dawid_skene_batches",
    "dawid_skene_model",
    "label_probability",
]
