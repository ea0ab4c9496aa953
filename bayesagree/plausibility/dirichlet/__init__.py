"""Dirichlet posteriors of plausibilities: closed forms, exact draws.

- `posterior`: `dirichlet`, from single labels.
- `inverse_rank_normalization`: `irn` and `prirn`, from partial rankings.
- `predictive`: labels of the same annotators again; held-out annotators of labels and of rankings.
- `_draws`, `_kernels`: draws of all plausibilities or of the best labels only.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
