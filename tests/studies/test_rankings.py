"""The study of rankings under two aggregation models, and its tables: counted and averaged by hand."""

import warnings

import numpy as np
import pytest

from bayesagree.annotations import Rankings
from bayesagree.datasets.simulate import rankings
from bayesagree.errors import InputError
from bayesagree.plausibility.certainty import annotation_certainty
from bayesagree.plausibility.plackett_luce.posterior import plackett_luce
from studies import rankings as tables
from studies.rankings import SCORES, certainty_correlation, ranking_study, saturated_items
from studies.systems import noisy_models

SIMULATED = rankings(n_items=40, n_labels=8, n_annotators=4, random_seed=3).rankings


@pytest.fixture(scope="module")
def study():
    risk = {k: k % 3 for k in range(8)}
    return ranking_study(
        SIMULATED, noisy_models(SIMULATED, random_seed=1), risk=risk, prirn_reliability=(2, 20),
        plackett_luce_reliability=(1, 4), draws=300, random_seed=5,
    )  # fmt: skip


def test_settings_are_the_posteriors_themselves(study):
    tree = plackett_luce(SIMULATED, reliability=4, unranked="lumped", top_labels=3, draws=300, random_seed=5)
    certainty = study["certainty"].to_dataset().isel(setting=3)
    assert certainty["aggregation"].item() == "plackett_luce"
    for k in (1, 2, 3):
        np.testing.assert_array_equal(certainty[f"top_{k}"], annotation_certainty(tree, k=k))
    assert set(study["posterior"].data_vars) == set(SCORES)
    assert study["posterior"].sizes == {"chain": 4, "draw": 300, "setting": 4, "model": 4}


def test_certainty_rises_with_reliability_and_agrees_between_models(study):
    mean = study["certainty"]["top_1"].mean("item").values
    assert mean[0] < mean[1]
    assert mean[2] < mean[3]
    correlation = certainty_correlation(study).values
    np.testing.assert_allclose(np.diag(correlation), 1.0)
    assert correlation[0, 2] > 0.5
    assert saturated_items(study, "plackett_luce").shape == (40,)
    with pytest.raises(InputError, match="0 reliabilities of 'dirichlet'"):
        saturated_items(study, "dirichlet")


def test_items_that_no_reliability_settles():
    tied = [[[0, 1]], [[1], [0], [2]], [[0], [1], [2]]]
    tied_in_irn = [[[0], [2]], [[1]]]
    settled = [[[0], [1]], [[0], [2]], [[2], [0]]]
    cases = Rankings.from_blocks([tied, tied_in_irn, settled], labels=4)
    tree = ranking_study(
        cases, noisy_models(cases, n_models=2, random_seed=1), prirn_reliability=(10, 200, 2000),
        plackett_luce_reliability=(1, 200, 400), draws=1000, random_seed=2,
    )  # fmt: skip
    annotation = tree["annotation"].to_dataset()
    assert annotation["tied_prirn"].values.tolist() == [True, True, False]
    # The maximum of the second likelihood is (1/2, 1/4, 1/4).
    assert annotation["tied_plackett_luce"].values.tolist() == [True, False, False]
    for name in ("prirn", "plackett_luce"):
        np.testing.assert_array_equal(saturated_items(tree, name), annotation[f"tied_{name}"])


@pytest.fixture(scope="module")
def given():
    return rankings(n_items=8, random_seed=1).rankings


@pytest.fixture(scope="module")
def tree(given):
    models = noisy_models(given, n_models=2, random_seed=1)
    return ranking_study(
        given, models, prirn_reliability=(2, 5), plackett_luce_reliability=(1, 2), draws=100, chains=2, random_seed=1
    )


def test_scores_say_where_the_order_differs(tree):
    table = tables.model_scores(tree)
    models = tree["posterior"]["model"].values.astype(str).tolist()
    for metric, part in table.groupby("metric"):
        np.testing.assert_allclose(part[models], tree["posterior"][metric].mean(("chain", "draw")))
        first = part[models].to_numpy()[0].argsort()
        swapped = [bool((row.argsort() != first).any()) for row in part[models].to_numpy()]
        assert part["order_differs"].tolist() == swapped


@pytest.mark.slow
def test_dermatology_reproduces_the_papers_findings():
    from bayesagree.datasets import load

    data = load("derm-ddx")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="annotator agreement is NaN")
        tree = ranking_study(
            data.annotations, noisy_models(data.annotations, random_seed=1), risk=data.extra["risk"],
            prirn_reliability=(5, 10, 20, 50), plackett_luce_reliability=(1, 3, 5), random_seed=1,
        )  # fmt: skip
    # Paper: correlation 0.9 between PL and PrIRN; a quarter of the cases and more are open; risk is surer than labels.
    correlation = certainty_correlation(tree).values
    assert correlation[:4, 4].max() == pytest.approx(0.9, abs=0.03)
    certainty = tree["certainty"]["top_1"]
    assert ((certainty < 0.99).mean("item") > 0.25).all()
    assert (tree["risk"]["certainty"].mean("item") > certainty.mean("item")).all()
    assert float(certainty.isel(setting=1).mean()) == pytest.approx(0.77286, abs=0.003)
    # Paper: "a saturating effect for at least 250 cases", by eye. At the highest reliabilities about 250 cases are
    # below 0.6, but only those whose best labels tie stay there.
    for name, highest, n_tied in (("prirn", 3, 196), ("plackett_luce", 6, 114)):
        high = certainty.isel(setting=highest).values
        tied = tree["annotation"].to_dataset()[f"tied_{name}"].values
        assert tied.sum() == n_tied
        assert (high[tied] < 0.6).all()
        assert 200 < (high < 0.6).sum() < 300
        assert saturated_items(tree, name).sum() < n_tied
