"""The same numbers as crowd-kit, cleanlab, AltTest and glide, on the same labels."""

import json
from pathlib import Path

import numpy as np
import pytest

from bayesagree import Labels, Predictions, alternative_annotator_test, dawid_skene
from bayesagree.judges import prediction_powered_mean
from bayesagree.plausibility.votes import shared_wins

STORED = json.loads((Path(__file__).parents[1] / "golden" / "other_packages.json").read_text())
CROWD_KIT, CLEANLAB = STORED["crowd_kit"], STORED["cleanlab"]


@pytest.fixture(scope="module")
def labels():
    return Labels.from_matrix(STORED["votes"], labels=STORED["labels"])


@pytest.mark.parametrize(("variant", "name"), [("full", "DawidSkene"), ("one_coin", "OneCoinDawidSkene")])
def test_crowd_kit_finds_the_same_maximum(labels, variant, name):
    tree = dawid_skene(labels, engine="em", variant=variant, tolerance=1e-15, max_iterations=100_000)
    ours, theirs = tree["derived"]["label_probability"].values, np.array(CROWD_KIT[name])
    assert ((ours > 0.001) & (ours < 0.999)).any()
    # Its probabilities are at least 1e-10; both stop where the likelihood gains less than doubles show.
    assert np.abs(ours - theirs).max() < 2e-7


def test_cleanlab_has_the_same_consensus_where_no_labels_tie(labels):
    counts, vote = labels.counts(), shared_wins(labels).values
    single = (vote > 0).sum(axis=1) == 1
    assert 30 <= single.sum() < 40
    for name in ("get_majority_vote_label", "consensus_label"):
        theirs = np.array(CLEANLAB[name])
        assert (vote.argmax(axis=1) == theirs)[single].all()
        assert (vote[np.arange(40), theirs] > 0).all()
    consensus = np.array(CLEANLAB["consensus_label"])
    assert counts.sum(axis=1).tolist() == CLEANLAB["num_annotations"]
    share = counts[np.arange(40), consensus] / counts.sum(axis=1)
    assert np.abs(share - CLEANLAB["annotator_agreement"]).max() < 1e-8
    given = labels.to_matrix().isin(STORED["labels"]).to_numpy()
    same = labels.to_matrix().to_numpy() == np.array(STORED["labels"])[consensus][:, None]
    assert given.sum(axis=0).tolist() == CLEANLAB["num_examples_labeled"]
    assert np.abs(same.sum(axis=0) / given.sum(axis=0) - CLEANLAB["agreement_with_consensus"]).max() < 1e-8


def test_alt_test_has_the_same_winning_rate_and_advantage():
    theirs = STORED["alt_test"]
    people = Labels.from_matrix(np.array([list(said) for said in theirs["people"].values()]).T)
    judge = Predictions.from_labels({"llm": list(theirs["judge"])}, labels=["0", "1", "2"])
    ours = alternative_annotator_test(people, judge, epsilon=theirs["epsilon"], random_seed=1)
    for name in ("winning_rate", "advantage_probability"):
        assert ours[name].item() == pytest.approx(theirs[name], abs=1e-12)


def test_glide_has_the_same_estimate_where_the_verdicts_weigh_the_same():
    """glide divides by n - 1, ppi_py and this package by n: in the weight of the verdicts, and in both variances."""
    theirs = STORED["glide"]
    given = [np.array(theirs[name], float) for name in ("labels", "verdicts", "unlabelled")]
    labels, verdicts, others = given
    n, shift = labels.size, others.mean() - verdicts.mean()
    own = (prediction_powered_mean(*given).estimate - labels.mean()) / shift
    for name, power in (("tuned", own * n / (n - 1)), ("not_tuned", 1.0)):
        found = prediction_powered_mean(*given, power=power)
        assert found.estimate == pytest.approx(theirs[name]["mean"], abs=1e-12)
        variance = found.standard_error**2 - power**2 * others.var() / others.size
        variance = variance * n / (n - 1) + power**2 * others.var(ddof=1) / others.size
        assert variance**0.5 == pytest.approx(theirs[name]["std"], abs=1e-12)
