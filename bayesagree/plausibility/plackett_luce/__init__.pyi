from .gibbs_step import PlackettLuceGibbs
from .likelihood import plackett_luce_log_likelihood, plackett_luce_ml
from .model import plackett_luce_model
from .partial_ranking import PartialRanking
from .posterior import PlackettLuce, plackett_luce

__all__ = [
    "PartialRanking",
    "PlackettLuce",
    "PlackettLuceGibbs",
    "plackett_luce",
    "plackett_luce_log_likelihood",
    "plackett_luce_ml",
    "plackett_luce_model",
]
