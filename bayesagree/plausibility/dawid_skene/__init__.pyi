from .model import dawid_skene_model
from .posterior import dawid_skene
from .prior import CrowdPrior

__all__ = [
    "CrowdPrior",
    "dawid_skene",
    "dawid_skene_model",
]
