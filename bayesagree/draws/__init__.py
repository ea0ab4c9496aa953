"""Draws of plausibilities: their blocks, their best labels, their convergence.

- `pseudo_label`: the mass of labels that nobody named, spread over them again.
- `posterior`: what a specification of a posterior offers, and one route for the draws of independent items.
- `rating_posterior`: the same for ratings, whose truth is a number.
- `trace`: a posterior whose draws exist.
- `blocks`: draws of a block of items.
- `top_labels`: the best labels of each draw, kept instead of all plausibilities.
- `item_weights`: groups of items, to report or to resample, and weights of a Bayesian bootstrap of them.
- `group_scores`: scores against the truth of each group of annotators.
- `convergence`: rank-normalised split R-hat and bulk ESS.
"""
