"""Specification of an evaluation of a model of subjective labels, and a check of the data against it.

Balayn and Bozzon list seven points to settle before collecting an evaluation set: which bias is looked for, which
features of people matter, the target distributions of annotators, items and labels, how they were collected, and a
report of all of it with the intermediate scores. `EvaluationSpecification` is that list, filled in by hand;
`EvaluationSpecification.check` puts the actual distributions beside the targets and lists the gaps.

Source: Balayn and Bozzon, "Designing evaluations of machine learning models for subjective inference" (2019), section
"Data collection: specifications, implications", points 1 to 7.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from bayesagree.annotations.annotators import UNKNOWN, Annotators
from bayesagree.annotations.groups import Groups
from bayesagree.errors import InputError, one_of, shorten
from bayesagree.subjective.disagreement import Answers

Shares = Mapping[str, float]


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

    Examples
    --------
    >>> votes = Labels.from_matrix([["a", "b", "a"]], annotators=list("xyz"))
    >>> people = Annotators.from_table(pd.DataFrame({"annotator": list("xyz"), "gender": ["f", "f", None]}))
    >>> declared = EvaluationSpecification(
    ...     "unequal accuracy", protected=["gender"], annotators={"gender": {"f": 0.5, "m": 0.5}}, smallest_group=2
    ... )
    >>> for gap in declared.check(votes, people).gaps:
    ...     print(gap)
    annotators, gender = m: nobody, target 50 %
    annotators, gender: 1 of 3 are not known
    1 groups have fewer than 2 annotators: 'unknown'
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
            # One name is a list of one name, not its letters.
            named = getattr(self, name)
            object.__setattr__(self, name, (named,) if isinstance(named, str) else tuple(named))
        if self.fairness == "individual" and not self.similarity:
            raise InputError("individual fairness is about similar annotators: name similarity=[features]")
        for name, shares in {**self.annotators, **self.items, "labels": self.labels or {"any": 1}}.items():
            given = np.array([*shares.values()])
            # NaN and no shares at all sum to 1 as little.
            if given.dtype.kind not in "if" or not abs(given.sum() - 1) <= 1e-6 or given.min() < 0:
                raise InputError(f"target distribution {name}={shares!r}: shares are 0 or more and sum to 1")

    @classmethod
    def from_json(cls, text: str) -> "EvaluationSpecification":
        """Read the fields from a JSON object; InputError for another text or an unknown field."""
        try:
            return cls(**json.loads(text))
        except (ValueError, TypeError, RecursionError) as error:
            raise InputError(f"this is not a specification: {error}") from error

    def check(
        self, annotations: Answers, annotators: Annotators, *, items: pd.DataFrame | None = None
    ) -> "SpecificationReport":
        """Compare the declaration with the data.

        Parameters
        ----------
        annotations, annotators
            The evaluation set.
        items
            Attributes of the items, index item, for the target distributions of items.

        Raises
        ------
        InputError
            A declared feature that the annotators or items do not have.
        """
        features = dict.fromkeys([*self.protected, *self.similarity, *self.representative, *self.annotators])
        of = annotations.annotators
        n_items = annotations.items.size
        parts = [_shares("annotator", f, annotators.values(f, of), self.annotators.get(f)) for f in features]
        for name, targets in self.items.items():
            if items is None or name not in items:
                raise InputError(f"there is a target by item attribute {name!r}; pass items= with it")
            parts.append(_shares("item", name, items[name].reindex(list(annotations.items)), targets))
        known = annotations.categories.astype(str) if annotations.kind == "labels" else ()
        parts.append(_shares("label", "label", annotations.text(), self.labels, known))
        distributions = pd.concat(parts, ignore_index=True)
        gaps = [gap for row in distributions.itertuples(index=False) if (gap := _share_gap(row))]
        gaps += _few(annotations.item_index, n_items, "items", self.labels_per_item)
        composition = pd.DataFrame(columns=["group", "annotators", "annotations", "items"]).set_index("group")
        if self.protected:
            groups = Groups.by_features(annotations, annotators, self.protected)
            composition = groups.composition(annotations)
            group = groups.of_rows(annotations)
            cells = group.astype(int) * n_items + annotations.item_index
            n_cells = groups.names.size * n_items
            gaps += _few(cells[group >= 0], n_cells, "cells (group, item)", self.labels_per_group_and_item)
            sizes: Any = composition["annotators"]
            empty = sizes.index[sizes == 0]
            small = sizes.index[(sizes > 0) & (sizes < self.smallest_group)]
            if len(empty) and len(self.protected) > 1:
                gaps.append(f"{len(empty)} of {len(sizes)} combinations are empty: {shorten(empty)}")
            if len(small):
                gaps.append(
                    f"{len(small)} groups have fewer than {self.smallest_group} annotators: {shorten(small)}"
                )
        return SpecificationReport(self, distributions, composition, tuple(gaps))


class SpecificationReport(NamedTuple):
    """A specification beside the data.

    Attributes
    ----------
    declared
        The specification.
    distributions
        Target and actual share and number: columns kind (annotator, item, label), feature, value, target, actual, n.
    groups
        Composition of the groups by protected attributes: annotators, annotations, items.
    gaps
        One sentence for each difference between the declaration and the data.
    """

    declared: EvaluationSpecification
    distributions: pd.DataFrame
    groups: pd.DataFrame
    gaps: tuple[str, ...]

    def to_markdown(self) -> str:
        """Write the seven points, the shares beside their targets, the gaps and the groups as a page."""
        points = {k: ", ".join(v) if isinstance(v, tuple) else v for k, v in vars(self.declared).items()}
        declared = "\n".join(f"- {name}: {value or 'not stated'}" for name, value in points.items())
        gaps = "\n".join(f"- {gap}" for gap in self.gaps) or "none found"
        shares = _markdown_table(self.distributions)
        groups = _markdown_table(self.groups.reset_index())
        parts = ["# Evaluation specification", declared, "Shares:", shares, "Gaps:", gaps, "Groups:", groups]
        return "\n\n".join(parts) + "\n"


def _shares(kind: str, feature: str, values: Any, targets: Shares | None, known: Any = ()) -> pd.DataFrame:
    """Return share and number of each value that is there, has a target, or is known."""
    targets = targets or {}
    counts = pd.Series(values, dtype=object).map(str, na_action="ignore").fillna(UNKNOWN).value_counts()
    names = sorted({*map(str, counts.index), *targets, *known})
    n = counts.reindex(names, fill_value=0)
    wanted = [targets.get(name, np.nan if not targets or name == UNKNOWN else 0.0) for name in names]
    table = pd.DataFrame({"kind": kind, "feature": feature, "value": names, "target": wanted})
    return table.assign(actual=(n / n.sum()).to_numpy(), n=n.to_numpy())


def _share_gap(row: Any) -> str | None:
    """Name a declared value that nobody has, or a share two standard errors or more from its target."""
    place = f"{row.kind}s, {row.feature}"
    total = row.n / row.actual if row.n else np.inf
    if row.value == UNKNOWN and row.n:
        return f"{place}: {row.n} of {total:.0f} are not known"
    if row.target > 0 and row.n == 0:
        return f"{place} = {row.value}: nobody, target {100 * row.target:.0f} %"
    if abs(row.actual - row.target) > 2 * np.sqrt(max(row.target * (1 - row.target), 1e-9) / total):
        return f"{place} = {row.value}: {100 * row.actual:.3g} %, target {100 * row.target:.3g} %"
    return None


def _few(at: Any, number: int, what: str, least: int) -> list[str]:
    """Say how many places hold fewer labels than was declared, from the place of each label."""
    few = np.bincount(at, minlength=number) < least
    return [f"{few.sum()} of {number} {what} have fewer than {least} labels"] if few.any() else []


def _markdown_table(table: pd.DataFrame) -> str:
    """Write a table with pipes; a number that does not exist is empty."""
    if table.empty:
        return "none"

    def cell(value: Any) -> str:
        if isinstance(value, float):
            return "" if value != value else f"{value:.3f}"
        return str(value).replace("|", "\\|")

    rows = [list(map(str, table.columns)), ["---"] * table.shape[1]]
    rows += [[cell(v) for v in row] for row in table.itertuples(index=False)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
