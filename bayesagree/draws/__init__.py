"""Draws of plausibilities: their blocks, their best labels, their convergence.

- `pseudo_label`: the mass of labels that nobody named, spread over them again.
- `unnamed_labels`: the kernels that spread it.
- `run`: one route for the draws of every posterior of independent items.
- `blocks`: draws of a block of items.
- `top_labels`: the best labels of each draw, kept instead of all plausibilities.
- `convergence`: rank-normalised split R-hat and bulk ESS.
"""
