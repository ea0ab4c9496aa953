"""Making and keeping draws: random streams, results, NUTS; no statistics.

- `streams`: one random stream per block of items, whatever the number of threads or of Dask workers.
- `results`: every posterior as an `xarray.DataTree`.
- `nuts`: PyMC models, sampled into the form of the fast engines.
- `open_model`: annotations as data of PyMC models, and parts of a user's own.
- `kernel_ops`: what compiled kernels compute, as operations of PyMC models.
- `random_draws`: random draws of distributions that PyMC lacks.
- `predictive`: replicated annotations by PyMC; the record of a model's functions for predictive checks.
"""
