"""PyMC distributions and step methods of this package, for models of your own."""

from bayesagree._gibbs_step import PlackettLuceGibbs
from bayesagree._ranking_distribution import PartialRanking

__all__ = ["PartialRanking", "PlackettLuceGibbs"]
