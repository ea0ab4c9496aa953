"""Performance for groups of annotators: whose opinion a model serves, with uncertainty.

- `crowd_quality`: CrowdTruth quality scores of items, annotators and labels.
- `performance`: scores of models for annotators and groups, their dispersion, and a bootstrap of both.
- `group_model`: the posterior of accuracy by group; `_beta_binomial` is the exact engine.
- `agreement`: agreement within and between groups.
- `group_truth`: whether groups see items differently, and which items.
- `disagreement`: disagreement with the majority.
- `tables`: these results as tables, predictions from files.
- `specification`: the declared evaluation beside the data.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
