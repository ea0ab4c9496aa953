"""Blind evaluation: scores of classifiers without expert labels (Jung and Lease).

- `scores`: scores against pseudo-gold, and their posterior.
- `pseudo_gold`: label sets that stand in for the missing gold, from the systems alone.
- `combiners`: pseudo-gold that crowd labels supervise.
- `independence`: a check of the assumption that systems err independently.
- `_difficulty`: truths behind systems that err on the same items.
- `systems`: labels of systems and crowd as codes.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
