from .gibbs_step import PlackettLuceGibbs
from .likelihood import plackett_luce_log_likelihood, plackett_luce_ml
from .partial_ranking import PartialRanking
from .posterior import plackett_luce, plackett_luce_model

__all__ = [
    "PartialRanking",
    "PlackettLuceGibbs",
    "plackett_luce",
    "plackett_luce_log_likelihood",
    "plackett_luce_ml",
    "plackett_luce_model",
]
