"""Each classic coefficient as a function of weighted units: items, items of one pattern, or of one pair of values."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Literal, NamedTuple, Self, get_args

import numpy as np
import pandas as pd
import scipy as sp
from numpy.typing import NDArray

from bayesagree._types import Floats, Integers
from bayesagree.agreement import _formulas as formula
from bayesagree.agreement._items import MOST_VALUES, PSEUDO_ITEMS, PSEUDO_MASS, Items
from bayesagree.annotations.gold import ItemGroup, group_of_each
from bayesagree.errors import InputError, one_of
from bayesagree.inference.intervals import eti, hdi

Level = Literal["nominal", "ordinal", "interval", "ratio"]
Row = dict[str, Any]
Weights = Literal["identity", "ordinal", "linear", "quadratic", "radical", "ratio", "circular", "bipolar"]

WEIGHTS_OF_LEVEL: dict[Level, Weights]
WEIGHTS_OF_LEVEL = {"nominal": "identity", "ordinal": "ordinal", "interval": "quadratic", "ratio": "ratio"}
KAPPAS = {"cohen_kappa", "scott_pi", "conger_kappa", "fleiss_kappa"}
WEIGHTED = {*KAPPAS, "gwet_ac2", "brennan_prediger"}
OF_ORDER = {"alpha_ordinal", "alpha_interval", "alpha_ratio", "icc_one_way", "icc_agreement"}
OF_ORDER |= {"icc_consistency"}
NO_ORDER = "the labels have no order; ordered=True with labels=[...] states one"
SHORTEST, EQUAL_TAILS = "dirichlet process hdi", "dirichlet process eti"
# Replicates of the weights: the ends of a 95 % HDI are then good to a few hundredths of its width.
REPLICATES = 2000
# Pseudo-items with a weight in each replicate: the last one takes what is left, (2/3)^7 = .06 of their mass.
STICKS = 8
CELLS = formula.CELLS
# Items from which there is an interval over items.
FEWEST = 3


class Coefficient(NamedTuple):
    """A coefficient of some annotations, or why it does not exist."""

    compute: Callable[[Floats], Floats]
    """Values, shape (replicate,), for weights of the units, shape (replicate, unit)."""
    weight: Floats
    """Number of items of each unit."""
    unit: Integers
    """Unit of each item, -1 for an item without one, and after them of each pseudo-item."""
    cells: int
    """Numbers that one replicate holds at once."""
    note: str = ""
    """Why it does not exist."""
    remark: str = ""
    """What it takes for granted: its weights, or an order of numbers."""
    equal_tails: bool = False
    """Whether the shortest interval would cut the tail of an expected disagreement that vanishes with a rare label."""
    of_order: bool = False
    """Whether it compares distances of values: few items then vary more than the nominal coefficients allow for."""

    def estimate(self) -> float:
        """Value where every item counts once."""
        return float(self.compute(self.weight[None])[0])

    def step(self) -> int:
        """Replicates that fit into memory at once."""
        return max(1, CELLS // max(self.cells, self.weight.size))


def weights_for(level: Level, weights: Weights | None) -> Weights:
    """Return the requested agreement weights, or those of the level."""
    one_of(level, "level", tuple(WEIGHTS_OF_LEVEL))
    return WEIGHTS_OF_LEVEL[level] if weights is None else one_of(weights, "weights", get_args(Weights))


def interval_of(
    drawn: Floats, ci_prob: float, remark: str = "", *, estimate: float = np.nan, equal_tails: bool = False
) -> Row:
    """Return the interval of the replicates that exist, with a note of the remark and of those that do not.

    It holds the `estimate`, which leaves the pseudo-items out: unanimous items lie above all replicates.
    """
    defined = drawn[~np.isnan(drawn)]
    lower, upper = (eti if equal_tails else hdi)(defined, ci_prob) if defined.size else (np.nan, np.nan)
    if defined.size and not np.isnan(estimate):
        lower, upper = min(lower, estimate), max(upper, estimate)
    lost = drawn.size - defined.size
    note = "; ".join(filter(None, [remark, f"{lost} of {drawn.size} replicates undefined" if lost else ""]))
    kind = EQUAL_TAILS if equal_tails else SHORTEST
    return {"lower": lower, "upper": upper, "ci_kind": kind, "note": note}


def row_of(found: Coefficient, drawn: Floats, ci_prob: float) -> Row:
    """Return estimate, interval and note of a coefficient; of fewer than `FEWEST` items no interval."""
    estimate, note = (np.nan, found.note) if found.note else (found.estimate(), found.remark)
    n = int(found.weight.sum())
    if drawn.size and n < FEWEST:
        note = "; ".join(filter(None, [note, f"{n} item{'s' * (n > 1)}: an interval over items needs {FEWEST}"]))
        drawn = drawn[:0]
    return {"estimate": estimate} | interval_of(
        drawn, ci_prob, note, estimate=estimate, equal_tails=found.equal_tails
    )


def undefined(note: str) -> Coefficient:
    """Return a coefficient that does not exist."""
    return Coefficient(lambda W: np.full(len(W), np.nan), np.empty(0), np.empty(0, np.int64), 1, note)


class PseudoWeights(NamedTuple):
    """Weights of pseudo-items before normalisation: of some of them in each replicate, shape (replicate, stick)."""

    chosen: Integers
    weight: Floats

    @classmethod
    def draw(cls, rng: np.random.Generator) -> Self:
        """Draw the part of a Dirichlet process that is its base measure's: Sethuraman's sticks times a Gamma(mass)."""
        share = 1 - rng.random((REPLICATES, STICKS)) ** (1 / PSEUDO_MASS)
        left = np.cumprod(1 - share[:, :-1], axis=1)
        share[:, -1] = 1  # what is left of the stick
        share[:, 1:] *= left
        weight = share * rng.standard_gamma(PSEUDO_MASS, (REPLICATES, 1))
        return cls(rng.integers(PSEUDO_ITEMS, size=share.shape), weight)

    def of(self, some: slice) -> Self:
        """Return those of some replicates."""
        return self._replace(chosen=self.chosen[some], weight=self.weight[some])

    def added(self, drawn: Floats, found: Coefficient) -> Floats:
        """Return weights of the units with those of the pseudo-items; each row sums to the number of items."""
        unit = found.unit[-PSEUDO_ITEMS:]
        np.add.at(drawn, (np.arange(len(drawn))[:, None], unit[self.chosen]), self.weight)
        drawn *= found.weight.sum() / drawn.sum(axis=1, keepdims=True)
        return drawn


def item_mass(n: float, *, of_order: bool = False) -> float:
    """Return the shape of the gamma variable of one of n items.

    Theirs add up to n - 2, so that the variance of a mean is the unbiased one, with few items to n / 2. Coefficients of
    ordered values vary more: theirs add up to what `weight_shape` asks for, if this is a fifth below n at most; of ten
    items or fewer the pseudo-items widen enough.
    """
    mass = n - PSEUDO_MASS
    if of_order:
        mass = max(n * weight_shape(n), min(mass, 0.8 * n))
    return max(mass, n / 2) / max(n, 1)


def weight_shape(n: float) -> float:
    """Return the shape of the gamma weights of n items, so that the variance of a mean is that of Student's t.

    With weights Dirichlet(a, ..., a) a mean has the variance (n - 1) S^2 / (n (n a + 1)); exponential weights, a = 1,
    give intervals of few items that are too short.
    """
    if n < 2:
        return 1.0
    ratio = sp.special.ndtri(0.975) / sp.special.stdtrit(n - 1, 0.975)
    return max((n - 1) * ratio**2 - 1, 1.0) / n


def cluster_codes(cluster: ItemGroup, items: NDArray[Any]) -> Integers:
    """Return the cluster of each item as a number."""
    codes, names = pd.factorize(group_of_each(cluster, items, "cluster"))
    if len(names) < 2:
        raise InputError(f"cluster= puts all items into one cluster, {names[0]!r}; an interval needs two or more")
    return codes.astype(np.int64)


def draw_weights(
    found: Coefficient, pseudo: PseudoWeights, rng: np.random.Generator, cluster: Integers | None = None
) -> Floats:
    """Draw weights of the units, shape (replicate, unit), given those of the pseudo-items.

    The items of one `cluster` have one weight; clusters take the place of items in the Dirichlet process.
    """
    if cluster is None:
        shape = item_mass(found.weight.sum(), of_order=found.of_order) * found.weight
        return pseudo.added(rng.standard_gamma(np.broadcast_to(shape, (len(pseudo.weight), shape.size))), found)
    unit = found.unit[: cluster.size]
    has = np.flatnonzero(unit >= 0)
    _, own = np.unique(cluster[has], return_inverse=True)
    n = int(own.max()) + 1
    # A cluster of the mean size counts as one item beside the pseudo-items, whose mass is that of two clusters.
    member = sp.sparse.csr_array((np.full(has.size, n / has.size), (unit[has], own)), shape=(found.weight.size, n))
    drawn = rng.standard_gamma(np.full((len(pseudo.weight), n), item_mass(n, of_order=found.of_order)))
    return pseudo.added((member @ drawn.T).T, found)


def replicates(
    found_by_name: Iterator[tuple[str, Coefficient]],
    counted: Floats,
    rng: np.random.Generator,
    cluster: Integers | None = None,
) -> Iterator[tuple[str, Coefficient, Floats]]:
    """Yield each coefficient and its replicates; those of counts, whose weight is `counted`, see the same weights.

    Those of ordered values have weights of their own, which vary more, from a stream of their own.
    """
    of_counts: dict[bool, Floats] = {}
    streams = rng, rng.spawn(1)[0]
    pseudo = PseudoWeights.draw(rng)
    for name, found in found_by_name:
        if found.note:
            yield name, found, np.empty(0)
            continue
        shared, own = found.weight is counted, streams[found.of_order]
        if shared and found.of_order not in of_counts:
            of_counts[found.of_order] = draw_weights(found, pseudo, own, cluster)
        parts = []
        for start in range(0, REPLICATES, found.step()):
            some = slice(start, start + found.step())
            if shared:
                parts.append(found.compute(of_counts[found.of_order][some]))
            else:
                parts.append(found.compute(draw_weights(found, pseudo.of(some), own, cluster)))
        yield name, found, np.concatenate(parts)


def coefficients(items: Items, kind: Weights) -> Iterator[tuple[str, Coefficient]]:
    """Yield every coefficient by its name; those of counts share the array of their weights.

    Coefficients that need an order exist for labels that have one, and where the weights state it.
    """
    weighted = kind != "identity"
    for name, found in _coefficients(items, kind, "" if items.has_order or weighted else NO_ORDER):
        remark = f"{kind} weights" if weighted and name in WEIGHTED else ""
        if name in OF_ORDER and not weighted:
            remark = items.order_note
        # Two values have one distance: the coefficients of an order are then the nominal ones.
        nominal = name == "alpha_nominal" or (name in KAPPAS and not weighted)
        of_two = items.values.size == 2 and (name in KAPPAS or name.startswith("alpha"))
        of_order = name in OF_ORDER and items.values.size > 2
        yield name, found._replace(remark=remark, equal_tails=nominal or of_two, of_order=of_order)


def _coefficients(items: Items, kind: Weights, no_order: str) -> Iterator[tuple[str, Coefficient]]:
    n = items.values.size
    many = f"{n} distinct values: too many for a table of pairs" if n > MOST_VALUES else ""
    # Many distinct values leave the coefficients of moments, which need no table of values.
    C = np.empty((0, 0)) if many else items.counts()
    A = np.empty((0, 0)) if many else formula.agreement_weights(kind, items.values)
    patterns = items.patterns

    def of_counts(compute: Callable[[Floats], Floats], missing: str = "") -> Coefficient:
        if missing:
            return undefined(missing)
        pairs_of_values = n**2 if n <= MOST_VALUES else 1
        return _defined(Coefficient(compute, patterns.weight, patterns.pattern_of_item, pairs_of_values), items)

    yield "percent_agreement", of_counts(lambda W: formula.observed_agreement(W, C, np.eye(len(A))), many)
    yield from _of_two(items, A, many)
    missing = many or ("" if items.n_annotators >= 2 else "needs two or more known annotators")
    yield "conger_kappa", undefined(missing) if missing else _conger(items, C, A)
    yield "fleiss_kappa", of_counts(lambda W: formula.fleiss(W, C, A), many)
    for name, missing in (("nominal", many), ("ordinal", many or no_order)):
        yield f"alpha_{name}", of_counts(lambda W, name=name: formula.alpha(W, C, name, items.values), missing)
    words = no_order if items.numeric else "the labels are not numbers"
    yield "alpha_interval", of_counts(lambda W: formula.interval_alpha(W, items.moments()), words)
    below = "ratio distances need values of at least 0" if items.numeric and items.values.min() < 0 else ""
    yield "alpha_ratio", of_counts(lambda W: formula.alpha(W, C, "ratio", items.values), words or many or below)
    gwet = "gwet_ac1" if kind == "identity" else "gwet_ac2"
    yield gwet, of_counts(lambda W: formula.gwet(W, C, A), many)
    yield "brennan_prediger", of_counts(lambda W: formula.brennan_prediger(W, C, A), many)
    yield "icc_one_way", of_counts(lambda W: formula.icc_one_way(W, items.moments()), words)
    yield from _two_way(items, words)


def _defined(found: Coefficient, items: Items) -> Coefficient:
    return undefined(why_undefined(items)) if np.isnan(found.estimate()) else found


def _of_one_value(found: Coefficient) -> Coefficient:
    only = "expected agreement is complete: only one value was used"
    return undefined(only) if np.isnan(found.estimate()) else found


def _of_two(items: Items, A: Floats, many: str) -> Iterator[tuple[str, Coefficient]]:
    """Yield the coefficients of two annotators: Cohen's kappa and Scott's pi."""
    missing = many or ("" if items.n_annotators == 2 else "needs exactly two known annotators")
    missing = missing or ("an annotator annotated an item more than once" if items.repeated else "")
    pairs, unit = (np.empty((0, 2), np.int64), np.empty(0, np.int64)) if missing else items.pairs()
    missing = missing or ("" if len(pairs) else "no item has both")
    named = unit[: items.n_named]
    weight = np.bincount(named[named >= 0], minlength=len(pairs)).astype(float)
    counts = np.empty((0, 0)) if missing else np.eye(len(A))[pairs].sum(axis=1)
    for name, compute in (
        ("cohen_kappa", partial(formula.cohen, pairs=pairs, A=A)),
        ("scott_pi", partial(formula.fleiss, C=counts, A=A)),
    ):
        yield name, undefined(missing) if missing else _of_one_value(Coefficient(compute, weight, unit, 1))


def _conger(items: Items, C: Floats, A: Floats) -> Coefficient:
    """Conger's kappa sees who annotated what: its units are the items."""
    rated, item = np.unique(items.item, return_inverse=True)
    _, annotator = np.unique(items.annotator, return_inverse=True)
    pattern_of_item = items.patterns.pattern_of_item
    use, column = np.unique(annotator * len(A) + items.code, return_inverse=True)
    of_use = divmod(use, len(A))
    table = sp.sparse.csr_array((np.ones(item.size), (column, item)), shape=(use.size, rated.size))
    member = sp.sparse.csr_array(
        (np.ones(rated.size), (pattern_of_item[rated], np.arange(rated.size))), shape=(len(C), rated.size)
    )

    def compute(weight: Floats) -> Floats:
        return formula.conger((member @ weight.T).T, C, A, table @ weight.T, *of_use)

    unit = np.full(pattern_of_item.size, -1, np.int64)
    unit[rated] = np.arange(rated.size)
    return _defined(Coefficient(compute, items.one_each, unit, use.size), items)


