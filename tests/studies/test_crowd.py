"""CrowdTruth on readings of one scale, its validation, and disagreement without spammers."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from bayesagree import InputError, Labels, Ratings
from bayesagree.subjective import crowdtruth, recode
from studies.crowd import accuracy_against, crowd_setups, crowd_validation, disagreement_without


@pytest.fixture(scope="module")
def ratings():
    rng = np.random.default_rng(1)
    truth = rng.integers(1, 6, 30)
    said = np.clip(truth[:, None] + rng.integers(-1, 2, (30, 8)), 1, 5)
    return Ratings.from_matrix(said.astype(float), scale=(1, 5), step=1)


def test_a_set_up_is_crowdtruth_of_the_recoded_ratings(ratings):
    found = crowd_setups(ratings)
    toxic = crowdtruth(recode(ratings, {1: "toxic", 2: "toxic", 3: "non-toxic", 4: "non-toxic", 5: "non-toxic"}))
    np.testing.assert_allclose(found["uqs"].sel(setup=1), toxic["uqs"])
    np.testing.assert_allclose(found["wqs"].sel(setup=1), toxic["wqs"])
    assert found["aqs"].sel(setup=1, category="toxic").item() == pytest.approx(
        toxic["aqs"].sel(category="toxic").item()
    )
    assert np.isnan(found["aqs"].sel(setup=1, category="neutral"))
    assert found["mean_uqs"].values[0] > found["mean_uqs"].values[3]  # more labels, more ways to differ


def test_validation_is_the_squared_error_and_the_area_under_the_curve(ratings):
    found = crowd_setups(ratings)
    rng = np.random.default_rng(2)
    by_hand = {annotator: float(rng.random()) for annotator in range(5)}
    ambiguous = {item: bool(rng.random() < 0.5) for item in range(20)}
    result = crowd_validation(found, annotator_quality=by_hand, ambiguous=ambiguous)
    for setup in (1, 4):
        wqs, uqs = found["wqs"].sel(setup=setup).values[:5], found["uqs"].sel(setup=setup).values[:20]
        assert result["wqs_mse"].sel(setup=setup).item() == pytest.approx(np.mean((wqs - list(by_hand.values())) ** 2))
        assert result["uqs_auroc"].sel(setup=setup).item() == pytest.approx(
            roc_auc_score(list(ambiguous.values()), -uqs)
        )
    assert np.isnan(crowd_validation(found)["uqs_auroc"]).all()
    with pytest.raises(InputError, match="both kinds"):
        crowd_validation(found, ambiguous={0: True})
    with pytest.raises(InputError, match="no annotator 99"):
        crowd_validation(found, annotator_quality={99: 1})


def test_spammers_leave_the_majority_too():
    votes = Labels.from_matrix([list("aaabb"), list("bbaaa"), list("aabba")], annotators=list("vwxyz"))
    found = disagreement_without(votes, ["y", "z"])
    assert found["annotators"].tolist() == [5, 3]
    assert found.loc["before", "mean"] == pytest.approx(np.mean([1 / 3, 1 / 3, 1 / 3, 2 / 3, 1 / 3]))
    assert found.loc["after", "mean"] == pytest.approx(np.mean([0, 0, 2 / 3]))
    assert found.loc["after", "always_agree"] == pytest.approx(2 / 3)
    assert found.loc["after", "above_0.2"] == pytest.approx(1 / 3)
    with pytest.raises(InputError, match="no annotator 'q'"):
        disagreement_without(votes, ["q"])


def test_accuracy_is_of_items_with_gold_alone():
    votes = Labels.from_matrix([["a", "b"], ["b", None], ["b", "b"]], annotators=["x", "y"])
    assert accuracy_against(votes, {0: "a", 2: "a"}).tolist() == [0.5, 0]
    assert accuracy_against(votes, {1: "b"}).isna().tolist() == [False, True]
