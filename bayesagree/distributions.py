"""PyMC distributions and step methods of this package, for models of your own."""

from bayesagree.agreement._binned_beta import BinnedBeta
from bayesagree.plausibility.plackett_luce.gibbs_step import PlackettLuceGibbs
from bayesagree.plausibility.plackett_luce.partial_ranking import PartialRanking

__all__ = ["BinnedBeta", "PartialRanking", "PlackettLuceGibbs"]
