"""The informed posterior of rankings: the score against many readers, from few rankings and the predictions of models.

- `posterior`: `informed_plackett_luce`; `_problem`: what models say of items, and the parameters that all items share.
- `model`: the same posterior in PyMC.
"""
