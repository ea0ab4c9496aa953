from .independence import independence_check
from .scores import blind_posterior

__all__ = ["blind_posterior", "independence_check"]
