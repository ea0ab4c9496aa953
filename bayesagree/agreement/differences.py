"""Differences of agreement: two crowds, two guidelines or two rounds, on the same items or on others."""

from typing import Any

import numpy as np
import pandas as pd
import scipy as sp

from bayesagree._types import Floats, Integers
from bayesagree.agreement._coefficients import (
    CELLS,
    FEWEST,
    REPLICATES,
    SHORTEST,
    Coefficient,
    Level,
    PseudoWeights,
    Weights,
    cluster_codes,
    coefficients,
    interval_of,
    item_mass,
    weights_for,
)
from bayesagree.agreement._items import Items, items_of
from bayesagree.agreement.phi import common_agreement
from bayesagree.agreement.summary import phi_difference
from bayesagree.annotations import Labels, Ratings
from bayesagree.annotations.gold import ItemGroup
from bayesagree.errors import probability
from bayesagree.inference.streams import Seed, seed_sequence
from bayesagree.io.doors import as_annotations


def agreement_difference(
    annotations: Labels | Ratings,
    other: Labels | Ratings,
    *,
    level: Level | None = None,
    weights: Weights | None = None,
    cluster: ItemGroup | None = None,
    ci_prob: float = 0.95,
    random_seed: Seed = None,
) -> pd.DataFrame:
    """Compare two sets of annotations: the difference of every agreement coefficient, each with an interval.

    Items with the same name are the same item and have the same weight in both sets, so two crowds on the same items
    are compared pairwise. Without common items the sets are independent. Each set has two pseudo-items of its own, as
    in `agreement_table`.

    Parameters
    ----------
    annotations, other
        Labels or ratings with any missing pattern, whose items have names; the difference is first minus second.
    level, weights, ci_prob, random_seed
        As in `agreement_table`; sets of different levels are compared as nominal ones.
    cluster
        A cluster for each item of either set, such as its document, by the item's name; a sequence names those of the
        first set, then those that the other one has alone. A replicate gives the items of a cluster one weight, in both
        sets. Phi takes its items as independent, and its note says so.

    Returns
    -------
    DataFrame
        One row per coefficient: coefficient, estimate, lower, upper (shortest interval of 2000 replicates;
        of Phi the HDI of the difference of the posteriors, taken as independent), prob_positive (share of replicates
        above 0), ci_kind, ci_prob, n_common_items, note. A coefficient that one of the sets does not have is NaN and
        its note gives the reason.

    Raises
    ------
    InputError
        Objects without items, an unknown level, a `ci_prob` outside (0, 1), an item without a cluster, or a single
        cluster.

    See Also
    --------
    agreement_table : the coefficients of one set.
    phi_difference : the difference of two posteriors of Phi.

    References
    ----------
    Ferguson, "A Bayesian analysis of some nonparametric problems", Annals of Statistics 1 (1973),
    doi:10.1214/aos/1176342360.

    Examples
    --------
    >>> before = Labels.from_matrix([["a", "b"], ["a", "a"], ["b", "a"], ["b", "b"], ["a", "b"]])
    >>> after = Labels.from_matrix([["a", "a"], ["a", "a"], ["b", "b"], ["b", "b"], ["a", "b"]])
    >>> table = agreement_difference(after, before, random_seed=1).set_index("coefficient")
    >>> round(float(table.loc["percent_agreement", "estimate"]), 2)
    0.4
    """
    annotations, other = (as_annotations(side, (Labels, Ratings)) for side in (annotations, other))
    probability(ci_prob, "ci_prob")
    sides = items_of(annotations), items_of(other)
    common_level = annotations.level if annotations.level == other.level else "nominal"
    kind = weights_for(level or common_level, weights)
    names = pd.Index(annotations.items).union(pd.Index(other.items), sort=False)
    place = _places(annotations, names), _places(other, names)
    clusters = None if cluster is None else cluster_codes(cluster, names.to_numpy())
    rng = np.random.default_rng(seed_sequence(random_seed))
    first, second = (dict(coefficients(side, kind)) for side in sides)
    same = annotations is other
    of_phi = _phi_row(sides, ci_prob, rng)  # first: its draws do not depend on those of the coefficients
    if cluster is not None and not np.isnan(of_phi["estimate"]):
        of_phi["note"] = f"items as independent; {of_phi['note']}"
    rows = {name: _row(first[name], second[name], place, clusters, same, ci_prob, rng) for name in first}
    rows["phi"] = of_phi
    common = {"ci_prob": ci_prob, "n_common_items": int(((place[0] >= 0) & (place[1] >= 0)).sum())}
    columns = ["coefficient", "estimate", "lower", "upper", "prob_positive", "ci_kind", *common, "note"]
    return pd.DataFrame([{"coefficient": name} | row | common for name, row in rows.items()], columns=columns)


