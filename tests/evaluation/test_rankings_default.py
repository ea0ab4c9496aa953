"""Scores against rankings: one default everywhere, which does not mistake the prior for the truth."""

import numpy as np
import pytest

import bayesagree as ba
from bayesagree.evaluation.tables import given_notes
from bayesagree.inference.results import settings_of
from bayesagree.report.data import report_data
from bayesagree.report.settings import ReportSettings


@pytest.fixture(scope="module")
def readers() -> tuple[ba.Rankings, ba.Predictions, float]:
    """Nine readers an item who name three of twelve conditions, and a model that is right in nine of ten items."""
    rng, n, labels = np.random.default_rng(1), 60, 12
    theta = rng.dirichlet(np.full(labels, 0.1), n)
    arrival = rng.standard_exponential((n, 9, labels)) / np.maximum(theta[:, None], 1e-12)
    named = np.argsort(arrival, axis=2)[:, :, :3]
    rankings = ba.Rankings.from_blocks(np.expand_dims(named, 3).tolist(), labels=labels)
    truth = theta.argmax(axis=1)
    said = np.where(np.arange(n) % 10 == 0, (truth + 1) % labels, truth)
    return rankings, ba.Predictions.from_labels({"m": said.tolist()}, labels=list(range(labels))), 0.9


@pytest.mark.filterwarnings("ignore:.*all rankings name 3 of 12")
@pytest.mark.parametrize("best", ["plackett_luce", pytest.param("auto", marks=pytest.mark.long)])
def test_default_is_nearer_the_truth_than_prirn_and_the_same_in_a_report(readers, best) -> None:
    rankings, models, truth = readers
    how = {"metrics": ["accuracy"], "draws": 100 if best == "auto" else 30, "chains": 2, "random_seed": 1}
    names = ["prirn", "plackett_luce", *(["auto"] if best == "auto" else [])]
    found = {name: ba.evaluate(rankings, models, plausibility=name, **how) for name in names}
    one = ba.evaluate(rankings, models, plausibility="prirn", reliability=1, **how)
    mean = [float(tree["posterior"]["accuracy"].mean()) for tree in (one, *found.values())]
    assert mean == sorted(set(mean)) and mean[-1] < truth + 0.05 and truth - mean[0] > 0.2
    assert "from these rankings alone" in settings_of(found["plackett_luce"])["target"]
    assert any("All 12 labels compete" in note for note in given_notes(rankings, models, "error"))
    if best == "auto":
        assert truth - mean[-1] < 0.05
        made = settings_of(found["auto"])
        assert "estimate" in made["target"] and "All 12 labels compete" in made["choice"]
    for name, tree in found.items():
        settings = ReportSettings(name).fitting(rankings, models)
        assert settings.record.name == settings_of(tree)["plausibility"]
        assert settings.reliability[0] == settings_of(tree).get("reliability", 1.0)


def test_items_that_nobody_ranked_are_left_out_aloud(readers) -> None:
    rankings, models, _ = readers
    some = ba.Rankings.from_long(rankings.to_long().query("item >= 20"), annotator="ranking", labels=range(12))
    how = {"plausibility": "prirn", "draws": 20, "chains": 2, "random_seed": 1}
    with pytest.warns(UserWarning, match="20 of 60 items have predictions and no annotations: they are left out"):
        found = ba.evaluate(some, models, **how)
    known = ba.evaluate(some, models.on_items(some.items), **how)
    np.testing.assert_array_equal(found["posterior"]["accuracy"], known["posterior"]["accuracy"])
    data = report_data(some, models, plausibility="prirn", draws=20, chains=2)
    assert any("they are left out" in said for said in data.warnings)
