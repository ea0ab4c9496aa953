"""CrowdTruth: published scores, extremes, a brute-force twin, invariants; and who labels at random (studies)."""

from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from bayesagree import ConvergenceError, InputError, Labels
from bayesagree.datasets import load
from bayesagree.subjective import crowdtruth
from studies.crowd import spammers

SETS = ("relex-binary", "relex-multiple-choice", "rte")
SMALL = 1e-8


@pytest.mark.parametrize("name", SETS)
def test_published_scores(name, public_data):
    dataset = load(f"crowdtruth/{name}")
    scores = crowdtruth(dataset.annotations)
    for table, dim in (("uqs", "item"), ("wqs", "annotator"), ("aqs", "category")):
        published = dataset.extra[table]
        # The AQS of RTE are printed to six digits, all others are stored in full.
        accuracy = 5e-7 if (name, table) == ("rte", "aqs") else 1e-9
        for column in set(published.columns) & set(scores.data_vars):
            ours = scores[column].sel({dim: list(published.index)}).to_numpy()
            np.testing.assert_allclose(ours, published[column].to_numpy(float), rtol=0, atol=accuracy, err_msg=column)


def votes(*rows):
    return Labels.from_matrix(np.array(rows, dtype=object))


@pytest.mark.parametrize(
    ("row", "uqs", "wqs", "aqs"),
    [(["a"] * 4, 1, [1] * 4, [1]), ([0, 1, 2], 0, [0] * 3, [SMALL] * 3), (["a", "a", "a", "b"], 1, [1, 1, 1, 0], None)],
    ids=["everybody agrees", "everybody differs", "one differs"],
)
def test_extremes_of_one_item(row, uqs, wqs, aqs):
    scores = crowdtruth(votes(row))
    assert scores["uqs"].values == pytest.approx([uqs], abs=1e-7)
    assert scores["wqs"].values == pytest.approx(wqs, abs=1e-7)
    assert aqs is None or scores["aqs"].values == pytest.approx(aqs, abs=1e-12)


def brute_force(vectors, tolerance=1e-3):
    """Iterate the definitions with loops; `vectors[item][annotator]` is an array over labels."""
    items, annotators = sorted(vectors), sorted({i for v in vectors.values() for i in v})
    n_labels = len(next(iter(next(iter(vectors.values())).values())))
    w, q, quality = dict.fromkeys(annotators, 1.0), dict.fromkeys(items, 1.0), np.ones(n_labels)

    def cosine(x, y):
        length = np.sqrt((quality * x * x).sum() * (quality * y * y).sum())
        return SMALL if length < SMALL else (quality * x * y).sum() / length

    def ratio(pairs):
        pairs = list(pairs)
        return sum(value * weight for value, weight in pairs) / max(sum(weight for _, weight in pairs), SMALL)

    while True:
        new_quality = np.full(n_labels, SMALL)
        for a in range(n_labels):
            pairs = []
            for i, j in permutations(annotators, 2):
                common = [u for u in items if i in vectors[u] and j in vectors[u]]
                chosen = sum(q[u] * vectors[u][j][a] for u in common)
                if chosen > 0:
                    both = sum(q[u] * vectors[u][i][a] * vectors[u][j][a] for u in common)
                    pairs.append((both / chosen, w[i] * w[j]))
            if pairs:
                new_quality[a] = max(ratio(pairs), SMALL)
        new_q = {u: ratio((cosine(v[i], v[j]), w[i] * w[j]) for i, j in combinations(v, 2)) for u, v in vectors.items()}
        new_w = {}
        for i in annotators:
            mine = [u for u in items if i in vectors[u]]
            wwa = ratio((cosine(vectors[u][i], vectors[u][j]), w[j] * q[u]) for u in mine for j in vectors[u] if j != i)
            wsa = ratio(
                (cosine(w[i] * vectors[u][i], sum(w[j] * v for j, v in vectors[u].items() if j != i)), q[u])
                for u in mine
            )
            new_w[i] = wwa * wsa
        moved = max(
            *(abs(new_w[i] - w[i]) for i in annotators),
            *(abs(new_q[u] - q[u]) for u in items),
            *np.abs(new_quality - quality),
        )
        w, q, quality = new_w, new_q, new_quality
        if moved < tolerance:
            return [w[i] for i in annotators], [q[u] for u in items], quality