def _places(annotations: Labels | Ratings, names: pd.Index) -> Integers:
    """Position of each name among the items, -1 for one that they lack."""
    return pd.Index(annotations.items).get_indexer(names).astype(np.int64)


def _row(
    first: Coefficient,
    second: Coefficient,
    place: tuple[Integers, Integers],
    cluster: Integers | None,
    same: bool,
    ci_prob: float,
    rng: np.random.Generator,
) -> dict[str, Any]:
    for side, found in (("first", first), ("second", second)):
        if found.note:
            return _missing(SHORTEST, f"{side}: {found.note}")
    estimate = first.estimate() - second.estimate()
    if min(first.weight.sum(), second.weight.sum()) < FEWEST:
        return _missing(SHORTEST, f"an interval over items needs {FEWEST} on both sides") | {"estimate": estimate}
    drawn = _differences(first, second, place, cluster, same, rng)
    defined = drawn[~np.isnan(drawn)]
    positive = float((defined > 0).mean()) if defined.size else np.nan
    interval = interval_of(drawn, ci_prob, first.remark or second.remark, estimate=estimate)
    return {"estimate": estimate, "prob_positive": positive} | interval


def _differences(
    first: Coefficient,
    second: Coefficient,
    place: tuple[Integers, Integers],
    cluster: Integers | None,
    same: bool,
    rng: np.random.Generator,
) -> Floats:
    """Replicates of the difference: items of the same unit on both sides, or of one cluster, share a gamma variable.

    Pseudo-items belong to one side alone, so that the same answers on both sides leave a difference possible; if both
    sides are the `same` object, there is none.
    """
    sides = first, second
    unit = np.stack([np.where(at >= 0, of.unit[at], -1) for of, at in zip(sides, place)], axis=1)
    code, size, n = cluster, np.ones(1), [of.weight.sum() for of in sides]
    if code is None:
        unit, size = np.unique(unit[(unit >= 0).any(axis=1)], axis=0, return_counts=True)
        code = np.arange(len(unit))
    has = unit >= 0
    seen = np.stack([np.bincount(code[one], minlength=code.max() + 1) > 0 for one in has.T], axis=1)
    n = n if cluster is None else seen.sum(axis=0).tolist()
    # An item or a cluster of both sides has the smaller shape of the two.
    mass = [item_mass(of_side, of_order=first.of_order) for of_side in n]
    shape = size * np.where(seen, mass, 1.0).min(axis=1)
    each = [1.0 if cluster is None else n[k] / has[:, k].sum() for k in range(2)]  # as `draw_weights`
    members = [
        sp.sparse.csr_array(
            (np.full(one.sum(), each[k]), (unit[one, k], code[one])), shape=(of.weight.size, shape.size)
        )
        for k, (one, of) in enumerate(zip(has.T, sides))
    ]
    # Shared pseudo-items would make equal answers of two crowds certainly equal, which few items cannot show.
    pseudo = [PseudoWeights.draw(rng)] * 2 if same else [PseudoWeights.draw(rng), PseudoWeights.draw(rng)]
    step = min(first.step(), second.step(), max(1, CELLS // shape.size))
    parts = []
    for start in range(0, REPLICATES, step):
        own = [weights.of(slice(start, start + step)) for weights in pseudo]
        drawn = rng.standard_gamma(np.broadcast_to(shape, (len(own[0].weight), shape.size)))
        values = [of.compute(own[k].added((members[k] @ drawn.T).T, of)) for k, of in enumerate(sides)]
        parts.append(values[0] - values[1])
    return np.concatenate(parts)


def _phi_row(sides: tuple[Items, Items], ci_prob: float, rng: np.random.Generator) -> dict[str, Any]:
    for side, items in zip(("first", "second"), sides):
        if items.rated is None:
            return _missing("hdi", f"{side}: needs ratings, one for each annotator and item")
    fits = [common_agreement(items.rated, random_seed=rng) for items in sides if items.rated is not None]
    found = phi_difference(fits[0], fits[1], ci_prob=ci_prob)
    values = {name: float(found[name]) for name in ("lower", "upper", "prob_positive")}
    return values | {"estimate": float(found["mean"]), "ci_kind": "hdi", "note": "posteriors taken as independent"}


def _missing(ci_kind: str, note: str) -> dict[str, Any]:
    nothing = dict.fromkeys(("estimate", "lower", "upper", "prob_positive"), np.nan)
    return {**nothing, "ci_kind": ci_kind, "note": note}
