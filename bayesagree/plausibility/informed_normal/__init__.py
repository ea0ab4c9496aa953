"""The informed posterior of ratings: item means regressed on predicted numbers, with shrinkage.

- `posterior`: `informed_normal`, the draws; `prior`: its prior; `_problem`: the ratings and predictions.
- `model`: the same posterior in PyMC.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
