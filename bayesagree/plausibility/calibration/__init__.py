"""Recalibration of label probabilities against a small gold set.

- `recalibration`: calibrated posteriors, proper scores, the number of gold items needed.
- `_vector_scaling`: the posterior of vector scaling.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
