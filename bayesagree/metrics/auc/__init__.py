"""Areas under the ROC curve when only crowd labels exist (Urkullu et al.).

- `estimates`: `auc` by three estimators; one-vs-rest and Hand-Till forms for more labels.
- `posterior`: the posterior of the AUC.
- `concordant_pairs`: concordance of scores with a graded truth.
- `_kernels`: the arithmetic, compiled.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
