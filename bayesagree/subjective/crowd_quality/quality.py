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

from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from bayesagree._numerics.types import Floats, Integers
from bayesagree.annotations import Labels
from bayesagree.errors import ConvergenceError, positive, positive_int
from bayesagree.subjective.crowd_quality._judgments import Judgments
from bayesagree.subjective.crowd_quality._kernels import SMALLEST, add_cosines, iterate


class Quality(NamedTuple):
    """The qualities after one iteration."""

    uqs: Floats
    wqs: Floats
    wwa: Floats
    wsa: Floats
    aqs: Floats


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
    least, most = positive(tolerance, "tolerance"), positive_int(max_iterations, "max_iterations")
    solved = solve(judgments, closed=closed, tolerance=least, max_iterations=most)
    dims = {"uqs": "item", "wqs": "annotator", "wwa": "annotator", "wsa": "annotator", "aqs": "category"}
    scores: dict[str, Any] = {}
    weights = solved.last.wqs, np.ones(labels.annotators.size)
    for end, quality, weight in zip(("", "_initial"), (solved.last, solved.first), weights):
        scores |= {name + end: (dim, getattr(quality, name)) for name, dim in dims.items()}
        scores["uas" + end] = (("item", "category"), judgments.label_share(weight))
    coords = {"item": labels.items, "annotator": labels.annotators, "category": labels.categories}
    attrs = {"n_iterations": solved.n_iterations, "last_change": solved.change}
    return xr.Dataset(scores, coords, attrs | {"tolerance": float(tolerance), "closed": int(closed)})


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
    sizes = n_items, n_annotators, n_annotators, n_annotators, n_labels
    first, last, new = (Quality(*map(np.ones, sizes)) for _ in range(3))
    shapes = n_items, (n_annotators, 4), (3, n_labels), (n_annotators, 2), (2, n_labels)
    own, room = np.arange(judgments.item.size), tuple(map(np.zeros, shapes))
    limits = closed, tolerance, max_iterations
    n, moved = iterate(judgments.places, judgments.visits, own, present, *limits, first, last, new, room)
    if n:
        return Solution(first, last, n, moved)
    raise ConvergenceError(
        f"CrowdTruth qualities still move by {moved:g} after {max_iterations} iterations; "
        f"pass a tolerance above {tolerance:g} or more max_iterations"
    )


def compare_vectors(judgments: Judgments, source: Integers, w: Floats, q: Floats, aqs: Floats) -> tuple[Floats, ...]:
    """Return UQS (item,), NaN where nobody judged, and WWA and WSA (annotator,).

    Judgment j gives the vector of judgment ``source[j]``, its own or one that was dealt to it; the vectors of the
    others stay theirs.
    """
    n_items, n_annotators, n_labels = judgments.shape
    uqs, sums, of_label = np.empty(n_items), np.zeros((n_annotators, 4)), np.zeros((3, n_labels))
    add_cosines(*judgments.places, source, w, q, aqs, of_label, uqs, sums)
    above, below = sums.T.reshape(2, 2, -1).swapaxes(0, 1)
    return uqs, *(above / np.maximum(below, SMALLEST))
