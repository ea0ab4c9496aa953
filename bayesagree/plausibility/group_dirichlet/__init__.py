"""The truth of each group of annotators: votes pooled as far as the groups agree.

- `posterior`: `group_dirichlet`, and its specification; `model`: the same posterior in PyMC.
- `_sampler`: the votes of each group, the prior, and the Gibbs sampler.
"""
