"""Checks of a posterior: predictive draws, log likelihoods, reliability curves, checks of annotators.

- `checks`: prior and posterior predictive draws, log likelihood and log prior, leave-one-item-out.
- `reliability`: the reliability that best predicts a held-out annotator.
- `annotator_checks`: accuracy of each annotator, label switching, power of the agreement check.
- `crowd_summary`: checks of a crowd and of its confidence, as named numbers.
- `_item_likelihood`: log likelihood of an item, its own parameters integrated out.
- `_replicates`, `_log_prior`: replicated annotations and prior densities.
- `_held_out_rankings`: held-out scores of rankings.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
