"""CrowdTruth quality scores of items, annotators and labels, each weighted by the two others.

- `quality`: the scores, iterated.
- `_judgments`: what annotators marked, as sparse vectors.
- `_vectors`: their cosines, for the quality of items and annotators.
- `_kernels`: sums over the pairs of annotators that met, for the quality of labels.
- `resampling`: their Bayesian bootstrap, and a test for annotators who label at random.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
