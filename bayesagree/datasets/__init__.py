"""Public data sets by name: annotations, predictions and gold where they exist, licence and origin.

Files are looked for in the folder that the environment variable BAYESAGREE_DATA names, laid out as ``available()``
and the errors say, and else downloaded once (extra ``data``) from pinned commits, checked by SHA-256. No set is part
of this package: each keeps its own licence, several forbid commercial use or state none.

- `_catalogue`: `available`, `load` and the class of what is loaded; `sets.csv` is the table of data sets, and
  `_readers` has the functions that read them.
- `_files`: finding, checking and parsing files; `sources.csv` has origin, licence and citation.
- `simulate`: seeded generators of annotations and predictions with a known truth, `bayesagree.simulate`.

The paper's dermatology models (`dermatology_predictions0.txt` to `3.txt`, of the folder `data` of
google-deepmind/uncertain_ground_truth) are read where they lie in the folder ``derm-ddx``.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
