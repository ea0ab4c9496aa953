"""Differences of agreement: two crowds, two guidelines or two rounds, on the same items or on others."""

import numpy as np
import pandas as pd

from bayesagree._types import Advance, silent
from bayesagree.agreement._coefficients import (
    Level,
    Weights,
    add_notes,
    cluster_codes,
    coefficients,
    replicates,
    row_of,
    weights_for,
)
from bayesagree.agreement._items import AgreementData, items_of
from bayesagree.agreement.coefficients import phi_row
from bayesagree.annotations import Labels, Ratings
from bayesagree.annotations.gold import ItemGroup
from bayesagree.errors import probability
from bayesagree.inference.streams import Seed, seed_sequence
from bayesagree.io.doors import as_annotations


def agreement_difference(
    annotations: AgreementData,
    other: AgreementData,
    *,
    level: Level | None = None,
    weights: Weights | None = None,
    cluster: ItemGroup | None = None,
    ci_prob: float = 0.95,
    random_seed: Seed = None,
    progress: Advance = silent,
) -> pd.DataFrame:
    """Compare two sets of annotations: the difference of every agreement coefficient, each with an interval.

    Items with the same name are the same item and have the same weight in both sets, so two crowds on the same items
    are compared pairwise. Without common items the sets are independent. Each set has two pseudo-items of its own, as
    in `agreement_table`.

    Parameters
    ----------
    annotations, other
        Labels or ratings with any missing pattern, whose items have names; the difference is first minus second.
    level, weights, ci_prob, random_seed, progress
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
        Objects without items, an unknown level, a `ci_prob` outside (0, 1), an item without a cluster, or fewer
        than three clusters.

    See Also
    --------
    agreement_table : the coefficients of one set.
    phi_summary : the difference of two posteriors of Phi.

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
    places = [pd.Index(side.items).get_indexer(names).astype(int) for side in (annotations, other)]
    clusters = None if cluster is None else cluster_codes(cluster, names.to_numpy())
    rng = np.random.default_rng(seed_sequence(random_seed))
    # First: its draws do not depend on those of the coefficients.
    of_phi = phi_row(sides, ci_prob, rng, progress)
    if cluster is not None and not np.isnan(of_phi["estimate"]):
        of_phi["note"] = f"items as independent; {of_phi['note']}"
    first, second = (dict(coefficients(side, kind)) for side in sides)
    both = ((name, (first[name], second[name])) for name in first)
    rows = {}
    for name, of, drawn in replicates(both, places, rng, clusters, same=annotations is other):
        rows[name] = row_of(of, drawn, ci_prob) | {"prob_positive": np.nan}
        if not np.isnan(rows[name]["lower"]):
            rows[name]["prob_positive"] = float((drawn[~np.isnan(drawn)] > 0).mean())
    for whose, items, of in zip(("first: ", "second: "), sides, (annotations, other)):
        add_notes(rows, items, of.annotators, whose)
    rows["phi"] = of_phi
    common = {"ci_prob": ci_prob, "n_common_items": int(np.all([at >= 0 for at in places], axis=0).sum())}
    columns = ["coefficient", "estimate", "lower", "upper", "prob_positive", "ci_kind", *common, "note"]
    return pd.DataFrame([{"coefficient": name} | row | common for name, row in rows.items()], columns=columns)
