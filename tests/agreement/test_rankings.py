"""Agreement of rankings, against SciPy and against sums over pairs."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from bayesagree import InputError, Rankings, agreement_table
from bayesagree.agreement._coefficients import weight_shape


def table(rankings, **options):
    return agreement_table(rankings, random_seed=1, **options).set_index("coefficient")


def blocks_of(ranks):
    return [np.flatnonzero(ranks == level).tolist() for level in np.unique(ranks)]


def rankings_of(cases):
    """Rankings from ranks, shape (item, annotator, label), lowest first."""
    cases = np.asarray(cases)
    return Rankings.from_blocks([[blocks_of(r) for r in case] for case in cases], labels=cases.shape[2])


RANKS = np.array([[1, 2, 3, 4, 5, 6], [2, 1, 3, 4, 6, 5], [1, 3, 2, 6, 4, 5], [1, 2, 4, 3, 5, 6]])
TIED = np.array([[1, 1, 3, 4, 4, 4], [1, 2, 2, 4, 5, 5], [2, 1, 1, 3, 3, 3]])


@pytest.mark.parametrize("ranks", [RANKS, TIED])
def test_equal_to_scipy(ranks):
    found = table(rankings_of([ranks]))
    m, n = ranks.shape
    # Friedman's statistic, which SciPy corrects for ties, is m (n - 1) W.
    friedman = stats.friedmanchisquare(*ranks.T).statistic
    assert found.loc["kendall_w_ties", "estimate"] == pytest.approx(friedman / (m * (n - 1)))
    mid = stats.rankdata(ranks, axis=1).sum(axis=0)
    w = 12 * ((mid - mid.mean()) ** 2).sum() / (m**2 * (n**3 - n))
    assert found.loc["kendall_w", "estimate"] == pytest.approx(w)
    taus = [stats.kendalltau(a, b).statistic for a, b in combinations(ranks, 2)]
    assert found.loc["tau_b", "estimate"] == pytest.approx(np.mean(taus))
    assert "one item: the interval is over its annotators" in found.loc["kendall_w", "note"]


def test_means_over_items():
    found = table(rankings_of([RANKS[:3], TIED, RANKS[:3]]))
    one = [table(rankings_of([ranks]))["estimate"] for ranks in (RANKS[:3], TIED)]
    assert found["estimate"].tolist() == pytest.approx(((2 * one[0] + one[1]) / 3).tolist())
    assert ((found["lower"] <= found["estimate"]) & (found["estimate"] <= found["upper"])).all()


CASES = st.lists(st.lists(st.lists(st.integers(1, 3), min_size=4, max_size=4), min_size=3, max_size=3), min_size=1)


@settings(max_examples=8)
@given(CASES, st.randoms(use_true_random=False))
def test_order_of_annotators_and_labels_does_not_matter(cases, random):
    ranks = np.array(cases)
    shuffled = ranks[:, random.sample(range(3), 3)][:, :, random.sample(range(4), 4)]
    left, right = (table(rankings_of(r))["estimate"].tolist() for r in (ranks, shuffled))
    assert left == pytest.approx(right, nan_ok=True, abs=1e-12)


def test_full_agreement_and_none_to_measure():
    same = table(rankings_of([[[1, 2, 3, 4]] * 5] * 3))
    assert same["estimate"].tolist() == pytest.approx([1, 1, 1])
    alone = table(Rankings.from_blocks([[[[0], [1]]]], labels=3))
    assert alone["estimate"].isna().all()
    assert set(alone["note"]) == {"no item has two rankings"}
    of_one_label = table(rankings_of([[[1], [1]]] * 3))  # NumPy warned of a division by zero
    assert of_one_label["note"].str.endswith("one block of ties has none").all()
    pairs = Rankings.from_blocks([[[[0], [1]], [[1], [2]]]], labels=3, offered=[[[0, 1], [1, 2]]])
    with pytest.raises(InputError, match="needs the same labels on offer for all"):
        agreement_table(pairs)


@pytest.mark.parametrize("n", [4, 12, 60])
def test_weights_give_means_the_variance_of_student_s_t(n):
    """Draws of weighted means of n numbers: their variance is S^2 / n, times the ratio of quantiles of t and normal."""
    weight = np.random.default_rng(n).standard_gamma(weight_shape(n), (40_000, n))
    x = np.random.default_rng(1).normal(size=n)
    found = ((weight / weight.sum(axis=1, keepdims=True)) @ x).var()
    wider = (stats.t(n - 1).ppf(0.975) / stats.norm.ppf(0.975)) ** 2
    least = (n - 1) / (n * 2)  # of shape 1 / n, the smallest
    assert found == pytest.approx(min(wider / n, least) * x.var(ddof=1), rel=4 * np.sqrt(2 / 40_000) + 0.02)
