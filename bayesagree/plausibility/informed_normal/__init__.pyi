from .model import informed_normal_model
from .posterior import InformedNormal, informed_normal
from .prior import InformedNormalPrior

__all__ = ["InformedNormal", "InformedNormalPrior", "informed_normal", "informed_normal_model"]
