"""Seeded generators of annotations and predictions with known truth, shared by tests, docs and studies.

- `_test_sets`: a test set with models.
- `_annotations`: labels of annotators with confusion matrices, ratings with a known common agreement, partial rankings
  from Plackett-Luce.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
