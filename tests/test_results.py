"""Groups, variables and dimensions of every result tree, as golden/result_trees.json lists them; ArviZ reads each.

`uv run python tests/test_results.py` writes that file again after a change that is meant.
"""

import json
import re
import sys
import warnings
from pathlib import Path

import arviz as az
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesagree as ba

ROOT = Path(__file__).parents[1]
GOLDEN = ROOT / "tests" / "golden" / "result_trees.json"
FEW = {"draws": 20, "chains": 2, "seed": 1}

LABELS = ba.Labels.from_matrix([["a", "a", "b"], ["b", "b", "a"], ["a", "a", "a"], ["b", "a", "b"]] * 3)
MODELS = ba.simulate.noisy_models(LABELS, n_models=2, seed=1)
PEOPLE = ba.Annotators.from_table(pd.DataFrame({"annotator": [0, 1, 2], "camp": list("xxy")}))
RATINGS = ba.Ratings.from_matrix([[1, 2, 1], [4, 5, 5], [3, 2, 4]] * 2, scale=(1, 5), step=1)
RANKINGS = ba.Rankings.from_blocks([[[[0], [1, 2]], [[0], [1]]], [[[3], [0, 1]]]], labels=4)
SYSTEMS = ba.simulate.simulated_systems(n_items=50, accuracies=[0.7, 0.8, 0.9], seed=1)
GOLD = {item: "ab"[item % 2] for item in range(8)}

RESULTS = {
    "common_agreement": lambda: ba.common_agreement(RATINGS, **FEW),
    "dirichlet": lambda: ba.dirichlet(LABELS, **FEW),
    "dirichlet, top labels": lambda: ba.dirichlet(LABELS, top_labels=1, **FEW),
    "prirn": lambda: ba.prirn(RANKINGS, **FEW),
    "plackett_luce": lambda: ba.plackett_luce(RANKINGS, **FEW),
    "normal_inverse_gamma": lambda: ba.normal_inverse_gamma(RATINGS, **FEW),
    "dawid_skene": lambda: ba.dawid_skene(LABELS, **FEW),
    "dawid_skene, mixed membership": lambda: ba.dawid_skene(LABELS, variant="mixed_membership", **FEW),
    "dawid_skene, EM": lambda: ba.dawid_skene(LABELS, engine="em", **FEW),
    "calibrate": lambda: ba.calibrate(ba.dirichlet(LABELS, **FEW), GOLD, seed=1),
    "pool_with_votes": lambda: ba.pool_with_votes(ba.dirichlet(LABELS, **FEW), LABELS, seed=1),
    "group_posterior": lambda: ba.group_posterior(LABELS, MODELS, PEOPLE, ["camp"], **FEW),
    "group_phi": lambda: ba.subjective.group_phi(RATINGS, PEOPLE, ["camp"], **FEW),
    "evaluate": lambda: ba.evaluate(LABELS, MODELS, items="bootstrap", **FEW),
    "auc_posterior": lambda: ba.auc_posterior(LABELS, MODELS, **FEW),
    "blind_posterior": lambda: ba.blind_posterior(SYSTEMS.predictions, **FEW),
    "crowdtruth_posterior": lambda: ba.crowdtruth_posterior(LABELS, **FEW),
    "with_log_likelihood": lambda: ba.predictive.with_log_likelihood(ba.common_agreement(RATINGS, **FEW), RATINGS),
    "with_posterior_predictive": lambda: ba.predictive.with_posterior_predictive(
        ba.dirichlet(LABELS, **FEW), LABELS, seed=1
    ),
    "prior_predictive": lambda: ba.predictive.prior_predictive(LABELS, plausibility="dirichlet", draws=20, seed=1),
}


def tree_of(name: str) -> xr.DataTree:
    """Make a result quietly: short chains and few items warn, which other tests ask about."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return RESULTS[name]()


def schema(tree: xr.DataTree) -> dict:
    return {
        group: {str(name): list(variable.dims) for name, variable in sorted(data.data_vars.items())}
        for group, data in sorted(tree.children.items())
    }


@pytest.mark.parametrize("name", RESULTS)
def test_schema(name: str) -> None:
    tree = tree_of(name)
    assert schema(tree) == json.loads(GOLDEN.read_text())[name]
    assert {"model", "engine", "sampler", "seed", "settings"} <= set(tree.attrs)
    if "posterior" in tree.children:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert np.isfinite(az.summary(tree)["mean"].astype(float)).any()


def test_every_group_is_documented() -> None:
    table = re.findall(r"^\| (`[^|]*) \|", (ROOT / "docs" / "results.md").read_text(), re.MULTILINE)
    groups = {group for found in json.loads(GOLDEN.read_text()).values() for group in found}
    assert groups <= set(re.findall(r"`(\w+)`", " ".join(table)))


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps({name: schema(tree_of(name)) for name in RESULTS}, indent=1) + "\n")
    sys.stdout.write(f"{GOLDEN}\n")
