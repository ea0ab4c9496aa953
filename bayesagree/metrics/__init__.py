"""Performance metrics: against draws of the truth, against gold labels, or without either.

- `registry`: one record per rank metric; a new one is such a record and a function of two lists in `_rank_kernels`.
- `uncertainty_adjusted`: top-k accuracy, set accuracy, overlap and kin, one value per draw; `_scorer` runs them.
- `top_k`: top-k accuracy without Monte-Carlo error, and on the items of a risk level.
- `partial_rankings`: average overlap of partial rankings.
- `hard_labels`: accuracy, precision, recall and specificity of hard labels.
- `auc`: areas under the curve without gold.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
