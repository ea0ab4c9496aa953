"""The informed Dirichlet posterior: what the truth of items looks like is learnt from votes and predictions together.

- `posterior`: `informed_dirichlet`, the draws; `frame`: parameters that all items share, of labels and of rankings;
  `_problem`: votes, and what is learnt from them.
- `annotators`: whose votes are about the items.
- `covariates`: what the predictions say of an item.
- `family`: the three kinds of items, the likelihood of their votes and their draws.
- `ordered`: the form for labels that stand in an order, with few parameters.
- `prior`: names, order and priors of the parameters.
- `gold`: the true label of items, learnt from items whose label is known.
- `model`: the same posterior in PyMC, in the `frame` of all informed models.
"""
