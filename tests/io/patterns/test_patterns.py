"""Patterns read in one pass against the containers that hold every annotation."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesagree.agreement.coefficients import agreement_table, krippendorff_alpha
from bayesagree.agreement.phi import common_agreement
from bayesagree.annotations import Labels, Ratings
from bayesagree.errors import InputError
from bayesagree.io.patterns import _sorted_file
from bayesagree.io.patterns.patterns import LabelPatterns, RatingPatterns
from bayesagree.plausibility.certainty import annotation_certainty
from bayesagree.plausibility.dirichlet.posterior import dirichlet


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    """Let items lie across the borders of batches."""
    monkeypatch.setattr(_sorted_file, "BATCH", 7)


def multiset(counts, weight=None):
    """Count the distinct rows."""
    found = Counter()
    for row, times in zip(counts, np.ones(len(counts), int) if weight is None else weight):
        found[tuple(int(c) for c in row)] += int(times)
    return found


@pytest.fixture
def votes():
    rng = np.random.default_rng(3)
    n = rng.integers(1, 12, 60)
    item = np.repeat(np.arange(60) * 3, n)
    annotator = np.concatenate([rng.permutation(15)[:k] for k in n])
    return pd.DataFrame({"item": item, "annotator": annotator, "rating": rng.choice([1.0, 1.5, 2.0], item.size)})


@pytest.mark.parametrize("ending", ["parquet", "csv"])
@pytest.mark.parametrize("names", ["numbers", "text"])
def test_label_patterns_are_those_of_the_counts(votes, tmp_path, ending, names):
    votes["label"] = votes["rating"].map({1.0: "no", 1.5: "so so", 2.0: "yes"})
    votes.loc[[0, 5], "label"] = None
    if names == "text":
        votes["item"] = votes["item"].map("item {:04d}".format)
    path = tmp_path / f"votes.{ending}"
    votes.to_csv(path, index=False) if ending == "csv" else votes.to_parquet(path)
    patterns = LabelPatterns.from_file(path, annotator="annotator")
    labels = Labels.from_long(votes)
    assert patterns.categories.tolist() == ["no", "so so", "yes"]
    assert multiset(patterns.counts.toarray(), patterns.weight) == multiset(labels.counts())
    assert (patterns.n_items, patterns.n_annotations) == (60, labels.n_annotations)
    assert (patterns.representatives().counts() == patterns.counts.toarray()).all()


def test_rating_patterns_are_those_of_the_ratings(votes, tmp_path):
    votes.to_parquet(tmp_path / "votes.parquet")
    patterns = RatingPatterns.from_file(tmp_path / "votes.parquet", scale=(0, 2), step=0.5, annotator="annotator")
    ratings = Ratings.from_long(votes, scale=(0, 2), step=0.5)
    counts = np.zeros((60, 5), int)
    np.add.at(counts, (ratings.item_index, ratings.levels()), 1)
    assert multiset(patterns.counts.toarray(), patterns.weight) == multiset(counts)
    again = patterns.representatives()
    assert again.items.size == len(patterns.weight)
    np.add.at(counts := np.zeros((again.items.size, 5), int), (again.item_index, again.levels()), 1)
    assert (counts == patterns.counts.toarray()).all()


def test_mean_certainty_is_that_of_all_items(votes, tmp_path):
    votes.to_parquet(tmp_path / "votes.parquet")
    patterns = LabelPatterns.from_file(tmp_path / "votes.parquet", label="rating")
    one = annotation_certainty(dirichlet(patterns.representatives(), draws=1, chains=1, seed=1), exact=True)
    every = annotation_certainty(dirichlet(Labels.from_long(votes, label="rating"), draws=1, chains=1), exact=True)
    assert float(patterns.mean(one)) == pytest.approx(float(every.mean()), rel=1e-12)


def test_agreement_of_patterns_is_that_of_the_ratings(votes, tmp_path):
    votes.to_parquet(tmp_path / "votes.parquet")
    patterns = RatingPatterns.from_file(tmp_path / "votes.parquet", scale=(0, 2), step=0.5)
    ratings = Ratings.from_long(votes, scale=(0, 2), step=0.5)
    one, every = (common_agreement(data, seed=1)["agreement"].to_dataset() for data in (patterns, ratings))
    for name in ("mean", "lower", "upper", "ml", "log_evidence"):
        assert float(one[name]) == pytest.approx(float(every[name]), abs=1e-6), name
    for level in ("nominal", "ordinal", "interval", "ratio"):
        assert krippendorff_alpha(patterns, level=level) == pytest.approx(krippendorff_alpha(ratings, level=level))
    tables = [agreement_table(data, level="interval", seed=1).set_index("coefficient") for data in (patterns, ratings)]
    # Conger's and two-way correlations need annotators; draws of Phi differ.
    of_items = [name for name in tables[0].index if name not in ("conger_kappa", "phi") and "icc" not in name]
    for name in ("estimate", "n_items", "n_annotations"):
        np.testing.assert_allclose(*(t.loc[of_items, name].astype(float) for t in tables), rtol=1e-9)
    assert tables[0].loc["conger_kappa", "note"] == "needs two or more known annotators"


def test_agreement_of_label_patterns_is_that_of_the_counts(votes, tmp_path):
    votes["label"] = votes["rating"].astype(str)
    votes.to_parquet(tmp_path / "votes.parquet")
    patterns, counts = LabelPatterns.from_file(tmp_path / "votes.parquet"), Labels.from_long(votes).counts()
    labels = Labels.from_counts(counts, labels=patterns.categories.tolist())
    tables = [agreement_table(data, seed=1)["estimate"] for data in (patterns, labels)]
    np.testing.assert_allclose(*tables, rtol=1e-9)


def test_patterns_refuse_what_needs_single_ratings(votes, tmp_path):
    votes.to_parquet(tmp_path / "votes.parquet")
    patterns = RatingPatterns.from_file(tmp_path / "votes.parquet", scale=(0, 2), step=0.5)
    with pytest.raises(InputError, match="engine='nuts' needs the single ratings"):
        common_agreement(patterns, engine="nuts")
    with pytest.raises(InputError, match="keep_item_means=True needs the single ratings"):
        common_agreement(patterns, keep_item_means=True)
    with pytest.raises(InputError, match="patterns do not name their items"):
        common_agreement(patterns, item_mean={0: 1.0})


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=9), min_size=1, max_size=12), st.integers(1, 20))
def test_the_size_of_the_batches_changes_nothing(tmp_path_factory, items, batch):
    path = tmp_path_factory.mktemp("batches") / "votes.parquet"
    rows = [(i, label) for i, labels in enumerate(items) for label in labels]
    pd.DataFrame(rows, columns=["item", "label"]).to_parquet(path)
    counts = [np.bincount(labels, minlength=4) for labels in items]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_sorted_file, "BATCH", batch)
        patterns = LabelPatterns.from_file(path, labels=[0, 1, 2, 3])
    assert multiset(patterns.counts.toarray(), patterns.weight) == multiset(counts)


@pytest.mark.parametrize(
    ("column", "row", "value", "message"),
    [
        ("item", 30, 0, "is not sorted by item: 0 comes after"),
        ("rating", 20, 7.0, "rating 7 is not one of the levels 0, 0.5, ..., 2"),
        ("rating", 20, 1.2, "rating 1.2 is not one of the levels"),
        ("item", 11, None, "row 11: the item is missing"),
        ("annotator", 11, None, "the annotator is missing"),
    ],
)
def test_bad_rows_are_refused_with_their_place(votes, tmp_path, column, row, value, message):
    votes = votes.astype({"item": "Int64", "annotator": "Int64"})
    votes.loc[row, column] = value
    votes.to_parquet(tmp_path / "votes.parquet")
    with pytest.raises(InputError, match=message.replace(".", r"\.")):
        RatingPatterns.from_file(tmp_path / "votes.parquet", scale=(0, 2), step=0.5, annotator="annotator")


def test_an_annotator_who_labelled_an_item_twice_is_refused(votes, tmp_path):
    pd.concat([votes.iloc[:1], votes]).to_parquet(tmp_path / "votes.parquet")
    with pytest.raises(InputError, match="item 0: an annotator annotated it more than once"):
        LabelPatterns.from_file(tmp_path / "votes.parquet", label="rating", annotator="annotator")


def test_unknown_label_column_or_file_is_refused(votes, tmp_path):
    path = tmp_path / "votes.parquet"
    votes.to_parquet(path)
    with pytest.raises(InputError, match=r"label 1\.5 is not among the 2 given"):
        LabelPatterns.from_file(path, label="rating", labels=[1.0, 2.0])
    with pytest.raises(InputError, match="no column 'label'; it has 'item', 'annotator', 'rating'"):
        LabelPatterns.from_file(path)
    with pytest.raises(FileNotFoundError, match="there is no file"):
        LabelPatterns.from_file(tmp_path / "other.parquet")
    path.write_bytes(b"PAR1 no")
    with pytest.raises(InputError, match=r"votes\.parquet"):
        LabelPatterns.from_file(path)
    (tmp_path / "votes.txt").write_text("item,label\n")
    with pytest.raises(InputError, match="the files that are streamed are"):
        LabelPatterns.from_file(tmp_path / "votes.txt")
    (tmp_path / "empty.csv").write_text("item,label\n")
    with pytest.raises(InputError, match="is empty"):
        LabelPatterns.from_file(tmp_path / "empty.csv")


@pytest.mark.parametrize("kind", ["int8", "uint8", "int64", "float64", "Int16"])
@pytest.mark.parametrize("wrong", [None, 0, 6, 127])
def test_whole_ratings_of_any_type(tmp_path, kind, wrong):
    rating = [5, 1, 2, 2, 3, 5] if wrong is None else [5, 1, 2, 2, 3, wrong]
    missing = kind == "Int16" and wrong is None
    ratings = pd.Series(rating, dtype=kind)
    table = pd.DataFrame({"item": [1, 1, 2, 2, 2, 3], "rating": ratings.where([True] * 5 + [not missing])})
    table.to_parquet(tmp_path / "ratings.parquet")
    if wrong is not None:
        with pytest.raises(InputError, match=f"item 3: rating {wrong} is not one of the levels 1, 2, ..., 5"):
            RatingPatterns.from_file(tmp_path / "ratings.parquet", scale=(1, 5), step=1)
        return
    patterns = RatingPatterns.from_file(tmp_path / "ratings.parquet", scale=(1, 5), step=1)
    last = [0, 0, 0, 0, 0] if missing else [0, 0, 0, 0, 1]
    assert sorted(patterns.counts.toarray().tolist()) == sorted([[1, 0, 0, 0, 1], [0, 2, 1, 0, 0], last])


def test_patterns_keep_the_order_of_labels(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("item,label\n1,low\n1,high\n2,low\n", encoding="utf-8")
    patterns = LabelPatterns.from_file(path, labels=["low", "high"], ordered=True)
    assert patterns.ordered and patterns.representatives().ordered
    assert not LabelPatterns.from_file(path).has_order
    with pytest.raises(InputError, match="the order of the labels 'high', 'low' is not known"):
        LabelPatterns.from_file(path, ordered=True)
