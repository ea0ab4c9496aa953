"""CrowdTruth: the quality of items, annotators and labels, each weighted by the two others.

An annotator i marks an item u with a vector V_iu of zeros and ones over the labels: one label, or several
(``duplicates="keep"``). Three qualities in [0, 1] depend on one another, weights w = WQS, q = UQS, A = AQS:

=====  =============================================================================================
UQS    unit quality: mean cosine of the vectors of an item, over its pairs of annotators
WQS    worker quality = WWA (cosine with each co-annotator) x WSA (cosine with the rest of the item)
AQS    annotation quality: Pr(i marks a | j marks a), mean over pairs of annotators with common items
=====  =============================================================================================

All start at 1 and are computed again from the previous values until none moves by `tolerance`. The cosines are sums
over labels of products, so that sums over pairs of annotators of an item become squares of sums over the annotators:
everything but AQS costs one pass over the annotations, and AQS one over the pairs of annotators of each item.

Source: Dumitrache, Inel, Aroyo, Timmermans, Welty, "CrowdTruth 2.0: quality metrics for crowdsourcing with
disagreement" (2018), section 3.
"""

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree._arguments import checked
from bayesagree.annotations import Labels
from bayesagree.crowd_quality._kernels import SMALLEST, Floats, Vectors, Visits, converge
from bayesagree.errors import ConvergenceError, InputError, positive, positive_int, shorten


class Quality(NamedTuple):
    """The qualities after one iteration."""

    uqs: Floats
    wqs: Floats
    wwa: Floats
    wsa: Floats
    aqs: Floats


@checked
def crowdtruth(
    labels: Labels, *, closed: bool = True, tolerance: float = 1e-3, max_iterations: int = 1000
) -> xr.Dataset:
    """Score the quality of items, annotators and labels by their mutual agreement.

    Parameters
    ----------
    labels
        Labels by known annotators; several labels of an annotator for an item are one vector.
    closed
        Whether annotators chose from a fixed list of labels. In open tasks (free text) every AQS is 1.
    tolerance
        Stop when no UQS, WQS or AQS moves by this much.
    max_iterations
        Give up after this many.

    Returns
    -------
    Dataset
        ``uqs`` (item), ``wqs``, ``wwa``, ``wsa`` (annotator), ``aqs`` (category), each in [0, 1]; ``uas``
        (item, category), the weighted share of annotators who marked the label; ``uqs_initial`` and so on, the
        values with all weights 1.
        Attributes ``n_iterations`` and ``last_change``.

    Raises
    ------
    InputError
        Labels without annotators, or no item with two annotators.
    ConvergenceError
        The qualities still move after `max_iterations`.

    Warns
    -----
    UserWarning
        Items with fewer than two annotators: nobody to agree with, so their UQS is NaN and they count for nothing.

    Examples
    --------
    >>> votes = Labels.from_matrix([["a", "a", "b"], ["b", "b", "a"], ["a", "a", "a"]], annotators=["x", "y", "z"])
    >>> scores = crowdtruth(votes)
    >>> scores["wqs"].round(2).values.tolist()
    [0.9, 0.9, 0.17]

    References
    ----------
    Dumitrache et al., "CrowdTruth 2.0", section 3.
    """
    judgments = Judgments.of(labels)
    first, last, n_iterations, change = solve(
        judgments, closed=closed, tolerance=positive(tolerance, "tolerance"),
        max_iterations=positive_int(max_iterations, "max_iterations"),
    )  # fmt: skip
    dims = {"uqs": "item", "wqs": "annotator", "wwa": "annotator", "wsa": "annotator", "aqs": "category"}
    scores = {name: (dim, getattr(last, name)) for name, dim in dims.items()}
    initial = {f"{name}_initial": (dim, getattr(first, name)) for name, dim in dims.items()}
    uas = {
        "uas": (("item", "category"), judgments.label_share(last.wqs)),
        "uas_initial": (("item", "category"), judgments.label_share(np.ones(labels.annotators.size))),
    }
    coords = {"item": labels.items, "annotator": labels.annotators, "category": labels.categories}
    attrs = {"n_iterations": n_iterations, "last_change": change, "tolerance": float(tolerance), "closed": int(closed)}
    return xr.Dataset(scores | uas | initial, coords=coords, attrs=attrs)


