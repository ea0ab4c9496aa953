from .model import informed_normal_model
from .posterior import InformedNormal, informed_normal

__all__ = ["InformedNormal", "informed_normal", "informed_normal_model"]
