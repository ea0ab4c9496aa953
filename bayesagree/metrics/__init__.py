"""Performance metrics: against draws of the truth, against gold labels, or without either.

- `registry`: one record per metric, from `_rank_records`, `_label_records` and `_distribution_records`; `_record` is
  their class, `_user_metric` makes one of a function.
- `posterior_scores`: any metric against every draw of the truth, or in its unbiased form (`_unbiased`); `_truths` says
  what the truth of a draw is, `_item_groups` which items are scored or resampled together.
- `further_annotators`: the ceiling of a score, one more annotator; `_further_annotator` sums it block by block.
- `identified`: the range of an accuracy that votes alone leave.
- `sklearn_scorer`: the same scores for `cross_val_score` and `GridSearchCV`.
- `_block_sums`: sums of a block of draws, slice by slice; `_scorer` runs all families of metrics on it.
- `_parts`, `_whole_parts`: what each family of metrics sums, with `_confusion` and the compiled `_rank_kernels`,
  `_label_kernels`, `_curve_kernels` and `_distribution_kernels`.
- `uncertainty_adjusted`: top-k accuracy, set accuracy, overlap and kin, one value per draw; `_scorer` runs them.
- `top_k`: top-k accuracy without Monte-Carlo error, and on the items of a risk level.
- `top_sets`: the k best labels of a draw beside the m best of a model.
- `partial_rankings`: average overlap of partial rankings.
- `hard_labels`: accuracy, precision, recall and specificity of hard labels.
- `auc`: areas under the curve without gold.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
