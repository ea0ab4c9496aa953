"""Classic agreement coefficients, each with an interval, in one table.

Intervals are those of a Dirichlet process over items (Ferguson 1973): a replicate weights the N items by Gamma(N - 2)
in all, and pseudo-items of its base measure (`_items`) by Gamma(2) in all. All coefficients are functions of weighted
units (`_coefficients`), so a replicate costs a matrix product.
"""

import textwrap
import warnings
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from bayesagree._types import Advance, Rng, silent
from bayesagree.agreement import _formulas as formula
from bayesagree.agreement._coefficients import (
    WEIGHTS_OF_LEVEL,
    Level,
    Row,
    Weights,
    add_notes,
    cluster_codes,
    coefficients,
    replicated,
    row_of,
    together,
    weights_for,
    why_undefined,
)
from bayesagree.agreement._items import AgreementData, Items, items_of
from bayesagree.agreement._set_distances import Distance, set_coefficient
from bayesagree.agreement.details import Detail, detail_rows
from bayesagree.agreement.intraclass import icc_rows
from bayesagree.agreement.rankings import ranking_rows
from bayesagree.annotations import Comparisons, Labels, Rankings, Ratings
from bayesagree.annotations.gold import ItemGroup
from bayesagree.errors import InputError, one_of, probability, warn
from bayesagree.inference.streams import Seed, seed_sequence
from bayesagree.io.doors import as_annotations

# Columns that are the same in every row.
COMMON = ("about", "ci_prob", "n_items", "n_annotators", "n_annotations")
# Whom every row is about: the interval is over items.
ABOUT = "these annotators"
# Probability of outright ends from which the note of Phi states it.
NOTED_SHARE = 0.05


class _Coefficients(pd.DataFrame):
    """A table that prints its estimates in 80 columns and its notes below; any part of it is a plain data frame."""

    def __repr__(self) -> str:
        columns = ["coefficient", "estimate", "lower", "upper"]
        numbers = self.dropna(subset=["estimate"]).to_string(columns=columns, index=False, float_format="%.3f")
        by_note = self[self["note"] != ""].groupby("note", sort=False)["coefficient"].agg(", ".join)
        notes = (
            textwrap.fill(f"{names}: {note}", 80, subsequent_indent="  ") for note, names in by_note.items()
        )
        return "\n".join([numbers, *notes])


