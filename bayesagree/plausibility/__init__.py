"""Posteriors of the truth of each item, one folder per model, each with an engine and a PyMC model.

- `registry`: one record per posterior, which all other packages read; the list of posteriors.
- `dirichlet`: single labels.
- `prirn`: partial rankings, by inverse rank normalisation.
- `informed`: single labels together with the predictions of models.
- `plackett_luce`: partial rankings with ties.
- `normal_inverse_gamma`: ratings.
- `informed_normal`: ratings together with the numbers that models predict.
- `informed_plackett_luce`: rankings together with the predictions of models.
- `dawid_skene`: labels of known annotators, whose confusion matrices are learned.
- `group_dirichlet`: labels of groups of annotators, pooled as far as the groups agree.
- `calibration`: label probabilities recalibrated against a small gold set.
- `independence`: whether models are independent of the annotations that they are scored against.
- `certainty`: how certain annotations are: of labels, sets of labels and levels of risk.
- `votes`: the majority vote, the point estimate beside them.
- `_side_by_side`: steps of Gibbs samplers whose chains move side by side.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
