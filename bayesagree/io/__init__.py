"""Readers and writers of files: annotations, predictions, results.

- `exports`: files of annotation and evaluation tools, with all that they hold; `formats` has a reader for each.
- `doors`: whatever a public function takes as annotations or predictions, as a container.
- `files`: results as netCDF, out and in; files written whole or not at all; `predictions`: predictions of models in,
  from tables of any layout and exports.
- `outputs`: results as tables, and lists of items for labelling tools.
- `tables`: CSV, TSV, Parquet and JSON Lines as plain tables, with the place of every error; `_json`: files as bytes,
  lines and JSON.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
