"""Probabilistic inverse rank normalisation (PrIRN): a Dirichlet distribution around inverse ranks, exact draws.

- `posterior`: `prirn`, from partial rankings; `model`: the same posterior in PyMC.
- `inverse_ranks`: `irn`, the point estimate, and the shapes of the Dirichlet distributions.
- `predictive`: held-out annotators of rankings.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
