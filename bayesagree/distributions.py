"""PyMC distributions and step methods of this package, for models of your own."""

from bayesagree._binned_beta import BinnedBeta
from bayesagree._gibbs_step import PlackettLuceGibbs
from bayesagree._ranking_distribution import PartialRanking

__all__ = ["BinnedBeta", "PartialRanking", "PlackettLuceGibbs"]
