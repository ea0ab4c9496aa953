"""Probabilistic inverse rank normalisation (PrIRN): a Dirichlet distribution around inverse ranks, exact draws.

- `posterior`: `prirn`, from partial rankings; `model`: the same posterior in PyMC.
- `inverse_ranks`: `irn`, the point estimate, and the shapes of the Dirichlet distributions.
- `predictive`: held-out annotators of rankings.
"""
