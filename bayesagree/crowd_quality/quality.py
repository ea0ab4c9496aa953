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
everything but AQS costs one pass over the annotations, and AQS one sparse product per label.

Source: Dumitrache, Inel, Aroyo, Timmermans, Welty, "CrowdTruth 2.0: quality metrics for crowdsourcing with
disagreement" (2018), section 3.
"""

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
import scipy as sp
import xarray as xr
from numpy.typing import NDArray

from bayesagree._arguments import checked
from bayesagree.annotations import Labels
from bayesagree.errors import ConvergenceError, InputError, positive, positive_int, shorten

type Floats = NDArray[np.float64]

SMALLEST = 1e-8
"""Every denominator, and every AQS, is at least this."""


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
        pairs = np.unique(pair)
        judged = np.bincount(pairs // shape[1], minlength=shape[0])
        if (judged < 2).all():
            raise InputError("no item was judged by two annotators: there is no agreement to measure")
        if (judged < 2).any():
            alone = labels.items[judged < 2]
            warnings.warn(
                f"{alone.size} items have fewer than two annotators, so their quality does not exist: {shorten(alone)}",
                stacklevel=3,
            )
        kept = judged[labels.item_index] >= 2
        marks = np.unique(pair[kept] * shape[2] + labels.label_index[kept])
        pairs, judgment = np.unique(marks // shape[2], return_inverse=True)
        item, annotator = np.divmod(pairs, shape[1])
        return cls(item, annotator, judgment, marks % shape[2], shape)

    @cached_property
    def mark_item(self) -> NDArray[np.int64]:
        """Item of each mark, shape (mark,)."""
        return self.item[self.judgment]

    @cached_property
    def cell(self) -> NDArray[np.int64]:
        """Cell (item, category) of each mark, shape (mark,)."""
        return self.mark_item * self.shape[2] + self.label

    @cached_property
    def participation(self) -> "sp.sparse.csr_array":
        """Who judged what, shape (annotator, item)."""
        one = np.ones(self.item.size)
        return sp.sparse.csr_array((one, (self.annotator, self.item)), shape=(self.shape[1], self.shape[0]))

    @cached_property
    def chosen(self) -> "list[sp.sparse.csr_array]":
        """Who chose each label for what: one (annotator, item) matrix per label."""
        who = self.annotator[self.judgment]
        marks = [self.label == a for a in range(self.shape[2])]
        shape = (self.shape[1], self.shape[0])
        return [sp.sparse.csr_array((np.ones(m.sum()), (who[m], self.mark_item[m])), shape=shape) for m in marks]

    def per_item(self, values: Floats) -> Floats:
        """Sum values of judgments over each item."""
        return np.bincount(self.item, values, self.shape[0])

    def per_annotator(self, values: Floats) -> Floats:
        """Sum values of judgments over each annotator."""
        return np.bincount(self.annotator, values, self.shape[1])

    def per_judgment(self, values: Floats) -> Floats:
        """Sum values of marks over each judgment."""
        return np.bincount(self.judgment, values, self.item.size)

    def per_cell(self, values: Floats) -> Floats:
        """Sum values of marks over each (item, category)."""
        return np.bincount(self.cell, values, self.shape[0] * self.shape[2])

    def label_share(self, quality: Floats) -> Floats:
        """Return UAS, the share of the annotators' weight that marked each label, shape (item, category)."""
        weight = np.nan_to_num(quality)[self.annotator]
        marked = self.per_cell(weight[self.judgment]).reshape(self.shape[0], self.shape[2])
        judged = np.bincount(self.item, minlength=self.shape[0])
        share = marked / np.maximum(self.per_item(weight), SMALLEST)[:, None]
        return np.where(judged[:, None] > 0, share, np.nan)


class Marks(NamedTuple):
    """Marks that judgments give: to which judgment and label, in which (item, category) cell, which own mark is there.

    `own` is the position of the judgment's own mark in that cell, -1 where it has none.
    """

    judgment: NDArray[np.int64]
    label: NDArray[np.int64]
    cell: NDArray[np.int64]
    own: NDArray[np.int64]


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
    everyone = np.ones(n_annotators)
    now = Quality(np.ones(n_items), everyone, everyone, everyone, np.ones(n_labels))
    first, moved = None, np.inf
    for n in range(1, max_iterations + 1):
        new = _iterate(judgments, now, present, closed)
        moved = max(float(np.nanmax(np.abs(getattr(new, k) - getattr(now, k)))) for k in ("uqs", "wqs", "aqs"))
        first, now = first or new, new
        if moved < tolerance:
            return Solution(first, now, n, moved)
    raise ConvergenceError(
        f"CrowdTruth qualities still move by {moved:g} after {max_iterations} iterations; "
        f"pass a tolerance above {tolerance:g} or more max_iterations"
    )