@dataclass(frozen=True, eq=False)
class Judgments:
    """Vectors of zeros and ones, sparse: one judgment is an (item, annotator), one mark a label that it chose.

    Attributes
    ----------
    item, annotator
        Of each judgment, shape (judgment,).
    judgment, label
        Of each mark, shape (mark,).
    shape
        Numbers of items, annotators and labels.
    """

    item: NDArray[np.int64]
    annotator: NDArray[np.int64]
    judgment: NDArray[np.int64]
    label: NDArray[np.int64]
    shape: tuple[int, int, int]

    @classmethod
    def of(cls, labels: Labels) -> Self:
        """Read labels, leaving out items that fewer than two annotators judged."""
        if not labels.annotators_known:
            raise InputError(
                "CrowdTruth scores annotators, but these labels do not say whose they are; use Labels.from_long"
            )
        shape = (labels.items.size, labels.annotators.size, labels.categories.size)
        pair = labels.item_index.astype(np.int64) * shape[1] + labels.annotator_index
        # `np.unique` takes ten times as long on a million.
        marks = np.sort(pair * shape[2] + labels.label_index)
        marks = marks[np.diff(marks, prepend=-1) > 0]
        of_mark, label = np.divmod(marks, shape[2])
        new = np.diff(of_mark, prepend=-1) > 0
        item, annotator = np.divmod(of_mark[new], shape[1])
        judged = np.bincount(item, minlength=shape[0])
        if (judged < 2).all():
            raise InputError("no item was judged by two annotators: there is no agreement to measure")
        judgment = np.cumsum(new) - 1
        if not (judged < 2).any():
            return cls(item, annotator, judgment, label, shape)
        alone = labels.items[judged < 2]
        warnings.warn(
            f"{alone.size} items have fewer than two annotators, so their quality does not exist: {shorten(alone)}",
            stacklevel=3,
        )
        kept = judged[item] >= 2
        of_kept = kept[judgment]
        return cls(item[kept], annotator[kept], (np.cumsum(kept) - 1)[judgment[of_kept]], label[of_kept], shape)

    @cached_property
    def vectors(self) -> Vectors:
        """What every judgment marked, as the comparison of vectors reads it."""
        item_start = np.searchsorted(self.item, np.arange(self.shape[0] + 1))
        mark_start = np.searchsorted(self.judgment, np.arange(self.item.size + 1))
        return Vectors(item_start, self.annotator, mark_start, self.label)

    @cached_property
    def visits(self) -> Visits:
        """Who marked what, as the sums over pairs of annotators read it."""
        who, at = self.annotator[self.judgment], self.item[self.judgment]
        # Sorting numbers that hold row and item is three times as fast as finding their order.
        rows, items = np.divmod(np.sort((self.label * self.shape[1] + who) * self.shape[0] + at), self.shape[0])
        start = np.flatnonzero(np.diff(rows, prepend=-1))
        label, annotator = np.divmod(rows[start], self.shape[1])
        opens = np.diff(self.judgment, prepend=-1) > 0
        mark = np.column_stack([who, self.label, opens]).astype(np.uint32)
        item_start = np.searchsorted(at, np.arange(self.shape[0] + 1))
        return Visits(label, annotator, np.append(start, rows.size), items.astype(np.uint32), item_start, mark)

    def label_share(self, quality: Floats) -> Floats:
        """Return UAS, the share of the annotators' weight that marked each label, shape (item, category)."""
        n_items, _, n_labels = self.shape
        weight = np.nan_to_num(quality)[self.annotator]
        cell = self.item[self.judgment] * n_labels + self.label
        marked = np.bincount(cell, weight[self.judgment], n_items * n_labels).reshape(n_items, n_labels)
        total = np.maximum(np.bincount(self.item, weight, n_items), SMALLEST)
        judged = np.bincount(self.item, minlength=n_items) > 0
        return np.where(judged[:, None], marked / total[:, None], np.nan)


class Solution(NamedTuple):
    """First and last qualities, the number of iterations and the last change."""

    first: Quality
    last: Quality
    n_iterations: int
    change: float


def solve(
    judgments: Judgments,
    *,
    closed: bool = True,
    tolerance: float = 1e-3,
    max_iterations: int = 1000,
    item_weight: Floats | None = None,
) -> Solution:
    """Iterate the qualities until none moves by the tolerance.

    `item_weight` counts an item that many times wherever items are summed over: the weights of a bootstrap.
    """
    n_items, n_annotators, n_labels = judgments.shape
    present = np.ones(n_items) if item_weight is None else item_weight
    first, last, n, moved = converge(
        judgments.vectors, judgments.visits, present, n_annotators, n_labels, closed, tolerance, max_iterations
    )
    if moved < tolerance:
        return Solution(Quality(*first), Quality(*last), n, moved)
    raise ConvergenceError(
        f"CrowdTruth qualities still move by {moved:g} after {max_iterations} iterations; "
        f"pass a tolerance above {tolerance:g} or more max_iterations"
    )
