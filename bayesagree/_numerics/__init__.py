"""Numerical kernels: numbers in, numbers out, by NumPy, SciPy and numba alone.

- `beta`: incomplete beta function, both tails and derivatives.
- `elementary`: exponential and logarithm of several numbers at once.
- `gamma`: gamma and log-gamma draws, rising factorials.
- `draws`: categorical, Dirichlet and slice-sampler draws, sorted insertion.
- `dirichlet_argmax`: probabilities of the largest entry of a Dirichlet vector.
- `hamiltonian`: chains of Hamiltonian Monte Carlo.
- `intervals`: highest density intervals.
- `ranks`: places of models.
- `multisets`: items with equal annotations, distinct codes.
- `vectors`: copies in compiled code.
- `types`: names of array types.
"""
