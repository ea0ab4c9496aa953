"""The same numbers as crowd-kit and cleanlab, on the same labels."""

import json
from pathlib import Path

import numpy as np
import pytest

from bayesagree import Labels, dawid_skene, krippendorff_alpha, majority_vote

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


def test_crowd_kit_has_the_same_alpha_shares_and_entropy(labels):
    assert krippendorff_alpha(labels) == pytest.approx(CROWD_KIT["alpha_krippendorff"], abs=1e-12)
    shares = labels.counts() / labels.counts().sum(axis=1, keepdims=True)
    assert np.abs(shares - np.array(CROWD_KIT["MajorityVote"])).max() < 1e-8
    entropy = -(shares * np.log(np.where(shares > 0, shares, 1))).sum(axis=1)
    assert entropy.mean() == pytest.approx(CROWD_KIT["uncertainty"], abs=1e-12)


def test_cleanlab_has_the_same_consensus_where_no_labels_tie(labels):
    counts, vote = labels.counts(), majority_vote(labels).values
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
