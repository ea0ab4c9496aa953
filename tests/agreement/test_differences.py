"""Differences of agreement: against the two tables, paired by items, coverage in a simulation with known truth."""

import numpy as np
import pytest

from bayesagree import InputError, Labels, agreement_difference, agreement_table


def crowd(truth, share, rng, n_annotators=3, items=None):
    """Labels that are right with a probability, else random."""
    right = rng.random((truth.size, n_annotators)) < share
    said = np.where(right, truth[:, None], rng.integers(3, size=right.shape))
    return Labels.from_matrix(said, items=items, labels=[0, 1, 2])


def test_estimates_are_those_of_the_two_tables():
    rng = np.random.default_rng(1)
    truth = rng.integers(3, size=60)
    first, second = crowd(truth, 0.8, rng, 2), crowd(truth, 0.6, rng, 2)
    found = agreement_difference(first, second, random_seed=1).set_index("coefficient")
    one, two = (agreement_table(c, random_seed=1).set_index("coefficient")["estimate"] for c in (first, second))
    np.testing.assert_allclose(found["estimate"], one - two, atol=1e-12)
    assert found["estimate"].notna().sum() >= 10
    assert (found["n_common_items"] == 60).all()


def test_items_are_paired_by_name_and_the_order_of_rows_does_not_matter():
    rng = np.random.default_rng(3)
    truth = rng.integers(3, size=80)
    names = np.array([f"i{k}" for k in range(80)])
    first, second = crowd(truth, 0.8, rng, items=names), crowd(truth, 0.8, rng, items=names)
    order = rng.permutation(80)
    turned = Labels.from_counts(second.counts()[order], items=names[order], labels=[0, 1, 2])
    apart = Labels.from_counts(second.counts(), items=[f"j{k}" for k in range(80)], labels=[0, 1, 2])

    def width(other):
        row = agreement_difference(first, other, random_seed=1).set_index("coefficient").loc["fleiss_kappa"]
        return row["estimate"], row["upper"] - row["lower"]

    paired = width(second)
    # Two sets of 2000 replicates: the ends of an interval move by a few hundredths of its width.
    assert width(turned) == (pytest.approx(paired[0], abs=1e-12), pytest.approx(paired[1], rel=0.1))
    # The same crowd twice on hard and easy items: what makes an item hard is shared, and pairing narrows.
    hard = np.where(np.arange(200) % 2, 0.95, 0.1)[:, None]
    truth = rng.integers(3, size=200)
    a, b = (crowd(truth, hard, rng, 5) for _ in range(2))
    alone = Labels.from_counts(b.counts(), items=[f"j{k}" for k in range(200)], labels=[0, 1, 2])
    narrow, wide = (
        agreement_difference(a, other, random_seed=1).set_index("coefficient").loc["fleiss_kappa", ["lower", "upper"]]
        for other in (b, alone)
    )
    assert narrow["upper"] - narrow["lower"] < 0.8 * (wide["upper"] - wide["lower"])
    assert agreement_difference(first, apart, random_seed=1)["n_common_items"].iloc[0] == 0


def test_what_one_set_lacks_is_said_by_name():
    two = Labels.from_matrix([["a", "b"], ["a", "a"], ["b", "b"]])
    three = Labels.from_matrix([["a", "b", "a"], ["a", "a", "b"], ["b", "b", "b"]])
    found = agreement_difference(two, three, random_seed=1).set_index("coefficient")
    assert found.loc["cohen_kappa", "note"] == "second: needs exactly two known annotators"
    assert np.isnan(found.loc["cohen_kappa", "estimate"])
    assert found.loc["phi", "note"].startswith("first: needs ratings")


def test_other_objects_and_levels_are_refused():
    labels = Labels.from_matrix([["a", "b"]])
    with pytest.raises(InputError, match="expected Labels or Ratings"):
        agreement_difference(labels, [["a"]])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="level='fine' is not one of"):
        agreement_difference(labels, labels, level="fine")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="between 0 and 1"):
        agreement_difference(labels, labels, ci_prob=1)


def test_two_unanimous_crowds_may_differ():
    """The same answers of other people: the difference is 0, and its interval is not."""
    rows = [["a", "a"], ["b", "b"]] * 10
    found = agreement_difference(Labels.from_matrix(rows), Labels.from_matrix(rows), random_seed=1).set_index(
        "coefficient"
    )
    for name in ("percent_agreement", "fleiss_kappa", "cohen_kappa"):
        assert found.loc[name, "estimate"] == 0
        assert found.loc[name, "lower"] < -0.05 < 0.05 < found.loc[name, "upper"]
