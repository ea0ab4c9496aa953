"""CrowdTruth's cosines between the vectors of an item, as sums over what annotators marked."""

import numpy as np

from bayesagree._numerics.types import Floats
from bayesagree.subjective.crowd_quality._judgments import SMALLEST, Judgments, Marks


def compare_vectors(judgments: Judgments, given: Marks, w: Floats, q: Floats, aqs: Floats) -> tuple[Floats, ...]:
    """Return UQS (item,), NaN where nobody judged, and WWA and WSA (annotator,).

    Every judgment gives its vector of `given`, its own or one that was dealt to it; the vectors of the others stay
    theirs. A sum over the others of an item is that over everybody without the judgment's own part.
    """
    n_items, n_annotators, _ = judgments.shape
    item, annotator, own = judgments.item, judgments.annotator, judgments.own
    # The cell that nobody marked has size and weight 0.
    who, size = w[annotator], np.append(aqs[judgments.cell_label], 0.0)
    length = np.sqrt(np.bincount(own.judgment, size[own.cell]))
    pull = who / length
    weight, pulled = (np.bincount(own.cell, each[own.judgment], size.size) for each in (who, pull))

    def others(of_cell: Floats, of_judgment: Floats, marks: Marks) -> Floats:
        """Return the part of the other judgments of a cell, for each mark."""
        return of_cell[marks.cell] - marks.own * of_judgment[marks.judgment]

    given_length, given_size = length[given.source], size[given.cell]
    similarity = np.bincount(given.judgment, given_size * others(pulled, pull, given)) / given_length
    product = np.bincount(given.judgment, given_size * others(weight, who, given))

    # The squared length of the sum of the others' vectors: of labels that the judgment did not mark, and that it did.
    squares = size * weight**2
    whole2 = np.bincount(judgments.cell_item, squares[:-1], n_items)[item]
    rest2 = np.maximum(whole2 - np.bincount(own.judgment, squares[own.cell]), 0)
    rest2 += np.bincount(own.judgment, size[own.cell] * others(weight, who, own) ** 2)
    # An annotator of weight 0 has no direction; the published scores give such a cosine the smallest value.
    lengths = who * given_length * np.sqrt(rest2)
    cosine = np.where(lengths < SMALLEST, SMALLEST, who * product / np.maximum(lengths, SMALLEST))

    crowd = np.bincount(item, who, n_items)[item] - who
    uqs = ratio(np.bincount(item, who * similarity, n_items), np.bincount(item, who * crowd, n_items))
    uqs[np.bincount(item, minlength=n_items) == 0] = np.nan
    at = q[item]
    wwa = ratio(np.bincount(annotator, at * similarity, n_annotators), np.bincount(annotator, at * crowd, n_annotators))
    wsa = ratio(np.bincount(annotator, at * cosine, n_annotators), np.bincount(annotator, at, n_annotators))
    return uqs, wwa, wsa


def ratio(above: Floats, below: Floats) -> Floats:
    """Return a weighted mean from its two sums; 0 where nothing has a weight."""
    return above / np.maximum(below, SMALLEST)
