"""Classic agreement coefficients, each with an interval, in one table.

Intervals are Bayesian-bootstrap intervals over items: each replicate weights the items by Dirichlet(1, ..., 1). All
coefficients are functions of weighted item patterns (`_formulas`), so a replicate costs a matrix product.
"""

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
import scipy as sp

from bayesagree._arguments import checked
from bayesagree._inference.streams import Seed, seed_sequence
from bayesagree._numerics.intervals import hdi
from bayesagree.agreement import _formulas as formula
from bayesagree.agreement._exact.patterns import Floats
from bayesagree.agreement._items import MOST_VALUES, AgreementData, Items, items_of
from bayesagree.agreement.phi import common_agreement
from bayesagree.errors import InputError

type Level = Literal["nominal", "ordinal", "interval", "ratio"]
type Weights = Literal["identity", "ordinal", "linear", "quadratic", "radical", "ratio", "circular", "bipolar"]

REPLICATES = 2000
"""Bootstrap replicates: the ends of a 95 % HDI are then good to a few hundredths of its width."""
WEIGHTS_OF_LEVEL: dict[Level, Weights] = {
    "nominal": "identity", "ordinal": "ordinal", "interval": "quadratic", "ratio": "ratio",
}  # fmt: skip
CELLS = formula.CELLS


class Row(NamedTuple):
    """One coefficient: its estimate, bootstrap replicates, and why it may not exist."""

    estimate: float
    replicates: Floats
    note: str


def undefined(note: str) -> Row:
    """Return a coefficient that does not exist."""
    return Row(np.nan, np.empty(0), note)


@checked
def agreement_table(
    annotations: AgreementData,
    *,
    level: Level = "nominal",
    weights: Weights | None = None,
    ci_prob: float = 0.95,
    seed: Seed = None,
) -> pd.DataFrame:
    """Return all agreement coefficients that the annotations allow, each with an interval.

    Parameters
    ----------
    annotations
        Labels or ratings with any missing pattern, or the patterns of data larger than memory. Patterns and counts
        (`Labels.from_counts`) have no annotators, so that Cohen, Conger and the two-way ICC do not exist.
    level
        Level of measurement. It chooses the agreement weights of the kappas and of AC2: identity, ordinal, quadratic,
        ratio.
    weights
        Other agreement weights (Gwet): linear, radical, circular, bipolar ...
    ci_prob
        Probability of the intervals.
    seed
        Seed or generator of the bootstrap.

    Returns
    -------
    DataFrame
        One row per coefficient: coefficient, estimate, lower, upper, ci_kind (``"bootstrap hdi"``: shortest interval of
        2000 Bayesian-bootstrap replicates over items; ``"hdi"``: posterior of Phi), ci_prob, n_items, n_annotators,
        n_annotations, note. A coefficient that does not exist is NaN and its note says why.

    Raises
    ------
    InputError
        An unknown level, or a `ci_prob` outside (0, 1).

    See Also
    --------
    krippendorff_alpha : alpha alone.
    common_agreement : the posterior of Phi.

    References
    ----------
    Krippendorff, Content Analysis (2004), chapter 11. Gwet, Handbook of Inter-Rater Reliability (2014), chapters 2-4.
    McGraw and Wong, "Forming inferences about some intraclass correlation coefficients", Psychological Methods 1
    (1996), doi:10.1037/1082-989X.1.1.30. Rubin, "The Bayesian bootstrap", Annals of Statistics 9 (1981),
    doi:10.1214/aos/1176345338.

    Examples
    --------
    >>> ratings = Ratings.from_matrix([[0, 0, 0, 0, 1], [1, 1, 1, 1, 0]], scale=(0, 1), step=1)
    >>> table = agreement_table(ratings, seed=1).set_index("coefficient")
    >>> round(float(table.loc["alpha_nominal", "estimate"]), 2)
    0.28
    """
    if level not in WEIGHTS_OF_LEVEL:
        raise InputError(f"level={level!r} is not one of {', '.join(map(repr, WEIGHTS_OF_LEVEL))}")
    if not 0 < ci_prob < 1:
        raise InputError(f"ci_prob={ci_prob!r} must lie between 0 and 1")
    items = items_of(annotations)
    rng = np.random.default_rng(seed_sequence(seed))
    kind = weights or WEIGHTS_OF_LEVEL[level]
    rows = {name: _with_interval(row, ci_prob) for name, row in _rows(items, kind, rng)}
    rows["phi"] = _phi_row(items, ci_prob, rng)
    common = {
        "ci_prob": ci_prob, "n_items": items.patterns.n_items, "n_annotators": items.n_annotators or pd.NA,
        "n_annotations": items.n_annotations,
    }  # fmt: skip
    columns = ["coefficient", "estimate", "lower", "upper", "ci_kind", *common, "note"]
    return pd.DataFrame([{"coefficient": name} | row | common for name, row in rows.items()], columns=columns)


