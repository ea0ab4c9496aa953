"""The informed posterior of ratings: item means regressed on predicted numbers, with shrinkage.

- `posterior`: `informed_normal`, the ratings and predictions; `_problem`: exact draws of raters who are alike.
- `normal_inverse_gamma.levels`: raters with levels, the draws of items, the same posterior in PyMC.
"""
