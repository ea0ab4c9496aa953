"""Data larger than memory: distinct items and their counts, or batches of whole items.

- `batches`: `LabelBatches`.
- `patterns`: `LabelPatterns` and `RatingPatterns`.
- `_coded_rows`: rows of a table as integer codes.
- `_sorted_file`: blocks of whole items from a sorted file.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
