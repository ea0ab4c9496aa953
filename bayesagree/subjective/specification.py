"""Specification of an evaluation of a model of subjective labels, and a check of the data against it.

Balayn and Bozzon list seven points to settle before collecting an evaluation set: which bias is looked for, which
features of people matter, the target distributions of annotators, items and labels, how they were collected, and a
report of all of it with the intermediate scores. `EvaluationSpecification` is that list, filled in by hand;
`check_specification` puts the actual distributions beside the targets and lists the gaps.

Source: Balayn and Bozzon, "Designing evaluations of machine learning models for subjective inference" (2019), section
"Data collection: specifications, implications", points 1 to 7.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import count
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from bayesagree.annotations import Labels, Ratings
from bayesagree.annotations.annotators import UNKNOWN, Annotators
from bayesagree.annotations.groups import Groups
from bayesagree.errors import InputError, one_of
from bayesagree.io.tables import markdown_table

type Shares = Mapping[str, float]


@dataclass(frozen=True)
class EvaluationSpecification:
    """The seven points, as declared before the evaluation.

    Attributes
    ----------
    bias_definition
        1. What would make the model biased, in words.
    fairness
        1. ``"group"``: people who differ in a protected attribute only are served alike; ``"individual"``: similar
        people are served alike.
    metrics
        1. Metrics of performance and bias.
    protected, similarity, representative
        2. Features of annotators: by which nobody may be served worse, by which people count as similar, and over
        which the annotators only have to vary.
    annotators
        3. Target distribution of annotators: feature -> value -> share.
    annotators_reason
        3. Why that target.
    items, items_reason
        4. Target distribution of items: attribute -> value -> share, and why.
    labels, labels_per_item, labels_per_group_and_item
        5. Target distribution of labels: label -> share; smallest number of labels for each item, and from each group
        for each item.
    collection
        6. How items, annotators and labels were collected, filtered and replaced.
    smallest_group
        7. Number of annotators below which the metric of a group means little.
    """

    bias_definition: str
    fairness: Literal["group", "individual"] = "group"
    metrics: Sequence[str] = ("accuracy", "dispersion")
    protected: Sequence[str] = ()
    similarity: Sequence[str] = ()
    representative: Sequence[str] = ()
    annotators: Mapping[str, Shares] = field(default_factory=dict)
    annotators_reason: str = ""
    items: Mapping[str, Shares] = field(default_factory=dict)
    items_reason: str = ""
    labels: Shares = field(default_factory=dict)
    labels_per_item: int = 1
    labels_per_group_and_item: int = 0
    collection: str = ""
    smallest_group: int = 30

    def __post_init__(self) -> None:
        one_of(self.fairness, "fairness", ("group", "individual"))
        for name in ("metrics", "protected", "similarity", "representative"):
            named = getattr(self, name)  # one name is a list of one name, not its letters
            object.__setattr__(self, name, (named,) if isinstance(named, str) else tuple(named))
        for name in ("labels_per_item", "labels_per_group_and_item", "smallest_group"):
            if not isinstance(count := getattr(self, name), Integral) or count < 0:
                raise InputError(f"{name}={count!r} must be a whole number, 0 or more")
        if self.fairness == "individual" and not self.similarity:
            raise InputError("individual fairness is about similar annotators: name similarity=[features]")
        targets = {**self.annotators, **self.items, **({"labels": self.labels} if self.labels else {})}
        for name, shares in targets.items():
            if not isinstance(shares, Mapping) or not all(isinstance(share, Real) for share in shares.values()):
                raise InputError(f"target distribution of {name!r} is {shares!r}; shares are numbers that sum to 1")
            total = sum(map(float, shares.values()))
            if not abs(total - 1) <= 1e-6 or min(shares.values()) < 0:  # NaN and no shares at all are neither
                raise InputError(f"target distribution of {name!r} is {shares!r}; shares are 0 or more and sum to 1")

    @classmethod
    def from_json(cls, text: str) -> "EvaluationSpecification":
        """Read what `to_json` wrote, or what was written by hand.

        Raises
        ------
        InputError
            Not JSON, or a field that the specification does not have.
        """
        try:
            return cls(**json.loads(text))
        except (json.JSONDecodeError, TypeError, OverflowError, RecursionError) as error:
            raise InputError(f"this is no specification: {error}") from error

    def to_json(self) -> str:
        """Write the declaration as JSON."""
        return json.dumps(asdict(self), indent=2)


@dataclass(frozen=True)
class SpecificationReport:
    """A specification beside the data.

    Attributes
    ----------
    declared
        The specification.
    distributions
        Target and actual share and number: columns kind (annotator, item, label), feature, value, target, actual, n.
    groups
        Composition of the groups by protected attributes: annotators, annotations, items, and `enough`.
    gaps
        One sentence for each difference between the declaration and the data.
    scores
        Intermediate scores, such as the result of `group_performance`, as one table; empty without models.
    individual
        Where individual fairness is declared: `individual_unfairness` of each model, as one table; else empty.
    """

    declared: EvaluationSpecification
    distributions: pd.DataFrame
    groups: pd.DataFrame
    gaps: tuple[str, ...]
    scores: pd.DataFrame
    individual: pd.DataFrame = field(default_factory=pd.DataFrame)

    def to_json(self) -> str:
        """Write all of it as one JSON document; a share that was not declared is null."""
        tables = {name: getattr(self, name) for name in ("distributions", "groups", "scores", "individual")}
        tables["groups"] = self.groups.reset_index()
        rows = {name: json.loads(str(table.to_json(orient="records"))) for name, table in tables.items()}
        return json.dumps({"declared": asdict(self.declared), "gaps": list(self.gaps), **rows}, indent=2)

    def to_markdown(self) -> str:
        """Write the seven points as a page."""
        d, tables = self.declared, dict(iter(self.distributions.groupby("kind")))
        annotators, items, labels = (
            markdown_table(tables.get(kind, pd.DataFrame()).drop(columns="kind", errors="ignore"))
            for kind in ("annotator", "item", "label")
        )
        features = {
            name: ", ".join(getattr(d, name)) or "none" for name in ("protected", "similarity", "representative")
        }
        gaps = "\n".join(f"- {gap}" for gap in self.gaps) or "none found"
        number = f"at least {d.labels_per_item} labels per item, {d.labels_per_group_and_item} from each group"
        sections = {
            "1. Bias": (d.bias_definition, f"{d.fairness} fairness; metrics: {', '.join(d.metrics)}"),
            "2. Features of annotators": ("; ".join(f"{name}: {values}" for name, values in features.items()),),
            "3. Annotators": (d.annotators_reason, annotators),
            "4. Items": (d.items_reason, items),
            "5. Labels": (number, labels),
            "6. Collection": (d.collection or "not stated",),
            "7. Report": ("Gaps:", gaps, "Groups:", markdown_table(self.groups.reset_index())),
        }
        if len(self.scores):
            sections["Scores of groups"] = (markdown_table(self.scores),)
        if len(self.individual):
            meaning = "Mean difference in performance between similar annotators; 0 is individual fairness."
            sections["Individual fairness"] = (meaning, markdown_table(self.individual))
        blocks = [[f"## {title}", *filter(None, content)] for title, content in sections.items()]
        return "\n\n".join(["# Evaluation specification", *(line for block in blocks for line in block)]) + "\n"


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
    columns = ["annotators", "annotations", "items", "enough"]
    groups, composition = None, pd.DataFrame(columns=columns, index=pd.Index([], name="group"))
    if specification.protected:
        groups = Groups.by_features(annotations, annotators, specification.protected)
        composition = groups.composition(annotations)
        composition["enough"] = composition["annotators"] >= specification.smallest_group
    distributions = pd.concat(_distributions(specification, annotations, annotators, items), ignore_index=True)
    gaps = [
        *_share_gaps(distributions),
        *_count_gaps(specification, annotations, groups),
        *_group_gaps(specification, composition),
    ]
    table = individual = pd.DataFrame()
    if scores is not None:
        wanted = ["performance", "n_scored", "n_annotators", "n_annotations"]
        table = scores[wanted].to_dataframe().reset_index()
        if specification.fairness == "individual":
            by = specification.similarity
            unfair = individual_unfairness(annotators, scores["annotator_performance"], by)
            individual = unfair.to_dataframe().reset_index()
            if not np.isfinite(unfair.values).any():
                gaps.append(f"individual fairness: no two annotators are similar by {', '.join(by)}")
    return SpecificationReport(specification, distributions, composition, tuple(gaps), table, individual)


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


def _distributions(
    specification: EvaluationSpecification,
    annotations: Labels | Ratings,
    annotators: Annotators,
    items: pd.DataFrame | None,
) -> Iterator[pd.DataFrame]:
    """Yield target and actual shares: of features of annotators, attributes of items, and labels."""
    targets = specification.annotators
    wanted = [*specification.protected, *specification.similarity, *specification.representative, *targets]
    for feature in dict.fromkeys(wanted):
        values = annotators.values(feature, annotations.annotators)
        yield _shares("annotator", feature, values, targets.get(feature, {}))
    for attribute, target in specification.items.items():
        if items is None or attribute not in items:
            raise InputError(f"the specification has a target for item attribute {attribute!r}; pass items= with it")
        of_items = items[attribute].reindex(list(annotations.items))
        values = np.array([UNKNOWN if pd.isna(v) else str(v) for v in of_items], dtype=str)
        yield _shares("item", attribute, values, target)
    known = annotations.categories.astype(str).tolist() if annotations.kind == "labels" else []
    yield _shares("label", "label", annotations.text(), specification.labels, known)


def _shares(kind: str, feature: str, values: NDArray[Any], target: Shares, known: Sequence[str] = ()) -> pd.DataFrame:
    counts = pd.Series(values).value_counts()
    names = sorted({*map(str, counts.index), *target, *known})
    n = counts.reindex(names, fill_value=0).to_numpy()
    table = pd.DataFrame({"kind": kind, "feature": feature, "value": names})
    wanted = [target.get(name, np.nan if not target or name == UNKNOWN else 0.0) for name in names]
    return table.assign(target=wanted, actual=n / n.sum(), n=n)


def _share_gaps(distributions: pd.DataFrame) -> list[str]:
    """List declared values that nobody has, and shares two standard errors or more from their target."""
    gaps = []
    totals = distributions.groupby(["kind", "feature"])["n"].transform("sum")
    for (kind, feature, value, target, actual, n), total in zip(distributions.itertuples(index=False), totals):
        place = f"{kind}s, {feature} = {value}"
        if value == UNKNOWN and n:
            gaps.append(f"{kind}s, {feature}: {n} of {total} are not known")
        elif target > 0 and n == 0:
            gaps.append(f"{place}: nobody, target {target:.0%}".replace("%", " %"))
        elif target >= 0 and abs(actual - target) > 2 * np.sqrt(max(target * (1 - target), 1e-9) / total):
            digits = next(d for d in count() if f"{actual:.{d}%}" != f"{target:.{d}%}")
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
        n_cells, least = n_items * groups.names.size, specification.labels_per_group_and_item
        if enough < n_cells:
            gaps.append(f"{n_cells - enough} of {n_cells} cells (group, item) have fewer than {least} labels")
    return gaps


def _group_gaps(specification: EvaluationSpecification, composition: pd.DataFrame) -> list[str]:
    n = composition["annotators"].to_numpy(np.int64)
    empty = composition.index[n == 0]
    small = composition.index[(n > 0) & (n < specification.smallest_group)]
    gaps = []
    if len(empty) and len(specification.protected) > 1:
        gaps.append(f"{len(empty)} of {len(composition)} combinations are empty: {', '.join(empty[:5])}")
    if len(small):
        least = specification.smallest_group
        gaps.append(f"{len(small)} groups have fewer than {least} annotators: {', '.join(small[:5])}")
    return gaps
