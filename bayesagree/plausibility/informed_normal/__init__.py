"""The informed posterior of ratings: item means regressed on predicted numbers, with shrinkage.

- `posterior`: `informed_normal`, the draws; `_problem`: what ratings and predictions say of the parameters.
- `model`: the same posterior in PyMC.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
