"""Calls that once gave a wrong answer, or none, and that no module's own tests have."""

import numpy as np
import pytest

import bayesagree as ba
from bayesagree.errors import InputError


def test_a_known_truth_at_the_end_makes_unanimity_agreement():
    ratings = ba.Ratings.from_matrix([[1] * 5] * 100, scale=(1, 5), step=1)
    found = ba.common_agreement(ratings, item_mean=dict.fromkeys(range(100), 1.0), truth_sd=0.1, draws=20, seed=1)[
        "agreement"
    ]
    assert found.attrs["decision"] == "agreement"
    assert float(found["mean"]) > 0.9


def test_lumped_certainty_does_not_depend_on_how_draws_are_kept():
    """.142 and .049; with unnamed labels in label order .985 both."""
    ranked = ba.Rankings.from_blocks([[[["a"]]]], labels=list("abcdefgh"))
    options = {"unranked": "lumped", "draws": 2000, "seed": 1}
    full, top = ba.plackett_luce(ranked, **options), ba.plackett_luce(ranked, top_labels=3, **options)
    for k, value in ((2, 0.142), (3, 0.049)):
        for tree in (full, top):
            found = ba.annotation_certainty(tree, k=k).item()
            assert abs(found - value) < 4.5 * np.sqrt(value * (1 - value) / 8000) + 4.5 * value / np.sqrt(2000)


@pytest.mark.parametrize("given", [np.ones((3, 2)), ba.Labels.from_matrix([["a", "b"]])])
def test_what_is_no_rating_is_refused_by_name(given):
    with pytest.raises(InputError, match="Ratings"):
        ba.common_agreement(given)


def test_certainty_of_no_labels_is_refused():
    tree = ba.dirichlet(ba.Labels.from_matrix([["a", "b"]]), draws=5, seed=1)
    with pytest.raises(InputError, match="k="):
        ba.annotation_certainty(tree, k=0)


def test_scores_of_the_positive_label_are_predictions(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("model,item,score\nM,1,.8\nM,2,.3\n")
    read = ba.read_predictions(path, labels=[0, 1])
    given = ba.Predictions.from_scores({"M": [0.8, 0.3]}, items=[1, 2], labels=[0, 1])
    np.testing.assert_allclose(read.scores, given.scores)


def test_equal_disagreement_rates_are_one_group(run, tmp_path):
    (tmp_path / "u.csv").write_text("item,annotator,label\n1,a,x\n1,b,x\n2,a,y\n2,b,y\n")
    (tmp_path / "p.csv").write_text("model,item,label\nM,1,x\nM,2,x\n")
    code, _, error = run("subjective", tmp_path / "u.csv", tmp_path / "p.csv")
    assert code == 0, error


def test_methods_may_be_listed_with_spaces(run, tmp_path):
    rows = [f"{m},{i},{'xy'[(i + k) % 2 if i < 3 else 0]}" for k, m in enumerate("ABC") for i in range(6)]
    (tmp_path / "p.csv").write_text("\n".join(["model,item,label", *rows, ""]))
    code, _, error = run("blind", tmp_path / "p.csv", "--methods", "majority, em", "--draws", 20)
    assert code == 0, error
