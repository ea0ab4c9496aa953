import json

import numpy as np
import pytest
from _errors_of_draws import assert_mean
from _paths import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesagree import Rankings, annotation_certainty, datasets, prirn
from bayesagree.plausibility import irn
from bayesagree.plausibility.prirn.model import prirn_model

MODEL = json.loads((ROOT / "models" / "prirn.json").read_text())
GOLDEN = json.loads((ROOT / "tests" / "golden" / "stutz.json").read_text())


def test_golden_irn():
    for case in GOLDEN["irn_full"]:
        value = irn(Rankings.from_blocks([case["cases"]], labels=4), ties="full")
        np.testing.assert_allclose(value.values[0], case["irn"], atol=1e-12)


def test_reference_posterior():
    data = MODEL["data"]
    rankings = Rankings.from_blocks(data["cases"], labels=data["n_labels"])
    np.testing.assert_allclose(irn(rankings), MODEL["posterior"]["irn"], atol=1e-12)
    tree = prirn(rankings, reliability=data["reliability"], prior=data["prior"], draws=20_000, chains=1, random_seed=1)
    draws = tree["posterior"]["plausibility"].values[0]
    mean = np.array(MODEL["posterior"]["mean"])
    assert_mean(draws, mean)
    assert_mean((draws - mean) ** 2, MODEL["posterior"]["variance"])


@pytest.mark.parametrize("ties", ["split", "full"])
def test_golden_dermatology_certainty(public_data, ties):
    rankings = datasets.load("derm-ddx").annotations
    tree = prirn(rankings, reliability=10, ties=ties, draws=1, chains=1, random_seed=0, top_labels=1)
    mean = float(annotation_certainty(tree, exact=True).mean())
    assert round(mean, 5) == GOLDEN["dermatology_certainty"][ties]


BLOCKS = st.permutations(range(5)).flatmap(
    lambda order: st.lists(st.integers(1, 3), min_size=1, max_size=3).map(
        lambda sizes: [b for b in np.split(np.array(order), np.cumsum(sizes))[: len(sizes)] if len(b)]
    )
)
CASES = st.lists(st.lists(BLOCKS, min_size=1, max_size=3), min_size=1, max_size=3)


def plain_irn(case, ties):
    """IRN as the paper writes it: one annotator, one block, one label at a time."""
    score = np.zeros(5)
    for ranking in case:
        for place, block in enumerate(ranking, start=1):
            for label in block:
                score[label] += 1 / place / (len(block) if ties == "split" else 1)
    return score / score.sum()


@given(CASES, st.permutations(range(5)), st.sampled_from(["split", "full"]))
@settings(max_examples=60, deadline=None)
def test_irn_against_the_obvious_loop_and_relabelling(cases, relabel, ties):
    value = irn(Rankings.from_blocks(cases, labels=5), ties=ties).values
    np.testing.assert_allclose(value, [plain_irn(case, ties) for case in cases], atol=1e-12)
    renamed = [[[[relabel[k] for k in block] for block in r] for r in case[::-1]] for case in cases]
    other = irn(Rankings.from_blocks(renamed, labels=5), ties=ties).values
    np.testing.assert_allclose(other[:, relabel], value, atol=1e-12)


def test_one_annotator_counts_as_much_as_ten():
    one, ten = ([[[[0], [1]]] * n] for n in (1, 10))
    trees = [prirn(Rankings.from_blocks(c, labels=3), reliability=4, draws=1, chains=1) for c in (one, ten)]
    np.testing.assert_allclose(*(t["posterior_parameters"]["concentration"].values for t in trees))


@pytest.mark.nuts
def test_the_model_samples_well_under_default_nuts():
    """With the default prior of 0.01 the simplex itself gave 11 divergences, R-hat 1.11 and 20 effective draws."""
    import arviz as az
    import pymc as pm

    rankings = Rankings.from_blocks([[[["a"], ["b", "c"]], [["b"]]], [[["c"]]]], labels=list("abcde"))
    with prirn_model(rankings):
        trace = pm.sample(1000, chains=2, cores=1, random_seed=1, progressbar=False, quiet=True)
    assert not trace["sample_stats"]["diverging"].values.any()
    drawn = trace["posterior"].to_dataset()["plausibility"]
    assert float(az.rhat(drawn).max()) < 1.02
    assert float(az.ess(drawn).min()) > 400
    exact = prirn(rankings, draws=20_000, chains=1, random_seed=1)["posterior"].to_dataset()["plausibility"]
    error = np.hypot(az.mcse(drawn).values, az.mcse(exact).values)
    mean = [values.mean(("chain", "draw")).values for values in (drawn, exact)]
    assert (np.abs(mean[0] - mean[1]) < 4.5 * error).all()