def agreement_table(
    annotations: AgreementData | Comparisons | Rankings,
    *,
    level: Level | None = None,
    weights: Weights | None = None,
    distance: Distance | None = None,
    cluster: ItemGroup | None = None,
    by: Detail | None = None,
    ci_prob: float = 0.95,
    random_seed: Seed = None,
    progress: Advance = silent,
) -> pd.DataFrame:
    """Compute every agreement coefficient that the annotations allow, each with an interval.

    Parameters
    ----------
    annotations
        Labels or ratings with any missing pattern, or the patterns of data larger than memory. Patterns and counts
        (`Labels.from_counts`) have no annotators, so that Cohen, Conger and the two-way ICC do not exist. Ratings
        have the intraclass correlations of means too, and the two-way ones where ratings are missing (`icc`).
        Comparisons are read as labels of pairs; where an annotator compared a pair twice, pass
        ``comparisons.to_labels("first")``. Rankings have coefficients of their own:
        Kendall's W, with and without the correction for ties, and mean tau-b of two annotators.
    level
        Level of measurement. It chooses the agreement weights of the kappas, of AC2 and of Brennan and Prediger's
        coefficient: identity, ordinal, quadratic, ratio. By default that of the annotations: interval for ratings,
        ordinal for labels with ``ordered=True``, else nominal.
    weights
        Other agreement weights (Gwet): identity, ordinal, linear, quadratic, ratio.
    distance
        As in `krippendorff_alpha`: the row ``alpha_<distance>`` then stands first. Where an annotator chose several
        labels (``duplicates="keep"``) the values of all rows are sets of labels.
    cluster
        A cluster for each item, such as its document: the items of a cluster are not independent, and a replicate gives
        them one weight. Phi takes its items as independent, and its note says so.
    by
        ``"pair"``: Cohen's kappa of every pair of annotators who share an item; ``"annotator"``: of each annotator and
        the others, or, where some answered an item several times (``duplicates="keep"``), Fleiss' kappa of each with
        himself; ``"category"``: specific agreement of each label (Cicchetti and Feinstein 1990), the share of the other
        annotations beside it that are this label too; ``"item"``: share of the pairs of its annotations that agree.
    ci_prob
        Probability of the intervals.
    random_seed
        Seed or generator of the replicates.
    progress
        As in `common_agreement`: of ratings Phi takes most of the time.

    Returns
    -------
    DataFrame
        One row per coefficient, or with `by` per pair (annotator, other_annotator), annotator (against: the others, or
        self), category or item (without interval), in their order: coefficient, estimate, lower, upper, ci_kind
        (``"dirichlet process hdi"``, ``"dirichlet process eti"``: see Notes; ``"hdi"``: posterior of Phi, or of
        components of variance), about (``"these annotators"``: no row is about others like them), ci_prob, n_items,
        n_annotators, n_annotations, note. The estimate lies in the interval; of fewer than three items with two
        annotations there is none, nor is one of width 0.
        A coefficient that does not exist is NaN and its note gives the reason. Coefficients that need an order
        (ordinal, interval and ratio alpha, the intraclass correlations) exist for ratings, for ordered labels, for
        labels that are numbers (noted; not with ``ordered=False``), and where `level` or `weights` states an order.

    Raises
    ------
    InputError
        An unknown level, a `ci_prob` outside (0, 1), an item without a cluster, fewer than three clusters, clusters of
        patterns or rankings.

    See Also
    --------
    agreement_difference : the difference of two tables.
    krippendorff_alpha : alpha alone.
    common_agreement : the posterior of Phi.

    Notes
    -----
    The interval is the shortest one of 2000 draws from a Dirichlet process over items; for kappa and alpha of unordered
    labels that of equal tails, because they divide by an expected disagreement that vanishes with a rare label, which
    leaves a long tail. The N items count as N - 2 (for coefficients of ordered values fewer, from twelve items on as
    Student's t asks for), and two pseudo-items as 2, one with a random value for each annotation and one with the same
    value for all. The estimate does not use them. Without them few items have intervals that are too short, and
    unanimous items one of width 0. The documentation, "Coverage of every interval", has the coverage from 10 items
    on. All rows are about these annotators, on items like these: if a few people label every item, other people
    would change the coefficient more. `icc` is about annotators like these.

    References
    ----------
    Krippendorff, Content Analysis (2004), chapter 11. Gwet, Handbook of Inter-Rater Reliability (2014), chapters 2-4.
    McGraw and Wong, "Forming inferences about some intraclass correlation coefficients", Psychological Methods 1
    (1996), doi:10.1037/1082-989X.1.1.30. Ferguson, "A Bayesian analysis of some nonparametric problems",
    Annals of Statistics 1 (1973), doi:10.1214/aos/1176342360. Kendall, Rank Correlation Methods (1948), chapters 3
    and 6.

    Examples
    --------
    >>> ratings = Ratings.from_matrix([[0, 0, 0, 0, 1], [1, 1, 1, 1, 0]], scale=(0, 1), step=1)
    >>> table = agreement_table(ratings, random_seed=1).set_index("coefficient")
    >>> round(float(table.loc["alpha_nominal", "estimate"]), 2)
    0.28
    """
    annotations = as_annotations(annotations, (Labels, Ratings, Rankings, Comparisons))
    probability(ci_prob, "ci_prob")
    if isinstance(annotations, Comparisons):
        annotations = annotations.to_labels()
    rng = np.random.default_rng(seed_sequence(random_seed))
    if (by is not None or cluster is not None) and not isinstance(annotations, Labels | Ratings):
        raise InputError(f"by= and cluster= are of labels and ratings, not of {type(annotations).__name__}")
    if isinstance(annotations, Rankings):
        rows = ranking_rows(annotations, ci_prob, rng)
        sizes = annotations.items.size, annotations.annotators.size or pd.NA, annotations.n_annotations
        return _table(rows, ci_prob, sizes)
    kind = weights_for(level or annotations.level, weights)
    if by is not None:
        if distance is not None:
            raise InputError(f"by={by!r} is without distance=")
        table = pd.DataFrame(detail_rows(annotations, by, kind, cluster, ci_prob, rng))
        return table.assign(about=ABOUT, ci_prob=ci_prob)
    clusters = None if cluster is None else cluster_codes(cluster, annotations.items)
    found, items = [], items_of(annotations)
    if distance is not None:
        name, of_sets, items = set_coefficient(annotations, distance)
        found = [(name, of_sets)]
    drawn = replicated(items, chain(found, coefficients(items, kind)), rng, clusters)
    rows = {name: row_of(sides, of_name, ci_prob) for name, sides, of_name in drawn}
    rows["phi"] = phi_row([items], ci_prob, rng, progress)
    if items.rated is not None and clusters is not None:
        rows["phi"]["note"] = together("items as independent", rows["phi"]["note"])
    if isinstance(annotations, Ratings) and clusters is None:  # items of a cluster are not independent
        of_components = icc_rows(annotations, ci_prob, rng)
        rows |= {n: row for n, row in of_components.items() if n not in rows or np.isnan(rows[n]["estimate"])}
    add_notes(rows, items, annotations.annotators)
    return _table(rows, ci_prob, (items.patterns.n_items, items.n_annotators or pd.NA, items.n_annotations))


def _table(rows: dict[str, Row], ci_prob: float, sizes: tuple[Any, ...]) -> _Coefficients:
    common = dict(zip(COMMON, (ABOUT, ci_prob, *sizes)))
    columns = ["coefficient", "estimate", "lower", "upper", "ci_kind", *COMMON, "note"]
    return _Coefficients([{"coefficient": name} | row | common for name, row in rows.items()], columns=columns)


