"""Simulation-based calibration of the PyMC models themselves, by simuk: every replication compiles and samples anew.

Some seconds of processor a replication leave few of them; the fast engines, which tests hold to equal these models,
have thousands. Not here:

* `dawid_skene_model` with its own priors: the true labels are summed out, so its likelihood is a potential, from which
  simuk can draw no annotation. Those of the model opened by a covariate of the items are drawn without it.
* Its mixed membership has observed labels, but takes half a minute a replication.
* `prirn_model`: PrIRN is no model of how annotators rank.
"""

from typing import Any

import numpy as np
import pytest
from scipy.special import softmax

from bayesagree import (
    Labels,
    Rankings,
    Ratings,
    common_agreement_model,
    dawid_skene_model,
    dirichlet_model,
    normal_inverse_gamma_model,
    plackett_luce_model,
)
from bayesagree._inference.nuts import sample_nuts
from bayesagree.plausibility import DawidSkenePrior
from bayesagree.subjective.group_model import GroupCounts, group_performance_model

pm: Any = pytest.importorskip("pymc")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
SIMULATIONS, DRAWS = 40, 1000


def judge(calibration, name, model, quantities, **sampling):
    """Rank the truth among the draws of each quantity: a variable and which of its elements. Ties break at random."""
    import simuk  # loads PyMC, which quick runs need not wait for

    run = simuk.SBC(
        model, num_simulations=SIMULATIONS, seed=1, progress_bar=False,
        sample_kwargs={"draws": DRAWS, "tune": 1000, "chains": 1, "cores": 1, "progressbar": False, "quiet": True,
                       "nuts_sampler": "pymc", "compute_convergence_checks": False} | sampling,
    )  # fmt: skip
    run.run_simulations()
    rng = np.random.default_rng(1)
    true: Any = run.ref_params
    for variable, elements in quantities.items():
        truth = true[variable].transpose("sample", ...).values.reshape(SIMULATIONS, -1)
        drawn = [fit[variable].transpose("sample", ...).values.reshape(DRAWS, -1) for fit in run.posteriors]
        for k in elements:
            below, at = (
                np.array([compare(d[:, k], t[k]).sum() for d, t in zip(drawn, truth)])
                for compare in (np.less, np.equal)
            )
            label = variable if truth.shape[1] == 1 else f"{variable} {k}"
            calibration.uniform(f"{name}, NUTS", label, rng.integers(below, below + at + 1), DRAWS + 1)


def test_dirichlet_model(calibration):
    labels = Labels.from_matrix([["a", "b", "c", "a"]], labels=["a", "b", "c"])
    model = dirichlet_model(labels, prior=[0.7, 1.0, 2.0])
    judge(calibration, "dirichlet_model", model, {"plausibility": range(3)})


def test_common_agreement_model(calibration):
    """Six items, three ratings on five levels. One item mean in 25 is an end of the scale in floats, and ties."""
    model = common_agreement_model(Ratings.from_matrix(np.tile([1, 2, 3], (6, 1)), scale=(1, 5), step=1))
    quantities = {"phi": [0], "mean_location": [0], "mean_spread": [0], "unit_item_mean": [0]}
    judge(calibration, "common_agreement_model", model, quantities, target_accept=0.9)


COVARIATE = np.linspace(-2, 2, 12)
OPENED = {"slope": [(0,)], "confusion": [(0, 0, 0), (1, 0, 2)]}


def opened_dawid_skene_model():
    """Twelve items, three annotators: slopes of the log odds of three labels in place of the prevalence."""
    labels = Labels.from_matrix(np.arange(36).reshape(12, 3) % 3, labels=[0, 1, 2])

    def prevalence():
        return pm.math.softmax(COVARIATE[:, None] * pm.Normal("slope", shape=3), axis=1)

    return dawid_skene_model(labels, prevalence=prevalence)


def opened_dawid_skene_ranks(model, replicate):
    """Draw everything from the prior, sample, and return the ranks of the truth."""
    rng, base = np.random.default_rng([1, replicate]), DawidSkenePrior().confusion(3)
    true = {"slope": rng.normal(size=3), "confusion": np.array([[rng.dirichlet(row) for row in base] for _ in "abc"])}
    truth = [rng.choice(3, p=p) for p in softmax(COVARIATE[:, None] * true["slope"], axis=1)]
    who = zip(*(model[f"{name}_of_annotation"].get_value() for name in ("item", "annotator")))
    said = [rng.choice(3, p=true["confusion"][j, truth[i]]) for i, j in who]
    model.set_data("observed_label", np.array(said))
    drawn = sample_nuts(model, draws=DRAWS, chains=1, seed=replicate, recorded=list(OPENED))["posterior"]
    return {
        f"{name} {''.join(map(str, at))}": int((drawn[name].values[(0, slice(None), *at)] < true[name][at]).sum())
        for name, places in OPENED.items() for at in places
    }  # fmt: skip


def test_dawid_skene_model_with_a_prior_of_the_truth_by_a_covariate(calibration):
    model = opened_dawid_skene_model()
    ranks = [opened_dawid_skene_ranks(model, replicate) for replicate in range(SIMULATIONS)]
    for name in ranks[0]:
        calibration.uniform("dawid_skene_model opened, NUTS", name, [one[name] for one in ranks], DRAWS + 1)


def test_normal_inverse_gamma_model(calibration):
    model = normal_inverse_gamma_model(Ratings.from_matrix([[4, 5, 4], [1, 2, 2]], scale=(1, 5), step=1))
    judge(calibration, "normal_inverse_gamma_model", model, {"variance": [0], "offset": [0]})


def test_plackett_luce_model(calibration):
    """Three rankings of all four labels: which labels an item's rankings name is no part of the answer."""
    model = plackett_luce_model(Rankings.from_blocks([[[[0], [1], [2], [3]]] * 3], labels=4), shape=1.0)
    judge(calibration, "plackett_luce_model", model, {"worth": range(4)})


def test_group_performance_model(calibration):
    """Four groups of four annotators with six to twelve labels."""
    total = np.tile([6, 8, 10, 12], 4)[None]
    counts = GroupCounts(np.array(["A"]), np.array(list("abcd")), np.repeat(np.arange(4), 4), total // 2, total)
    quantities = {"location": [0], "between_spread": [0], "within_spread": [0], "performance": [0]}
    judge(calibration, "group_performance_model", group_performance_model(counts), quantities, target_accept=0.9)
