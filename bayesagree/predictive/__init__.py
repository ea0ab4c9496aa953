"""Checks of a posterior: predictive draws, log likelihoods, reliability curves, checks of annotators.

- `checks`: prior and posterior predictive draws, log likelihood and log prior, leave-one-item-out.
- `integrated`: the log likelihood of items under a PyMC model of one's own.
- `reliability`: the reliability that best predicts a held-out annotator. Both read the registry of posteriors.
- `annotator_checks`: accuracy of each annotator, label switching, the agreement check; these as named numbers.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
