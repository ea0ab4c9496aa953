"""The Dawid-Skene family: latent truth, with the confusion matrix of each annotator.

- `posterior`: `dawid_skene`, all variants; `model`: the same posteriors in PyMC; `prior`: the prior that both take.
- `_crowd`: annotations laid out, and what an annotator is in each variant, for samplers, EM and PyMC; the frame of all
  samplers. `_labels`: the likelihood of labels by name, of which `_latent` is the compiled
  sweep; `_ordered`: that of labels with an order.
- `_variants`: the samplers by name, and the weights of those that the default averages.
- `em`: the EM estimate; `_results`: runs of samplers, and draws as a tree.
- `predictive`: labels of the same annotators again, and the log likelihood of each item.
"""
