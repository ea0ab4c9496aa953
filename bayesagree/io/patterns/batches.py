"""Batches of whole items from a file that is larger than memory, each with all its annotations.

`LabelBatches` is for what needs the items themselves: scores of models, one batch after the other
(`evaluate` of an iterator), and annotators' confusion by expectation maximisation
(``dawid_skene(engine="em")``). What depends on an item only through its pattern takes `patterns`,
which is faster.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bayesagree.annotations import Labels
from bayesagree.annotations._columns import names_array, sort_rows
from bayesagree.io.patterns._coded_rows import Names, require_distinct_annotators
from bayesagree.io.patterns._sorted_file import BATCH, Chunk, joined, whole_items


@dataclass(frozen=True)
class LabelBatches:
    r"""Labels of a table with one row per annotation, sorted by item; every loop over it reads the file once.

    Attributes
    ----------
    path
        Parquet or CSV file, or a folder of Parquet files.
    labels
        All possible labels in their order: the categories of every batch.
    item, annotator, label
        Names of the columns; a row without a label is a missing annotation, its item stays.
    rows
        A batch holds the items of at least so many rows, the last one of up to three times as many; two batches are
        in memory at a time.
    ordered
        Whether `labels` stand in a meaningful order, as in `Labels`.

    Raises
    ------
    InputError
        While it is read: rows not sorted by item (and how to sort them), an unknown label, a missing item or annotator,
        a repeated annotation.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "votes.csv"
    >>> _ = path.write_text("item,annotator,label\n1,a,cat\n1,b,dog\n2,a,dog\n2,c,dog\n")
    >>> [votes.counts().tolist() for votes in LabelBatches(path, labels=["cat", "dog"])]
    [[[1, 1], [0, 2]]]
    """

    path: str | Path
    labels: Sequence[Any]
    item: str = "item"
    annotator: str = "annotator"
    label: str = "label"
    rows: int = 2**20
    ordered: bool | None = None

    def __iter__(self) -> Iterator[Labels]:
        known = Names(self.labels, "label")
        full: list[Chunk] = []
        begun: list[Chunk] = []
        for chunk in whole_items(self.path, self.item, [self.annotator, self.label], min(self.rows, BATCH)):
            begun.append(chunk)
            if sum(int(one.start[-1]) for one in begun) >= self.rows:
                if full:
                    yield self._read(joined(full), known)
                full, begun = begun, []
        # The last rows may be those of a single item: they join the batch before them.
        yield self._read(joined(full + begun), known)

    def _read(self, chunk: Chunk, known: Names) -> Labels:
        label = known.codes(chunk, self.label)
        require_distinct_annotators(chunk, self.annotator, label >= 0)
        found = Names(None, "annotator")
        annotator = found.codes(chunk, self.annotator)
        annotators, order = found.in_order()
        place = np.empty(order.size, np.int64)
        place[order] = np.arange(order.size)
        item = np.repeat(np.arange(chunk.start.size - 1), np.diff(chunk.start))
        given = np.flatnonzero(label >= 0)
        items, categories = names_array(chunk.items.to_pylist(), "item"), known.in_order()[0]
        codes = (item[given], place[annotator[given]], label[given])
        item, who, what = sort_rows(codes, (items.size, annotators.size, categories.size))
        once = np.broadcast_to(np.int64(1), item.shape)
        return Labels(items, annotators, categories, item, who, what, once, self.ordered)
