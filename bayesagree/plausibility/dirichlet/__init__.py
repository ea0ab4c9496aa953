"""The Dirichlet posterior of plausibilities from single labels: closed form, exact draws.

- `posterior`: `dirichlet`, and its specification; `model`: the same posterior in PyMC.
- `predictive`: labels of the same annotators again, and held-out annotators.
- `_draws`, `_kernels`: draws of all plausibilities or of the best labels only, also for `prirn`.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
