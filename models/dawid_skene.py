"""Dawid-Skene: annotators who confuse labels each in their own way, and one true label per item.

Story.   Item i has one true label z_i, drawn from the prevalence pi. Annotator j who labels it sees z_i = k and says l
         with probability theta_jkl, whatever the other annotators say.
             z_i ~ pi,    x_ij | z_i = k ~ theta_jk
Priors.  pi ~ Dirichlet(3, 3, 3);  theta_jk ~ Dirichlet(4.8 for l = k, 1.6 for each l != k): eight labels, .6 right.
         A symmetric prior on theta would leave the posterior unchanged when labels are renamed.
Data.    Single labels, one per (item, annotator); -1 is missing. Here 12 items, 4 annotators, 3 labels.
Paper.   A. P. Dawid, A. M. Skene, Applied Statistics 28 (1979) 20-28: likelihood with z summed out, equation 2.7.
         Priors of the R package rater, whose published posterior means for the anaesthesia data they reproduce.
Wrong    when items are ambiguous: annotators then agree and err together given z, and the posterior of z is
         overconfident, the more annotators the worse. Labels alone do not say by how much.
"""

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from _reference import write_draws

SEED = 20261121
LABELS = [
    [0, 0, 0, -1],
    [0, 0, 1, 0],
    [1, 1, 1, 1],
    [1, 2, 1, 1],
    [2, 2, 0, 2],
    [2, 2, 2, -1],
    [0, 1, 0, 0],
    [1, 1, -1, 0],
    [2, 0, 2, 2],
    [0, 0, 2, 0],
    [1, -1, 2, 1],
    [2, 2, 2, 1],
]


def data() -> dict:
    return {
        "labels": LABELS,
        "prevalence_prior": 3.0,
        "confusion_prior": [[4.8, 1.6, 1.6], [1.6, 4.8, 1.6], [1.6, 1.6, 4.8]],
    }


def model(data: dict) -> pm.Model:
    x = np.array(data["labels"])
    n_items, n_annotators = x.shape
    prior = np.array(data["confusion_prior"])
    n_labels = len(prior)
    coords = {
        "item": range(n_items), "annotator": range(n_annotators), "label": range(n_labels),
        "observed_category": range(n_labels),
    }  # fmt: skip
    with pm.Model(coords=coords) as dawid_skene:
        pi = pm.Dirichlet("prevalence", np.full(n_labels, data["prevalence_prior"]), dims="category")
        theta: Any = pm.Dirichlet(
            "confusion", np.stack([prior] * n_annotators), dims=("annotator", "category", "observed_category")
        )
        probability = []
        for i in range(n_items):
            joint: Any = pt.log(pi)
            for j in range(n_annotators):
                if x[i, j] >= 0:
                    joint = joint + pt.log(theta[j, :, x[i, j]])
            total: Any = pm.math.logsumexp(joint)
            pm.Potential(f"log_p_x_{i}", total.sum())
            probability.append(pt.exp(joint - total))
        pm.Deterministic("label_probability", pt.stack(probability), dims=("item", "category"))
    return dawid_skene


def main() -> None:
    given = data()
    with model(given):
        tree = pm.sample(
            2000, tune=1000, chains=4, cores=2, random_seed=SEED, progressbar=False, target_accept=0.9,
            nuts_sampler="pymc",
        )  # fmt: skip
    write_draws(
        __file__, data=given, tree=tree, names=["prevalence", "confusion", "label_probability"], random_seed=SEED,
        source="Dawid and Skene (1979), equation 2.7, with Dirichlet priors",
    )  # fmt: skip


if __name__ == "__main__":
    main()
