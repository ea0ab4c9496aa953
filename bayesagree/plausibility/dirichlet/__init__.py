"""The Dirichlet posterior of plausibilities from single labels: closed form, exact draws.

- `posterior`: `dirichlet`, and its specification; `model`: the same posterior in PyMC.
- `predictive`: labels of the same annotators again, and held-out annotators.
- `_draws`: draws of all plausibilities or of the best labels only, also for `prirn`.
"""
