"""The Plackett-Luce posterior of partial rankings with ties.

- `posterior`: `plackett_luce`; `_sampler`: rankings as arrays and the draws of a block of items;
  `_gibbs`: the compiled sweep.
- `likelihood`: probabilities of rankings.
- `model`: the same posterior in PyMC, from `partial_ranking`, a distribution.
"""
