"""Agreement of items that come in clusters: replicates weigh whole clusters."""

import numpy as np
import pytest

from bayesagree import InputError, Labels, Rankings, Ratings, agreement_difference, agreement_table

RNG = np.random.default_rng(3)
TRUTH = RNG.integers(0, 3, (60, 1))
ANSWERS = np.where(RNG.random((60, 3)) < 0.7, TRUTH, RNG.integers(0, 3, (60, 3))).astype(float)
NAMES = ["percent_agreement", "conger_kappa", "fleiss_kappa", "alpha_nominal", "gwet_ac1"]


def table(answers, cluster=None, random_seed=1):
    labels = Labels.from_matrix(answers, labels=[0, 1, 2], ordered=False)
    return agreement_table(labels, cluster=cluster, random_seed=random_seed).set_index("coefficient").loc[NAMES]


def width(found):
    return (found["upper"] - found["lower"]).to_numpy(float)


def test_clusters_of_equal_items_count_as_one_item():
    """Five copies of each item tell no more than one: intervals are those of the items, not of the copies."""
    one, copied = table(ANSWERS), table(np.repeat(ANSWERS, 5, axis=0), cluster=np.repeat(np.arange(60), 5))
    blind = table(np.repeat(ANSWERS, 5, axis=0))
    # The ends of an HDI of 2000 replicates scatter by about a twentieth of its width.
    np.testing.assert_allclose(width(copied), width(one), rtol=0.1)
    np.testing.assert_allclose(width(blind), width(one) / np.sqrt(5), rtol=0.15)
    # Percent agreement does not know how often an item was copied.
    assert copied.loc["percent_agreement", "estimate"] == pytest.approx(one.loc["percent_agreement", "estimate"])


def test_clusters_of_a_difference():
    """Copies of items in clusters tell no more about two crowds than the items; without a cluster, they seem to."""
    other = np.where(RNG.random((60, 3)) < 0.5, TRUTH, RNG.integers(0, 3, (60, 3)))

    def difference(copies, cluster=None):
        one, two = (Labels.from_matrix(np.repeat(a, copies, axis=0), labels=[0, 1, 2]) for a in (ANSWERS, other))
        found = agreement_difference(one, two, level="nominal", cluster=cluster, random_seed=1).set_index("coefficient")
        return width(found.loc[NAMES])

    one, each = difference(1), difference(1, np.arange(60))
    np.testing.assert_allclose(each, one, rtol=0.1)
    np.testing.assert_allclose(difference(5, np.repeat(np.arange(60), 5)), one, rtol=0.1)
    np.testing.assert_allclose(difference(5), one / np.sqrt(5), rtol=0.15)


def test_items_of_one_set_alone_have_clusters_too():
    first, second = (Labels.from_matrix(ANSWERS[s], items=range(60)[s]) for s in (slice(40), slice(20, 60)))
    documents = {item: item // 4 for item in range(60)}
    found = agreement_difference(first, second, cluster=documents, random_seed=1).set_index("coefficient").loc[NAMES]
    assert (width(found) > 0).all()
    del documents[59]
    with pytest.raises(InputError, match="cluster= names no group for the items 59"):
        agreement_difference(first, second, cluster=documents)


def test_phi_states_that_its_items_are_independent():
    ratings = Ratings.from_matrix(ANSWERS + 1, scale=(1, 3), step=1)
    note = (
        agreement_table(ratings, cluster=np.repeat(np.arange(20), 3), random_seed=1)
        .set_index("coefficient")
        .loc["phi", "note"]
    )
    assert note.startswith("items as independent")


def test_what_is_no_clustering():
    labels = Labels.from_matrix(ANSWERS, labels=[0, 1, 2])
    for names in (["a"], ["a", "b"]):
        with pytest.raises(InputError, match=f"into {len(names)} clusters .'a'.*: an interval over clusters needs 3"):
            agreement_table(labels, cluster=(names * 60)[:60])
    with pytest.raises(InputError, match="cluster= has 3 values for 60 items"):
        agreement_table(labels, cluster=["a", "b", "c"])
    rankings = Rankings.from_blocks([[[["a"], ["b"]]] * 2] * 2, labels=["a", "b"])
    with pytest.raises(InputError, match="cluster= are of labels and ratings, not of Rankings"):
        agreement_table(rankings, cluster=[1, 2])
