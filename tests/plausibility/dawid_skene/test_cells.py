"""The sparse layout of confusion cells against the plain description of it, entry by entry."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesagree.plausibility.dawid_skene._cells import annotation_cells


def plain(item, annotator, label, n_items, n_labels, candidates, gold):
    """List (annotator, true label, given label) of each entry in order of item, annotator, label, candidate."""
    entries, possible = [], []
    order = np.lexsort((label, annotator, item))
    for i in range(n_items):
        own = [(int(annotator[t]), int(label[t])) for t in order if item[t] == i]
        seen = sorted({given for _, given in own})
        if gold is not None and gold[i] >= 0:
            truths = [int(gold[i])]
        else:
            truths = seen if candidates == "observed" and seen else list(range(n_labels))
        possible.append(truths)
        entries += [(who, truth, given) for who, given in own for truth in truths]
    return entries, possible


@settings(max_examples=150, deadline=None)
@given(
    random_seed=st.integers(0, 10**6),
    size=st.tuples(st.integers(1, 12), st.integers(1, 5), st.sampled_from([1, 2, 4, 50])),
    rows=st.integers(1, 150),
    candidates=st.sampled_from(["all", "observed"]),
    with_gold=st.booleans(),
)
def test_every_entry_has_its_cell(random_seed, size, rows, candidates, with_gold):
    rng = np.random.default_rng(random_seed)
    n_items, n_annotators, n_labels = size
    item, annotator, label = (rng.integers(0, n, rows) for n in size)
    gold = rng.integers(-1, n_labels, n_items) if with_gold else None
    cells = annotation_cells(
        item, annotator, label, n_items=n_items, n_annotators=n_annotators, n_labels=n_labels, candidates=candidates,
        gold=gold,
    )  # fmt: skip
    entries, possible = plain(item, annotator, label, n_items, n_labels, candidates, gold)
    assert [list(c) for c in np.split(cells.candidate, cells.candidate_start[1:-1])] == possible
    row = cells.row_of_cell()[cells.cell]
    found = zip(cells.row_annotator[row].tolist(), cells.row_label[row].tolist(), cells.cell_label[cells.cell].tolist())
    assert list(found) == entries
    own = list(zip(cells.row_annotator.tolist(), cells.row_label.tolist()))
    assert own == sorted(set(own))
    for r in np.split(cells.row_cell, cells.row_start[1:-1]):
        assert (np.diff(cells.cell_label[r]) > 0).all()
