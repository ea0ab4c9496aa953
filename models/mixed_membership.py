"""Mixed-membership Dawid-Skene: ambiguous items read by annotators who confuse labels.

Story.   Item i has plausibilities lambda_i over the labels. Annotator j who labels it reads it as c ~ lambda_i and says
         l with probability theta_jcl. Two careful annotators may read an ambiguous item differently.
             lambda_i ~ Dirichlet(alpha pi),   c_ij ~ lambda_i,   x_ij | c_ij = k ~ theta_jk
         The latent labels c are summed out: Pr(x_ij = l) = sum_k lambda_ik theta_jkl.
Priors.  pi ~ Dirichlet(3, 3, 3);  log alpha ~ N(log 2, .4^2);  theta_jk ~ Dirichlet(kappa_k phi_k),
         log kappa_k ~ N(log 8, .5^2),  phi_k ~ Dirichlet(4.8 for l = k, 1.6 for each l != k).
         (The package's defaults are wider; NUTS is slow where alpha is near 0, so the check is made here.)
Data.    Single labels, one per (item, annotator); -1 is missing. Here 12 items, 4 annotators, 3 labels.
Paper.   Plausibilities of Stutz et al., section 3, with the confusion of Dawid and Skene (1979); alpha -> 0 is theirs.
Wrong    when annotators are correlated for other reasons than ambiguity (the same guideline misread by many), and
         nearly blind with one or two labels per item, where the posterior of alpha is its prior.
"""

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from _reference import write_draws

SEED = 20261122
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
        "concentration": [8.0, 0.5],
        "ambiguity": [2.0, 0.4],
    }


def model(data: dict) -> pm.Model:
    x = np.array(data["labels"])
    n_items, n_annotators = x.shape
    base = np.array(data["confusion_prior"])
    n_labels = len(base)
    coords = {
        "item": range(n_items), "annotator": range(n_annotators), "label": range(n_labels),
        "observed_category": range(n_labels),
    }  # fmt: skip
    with pm.Model(coords=coords) as mixed_membership:
        pi = pm.Dirichlet("prevalence", np.full(n_labels, data["prevalence_prior"]), dims="category")
        alpha: Any = pm.LogNormal("ambiguity", np.log(data["ambiguity"][0]), data["ambiguity"][1])
        lam: Any = pm.Dirichlet("plausibility", pt.stack([alpha * pi] * n_items), dims=("item", "category"))
        kappa: Any = pm.LogNormal(
            "concentration", np.log(data["concentration"][0]), data["concentration"][1], dims="category"
        )
        phi = pm.Dirichlet("crowd_confusion", base, dims=("category", "observed_category"))
        rows = kappa[:, None] * phi
        theta: Any = pm.Dirichlet(
            "confusion", pt.stack([rows] * n_annotators), dims=("annotator", "category", "observed_category")
        )
        item, annotator = np.nonzero(x >= 0)
        chance: Any = (lam[item] * theta[annotator, :, x[item, annotator]]).sum(axis=1)
        log_chance: Any = pt.log(chance)
        pm.Potential("log_p_x", log_chance.sum())
    return mixed_membership


def main() -> None:
    given = data()
    with model(given):
        tree = pm.sample(
            4000, tune=1000, chains=4, cores=2, random_seed=SEED, progressbar=False, target_accept=0.95,
            nuts_sampler="pymc",
        )  # fmt: skip
    names = ["prevalence", "ambiguity", "concentration", "crowd_confusion", "confusion", "plausibility"]
    write_draws(
        __file__, data=given, tree=tree, names=names, random_seed=SEED,
        source="Stutz et al., section 3, joined with Dawid and Skene (1979)",
    )  # fmt: skip


if __name__ == "__main__":
    main()
