"""The truth of each group of annotators: votes pooled as far as the groups agree.

- `posterior`: `group_dirichlet`, and its specification; `model`: the same posterior in PyMC.
- `prior`: hyperparameters.
- `_problem`: the votes of each group; `_gibbs`, `_kernels`, `_source_kernels`: the sampler.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
