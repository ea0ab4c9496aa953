"""Comparisons: which of two models wins, by people who differ.

- `posterior`: `davidson`, strengths with ties, order and annotators; `_cells` counts comparisons, `_density` is the
  posterior's density, and which effects it has; `prior` is its prior.
- `tables`: `preference_table`, a leaderboard with rank sets; `effect_table`, ties, places and annotators.
- `model`: the same posterior in PyMC.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
