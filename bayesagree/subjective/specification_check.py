"""A declared evaluation beside the data: actual distributions, gaps, composition of the groups, scores.

Source: Balayn and Bozzon, "Designing evaluations of machine learning models for subjective inference" (2019), section
"Data collection: specifications, implications", point 7.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from bayesagree._inference.arguments import checked
from bayesagree.annotations import Labels, Ratings
from bayesagree.annotations.annotators import UNKNOWN, Annotators
from bayesagree.errors import InputError
from bayesagree.subjective.groups import Groups
from bayesagree.subjective.specification import EvaluationSpecification, Shares, SpecificationReport


@checked
def check_specification(
    specification: EvaluationSpecification,
    annotations: Labels | Ratings,
    annotators: Annotators,
    *,
    items: pd.DataFrame | None = None,
    scores: xr.Dataset | None = None,
) -> SpecificationReport:
    """Compare the specification with the data.

    Parameters
    ----------
    specification
        The declaration.
    annotations, annotators
        The evaluation set.
    items
        Attributes of the items, index item, for the target distributions of items.
    scores
        Result of `group_performance`, to report the intermediate scores and, where it is declared, individual
        fairness. A specification can be checked before there is any model.

    Raises
    ------
    InputError
        A declared feature that the annotators or items do not have.

    Examples
    --------
    >>> votes = Labels.from_matrix([["a", "b", "a"]], annotators=list("xyz"))
    >>> people = Annotators.from_table(pd.DataFrame({"annotator": list("xyz"), "gender": ["f", "f", None]}))
    >>> declared = EvaluationSpecification(
    ...     "unequal accuracy", protected=["gender"], annotators={"gender": {"f": 0.5, "m": 0.5}}, smallest_group=2
    ... )
    >>> for gap in check_specification(declared, votes, people).gaps:
    ...     print(gap)
    annotators, gender = m: nobody, target 50 %
    annotators, gender: 1 of 3 are not known
    1 groups have fewer than 2 annotators: unknown
    """
    groups = Groups.by_features(annotations, annotators, specification.protected) if specification.protected else None
    tables = [
        *_annotator_tables(specification, annotations, annotators),
        *_item_tables(specification, annotations, items),
        _label_table(specification, annotations),
    ]
    distributions = pd.concat(tables, ignore_index=True)
    composition = (
        pd.DataFrame(columns=["annotators", "annotations", "items", "enough"], index=pd.Index([], name="group"))
        if groups is None
        else groups.composition(annotations).assign(
            enough=lambda table: table["annotators"] >= specification.smallest_group
        )
    )
    gaps = [
        *_share_gaps(distributions),
        *_count_gaps(specification, annotations, groups),
        *_group_gaps(specification, composition),
    ]
    if scores is None:
        return SpecificationReport(specification, distributions, composition, tuple(gaps), pd.DataFrame())
    individual = _individual_table(specification, annotators, scores)
    if len(individual) and not np.isfinite(individual["individual_unfairness"].to_numpy()).any():
        gaps.append(f"individual fairness: no two annotators are similar by {', '.join(specification.similarity)}")
    return SpecificationReport(specification, distributions, composition, tuple(gaps), _score_table(scores), individual)


@checked
def individual_unfairness(
    annotators: Annotators, performance: xr.DataArray, similarity: Sequence[str], *, at_least: float = 1.0
) -> xr.DataArray:
    """Compute the mean difference in performance between similar annotators, per model.

    Two annotators are similar when at least this share of the similarity features is known for both and equal.

    Returns
    -------
    DataArray
        Mean absolute difference over all similar pairs, dim model; 0 is individual fairness, NaN without such a pair.
    """
    if not similarity:
        raise InputError("name the features by which annotators are similar")
    names = performance["annotator"].to_numpy()
    columns = [annotators.values(feature, names) for feature in similarity]
    same = np.mean([(c[:, None] == c[None, :]) & (c != UNKNOWN)[:, None] for c in columns], axis=0) >= at_least
    values = performance.transpose("model", "annotator").to_numpy()
    first, second = np.nonzero(np.triu(same, 1))
    gaps = np.abs(values[:, first] - values[:, second])
    known = ~np.isnan(gaps)
    pairs = known.sum(axis=1)
    mean = np.divide(np.nansum(gaps, axis=1), pairs, out=np.full(pairs.size, np.nan), where=pairs > 0)
    return xr.DataArray(mean, {"model": performance["model"]}, ("model",), "individual_unfairness")


def _annotator_tables(
    specification: EvaluationSpecification, annotations: Labels | Ratings, annotators: Annotators
) -> list[pd.DataFrame]:
    wanted = [*specification.protected, *specification.similarity, *specification.representative]
    features = dict.fromkeys([*wanted, *specification.annotators])
    return [
        _shares("annotator", f, annotators.values(f, annotations.annotators), specification.annotators.get(f, {}))
        for f in features
    ]


def _item_tables(
    specification: EvaluationSpecification, annotations: Labels | Ratings, items: pd.DataFrame | None
) -> list[pd.DataFrame]:
    tables = []
    for attribute, target in specification.items.items():
        if items is None or attribute not in items:
            raise InputError(f"the specification has a target for item attribute {attribute!r}; pass items= with it")
        known = items[attribute].reindex(list(annotations.items))
        values = np.array([UNKNOWN if pd.isna(v) else str(v) for v in known], dtype=str)
        tables.append(_shares("item", attribute, values, target))
    return tables


def _label_table(specification: EvaluationSpecification, annotations: Labels | Ratings) -> pd.DataFrame:
    known = annotations.categories.astype(str).tolist() if annotations.kind == "labels" else []
    return _shares("label", "label", annotations.text(), specification.labels, known)


def _shares(kind: str, feature: str, values: NDArray[Any], target: Shares, known: Sequence[str] = ()) -> pd.DataFrame:
    counts = pd.Series(values).value_counts()
    names = sorted({*map(str, counts.index), *target, *known})
    n = counts.reindex(names, fill_value=0)
    return pd.DataFrame(
        {
            "kind": kind,
            "feature": feature,
            "value": names,
            "target": [target.get(name, np.nan if not target or name == UNKNOWN else 0.0) for name in names],
            "actual": (n / n.sum()).to_numpy(),
            "n": n.to_numpy(),
        }
    )


def _share_gaps(distributions: pd.DataFrame) -> list[str]:
    """List declared values that nobody has, and shares two standard errors or more from their target."""
    gaps = []
    totals = distributions.groupby(["kind", "feature"])["n"].transform("sum")
    for row, total in zip(distributions.itertuples(index=False), totals):
        kind, feature, value, target, actual, n = row
        place = f"{kind}s, {feature} = {value}"
        if value == UNKNOWN and n:
            gaps.append(f"{kind}s, {feature}: {n} of {total} are not known")
        elif target > 0 and n == 0:
            gaps.append(f"{place}: nobody, target {target:.0%}".replace("%", " %"))
        elif target >= 0 and abs(actual - target) > 2 * np.sqrt(max(target * (1 - target), 1e-9) / total):
            digits = next((d for d in range(6) if f"{actual:.{d}%}" != f"{target:.{d}%}"), 6)
            gaps.append(f"{place}: {actual:.{digits}%}, target {target:.{digits}%}".replace("%", " %"))
    return gaps


def _count_gaps(
    specification: EvaluationSpecification, annotations: Labels | Ratings, groups: Groups | None
) -> list[str]:
    gaps = []
    n_items = annotations.items.size
    few = int((np.bincount(annotations.item_index, minlength=n_items) < specification.labels_per_item).sum())
    if few:
        gaps.append(f"{few} of {n_items} items have fewer than {specification.labels_per_item} labels")
    if groups is not None and specification.labels_per_group_and_item:
        group = groups.of_rows(annotations)
        cells = np.bincount(group[group >= 0].astype(np.int64) * n_items + annotations.item_index[group >= 0])
        enough = int((cells >= specification.labels_per_group_and_item).sum())
        missing = n_items * groups.names.size - enough
        if missing:
            gaps.append(
                f"{missing} of {n_items * groups.names.size} cells (group, item) have fewer than "
                f"{specification.labels_per_group_and_item} labels"
            )
    return gaps


def _group_gaps(specification: EvaluationSpecification, composition: pd.DataFrame) -> list[str]:
    n = composition["annotators"].to_numpy(np.int64)
    empty = composition.index[n == 0]
    small = composition.index[(n > 0) & (n < specification.smallest_group)]
    gaps = []
    if len(empty) and len(specification.protected) > 1:
        gaps.append(f"{len(empty)} of {len(composition)} combinations are empty: {', '.join(empty[:5])}")
    if len(small):
        gaps.append(
            f"{len(small)} groups have fewer than {specification.smallest_group} annotators: {', '.join(small[:5])}"
        )
    return gaps


def _individual_table(
    specification: EvaluationSpecification, annotators: Annotators, scores: xr.Dataset
) -> pd.DataFrame:
    if specification.fairness != "individual":
        return pd.DataFrame()
    unfairness = individual_unfairness(annotators, scores["annotator_performance"], specification.similarity)
    return unfairness.to_dataframe().reset_index()


def _score_table(scores: xr.Dataset) -> pd.DataFrame:
    wanted = ["performance", "n_scored", "n_annotators", "n_annotations"]
    return scores[wanted].to_dataframe().reset_index()