@checked
def krippendorff_alpha(annotations: AgreementData, *, level: Level = "nominal") -> float:
    """Return Krippendorff's alpha alone, NaN where it does not exist.

    Parameters
    ----------
    annotations
        As `agreement_table`.
    level
        Level of measurement: the squared distance of two values.

    Returns
    -------
    float
        1 - D_o / D_e: 1 for full agreement, 0 for that expected by chance.

    See Also
    --------
    agreement_table : alpha with its interval, beside the other coefficients.

    References
    ----------
    Krippendorff, Content Analysis (2004), chapter 11.

    Examples
    --------
    >>> ratings = Ratings.from_matrix([[0, 0, 0, 0, 1], [0, 0, 0, 0, 1]], scale=(0, 1), step=1)
    >>> krippendorff_alpha(ratings)
    -0.125
    """
    items = items_of(annotations)
    weight = items.patterns.weight[None]
    if level == "interval":
        return float(formula.interval_alpha(weight, items.moments())[0])
    counts = items.patterns.counts if level == "nominal" else items.counts()
    return float(formula.alpha(weight, counts, level, items.values)[0])


def _rows(items: Items, kind: Weights, rng: np.random.Generator) -> Iterator[tuple[str, Row]]:
    weight = items.patterns.weight
    replicates = _bootstrap(weight, rng)

    def row(compute: Callable[[Floats], Floats], missing: str = "") -> Row:
        if missing:
            return undefined(missing)
        estimate = float(compute(weight[None])[0])
        if np.isnan(estimate):
            return undefined(_why_undefined(items))
        step = max(1, CELLS // max(items.values.size**2 if items.values.size <= MOST_VALUES else 1, weight.size))
        parts = [compute(replicates[k : k + step]) for k in range(0, len(replicates), step)]
        return Row(estimate, np.concatenate(parts), "")

    n = items.values.size
    many = f"{n} distinct values: too many for a table of pairs" if n > MOST_VALUES else ""
    C = np.empty((0, 0)) if many else items.counts()
    A = np.empty((0, 0)) if many else formula.agreement_weights(kind, items.values)
    yield "percent_agreement", row(lambda W: formula.observed_agreement(W, C, np.eye(len(A))), many)
    yield from _annotator_rows(items, C, A, many, rng)
    yield "fleiss_kappa", row(lambda W: formula.fleiss(W, C, A), many)
    for name in ("nominal", "ordinal"):
        yield f"alpha_{name}", row(lambda W, name=name: formula.alpha(W, C, name, items.values), many)
    words = "" if items.numeric else "the labels are not numbers"
    yield "alpha_interval", row(lambda W: formula.interval_alpha(W, items.moments()), words)
    below = "ratio distances need values of at least 0" if items.numeric and items.values.min() < 0 else ""
    yield "alpha_ratio", row(lambda W: formula.alpha(W, C, "ratio", items.values), words or many or below)
    gwet = "gwet_ac1" if kind == "identity" else "gwet_ac2"
    yield gwet, row(lambda W: formula.gwet(W, C, A), many)
    yield "brennan_prediger", row(lambda W: formula.brennan_prediger(W, C, A), many)
    yield "icc_one_way", row(lambda W: formula.icc_one_way(W, items.moments()), words)
    yield from _two_way_rows(items, words, rng)


def _annotator_rows(
    items: Items, C: Floats, A: Floats, many: str, rng: np.random.Generator
) -> Iterator[tuple[str, Row]]:
    """Yield the coefficients that need to know who annotated what: Cohen, Scott, Conger."""
    two = many or ("" if items.n_annotators == 2 else "needs exactly two known annotators")
    two = two or ("an annotator annotated an item more than once" if items.repeated else "")
    pairs, weight = (np.empty((0, 2), np.int64), np.empty(0)) if two else items.pairs()
    two = two or ("" if weight.size else "no item has both")
    counts = np.empty(0) if two else np.eye(len(A))[pairs].sum(axis=1)
    yield "cohen_kappa", undefined(two) if two else _bootstrapped(lambda W: formula.cohen(W, pairs, A), weight, rng)
    yield "scott_pi", undefined(two) if two else _bootstrapped(lambda W: formula.fleiss(W, counts, A), weight, rng)
    missing = many or ("" if items.n_annotators >= 2 else "needs two or more known annotators")
    yield "conger_kappa", undefined(missing) if missing else _conger_row(items, C, A, rng)


def _conger_row(items: Items, C: Floats, A: Floats, rng: np.random.Generator) -> Row:
    """Bootstrap the items one by one, a few replicates at a time: Conger's kappa sees who annotated what."""
    _, item = np.unique(items.item, return_inverse=True)
    _, annotator = np.unique(items.annotator, return_inverse=True)
    n_items, v = int(item[-1]) + 1, len(A)
    column = annotator * v + items.code
    shape = (int(annotator.max() + 1) * v, n_items)
    table = sp.sparse.csr_array((np.ones(item.size), (column, item)), shape=shape)
    pattern = items.patterns.pattern_of_item[items.patterns.pattern_of_item >= 0]
    member = sp.sparse.csr_array((np.ones(n_items), (pattern, np.arange(n_items))), shape=(len(C), n_items))

    def compute(weight: Floats) -> Floats:
        by_annotator = (table @ weight.T).T.reshape(len(weight), -1, v)
        return formula.conger((member @ weight.T).T, C, A, by_annotator)

    estimate = float(compute(np.ones((1, n_items)))[0])
    if np.isnan(estimate):
        return undefined(_why_undefined(items))
    step = max(1, CELLS // max(n_items, shape[0]))
    parts = []
    for start in range(0, REPLICATES, step):
        weight = rng.standard_exponential((min(step, REPLICATES - start), n_items))
        parts.append(compute(weight * (n_items / weight.sum(axis=1, keepdims=True))))
    return Row(estimate, np.concatenate(parts), "")


def _two_way_rows(items: Items, words: str, rng: np.random.Generator) -> Iterator[tuple[str, Row]]:
    matrix = None if words or items.n_annotators < 2 else items.complete_matrix()
    note = words or "needs every item annotated once by every one of the known annotators"
    for name, absolute in (("icc_agreement", True), ("icc_consistency", False)):
        if matrix is None or len(matrix) < 2:
            yield name, undefined(note if matrix is None else "needs two or more items")
        else:
            compute = partial(formula.icc_two_way, X=matrix, absolute=absolute)
            yield name, _bootstrapped(compute, np.ones(len(matrix)), rng)


def _bootstrapped(compute: Callable[[Floats], Floats], weight: Floats, rng: np.random.Generator) -> Row:
    estimate = float(compute(weight[None])[0])
    if np.isnan(estimate):
        return undefined("expected agreement is complete: only one value was used")
    return Row(estimate, compute(_bootstrap(weight, rng)), "")


def _bootstrap(weight: Floats, rng: np.random.Generator) -> Floats:
    """Draw Bayesian-bootstrap weights of the patterns, shape (replicate, pattern); each row sums to the items."""
    drawn = rng.standard_gamma(np.broadcast_to(weight, (REPLICATES, weight.size)))
    return drawn * (weight.sum() / drawn.sum(axis=1, keepdims=True))


def _with_interval(row: Row, ci_prob: float) -> dict[str, Any]:
    defined = row.replicates[~np.isnan(row.replicates)]
    lower, upper = hdi(defined, ci_prob) if defined.size else (np.nan, np.nan)
    lost = row.replicates.size - defined.size
    note = f"{lost} of {row.replicates.size} replicates undefined" if lost else row.note
    return {"estimate": row.estimate, "lower": lower, "upper": upper, "ci_kind": "bootstrap hdi", "note": note}


def _phi_row(items: Items, ci_prob: float, rng: np.random.Generator) -> dict[str, Any]:
    if items.rated is None:
        note = "needs ratings, one for each annotator and item: read them with scale=(lowest, highest)"
        return {"estimate": np.nan, "lower": np.nan, "upper": np.nan, "ci_kind": "hdi", "note": note}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = common_agreement(items.rated, ci_prob=ci_prob, seed=rng)["agreement"].to_dataset()
    note = "; ".join(str(w.message) for w in caught)
    mean, lower, upper = (float(found[name]) for name in ("mean", "lower", "upper"))
    return {"estimate": mean, "lower": lower, "upper": upper, "ci_kind": "hdi", "note": note}


def _why_undefined(items: Items) -> str:
    if not (items.patterns.size >= 2).any():
        return "no item has two annotations"
    if (items.patterns.weight @ items.patterns.counts > 0).sum() == 1:
        return "only one value was used: there is no disagreement to expect"
    return "expected disagreement is 0"
