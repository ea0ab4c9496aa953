"""Performance metrics: against draws of the truth, against gold labels, or without either.

- `uncertainty_adjusted`: top-k accuracy, set accuracy, overlap and kin, one value per draw.
- `_rank_numba`: their compiled comparison of ranks.
- `partial_rankings`: average overlap of partial rankings.
- `hard_labels`: accuracy, precision, recall and specificity of hard labels.
- `auc`: areas under the curve without gold.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
