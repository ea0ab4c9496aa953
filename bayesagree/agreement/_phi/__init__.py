"""The engine of Phi: quadrature over item means, and adaptive importance sampling over the other parameters.

- `problem`: ratings and options, checked and collapsed.
- `likelihood`: log likelihood of each pattern of ratings over nodes of the item mean; continuous ratings as a few.
- `item_means`: priors of the item means, integrated out; draws of the means.
- `posterior`: mode, Student t, adaptive importance sampling; both readings of answers at the ends averaged.
"""
