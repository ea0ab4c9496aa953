"""Performance of a model for groups of annotators.

Story.  A model agrees with every annotator j of a group g at his own rate theta_j; it agrees on s_j of his n_j labels.
        Rates vary around the mean of the group, group means around a common location.
Prior.  theta_j ~ Beta(mu_g phi, (1 - mu_g) phi), mu_g ~ Beta(m kappa, (1 - m) kappa), m ~ U(0, 1),
        (1 + phi)^(-1/2) ~ U(0, 1), (1 + kappa)^(-1/2) ~ U(0, 1).
Data.   s_j and n_j of each annotator, and the annotator's group.
Paper.  None: it adds uncertainty to the group performances of Balayn and Bozzon, "Designing evaluations of machine
        learning models for subjective inference" (2019).
Wrong   when annotators are no sample of their group, when items differ so much in difficulty that two annotators with
        different items cannot be compared, or when groups are two opposed camps, which one location does not describe.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pymc as pm
from _reference import write_draws

SEED = 20261121


def data() -> dict[str, list[int]]:
    """Return agreements, labels and groups of 19 annotators: three groups of 2, 5 and 12."""
    return {
        "agree": [3, 9, 6, 8, 10, 5, 9, 2, 14, 12, 20, 11, 7, 15, 9, 18, 4, 13, 16],
        "total": [8, 15, 10, 10, 12, 9, 10, 4, 20, 15, 25, 20, 8, 20, 10, 22, 10, 15, 20],
        "group": [0] * 2 + [1] * 5 + [2] * 12,
    }


def model(data: Mapping[str, Any]) -> pm.Model:
    """Build the model; the rates theta_j are integrated out, s_j | mu_g is beta-binomial."""
    group = np.array(data["group"])
    with pm.Model(coords={"group": np.unique(group), "annotator": np.arange(group.size)}) as graph:
        location = pm.Uniform("location", 0, 1)
        between_spread = pm.Uniform("between_spread", 0, 1)
        within_spread = pm.Uniform("within_spread", 0, 1)
        kappa, phi = between_spread**-2 - 1, within_spread**-2 - 1
        mu = pm.Beta("performance", location * kappa, (1 - location) * kappa, dims="group")
        pm.BetaBinomial(
            "agree", n=np.array(data["total"]), alpha=mu[group] * phi, beta=(1 - mu[group]) * phi,
            observed=np.array(data["agree"]), dims="annotator",
        )  # fmt: skip
    return graph


def main() -> None:
    """Sample and write the reference posterior."""
    known = data()
    with model(known):
        tree = pm.sample(
            6000, tune=2000, chains=4, cores=2, random_seed=SEED, progressbar=False, target_accept=0.98,
            nuts_sampler="pymc",
        )  # fmt: skip
    write_draws(
        __file__, data=known, tree=tree, names=["performance", "location", "within_spread", "between_spread"],
        seed=SEED, source="NUTS on the beta-binomial model",
    )  # fmt: skip


if __name__ == "__main__":
    main()
