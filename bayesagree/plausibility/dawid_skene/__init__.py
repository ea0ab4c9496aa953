"""The Dawid-Skene family: latent truth, with the confusion matrix of each annotator.

- `posterior`: `dawid_skene`, all variants and engines; `_engines` runs them, `_average` weighs those of the default.
- `model`: the same posteriors in PyMC; `prior` is the prior that both take.
- `em`: the EM estimate.
- `_gibbs`, `_gibbs_kernels`: the Gibbs sampler of annotators' confusion matrices, `_confusion` their summaries.
- `_population_kernels`: the prior of confusion rows, learnt or known, and new names of labels.
- `_mixed_membership`, `_mixed_membership_kernels`: items of mixed membership.
- `_ordered`, `_ordered_kernels`: labels with an order, and annotators who use the scale differently.
- `_cells`: annotations grouped by annotator and label.
- `predictive`: labels of the same annotators again, and the log likelihood of each item.
- `_results`: draws as a tree.
"""
