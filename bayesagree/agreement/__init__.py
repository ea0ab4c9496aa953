"""How far annotators agree: common agreement Phi and the classic coefficients, all with intervals.

- `phi`: the posterior of Phi, by quadrature and importance sampling (`_phi`) or by NUTS; `_patterns` are equal items.
- `limits`: warnings where the paper's own limits apply, and what a claim of disagreement rests on.
- `prior`: the priors of Phi, of the item means and of annotators' levels.
- `annotator_effects`: Phi with annotators' levels, and the check whether levels explain disagreement.
- `model`: the PyMC model of Phi, whose parts can be replaced; `_pymc_likelihoods` are its likelihoods.
- `predictive`: ratings of the same annotators again, and the log likelihood of each item.
- `summary`: the summary of draws of Phi, and the difference between two groups.
- `checks`: posterior predictive checks of Phi.
- `coefficients`: alpha, kappas, AC1, intraclass correlations; `_coefficients` defines each, `_formulas` holds each
  formula once, `_items` the counts, `_set_distances` alpha of sets of labels.
- `details`: agreement of pairs, annotators, labels and items, and the confusion of two annotators.
- `intraclass`: the six intraclass correlations, with missing ratings, by components of variance.
- `rankings`: Kendall's W, tau-b and rank-biased overlap.
- `spans`: how far annotators mark the same spans.
- `differences`: the difference of every coefficient between two sets of annotations.
- `bland_altman`: limits of agreement of pairs of annotators.
- `leave_one_out`: agreement of each annotator with the others of an item.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
