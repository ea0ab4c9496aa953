from . import simulate
from ._catalogue import Dataset, available, load

__all__ = ["Dataset", "available", "load", "simulate"]
