import json
import warnings
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesagree import InputError, Labels, Rankings, annotation_certainty, dirichlet
from bayesagree.agreement import annotator_agreement
from bayesagree.plausibility import irn
from bayesagree.plausibility.certainty import (
    expected_risk,
    label_certainty,
    level_probability,
    plausibility_entropy,
    risk_certainty,
    share_of_most_frequent_set,
)

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "stutz.json").read_text())


def tree_of(draws):
    """A result with one item from given plausibility draws."""
    values = np.asarray(draws, dtype=float)[None, :, None, :]
    data = xr.Dataset(
        {"plausibility": (("chain", "draw", "item", "category"), values)},
        coords={"item": ["x"], "category": range(values.shape[-1])},
    )
    return xr.DataTree.from_dict({"/posterior": data})


def test_golden_certainties():
    tree = tree_of(GOLDEN["certainty"]["draws"])
    np.testing.assert_allclose(label_certainty(tree).values[0], GOLDEN["certainty"]["top_1"], atol=1e-12)
    # Sets: {2, 1} six times, {1, 3}, {0, 1}, {0, 3}, {3, 2} once each.
    assert annotation_certainty(tree, k=2).item() == pytest.approx(GOLDEN["certainty"]["top_2_set_max"])


def test_golden_dirichlet():
    for case in GOLDEN["dirichlet_top_1"]["cases"]:
        prior = 0.1
        counts = (np.array(case["shape"]) - prior) / 0.1  # reliability 0.1 turns whole counts into these shapes
        labels = Labels.from_counts([np.round(counts).astype(int)])
        tree = dirichlet(labels, reliability=0.1, prior=prior, draws=1, chains=1)
        np.testing.assert_allclose(label_certainty(tree, exact=True).values[0], case["probability"], atol=5e-9)


@given(st.integers(1, 12), st.integers(12, 600), st.integers(1, 60), st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_sets_are_counted_as_sets(k, n_labels, n_samples, random_seed):
    rng = np.random.default_rng(random_seed)
    top = rng.integers(0, n_labels, (3, n_labels)).argsort(axis=1)[:, :k][rng.integers(0, 3, n_samples)]
    top = rng.permuted(top, axis=1)
    counted = {frozenset(row): 0 for row in top.tolist()}
    for row in top.tolist():
        counted[frozenset(row)] += 1
    found = share_of_most_frequent_set(np.stack([top, top[:1].repeat(n_samples, axis=0)]).astype(np.int16))
    assert found.tolist() == [max(counted.values()) / n_samples, 1.0]


def test_certainty_takes_full_draws_and_top_labels_alike():
    labels = Labels.from_counts(np.random.default_rng(1).integers(0, 5, (70, 6)))
    full = dirichlet(labels, draws=400, random_seed=2)
    ranked = np.argsort(-full["posterior"]["plausibility"].values, axis=-1)[..., :3].astype(np.int16)
    kept = xr.DataTree.from_dict(
        {
            "/posterior": xr.Dataset(
                {"top_label": (("chain", "draw", "item", "rank"), ranked)}, coords={"item": labels.items}
            ),
            "/posterior_parameters": full["posterior_parameters"].to_dataset(),
        }
    )
    for k in (1, 2, 3):
        np.testing.assert_array_equal(annotation_certainty(full, k=k), annotation_certainty(kept, k=k))
    with pytest.raises(InputError, match="the top 4 labels are needed, but only 3 were kept"):
        annotation_certainty(kept, k=4)


def test_entropy_and_its_closed_form():
    labels = Labels.from_counts([[3, 1, 0, 2], [0, 0, 0, 9]])
    tree = dirichlet(labels, draws=20_000, chains=1, random_seed=1)
    draws = tree["posterior"]["plausibility"].values[0]
    entropy = -(draws * np.log(draws)).sum(axis=-1)
    error = entropy.std(axis=0) / np.sqrt(len(entropy))
    gap = np.abs(plausibility_entropy(tree) - entropy.mean(axis=0))
    assert (gap < 4.5 * error).all()
    drawn = xr.DataTree.from_dict({"/posterior": tree["posterior"].to_dataset()})
    np.testing.assert_allclose(plausibility_entropy(drawn), entropy.mean(axis=0), rtol=1e-10)


def test_risk_by_hand():
    tree = tree_of([[0.4, 0.3, 0.3], [0.2, 0.5, 0.3], [0.45, 0.25, 0.3], [0.1, 0.2, 0.7]])
    risk = {0: 0, 1: 2, 2: 2}
    np.testing.assert_allclose(level_probability(tree, risk).values, [[0.5, 0.5]])
    assert risk_certainty(tree, risk).item() == 0.5
    assert expected_risk(tree, risk).item() == pytest.approx(1.0)


def plain_agreement(case, n_labels):
    """Appendix D as written: leave one annotator out, look up the others' best label."""
    hits = []
    for r, ranking in enumerate(case):
        others = [other for s, other in enumerate(case) if s != r]
        score = sum(irn(Rankings.from_blocks([[o]], labels=n_labels)).values[0] * plain_weight(o) for o in others)
        best = np.flatnonzero(np.isclose(score, score.max()))
        named = {k for block in ranking for k in block}
        hits.append(np.mean([k in named for k in best]))
    return np.mean(hits)


def plain_weight(ranking):
    return sum(1 / m for m in range(1, len(ranking) + 1))


def test_agreement_of_rankings():
    cases = [[[[0], [1]], [[1], [0]], [[2]]], [[[0, 1]], [[0]], [[1], [2]]]]
    value = annotator_agreement(Rankings.from_blocks(cases, labels=4))
    np.testing.assert_allclose(value, [plain_agreement(case, 4) for case in cases])


def test_agreement_of_one_annotator_is_nan_and_says_so():
    with pytest.warns(UserWarning, match="fewer than two annotators: 'b'"):
        value = annotator_agreement(Labels.from_matrix([[0, 0], [1, None]], items=["a", "b"], labels=[0, 1]))
    assert value.sel(item="a") == 1
    assert np.isnan(value.sel(item="b"))


def test_a_certainty_that_says_nothing_is_told():
    """Votes that all name one label leave it certain only if there is no other: .93 with "b" among the labels."""
    votes = [["a", "a"]] * 3
    with pytest.warns(UserWarning, match="'a' is the only label, of which every item is certain; name all possible"):
        alone = dirichlet(Labels.from_matrix(votes), draws=50, random_seed=1)
    among = dirichlet(Labels.from_matrix(votes, labels=["a", "b"]), draws=50, random_seed=1)
    np.testing.assert_allclose(annotation_certainty(alone, exact=True), 1.0)
    assert (annotation_certainty(among, exact=True) < 0.95).all()


@pytest.mark.filterwarnings("ignore:.* is the only label:UserWarning")
@pytest.mark.parametrize(("counts", "expected"), [([[5]], 1.0), ([[1, 1]], 0.5), ([[0, 0, 0], [3, 3, 3]], 1 / 3)])
def test_one_label_and_items_that_say_nothing(counts, expected):
    tree = dirichlet(Labels.from_counts(counts), draws=50, random_seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        certainty = annotation_certainty(tree, exact=True)
    np.testing.assert_allclose(certainty, expected, atol=1e-10)