def _two_way(items: Items, words: str) -> Iterator[tuple[str, Coefficient]]:
    matrix = None if words or items.n_annotators < 2 else items.complete_matrix()
    note = words or "needs every item annotated once by every one of the known annotators"
    for name, absolute in (("icc_agreement", True), ("icc_consistency", False)):
        if matrix is None or items.patterns.n_items < 2:
            yield name, undefined(note if matrix is None else "needs two or more items")
            continue
        compute = partial(formula.icc_two_way, X=matrix, absolute=absolute)
        unit = np.full(items.patterns.pattern_of_item.size, -1, np.int64)
        unit[np.unique(items.item)] = np.arange(len(matrix))
        yield name, _of_one_value(Coefficient(compute, items.one_each, unit, 1))


def why_undefined(items: Items) -> str:
    if not (items.patterns.size[items.patterns.weight > 0] >= 2).any():
        return "no item has two annotations"
    if (items.patterns.weight @ items.patterns.counts > 0).sum() == 1:
        return "only one value was used: there is no disagreement to expect"
    return "expected disagreement is 0"


def replicated_sums(values: Floats, pseudo: Floats, rng: np.random.Generator) -> Floats:
    """Sum values (item, column): as they are, then weighted, with those of pseudo-items; (1 + replicate, column)."""
    of_pseudo, every = PseudoWeights.draw(rng), np.arange(REPLICATES)[:, None]
    weight = np.zeros((REPLICATES, PSEUDO_ITEMS))
    np.add.at(weight, (every, of_pseudo.chosen), of_pseudo.weight)
    sums, shape = [values.sum(axis=0)[None]], item_mass(len(values))
    # Few weights at a time: a hundred thousand items by all replicates would take 1.6 GB.
    for start in range(0, REPLICATES, step := max(1, CELLS // len(values))):
        own = rng.standard_gamma(shape, (min(step, REPLICATES - start), len(values)))
        sums.append(own @ values + weight[start : start + step] @ pseudo)
    return np.concatenate(sums)
