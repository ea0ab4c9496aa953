"""How draws are made, kept and judged: streams, blocks, engines, results, diagnostics, numerical functions.

- `streams`: one random stream per block of items, whatever the number of threads or of Dask workers.
- `blocks`: draws of a block of items; `top_labels`: the best labels of each draw, kept instead of all plausibilities.
- `posterior`: what a specification of a posterior offers, and one route for the draws of independent items.
- `rating_posterior`: the same for ratings, whose truth is a number; `trace`: a posterior whose draws exist.
- `pseudo_label`: the mass of labels that nobody named, spread over them again; `best_of_unnamed`: the best of them.
- `group_scores`: functions of one truth, for the truth of each group of annotators.
- `results`: every posterior as an `xarray.DataTree`; `convergence`: rank-normalised split R-hat and bulk ESS.
- `nuts`, `open_model`, `kernel_ops`, `random_draws`, `predictive`: PyMC models, opened, sampled and replicated.
- `slices`, `hamiltonian`: chains of parameters.
- `kernel_draws`, `dirichlet_argmax`, `cells`: numerical functions.
- `intervals`, `multisets`: highest density intervals, words that sums know multisets by.
- `tiers`: places and tiers that hold for all models together.
"""
