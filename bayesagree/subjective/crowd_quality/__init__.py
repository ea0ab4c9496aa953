"""CrowdTruth quality scores of items, annotators and labels, each weighted by the two others.

- `quality`: the scores, iterated.
- `_judgments`: what annotators marked, as sparse vectors.
- `_kernels`: sums over vectors, for items and annotators, and over pairs of annotators, for labels.
- `resampling`: their Bayesian bootstrap, and a test for annotators who label at random.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
