"""The normal-inverse-gamma posterior of ratings: closed form, exact draws.

- `posterior`: `normal_inverse_gamma`; `prior`: its prior; `model`: the same posterior in PyMC.
- `levels`: the same with levels and scatters of annotators, by Gibbs sampling.
"""
