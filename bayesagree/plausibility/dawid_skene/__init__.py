"""The Dawid-Skene family: latent truth, with the confusion matrix of each annotator.

- `posterior`: `dawid_skene`, all variants; `model`: the same posteriors in PyMC; `prior`: the prior that both take.
- `_variants`: the samplers by name, and the weights of those that the default averages.
- `_gibbs`: items of one truth or of mixed membership, and how chains are run; `_annotators`: confusion rows and
  accuracies; `_latent`: the compiled sweep over latent labels; `_ordered`: labels with an order.
- `_crowd`: annotations as a sparse matrix; `em`: the EM estimate; `_results`: draws as a tree.
- `predictive`: labels of the same annotators again, and the log likelihood of each item.
"""
