"""Plans: widths against studies that are really made, costs and the cheapest design."""

import numpy as np
import pytest

from bayesagree.agreement import agreement_table
from bayesagree.annotations import Labels
from bayesagree.errors import InputError
from bayesagree.planning import plan
from bayesagree.predictions import Predictions


def crowd(rng, n_items, n_votes):
    truth = rng.dirichlet([0.5, 0.3], n_items)
    return truth, Labels.from_counts(rng.multinomial(n_votes, truth))


def test_widths_of_kappa_are_those_of_real_studies():
    rng = np.random.default_rng(1)
    _, pilot = crowd(rng, 300, 4)
    found = plan(pilot, items=[100, 400], annotators=[2, 6], metric="fleiss_kappa", replicates=8, seed=1)["width"]
    for n_items in (100, 400):
        for n_votes in (2, 6):
            widths = []
            for seed in range(10):
                table = agreement_table(crowd(rng, n_items, n_votes)[1], seed=seed).set_index("coefficient")
                row = table.loc["fleiss_kappa"]
                widths.append(row["upper"] - row["lower"])
            assert found.sel(items=n_items, annotators=n_votes) == pytest.approx(np.mean(widths), rel=0.2)


def test_more_items_narrow_and_cost_more():
    rng = np.random.default_rng(2)
    truth, pilot = crowd(rng, 120, 3)
    scores = {name: np.abs(truth + rng.normal(0, sd, truth.shape)) + 0.01 for name, sd in (("A", 0.1), ("B", 0.8))}
    models = Predictions.from_scores(scores)
    options = {
        "items": [50, 200],
        "annotators": [2, 4],
        "replicates": 4,
        "study_draws": 50,
        "plausibility": "dirichlet",
    }
    found = plan(pilot, models, **options, cost=(2, 0.5), target=0.2, seed=3)
    assert (found["width"].sel(items=200) < found["width"].sel(items=50)).all()
    assert found["cost"].values.tolist() == [[150, 200], [600, 800]]
    assert (found["prob_right"] >= 0.5).all()
    chosen = found.sel(items=found.attrs["best_items"], annotators=found.attrs["best_annotators"])
    assert chosen["width"] <= 0.2
    assert chosen["cost"] == found["cost"].where(found["width"] <= 0.2).min()
    again = plan(pilot, models, **options, cost=(2, 0.5), target=0.2, seed=3)
    assert found.identical(again)


def test_what_cannot_be_planned_is_refused():
    _, pilot = crowd(np.random.default_rng(1), 20, 3)
    with pytest.raises(InputError, match="needs predictions; without them"):
        plan(pilot, items=[10], annotators=[3])
    with pytest.raises(InputError, match="one or several different numbers"):
        plan(pilot, items=[], annotators=[3], metric="fleiss_kappa")
    with pytest.raises(InputError, match="Labels are meant, not an array"):
        plan(np.zeros((2, 2)), items=[1], annotators=[1])  # type: ignore[arg-type]
