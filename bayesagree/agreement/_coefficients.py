"""Each classic coefficient as a function of weighted units: items, items of one pattern, or of one pair of values."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import pandas as pd
import scipy as sp

from bayesagree._types import Array, Floats, Integers, Rng
from bayesagree.agreement import _formulas as formula
from bayesagree.agreement._items import MOST_VALUES, PSEUDO_ITEMS, PSEUDO_MASS, Items
from bayesagree.agreement._patterns import collapse_codes, pair_counts
from bayesagree.annotations._container import parts_met
from bayesagree.annotations.gold import ItemGroup, group_of_each
from bayesagree.errors import InputError, one_of, shorten
from bayesagree.inference.cells import cell_sums, row_shares
from bayesagree.inference.intervals import eti, hdi

Level = Literal["nominal", "ordinal", "interval", "ratio"]
Row = dict[str, Any]
Weights = Literal["identity", "ordinal", "linear", "quadratic", "ratio"]

WEIGHTS_OF_LEVEL: dict[Level, Weights]
WEIGHTS_OF_LEVEL = {"nominal": "identity", "ordinal": "ordinal", "interval": "quadratic", "ratio": "ratio"}
KAPPAS = {"cohen_kappa", "scott_pi", "conger_kappa", "fleiss_kappa"}
WEIGHTED = {*KAPPAS, "gwet_ac2", "brennan_prediger"}
OF_ORDER = {"alpha_ordinal", "alpha_interval", "alpha_ratio", "icc_one_way"}
NO_ORDER = "the labels have no order; ordered=True with labels=[...] states one"
COMPONENTS = "by components of variance: in agreement_table, of ratings, without cluster="
SHORTEST = "dirichlet process hdi"
EQUAL_TAILS = "dirichlet process eti"
# Replicates of the weights: the ends of a 95 % HDI are then good to a few hundredths of its width.
REPLICATES = 2000
# Pseudo-items with a weight in each replicate: the last one takes what is left, (2/3)^7 = .06 of their mass.
STICKS, EVERY = 8, np.arange(PSEUDO_ITEMS)
CELLS = formula.CELLS
# Items from which there is an interval over items, and why there is none of no width.
FEWEST = 3
ALIKE = "items and replicates do not differ: no interval"
# Agreement, and share of the most frequent label, from which a coefficient below the third is noted.
COMMON_SHARE, SMALL = 0.8, 0.4


class Coefficient(NamedTuple):
    """A coefficient of some annotations, or why it does not exist."""

    # Values, shape (replicate,), for weights of the units, shape (replicate, unit).
    compute: Callable[[Floats], Floats]
    # Number of items of each unit.
    weight: Floats
    # Unit of each item, -1 for an item without one, and after them of each pseudo-item.
    unit: Integers
    # Numbers that one replicate holds at once.
    cells: int
    # Why it does not exist.
    note: str = ""
    # What it takes for granted: its weights, or an order of numbers.
    remark: str = ""
    # Whether the shortest interval would cut the tail of an expected disagreement that vanishes with a rare label.
    equal_tails: bool = False
    # Whether it compares distances of values: few items then vary more than the nominal coefficients allow for.
    of_order: bool = False
    # Whether the items of each unit have two annotations: others are none of those that an interval is over.
    paired: Any = True

    def estimate(self) -> float:
        """Value where every item counts once."""
        return float(self.compute(self.weight[None])[0])

    def existing(self, why_not: str) -> "Coefficient":
        """Return the coefficient, or why it has no value."""
        return undefined(why_not) if np.isnan(self.estimate()) else self


# A coefficient of one set of annotations, or the two whose difference is wanted.
Sides = tuple[Coefficient, ...]


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
    if defined.size and np.ptp(defined) < 1e-12:
        return interval_of(drawn[:0], ci_prob, together(remark, ALIKE), equal_tails=equal_tails)
    lower, upper = (eti if equal_tails else hdi)(defined, ci_prob) if defined.size else (np.nan, np.nan)
    if defined.size and not np.isnan(estimate):
        lower, upper = min(lower, estimate), max(upper, estimate)
    lost = drawn.size - defined.size
    note = together(remark, f"{lost} of {drawn.size} replicates undefined" if lost else "")
    return {"lower": lower, "upper": upper, "ci_kind": EQUAL_TAILS if equal_tails else SHORTEST, "note": note}


def row_of(sides: Sides, drawn: Floats, ci_prob: float) -> Row:
    """Return estimate, interval and note of a coefficient or a difference; of fewer than `FEWEST` items no interval."""
    each = ("",) if len(sides) == 1 else ("first: ", "second: ")
    lacking = next((side + found.note for side, found in zip(each, sides) if found.note), "")
    estimate = np.nan
    note = lacking or sides[0].remark or sides[-1].remark
    if not lacking:
        estimate = sides[0].estimate() - sum(found.estimate() for found in sides[1:])
    n = int(min((found.weight * found.paired).sum() for found in sides))
    if drawn.size and n < FEWEST:
        note = together(note, few(n))
        drawn = drawn[:0]
    tails = len(sides) == 1 and sides[0].equal_tails
    return {"estimate": estimate} | interval_of(drawn, ci_prob, note, estimate=estimate, equal_tails=tails)


def few(n: int) -> str:
    """Say that there are too few items with two annotations."""
    return f"{n} item{'s' * (n != 1)}: an interval over items needs {FEWEST}, each with two annotations"


def together(*notes: str) -> str:
    """Return the notes that say something."""
    return "; ".join(filter(None, notes))


def add_notes(rows: dict[str, Row], items: Items, names: Array, whose: str = "") -> None:
    """Say where a number says nothing, or something else than it seems to."""
    named = (items.item < items.n_named) & (items.annotator >= 0)
    who = items.annotator[named]
    given = items.patterns.weight @ items.patterns.counts
    of_all, of_chance = [], []
    if who.size and names.size:
        used = np.unique(who.astype(int) * items.values.size + items.code[named]) // items.values.size
        alone = (np.bincount(used, minlength=names.size) == 1) & (
            np.bincount(who, minlength=names.size) >= FEWEST
        )
        if alone.any() and np.count_nonzero(given) > 1:
            of_chance.append(
                f"{whose}{shorten(names[alone])} used one label for all items: chance-corrected agreement says nothing "
                "about their answers"
            )
        if (parts := np.unique(parts_met(who, items.item[named])[who]).size) > 1:
            of_all.append(f"{whose}the annotators form {parts} groups that never met on an item")
    agreed = rows.get("percent_agreement", {}).get("estimate", np.nan)
    largest = given.max() / given.sum()
    for name, row in rows.items():
        notes = list(of_all)
        if name in KAPPAS or name.startswith(("alpha", "icc")):
            notes += of_chance
            if agreed >= COMMON_SHARE and largest >= COMMON_SHARE and row["estimate"] < SMALL:
                notes.append(
                    f"one label has {largest:.0%} of the annotations, so that chance agrees often: small beside an "
                    f"agreement of {agreed:.0%}"
                )
        if not np.isnan(row["estimate"]):
            row["note"] = together(row["note"], *notes)


def undefined(note: str) -> Coefficient:
    """Return a coefficient that does not exist."""
    return Coefficient(lambda W: np.full(len(W), np.nan), np.empty(0), np.empty(0, int), 1, note)


def pseudo_weights(rng: Rng) -> Floats:
    """Draw weights of the pseudo-items before normalisation, shape (replicate, pseudo-item).

    The part of a Dirichlet process that is its base measure's: Sethuraman's sticks times a Gamma(mass).
    """
    share = 1 - rng.random((REPLICATES, STICKS)) ** (1 / PSEUDO_MASS)
    left = np.cumprod(1 - share[:, :-1], axis=1)
    share[:, -1] = 1  # what is left of the stick
    share[:, 1:] *= left
    share *= rng.standard_gamma(PSEUDO_MASS, (REPLICATES, 1))
    of = rng.integers(PSEUDO_ITEMS, size=share.shape)
    return cell_sums((REPLICATES, PSEUDO_ITEMS), np.arange(REPLICATES)[:, None], of, weight=share.ravel())


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


def cluster_codes(cluster: ItemGroup, items: Array) -> Integers:
    """Return the cluster of each item as a number."""
    codes, names = pd.factorize(group_of_each(cluster, items, "cluster"))
    if len(names) < FEWEST:
        raise InputError(
            f"cluster= puts the items into {len(names)} clusters ({shorten(names)}): an interval over clusters needs "
            f"{FEWEST}"
        )
    return codes.astype(int)


def draw_weights(
    sides: Sides,
    places: Sequence[Integers],
    pseudo: Sequence[Floats],
    rng: Rng,
    cluster: Integers | None = None,
) -> Iterator[list[Floats]]:
    """Yield weights of the units of each side, shape (replicate, unit), some replicates at a time.

    Items of the same unit on all sides, or of one `cluster`, share a gamma variable; clusters take the place of items
    in the Dirichlet process. `places` are the positions of all items on each side, -1 for one that it lacks. Each row
    sums to the number of items.
    """
    unit = np.stack([np.where(at >= 0, of.unit[at], -1) for of, at in zip(sides, places)])
    code = cluster
    size = np.ones(1)
    n = np.array([of.weight.sum() for of in sides])
    if code is None:
        unit = unit[:, (unit >= 0).any(axis=0)]
        kinds = np.asarray(np.ravel_multi_index(tuple(unit + 1), [of.weight.size + 1 for of in sides]))
        _, first, size = np.unique(kinds, return_index=True, return_counts=True)
        unit, code = unit[:, first], np.arange(size.size)
    has = unit >= 0
    seen = np.stack([np.bincount(code[one], minlength=code.max(initial=-1) + 1) > 0 for one in has])
    # A cluster of the mean size counts as one item beside the pseudo-items, whose mass is that of two clusters.
    counted = n if cluster is None else seen.sum(axis=1)
    each = np.ones(len(sides)) if cluster is None else counted / np.maximum(has.sum(axis=1), 1)
    # An item or a cluster of both sides has the smaller shape of the two.
    mass = np.array([item_mass(of_side, of_order=sides[0].of_order) for of_side in counted])
    shape = size * np.where(seen, mass[:, None], 1.0).min(axis=0)
    members = []  # which gamma variables, and after them which pseudo-items, make up the weight of a unit
    for one, at, by, of in zip(has, unit, each, sides):
        row = np.append(at[one], of.unit[-PSEUDO_ITEMS:])
        column = np.append(code[one], shape.size + EVERY)
        by_entry = np.append(np.full(one.sum(), by), np.ones(PSEUDO_ITEMS))
        table = sp.sparse.csr_array(
            (by_entry, (row, column)), shape=(of.weight.size, shape.size + PSEUDO_ITEMS)
        )
        members.append(table)
    step = max(1, CELLS // max(shape.size, *(max(of.cells, of.weight.size) for of in sides)))
    for start in range(0, REPLICATES, step):
        some = slice(start, min(start + step, REPLICATES))
        drawn = rng.standard_gamma(np.broadcast_to(shape, (some.stop - start, shape.size)))
        rows = [(table @ np.hstack([drawn, own[some]]).T).T for table, own in zip(members, pseudo)]
        yield [row * (total / row.sum(axis=1, keepdims=True)) for row, total in zip(rows, n)]


def replicates(
    found: Iterable[tuple[str, Sides]],
    places: Sequence[Integers],
    rng: Rng,
    cluster: Integers | None = None,
    *,
    counted: Floats | None = None,
    same: bool = False,
) -> Iterator[tuple[str, Sides, Floats]]:
    """Yield each coefficient, or difference of two sides, and its replicates.

    Those of one side whose weight is `counted`, of counts, see the same weights; those of ordered values have weights
    of their own, which vary more, from a stream of their own. Pseudo-items belong to one side alone, so that the same
    answers on both sides leave a difference possible; if both sides are the `same` object, there is none.
    """
    kept: dict[bool, Floats] = {}
    streams = rng, rng.spawn(1)[0]
    pseudo = [pseudo_weights(rng)]
    pseudo += pseudo if same else [pseudo_weights(rng) for _ in places[1:]]
    for name, sides in found:
        if any(of.note for of in sides):
            yield name, sides, np.empty(0)
            continue
        order = sides[0].of_order
        blocks = draw_weights(sides, places, pseudo, streams[order], cluster)
        if sides[0].weight is counted:
            if order not in kept:
                kept[order] = np.concatenate([weight for (weight,) in blocks])
            step = max(1, CELLS // max(sides[0].cells, sides[0].weight.size))
            blocks = ([kept[order][k : k + step]] for k in range(0, REPLICATES, step))
        values = [[of.compute(weight) for of, weight in zip(sides, block)] for block in blocks]
        yield name, sides, np.concatenate([one[0] - sum(one[1:]) for one in values])


def replicated(
    items: Items,
    found: Iterable[tuple[str, Coefficient]],
    rng: Rng,
    cluster: Integers | None = None,
) -> Iterator[tuple[str, Sides, Floats]]:
    """Yield each coefficient of one set of annotations and its replicates."""
    sides = ((name, (one,)) for name, one in found)
    return replicates(sides, [np.arange(items.n_named)], rng, cluster, counted=items.patterns.weight)


def coefficients(items: Items, kind: Weights) -> Iterator[tuple[str, Coefficient]]:
    """Yield every coefficient by its name; those of counts share the array of their weights.

    Coefficients that need an order exist for labels that have one, and where the weights state it.
    """
    n = items.values.size
    weighted = kind != "identity"
    patterns = items.patterns
    many = f"{n} distinct values: too many for a table of pairs" if n > MOST_VALUES else ""
    # Many distinct values leave the coefficients of moments, which need no table of values.
    C = np.empty((0, 0)) if many else items.counts()
    A = np.empty((0, 0)) if many else formula.agreement_weights(kind, items.values)
    order = "" if items.has_order or weighted else NO_ORDER
    words = order if items.numeric else "the labels are not numbers"
    below = "ratio distances need values of at least 0" if items.numeric and items.values.min() < 0 else ""

    def of_counts(missing: str, compute: Callable[..., Floats], *given: Any) -> Coefficient:
        if missing:
            return undefined(missing)
        of_patterns = patterns.weight, patterns.pattern_of_item, 1 if many else n**2
        found = Coefficient(lambda W: compute(W, *given), *of_patterns, paired=patterns.size >= 2)
        return found.existing(why_undefined(items))

    repeated = "an annotator annotated an item more than once" if items.repeated else ""
    cohen = undefined(many or (repeated if items.n_annotators == 2 else "needs exactly two known annotators"))
    if not cohen.note:
        cohen = against(items, int(items.annotator.max()), kind)
    conger = undefined(many or ("" if items.n_annotators >= 2 else "needs two or more known annotators"))
    both = C.sum(axis=1) == 2
    beyond_chance = formula.beyond_chance
    found = {
        "percent_agreement": of_counts(many, formula.observed_agreement, C, np.eye(len(A))),
        "cohen_kappa": cohen,
        "scott_pi": of_counts(cohen.note, lambda W: beyond_chance(W[:, both], C[both], A, "fleiss")),
        "conger_kappa": conger if conger.note else _conger(items, C, A),
        "fleiss_kappa": of_counts(many, beyond_chance, C, A, "fleiss"),
        "alpha_nominal": of_counts(many, formula.alpha, C, "nominal", items.values),
        "alpha_ordinal": of_counts(many or order, formula.alpha, C, "ordinal", items.values),
        "alpha_interval": of_counts(words, formula.alpha, patterns.counts, "interval", items.values),
        "alpha_ratio": of_counts(words or many or below, formula.alpha, C, "ratio", items.values),
        "gwet_ac2" if weighted else "gwet_ac1": of_counts(many, beyond_chance, C, A, "gwet"),
        "brennan_prediger": of_counts(many, beyond_chance, C, A, "brennan_prediger"),
        "icc_one_way": of_counts(words, formula.icc_one_way, patterns.counts, items.values),
        "icc_agreement": undefined(words or COMPONENTS),
        "icc_consistency": undefined(words or COMPONENTS),
    }
    for name, one in found.items():
        remark = f"{kind} weights" if weighted and name in WEIGHTED else ""
        if name in OF_ORDER and not weighted:
            remark = items.order_note
        # Two values have one distance: the coefficients of an order are then the nominal ones.
        nominal = name == "alpha_nominal" or (name in KAPPAS and not weighted)
        of_two = n == 2 and (name in KAPPAS or name.startswith("alpha"))
        yield (
            name,
            one._replace(remark=remark, equal_tails=nominal or of_two, of_order=name in OF_ORDER and n > 2),
        )


def against(items: Items, annotator: int, kind: Weights) -> Coefficient:
    """Cohen's kappa of one annotator and the others of each item, each other counting alike."""
    if items.values.size > MOST_VALUES:
        return undefined(f"{items.values.size} distinct values: too many for a table of pairs")
    A = formula.agreement_weights(kind, items.values)
    mine = items.annotator == annotator
    whole = items.patterns
    given = collapse_codes(items.item[mine], items.code[mine], items.values, whole.pattern_of_item.size)
    # Items are alike in which both annotator and all together answered alike.
    both = np.where(
        given.pattern_of_item < 0, -1, given.pattern_of_item * whole.size.size + whole.pattern_of_item
    )
    pair, number = np.unique(both, return_inverse=True)
    own = given.counts.toarray()[pair // whole.size.size]
    others = items.counts()[pair % whole.size.size] - own
    used = (pair >= 0) & (others.sum(axis=1) > 0)
    unit = np.where(used, np.cumsum(used) - 1, -1)[number]
    own, others = (row_shares(one[used]) for one in (own, others))
    agree = ((own @ A) * others).sum(axis=1)
    named = unit[: items.n_named]
    if not (named >= 0).any():
        return undefined("no item has both")

    def compute(W: Floats) -> Floats:
        total = W.sum(axis=1, keepdims=True)
        expected = ((W @ own / total) @ A * (W @ others / total)).sum(axis=1)
        return formula.chance_corrected(W @ agree / total[:, 0], expected)

    weight = np.bincount(named[named >= 0], minlength=used.sum()).astype(float)
    remark = "" if kind == "identity" else f"{kind} weights"
    found = Coefficient(compute, weight, unit, A.size, "", remark, kind == "identity")
    return found.existing("expected agreement is complete: only one value was used")


def _conger(items: Items, C: Floats, A: Floats) -> Coefficient:
    """Conger's kappa sees who annotated what: its units are the items."""
    rated, item = np.unique(items.item, return_inverse=True)
    _, annotator = np.unique(items.annotator, return_inverse=True)
    pattern_of_item = items.patterns.pattern_of_item
    use, column = np.unique(annotator * len(A) + items.code, return_inverse=True)
    of_use = divmod(use, len(A))
    table = pair_counts(column, item, (use.size, rated.size))
    member = pair_counts(pattern_of_item[rated], np.arange(rated.size), (len(C), rated.size))

    def compute(weight: Floats) -> Floats:
        return formula.conger((member @ weight.T).T, C, A, table @ weight.T, *of_use)

    paired = items.patterns.size[pattern_of_item[rated]] >= 2
    return Coefficient(compute, *items.each(), use.size, paired=paired).existing(why_undefined(items))


def why_undefined(items: Items) -> str:
    if not (items.patterns.size[items.patterns.weight > 0] >= 2).any():
        return "no item has two annotations"
    if (items.patterns.weight @ items.patterns.counts > 0).sum() == 1:
        return "only one value was used: there is no disagreement to expect"
    return "expected disagreement is 0"


def replicated_sums(values: Floats, pseudo: Floats, rng: Rng) -> Floats:
    """Sum values (item, column): as they are, then weighted, with those of pseudo-items; (1 + replicate, column)."""
    weight = pseudo_weights(rng)
    sums = [values.sum(axis=0)[None]]
    shape = item_mass(len(values))
    # Few weights at a time: a hundred thousand items by all replicates would take 1.6 GB.
    for start in range(0, REPLICATES, step := max(1, CELLS // len(values))):
        own = rng.standard_gamma(shape, (min(step, REPLICATES - start), len(values)))
        sums.append(own @ values + weight[start : start + step] @ pseudo)
    return np.concatenate(sums)
