"""The truth of each group of annotators: votes pooled as far as the groups agree.

- `posterior`: `group_dirichlet`, and its specification; `model`: the same posterior in PyMC.
- `prior`: its prior; `_sampler`: the votes of each group, and the Gibbs sampler.
"""
