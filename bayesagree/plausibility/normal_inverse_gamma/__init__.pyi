from .posterior import NormalInverseGammaPrior, normal_inverse_gamma, normal_inverse_gamma_model

__all__ = [
    "NormalInverseGammaPrior",
    "normal_inverse_gamma",
    "normal_inverse_gamma_model",
]
