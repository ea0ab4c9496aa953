"""The Plackett-Luce posterior of partial rankings with ties.

- `posterior`: `plackett_luce`; `_sampler`: its problem, and the Gibbs sampler of a block of items.
- `model`: the same posterior in PyMC, from `partial_ranking`, a distribution.
- `likelihood`: log likelihood.
- `predictive`: rankings of the same annotators again; `_held_out`: rankings left out.
- `_cases`: rankings as flat integer arrays; `_stages`: who was at risk when, for the sampler.
- `_gibbs_kernels`: the Gibbs sweep; `_tied_blocks`: arrival times of ties.
- `_ranking_kernels`: the probability of a tied block.
"""
