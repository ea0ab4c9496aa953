"""The exact engine of Phi: adaptive quadrature over the precision, item means integrated out.

- `problem`: ratings and options, checked and collapsed.
- `patterns`: distinct items and their counts.
- `compression`: continuous ratings as a few weighted ones.
- `likelihood`: log likelihood of each pattern over nodes of the item mean.
- `item_means`: flat, known and hierarchical item means, integrated out.
- `posterior`: the marginal posterior of Phi.
- `draws`: draws of item means and of their prior given the precision.
- `maximum_likelihood`: the estimate of Checco et al.
"""
