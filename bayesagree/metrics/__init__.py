"""Performance metrics: against draws of the truth, against gold labels, or without either.

- `registry`: a metric by its name; `_records` makes the record of each from the table `records.toml`, and one of a
  function.
- `posterior_scores`: any metric against every draw of the truth, or in its unbiased form (`_unbiased`);
  `_item_groups` says which items are scored or resampled together.
- `another_annotator`: the ceiling of a score, one more annotator.
- `identified`: the range of an accuracy that votes alone leave.
- `sklearn_scorer`: the same scores for `cross_val_score` and `GridSearchCV`.
- `_scorer`: what the truth of a draw is, and all families of metrics on blocks of draws; `_block_sums`: sums of a
  block, slice by slice.
- `_parts`, `_numbers`, `_whole_parts`: what each family of metrics sums, with `_confusion` and the compiled
  `_label_kernels` and `_distribution_kernels`.
- `uncertainty_adjusted`: top-k accuracy, set accuracy, overlap and kin, one value per draw.
- `top_k`: top-k accuracy without Monte-Carlo error, on the items of a risk level, and against the k best labels.
- `partial_rankings`: average overlap of partial rankings.
- `hard_labels`: accuracy, precision, recall and specificity of hard labels.
- `auc`: areas under the curve without gold.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
