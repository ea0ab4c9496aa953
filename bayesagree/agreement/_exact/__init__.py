"""The exact engine of Phi: adaptive quadrature over the precision, item means integrated out.

- `problem`: ratings and options, checked and collapsed.
- `patterns`: distinct patterns of ratings and their numbers.
- `compression`: continuous ratings as a few weighted ones.
- `likelihood`: log likelihood of each pattern over nodes of the item mean.
- `item_means`: flat and known item means, integrated out.
- `hyper_grid`: hierarchical item means, and the grid that follows the posterior of their prior.
- `prior_masses`: the compiled sums over item means that it makes.
- `posterior`: the marginal posterior of Phi, and the estimate of Checco et al.
- `outright_ends`: the same with outright answers at the ends of the scale, their shares integrated out, and both
  readings averaged.
- `outright_density`: the log density that it integrates; `surrogate`: a Gaussian process through it.
- `draws`: draws of item means and of their prior given the precision.
"""
