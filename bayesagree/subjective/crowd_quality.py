"""CrowdTruth: the quality of items, annotators and labels, each weighted by the two others.

An annotator i marks an item u with a vector V_iu of zeros and ones over the labels: one label, or several
(``duplicates="keep"``). Three qualities in [0, 1] depend on one another, weights w = WQS, q = UQS, A = AQS:

=====  =============================================================================================
UQS    unit quality: mean cosine of the vectors of an item, over its pairs of annotators
WQS    worker quality = WWA (cosine with each co-annotator) x WSA (cosine with the rest of the item)
AQS    annotation quality: Pr(i marks a | j marks a), mean over pairs of annotators with common items
=====  =============================================================================================

All start at 1 and are computed again from the previous values until none moves by `tolerance`. A sum over the pairs of
a judgment (the vector of one annotator for one item) is a product with the sum of the other judgments of its item.

Source: Dumitrache, Inel, Aroyo, Timmermans, Welty, "CrowdTruth 2.0: quality metrics for crowdsourcing with
disagreement" (2018), section 3.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
import xarray as xr
from scipy.sparse import csr_array, diags_array

from bayesagree._types import Floats, Named, Pair
from bayesagree.agreement._patterns import pair_counts
from bayesagree.annotations import Labels
from bayesagree.errors import ConvergenceError, InputError, positive, positive_int, shorten, warn
from bayesagree.io.doors import as_annotations

# Every denominator, and every AQS, is at least this.
SMALLEST = 1e-8


class Quality(NamedTuple):
    """The qualities after one iteration."""

    uqs: Floats
    wqs: Floats
    aqs: Floats


def crowdtruth(labels: Labels, *, tolerance: float = 1e-3, max_iterations: int = 1000) -> xr.Dataset:
    """Score the quality of items, annotators and labels by their mutual agreement.

    Parameters
    ----------
    labels
        Labels by known annotators; several labels of an annotator for an item are one vector.
    tolerance
        Stop when no UQS, WQS or AQS moves by this much.
    max_iterations
        Give up after this many.

    Returns
    -------
    Dataset
        ``uqs`` (item), ``wqs`` (annotator), ``aqs`` (category), each in [0, 1]; ``uas`` (item, category), the weighted
        share of annotators who marked the label. Attributes ``n_iterations`` and ``last_change``.

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
    labels = as_annotations(labels, (Labels,), "labels")
    positive(tolerance, "tolerance")
    judgments = Judgments.of(labels)
    coords = {"item": labels.items, "annotator": labels.annotators, "category": labels.categories}
    last = Quality(*(np.ones(names.size) for names in coords.values()))
    rounds = 0
    moved = np.inf
    most = positive_int(max_iterations, "max_iterations")
    while moved >= tolerance:
        if rounds == most:
            raise ConvergenceError(
                f"CrowdTruth qualities still move by {moved:g} after {most} iterations; "
                f"pass a tolerance above {tolerance:g} or more max_iterations"
            )
        new = Quality(*judgments.compared(judgments.marks, last), judgments.label_quality(last))
        rounds = rounds + 1
        moved = max(float(np.nanmax(np.abs(a - b))) for a, b in zip(new, last))
        last = new
    scores: Named = {name: (dim, one) for name, dim, one in zip(Quality._fields, coords, last)}
    scores["uas"] = ("item", "category"), judgments.label_share(last.wqs)
    attrs = {"n_iterations": rounds, "last_change": moved, "tolerance": float(tolerance)}
    return xr.Dataset(scores, coords, attrs)


