"""F1 of the spans that pairs of annotators mark: kappa's limit where most of a text is marked by nobody."""

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from bayesagree.agreement._coefficients import FEWEST, REPLICATES, weight_shape
from bayesagree.agreement._formulas import ratio
from bayesagree.annotations.spans import Match, Span, read_spans
from bayesagree.errors import InputError, one_of, warn
from bayesagree.inference.intervals import column_hdi
from bayesagree.inference.streams import Seed, seed_sequence


def span_f1(
    frame: Any, *, match: Match = "exact", ci_prob: float = 0.95, random_seed: Seed = None
) -> pd.DataFrame:
    """Compute the F1 of marked spans for each pair of annotators and their mean, with intervals over documents.

    F1 is 2 m / (a + b): two annotators mark a and b spans in the documents that both read, and m of them match. If
    most of a text is unmarked, chance-corrected agreement tends to F1 (Hripcsak and Rothschild 2005).

    Parameters
    ----------
    frame
        As in `Labels.from_spans`.
    match
        Spans match that have the same label and equal ends, or the same label and overlap; each span matches at most
        one of the other annotator.
    ci_prob
        Probability of the interval: the shortest one of 2000 replicates that weigh the documents by gamma variables, as
        the Bayesian bootstrap, but wider if they are few.
    random_seed
        Of the replicates.

    Returns
    -------
    DataFrame
        One row per pair of annotators with a document in common, and first their mean (annotator and other_annotator
        are empty): annotator, other_annotator, f1, lower, upper, n_documents.

    Raises
    ------
    InputError
        No two annotators read the same document, or no span at all.

    Warns
    -----
    UserWarning
        Fewer than three documents in common: no interval.

    References
    ----------
    Hripcsak and Rothschild, "Agreement, the F-measure, and reliability in information retrieval", JAMIA 12 (2005),
    doi:10.1197/jamia.M1733.

    Examples
    --------
    >>> rows = [("d1", "ann", 0, 6, "NAME"), ("d1", "bob", 0, 6, "NAME"), ("d2", "ann", 2, 4, "NAME")]
    >>> rows += [("d2", "bob", 3, 4, "NAME"), ("d3", "ann", None, None, None), ("d3", "bob", None, None, None)]
    >>> frame = pd.DataFrame(rows, columns=["document", "annotator", "start", "end", "label"])
    >>> span_f1(frame, random_seed=1)["f1"].tolist(), span_f1(frame, match="overlap", random_seed=1)["f1"].tolist()
    ([0.5, 0.5], [1.0, 1.0])
    """
    one_of(match, "match", ("exact", "overlap"))
    marked = read_spans(frame)
    pairs = sorted(
        {pair for given in marked.values() for pair in combinations(sorted(given, key=str), 2)}, key=str
    )
    if not pairs:
        raise InputError(
            "no two annotators read the same document; a row with empty spans says that somebody read it"
        )
    documents = list(marked.values())
    matched, total = np.zeros((2, len(documents), len(pairs)))
    both = np.zeros((len(documents), len(pairs)), bool)
    for d, given in enumerate(documents):
        for p, (first, second) in enumerate(pairs):
            if first in given and second in given:
                both[d, p] = True
                matched[d, p] = _matches(given[first], given[second], match)
                total[d, p] = (len(given[first]) + len(given[second])) / 2
    if not total.any():
        raise InputError("nobody marked a span in a document that two annotators read")
    weight = np.random.default_rng(seed_sequence(random_seed)).standard_gamma(
        weight_shape(int(both.any(axis=1).sum())), (REPLICATES, len(documents))
    )
    # Pairs that marked nothing have no F1.
    estimate = ratio(matched.sum(axis=0), total.sum(axis=0))
    drawn = ratio(weight @ matched, weight @ total)
    first, second = zip((None, None), *pairs)
    estimate = np.append(np.nanmean(estimate), estimate)
    drawn = np.column_stack([np.nanmean(drawn, axis=1), drawn])
    number = np.column_stack([both.any(axis=1), both]).sum(axis=0)
    if (number < FEWEST).any():
        warn(f"no interval of F1 where annotators read fewer than {FEWEST} documents in common")
    lower, upper = np.where(number < FEWEST, np.nan, column_hdi(drawn, ci_prob))
    found = {"annotator": first, "other_annotator": second, "f1": estimate, "lower": lower, "upper": upper}
    return pd.DataFrame(found | {"n_documents": number})


def _matches(first: list[Span], second: list[Span], match: Match) -> int:
    """Number of spans that match, each at most once: from left to right, the one that ends first."""
    left, found = sorted(second, key=lambda span: span.end), 0
    for span in sorted(first, key=lambda span: span.end):
        for other in left:
            same = (
                span == other if match == "exact" else min(span.end, other.end) > max(span.start, other.start)
            )
            if same and span.label == other.label:
                left.remove(other)
                found += 1
                break
    return found