@st.composite
def multi_labels(draw):
    n_items, n_annotators = draw(st.integers(2, 4)), draw(st.integers(2, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows, vectors = [], {}
    for u in range(n_items):
        for i in rng.permutation(n_annotators)[: rng.integers(2, n_annotators + 1)]:
            vector = rng.integers(0, 2, 3)
            vector[rng.integers(3)] = 1
            vectors.setdefault(u, {})[int(i)] = vector
            rows += [(u, int(i), a) for a in np.flatnonzero(vector)]
    return pd.DataFrame(rows, columns=["item", "annotator", "label"]), vectors


# Four annotators on two items may creep for thousands of iterations by a thousandth each: a hundredth is enough here.
LOOSE = 1e-2


def converged(rows):
    """The qualities of a crowd; a few annotators on two items may also swing for ever, which the error says."""
    try:
        return crowdtruth(
            Labels.from_long(rows, labels=[0, 1, 2], duplicates="keep"), tolerance=LOOSE, max_iterations=60
        )
    except ConvergenceError:
        reject()


@settings(max_examples=10)
@given(multi_labels())
def test_equals_its_definition(case):
    rows, vectors = case
    scores = converged(rows)
    w, q, quality = brute_force(vectors, LOOSE)
    np.testing.assert_allclose(scores["wqs"], w, atol=1e-6)
    np.testing.assert_allclose(scores["uqs"], q, atol=1e-6)
    np.testing.assert_allclose(scores["aqs"], quality, atol=1e-6)


@settings(max_examples=10)
@given(multi_labels())
def test_scores_lie_between_0_and_1_and_ignore_row_order(case):
    rows, _ = case
    scores = converged(rows)
    other = converged(rows[::-1])
    assert scores.identical(other)
    for name in ("uqs", "wqs", "aqs", "uas"):
        assert ((scores[name] >= -1e-12) & (scores[name] <= 1 + 1e-12)).all()


def test_an_item_with_one_judgment_has_no_quality_and_counts_for_nothing():
    with pytest.warns(UserWarning, match="1 items have fewer than two annotators.*'lonely'"):
        scores = crowdtruth(Labels.from_matrix([["a", "a"], ["b", None]], items=["both", "lonely"]))
    assert scores["uqs"].values.tolist() == [1, pytest.approx(np.nan, nan_ok=True)]
    assert scores["wqs"].values.tolist() == [1, 1]


def test_what_has_no_crowd_truth():
    with pytest.raises(InputError, match="CrowdTruth scores annotators, but these labels do not say whose they are"):
        crowdtruth(Labels.from_counts([[2, 1]]))
    with pytest.raises(InputError, match="no item was judged by two annotators: there is no agreement to measure"):
        crowdtruth(Labels.from_matrix([["a", None], [None, "b"]]))
    split = votes(["a", "b", "b"], ["a", "a", "b"], ["b", "a", "a"])
    done = crowdtruth(split, tolerance=1e-6)
    rounds = done.attrs["n_iterations"]
    assert done.attrs["last_change"] < 1e-6
    assert crowdtruth(split, tolerance=1e-6, max_iterations=rounds).identical(done)
    with pytest.raises(ConvergenceError, match=f"after {rounds - 1} iterations; pass a tolerance above 1e-06 or more"):
        crowdtruth(split, tolerance=1e-6, max_iterations=rounds - 1)


def test_spammers_are_found_and_always_the_same_label_is_the_chance_level():
    """Twelve annotators: 0 to 8 are right 85 % of the time, 9 and 10 answer at random, 11 always says yes."""
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 150)
    said = np.where(rng.random((150, 12)) < 0.85, truth[:, None], 1 - truth[:, None])
    said[:, 9:11] = rng.integers(0, 2, (150, 2))
    said[:, 11] = 1
    listed = spammers(Labels.from_matrix(said))
    assert set(listed.index[listed["spammer"]]) == {9, 10, 11}
    # The last iteration moved the qualities by less than the tolerance.
    assert listed.loc[11, "wqs"] == pytest.approx(listed.loc[11, "chance_wqs"], abs=2e-3)
