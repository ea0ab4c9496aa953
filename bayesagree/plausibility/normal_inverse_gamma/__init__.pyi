from .model import normal_inverse_gamma_model
from .posterior import NormalInverseGamma, normal_inverse_gamma
from .prior import NormalInverseGammaPrior

__all__ = [
    "NormalInverseGamma",
    "NormalInverseGammaPrior",
    "normal_inverse_gamma",
    "normal_inverse_gamma_model",
]