@dataclass(frozen=True, eq=False)
class Judgments:
    """Who judged what how, in ascending order of item and annotator; items of fewer than two judgments are left out.

    Attributes
    ----------
    marks
        Zeros and ones, shape (judgment, label).
    item, annotator
        Of each judgment, as matrices of ones, shape (item, judgment) and (annotator, judgment).
    """

    marks: csr_array
    item: csr_array
    annotator: csr_array

    @classmethod
    def of(cls, labels: Labels) -> Self:
        """Read labels, leaving out items that fewer than two annotators judged."""
        if not labels.annotators_known:
            raise InputError(
                "CrowdTruth scores annotators, but these labels do not say whose they are; use Labels.from_long"
            )
        n_items = labels.items.size
        n_annotators = labels.annotators.size
        pair = labels.item_index.astype(int) * n_annotators + labels.annotator_index
        judged = np.bincount(np.unique(pair) // n_annotators, minlength=n_items)
        if (judged < 2).all():
            raise InputError("no item was judged by two annotators: there is no agreement to measure")
        if (judged < 2).any():
            alone = labels.items[judged < 2]
            warn(
                f"{alone.size} items have fewer than two annotators, so their quality does not exist: {shorten(alone)}"
            )
        kept = judged[labels.item_index] >= 2
        pairs, judgment = np.unique(pair[kept], return_inverse=True)
        marks = pair_counts(judgment, labels.label_index[kept], (pairs.size, labels.categories.size))
        marks.data[:] = 1.0  # a label that an annotator gave an item twice is one mark
        item, annotator = np.divmod(pairs, n_annotators)
        own = np.arange(pairs.size)
        return cls(
            marks,
            pair_counts(item, own, (n_items, own.size)),
            pair_counts(annotator, own, (n_annotators, own.size)),
        )

    def compared(self, vectors: csr_array, quality: Quality) -> Pair:
        """Return UQS (item,) and WQS (annotator,) of vectors (judgment, label), each beside the others' marks."""
        weight = self.annotator.T @ quality.wqs
        q = np.nan_to_num(self.item.T @ quality.uqs)
        crowd = self.item.T @ (self.item @ weight) - weight
        size = np.sqrt(vectors @ quality.aqs)
        # Sums over the other judgments of an item, (judgment, label): of unit vectors, and of vectors.
        unit, whole = (self._others(by) for by in (weight / np.sqrt(self.marks @ quality.aqs), weight))
        similarity = vectors.multiply(unit) @ quality.aqs / size
        length = size * np.sqrt(whole.power(2) @ quality.aqs)
        # An annotator of weight 0 has no direction; the published scores give such a cosine the smallest value.
        seen = weight * length >= SMALLEST
        product = vectors.multiply(whole) @ quality.aqs
        cosine = np.divide(product, length, out=np.full(size.size, SMALLEST), where=seen)
        uqs = _ratio(self.item @ (weight * similarity), self.item @ (weight * crowd))
        judged = np.diff(self.item.indptr) > 0
        wwa = _ratio(self.annotator @ (q * similarity), self.annotator @ (q * crowd))
        return np.where(judged, uqs, np.nan), wwa * _ratio(self.annotator @ (q * cosine), self.annotator @ q)

    def label_share(self, quality: Floats) -> Floats:
        """Return UAS, the share of the annotators' weight that marked each label, shape (item, category)."""
        weight = self.annotator.T @ quality
        marked = (self.item @ diags_array(weight) @ self.marks).toarray()
        total = np.maximum(self.item @ weight, SMALLEST)
        return np.where(np.diff(self.item.indptr)[:, None] > 0, marked / total[:, None], np.nan)

    def _others(self, weight: Floats) -> csr_array:
        """Sum weighted marks over the other judgments of the item of each, shape (judgment, label)."""
        weighted = diags_array(weight) @ self.marks
        return csr_array(self.item.T @ (self.item @ weighted) - weighted)

    def label_quality(self, last: Quality) -> Floats:
        """Average Pr(j marks a | i marks a) over ordered pairs that met where i marked a, weights w_i w_j."""
        w, q = last.wqs, diags_array(np.nan_to_num(last.uqs))
        met = self.annotator @ self.item.T
        aqs = np.full(last.aqs.size, SMALLEST)
        for a in range(aqs.size):
            marked = self.annotator @ diags_array(self.marks[:, [a]].toarray().ravel()) @ self.item.T
            chosen = csr_array(marked @ q @ met.T)
            both = csr_array(marked @ q @ marked.T)
            chosen.eliminate_zeros()
            there = chosen.copy()
            there.data[:], chosen.data = 1.0, 1 / chosen.data
            own = w @ (there.diagonal() * w)
            aqs[a] = max(_ratio(w @ (both.multiply(chosen) @ w) - own, w @ (there @ w) - own), SMALLEST)
        return aqs


def _ratio(above: Any, below: Any) -> Any:
    return above / np.maximum(below, SMALLEST)
