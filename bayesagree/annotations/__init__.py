"""Containers of annotations: `Labels`, `Ratings` and `Rankings`, and features of the `Annotators`.

All are frozen and long inside: one row is one annotation, so that ten million annotations by a hundred thousand
annotators fit. They are checked once, on construction; everything after that can rely on them. Rows are sorted by
item, then annotator, so that the order of the input never changes a result.

=========  ==========================================  ===============================================
kind       one annotation is                           notation of the papers
=========  ==========================================  ===============================================
Labels     one label of a closed list                  n_ik, the number of annotators of i who chose k
Ratings    one number on a bounded scale               x_ij in [low, high]
Rankings   blocks of labels, best first, ties inside   B_1 > B_2 > ...
=========  ==========================================  ===============================================

- `labels`, `ratings`, `rankings`: the three containers, and `Annotations`, any of them.
- `spans`: marked parts of texts as labels; `sets`: several labels of one person for an item.
- `comparisons`: `Comparisons`, which of two models wins.
- `predictions`: `Predictions`, the output of models on the same items; `_model_outputs`: the reading of one model;
  `missing_predictions`: items that a model predicts nothing for.
- `runs`: which rows of predictions are runs of one model.
- `annotators`: features of annotators, one row each; `groups`: annotators grouped by them.
- `gold`: codes of known true labels, and the group of each item.
- `_container`: the properties that all three share: `kind`, `level`, `has_repeats`, `select`; tables of them.
- `_display`: short displays, in text and in notebooks.
- `_words`: words that stand for no answer, and spellings of one label.
- `_columns`: the reading and checking of tables and matrices.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