def krippendorff_alpha(
    annotations: AgreementData, *, level: Level = "nominal", distance: Distance | None = None
) -> float:
    """Compute Krippendorff's alpha, or NaN if it does not exist.

    Parameters
    ----------
    annotations
        As `agreement_table`.
    level
        Level of measurement: the squared distance of two values. Labels need an order for all but the nominal one,
        and must be numbers for the interval and the ratio level.
    distance
        A function of two labels, or of two ratings. Where an annotator chose several labels for an item
        (``duplicates="keep"`` in `Labels.from_long`), of two frozensets of labels; for these also ``"masi"``
        (Passonneau 2006) and ``"jaccard"``.

    Returns
    -------
    float
        1 - D_o / D_e: 1 for full agreement, 0 for that expected by chance.

    Raises
    ------
    InputError
        Labels without the order, or the numbers (0 or more for ratios), that `level` needs; a distance that is
        negative, not symmetric, or not 0 of equal values.

    Warns
    -----
    UserWarning
        Alpha that does not exist: NaN, with the reason.

    See Also
    --------
    agreement_table : alpha with its interval, beside the other coefficients.

    References
    ----------
    Krippendorff, Content Analysis (2004), chapter 11. Passonneau, "Measuring agreement on set-valued items (MASI) for
    semantic and pragmatic annotation", LREC (2006).

    Examples
    --------
    >>> ratings = Ratings.from_matrix([[0, 0, 0, 0, 1], [0, 0, 0, 0, 1]], scale=(0, 1), step=1)
    >>> krippendorff_alpha(ratings)
    -0.125
    """
    annotations = as_annotations(annotations, (Labels, Ratings))
    if distance is not None:
        return _or_warn(set_coefficient(annotations, distance)[1].estimate(), items_of(annotations))
    one_of(level, "level", tuple(WEIGHTS_OF_LEVEL))
    items = items_of(annotations)
    if level != "nominal" and not items.has_order:
        raise InputError(
            f"level={level!r} needs an order, and the labels have none: read them with ordered=True and labels=[...], "
            "lowest first, or pass level='nominal'"
        )
    if level in ("interval", "ratio") and not items.numeric:
        raise InputError(f"level={level!r} needs numbers, and the labels are none; pass level='ordinal'")
    counts = items.patterns.counts if level in ("nominal", "interval") else items.counts()
    return _or_warn(float(formula.alpha(items.patterns.weight[None], counts, level, items.values)[0]), items)


def _or_warn(alpha: float, items: Items) -> float:
    if np.isnan(alpha):
        warn(f"alpha does not exist: {why_undefined(items)}")
    return alpha


def interval_of_counts(
    annotations: AgreementData, coefficient: str, *, ci_prob: float = 0.95, random_seed: Seed = None
) -> tuple[float, float]:
    """Return the interval of one coefficient of counts in `agreement_table` with the nominal level."""
    items = items_of(annotations)
    wanted = ((name, found) for name, found in coefficients(items, "identity") if name == coefficient)
    _, sides, drawn = next(replicated(items, wanted, np.random.default_rng(seed_sequence(random_seed))))
    row = row_of(sides, drawn, ci_prob)
    return row["lower"], row["upper"]


def phi_row(sides: Sequence[Items], ci_prob: float, rng: Rng, progress: Advance) -> Row:
    """Return the row of Phi of one set of annotations, or of the difference of two; warnings are notes."""
    names = ("",) if len(sides) == 1 else ("first: ", "second: ")
    row = dict.fromkeys(("estimate", "lower", "upper", "prob_positive"), np.nan) | {"ci_kind": "hdi"}
    for name, items in zip(names, sides):
        if items.rated is None:
            needed = "needs ratings, one for each annotator and item: read them with scale=(lowest, highest)"
            return row | {"note": name + needed}
    from bayesagree.agreement.phi import common_agreement  # labels do without its compiled code
    from bayesagree.agreement.summary import phi_summary

    fits = []
    notes = ["posteriors taken as independent"] * (len(sides) - 1)
    for name, items in zip(names, sides):
        given: Any = items.rated
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fits.append(common_agreement(given, ci_prob=ci_prob, random_seed=rng, progress=progress))
        notes += [f"{name}{w.message}" for w in caught]
        if (weight := float(fits[-1]["agreement/prob_inflated"])) > NOTED_SHARE:
            notes.append(
                f"{name}answers at an end of the scale are outright ends with probability {weight:.2f}"
            )
    found = fits[0]["agreement"] if len(sides) == 1 else phi_summary(*fits, ci_prob=ci_prob)
    ends = {name: float(found[name]) for name in ("lower", "upper", "prob_positive")}
    return row | ends | {"estimate": float(found["mean"]), "note": together(*notes)}