def _iterate(judgments: Judgments, old: Quality, present: Floats, closed: bool) -> Quality:
    """Compute every quality from the previous ones."""
    w = old.wqs[judgments.annotator]
    others = judgments.per_item(w)[judgments.item] - w
    similarity, wwa, wsa = annotator_quality(judgments, old, present)
    uqs = _ratio(judgments.per_item(w * similarity), judgments.per_item(w * others))
    uqs[np.bincount(judgments.item, minlength=uqs.size) == 0] = np.nan
    aqs = _label_quality(judgments, old.wqs, old.uqs * present) if closed else old.aqs
    return Quality(uqs, wwa * wsa, wwa, wsa, aqs)


def annotator_quality(
    judgments: Judgments, old: Quality, present: Floats, given: Marks | None = None
) -> tuple[Floats, Floats, Floats]:
    """Compare each judgment with the others of its item.

    Parameters
    ----------
    judgments, old, present
        The data, the previous qualities, how often each item counts.
    given
        What the annotators gave instead of their own vectors; the vectors they are compared with do not change.

    Returns
    -------
    similarity : array (judgment,)
        Weighted sum of the cosines with the others.
    wwa, wsa : array (annotator,)
        NaN for an annotator without judgments.
    """
    given = given or Marks(judgments.judgment, judgments.label, judgments.cell, np.arange(judgments.label.size))
    w, q = old.wqs[judgments.annotator], (old.uqs * present)[judgments.item]
    weight = old.aqs[judgments.label]
    w_mark = w[judgments.judgment]
    length2 = judgments.per_judgment(weight)
    pulled = w_mark * np.sqrt(weight / length2[judgments.judgment])

    def others(mine: Floats) -> Floats:
        """Sum a value of all marks but one's own in the cell of every given mark."""
        own = np.append(mine, 0.0)[given.own]
        return judgments.per_cell(mine)[given.cell] - own

    given_weight = old.aqs[given.label]
    given_length2 = np.bincount(given.judgment, given_weight, w.size)
    unit = np.sqrt(given_weight / given_length2[given.judgment])
    similarity = np.bincount(given.judgment, unit * others(pulled), w.size)
    product = w * np.bincount(given.judgment, given_weight * others(w_mark), w.size)
    lengths = np.sqrt(w**2 * given_length2 * _rest_length2(judgments, w_mark, old.aqs))
    # An annotator of weight 0 has no direction; the published scores give such a cosine the smallest value.
    cosine = np.where(lengths < SMALLEST, SMALLEST, product / np.maximum(lengths, SMALLEST))

    crowd = judgments.per_item(w)[judgments.item] - w
    wwa = _ratio(judgments.per_annotator(q * similarity), judgments.per_annotator(q * crowd))
    wsa = _ratio(judgments.per_annotator(q * cosine), judgments.per_annotator(q))
    absent = np.bincount(judgments.annotator, minlength=wwa.size) == 0
    wwa[absent] = wsa[absent] = np.nan
    return similarity, wwa, wsa


def _rest_length2(judgments: Judgments, w_mark: Floats, aqs: Floats) -> Floats:
    """Return the squared length of the sum of the other vectors of the item of each judgment, shape (judgment,)."""
    total = judgments.per_cell(w_mark)
    mine, weight = total[judgments.cell], aqs[judgments.label]
    all2 = total.reshape(-1, judgments.shape[2]) ** 2 @ aqs
    unmarked2 = all2[judgments.item] - judgments.per_judgment(weight * mine**2)
    return np.maximum(unmarked2, 0) + judgments.per_judgment(weight * (mine - w_mark) ** 2)


def _label_quality(judgments: Judgments, w: Floats, q: Floats) -> Floats:
    """Return AQS: how likely i marks a label on the items where j did, weighted over ordered pairs (i, j)."""
    w, q = np.nan_to_num(w), np.nan_to_num(q)
    quality = np.full(judgments.shape[2], SMALLEST)
    for a, chosen in enumerate(judgments.chosen):
        weighted = chosen.multiply(q[None, :]).tocsr()
        seen = _without_diagonal(weighted @ judgments.participation.T)
        both = _without_diagonal(weighted @ chosen.T)
        if seen.nnz:
            share = both.multiply(seen.power(-1))
            seen.data[:] = 1.0
            quality[a] = max(w @ (share @ w) / max(w @ (seen @ w), SMALLEST), SMALLEST)
    return quality


def _without_diagonal(matrix: Any) -> "sp.sparse.csr_array":
    matrix = matrix.tocoo()
    kept = (matrix.row != matrix.col) & (matrix.data > 0)
    return sp.sparse.csr_array((matrix.data[kept], (matrix.row[kept], matrix.col[kept])), shape=matrix.shape)


def _ratio(above: Floats, below: Floats) -> Floats:
    return above / np.maximum(below, SMALLEST)
