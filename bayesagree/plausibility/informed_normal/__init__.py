"""The informed posterior of ratings: item means regressed on predicted numbers, with shrinkage.

- `posterior`: `informed_normal`, the draws; `_problem`: the ratings and predictions.
- `model`: the same posterior in PyMC.
"""
