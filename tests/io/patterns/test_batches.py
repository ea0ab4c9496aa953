"""Batches of a file against the container that holds all of it."""

import numpy as np
import pandas as pd
import pytest

from bayesagree.annotations import Labels
from bayesagree.errors import InputError
from bayesagree.io.patterns import patterns as batches_module
from bayesagree.io.patterns.patterns import LabelBatches


@pytest.fixture(autouse=True)
def small_reads(monkeypatch):
    """Let items lie across the borders of what is read at once."""
    monkeypatch.setattr(batches_module, "BATCH", 7)


@pytest.fixture
def votes():
    rng = np.random.default_rng(3)
    n = rng.integers(1, 12, 60)
    item = np.repeat(np.arange(60) * 3, n)
    annotator = np.concatenate([rng.permutation(15)[:k] for k in n])
    label = rng.choice(["no", "so so", "yes"], item.size).astype(object)
    label[[0, 5, 40]] = None
    return pd.DataFrame({"item": item, "annotator": annotator, "label": label})


NAMES = ["yes", "no", "so so", "never given"]


@pytest.mark.parametrize("ending", ["parquet", "csv"])
@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("rows", [1, 30, 10**6])
def test_batches_hold_all_rows(votes, tmp_path, ending, text, rows):
    if text:
        votes["item"] = votes["item"].map("item {:04d}".format)
        votes["annotator"] = votes["annotator"].map("annotator {}".format)
    path = tmp_path / f"votes.{ending}"
    votes.to_csv(path, index=False) if ending == "csv" else votes.to_parquet(path, row_group_size=11)
    batches = list(LabelBatches(path, labels=NAMES, rows=rows))
    whole = Labels.from_long(votes, labels=NAMES)
    assert [name for one in batches for name in one.items.tolist()] == whole.items.tolist()
    assert all(one.categories.tolist() == NAMES for one in batches)
    expected = whole.to_long().reset_index(drop=True)
    pd.testing.assert_frame_equal(pd.concat([one.to_long() for one in batches], ignore_index=True), expected)
    assert len(batches) == 1 if rows > 1000 else len(batches) > 5
    sizes = [int((votes["item"].isin(one.items)).sum()) for one in batches]
    assert min(sizes) >= min(rows, len(votes))


def test_a_batch_is_the_container_of_its_rows(votes, tmp_path):
    votes.to_parquet(tmp_path / "votes.parquet")
    for one in LabelBatches(tmp_path / "votes.parquet", labels=NAMES, rows=40):
        own = Labels.from_long(votes[votes["item"].isin(one.items)], labels=NAMES)
        for name in ("items", "annotators", "item_index", "annotator_index", "label_index", "count"):
            np.testing.assert_array_equal(getattr(one, name), getattr(own, name), err_msg=name)


def test_every_loop_reads_the_file(votes, tmp_path):
    votes.to_parquet(tmp_path / "votes.parquet")
    batches = LabelBatches(tmp_path / "votes.parquet", labels=NAMES)
    assert sum(one.n_annotations for one in batches) == sum(one.n_annotations for one in batches) > 0


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda t: t.iloc[::-1], "is not sorted by item"),
        (lambda t: t.assign(label="maybe"), "item 0: label 'maybe' is not among the 4 given"),
        (lambda t: pd.concat([t.iloc[:2], t.iloc[1:]]), "item 0: an annotator annotated it more than once"),
        (lambda t: t.assign(annotator=t["annotator"].where(t["item"] != 9).astype("Int64")), "item 9: the annotator"),
    ],
)
def test_refused_rows(votes, tmp_path, change, told):
    change(votes).to_parquet(tmp_path / "votes.parquet")
    with pytest.raises(InputError, match=told):
        list(LabelBatches(tmp_path / "votes.parquet", labels=NAMES))
