"""Data larger than memory: distinct items and their counts, or batches of whole items.

- `patterns`: `LabelPatterns`, `RatingPatterns` and `LabelBatches`.
- `_sorted_file`: blocks of whole items from a sorted file, and their rows as integer codes.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
