"""Performance metrics: against draws of the truth, against gold labels, or without either.

- `records`: the list of all metrics, each of one of three kinds with its function, and functions of the user's as
  metrics; `registry`: a metric by its name.
- `values`, `hard_labels`, `curves`: the functions: what an item counts in a draw, scores of counts, scores of all items
  at once.
- `concordant_pairs`: pairs that scores put in the right order, which every area under a curve counts; `_walk` is its
  compiled loop.
- `_scorer`: all metrics of some models, and another annotator, on blocks of draws; sums over all blocks, by slice;
  `item_weights`: slices and weights of items; `_checks`: what metrics ask of predictions.
- `posterior_scores`: any metric against every draw of the truth.
- `sklearn_scorer`: the same scores for `cross_val_score` and `GridSearchCV`.
- `uncertainty_adjusted`: top-k accuracy, one value per draw; without Monte-Carlo error, on the items of a risk level,
  and against the k best labels.
- `crowd_auc`: area under the ROC curve when only crowd labels exist (Urkullu et al.); `posterior_auc` has its
  posterior.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
