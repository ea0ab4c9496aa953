"""Performance metrics: against draws of the truth, against gold labels, or without either.

- `records`: the list of all metrics, and functions of the user's as metrics; `registry`: a metric by its name.
- `posterior_scores`: any metric against every draw of the truth, or in its unbiased form.
- `sklearn_scorer`: the same scores for `cross_val_score` and `GridSearchCV`.
- `_scorer`: what the truth of a draw is, and all families of metrics on blocks of draws.
- `_parts`, `_whole_parts`: what each family of metrics sums, with the compiled `_label_kernels` and
  the terms of `distributions`.
- `another_annotator`: the ceiling of a score, one more annotator; sums of a block of draws with that line.
- `votes_alone`: unbiased forms of metrics for few votes.
- `uncertainty_adjusted`: top-k accuracy, one value per draw; without Monte-Carlo error, on the items of a risk level,
  and against the k best labels.
- `partial_rankings`: average overlap of partial rankings.
- `hard_labels`: accuracy, precision, recall and all other scores of confusion counts.
- `crowd_auc`: area under the ROC curve when only crowd labels exist (Urkullu et al.); `posterior_auc` has its
  posterior, and `concordant_pairs` counts the pairs that scores put in the right order.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
