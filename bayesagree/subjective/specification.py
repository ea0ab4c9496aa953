"""Specification of an evaluation of a model of subjective labels, and a check of the data against it.

Balayn and Bozzon list seven points to settle before collecting an evaluation set: which bias is looked for, which
features of people matter, the target distributions of annotators, items and labels, how they were collected, and a
report of all of it with the intermediate scores. `EvaluationSpecification` is that list, filled in by hand;
`bayesagree.subjective.specification_check` puts the actual distributions beside the targets and lists the gaps.

Source: Balayn and Bozzon, "Designing evaluations of machine learning models for subjective inference" (2019), section
"Data collection: specifications, implications", points 1 to 7.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from numbers import Real
from typing import Any, Literal

import numpy as np
import pandas as pd

from bayesagree.errors import InputError

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
        if self.fairness not in ("group", "individual"):
            raise InputError(f"fairness={self.fairness!r} is not one of 'group', 'individual'")
        for name in ("metrics", "protected", "similarity", "representative"):
            named = getattr(self, name)
            # One name is a list of one name, not its letters.
            object.__setattr__(self, name, (named,) if isinstance(named, str) else tuple(named))
        if self.fairness == "individual" and not self.similarity:
            raise InputError("individual fairness is about similar annotators: name similarity=[features]")
        targets = {**self.annotators, **self.items, **({"labels": self.labels} if self.labels else {})}
        for name, shares in targets.items():
            if not isinstance(shares, Mapping) or not all(isinstance(share, Real) for share in shares.values()):
                raise InputError(f"target distribution of {name!r} is {shares!r}; shares are numbers that sum to 1")
            total = sum(map(float, shares.values()))
            if min(shares.values()) < 0 or abs(total - 1) > 1e-6:
                raise InputError(f"target distribution of {name!r} sums to {total:g}; shares must sum to 1")

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
        except (json.JSONDecodeError, TypeError, OverflowError) as error:
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
        tables = {
            "distributions": self.distributions,
            "groups": self.groups.reset_index(),
            "scores": self.scores.reset_index(drop=True),
            "individual": self.individual.reset_index(drop=True),
        }
        rows = {name: json.loads(str(table.to_json(orient="records"))) for name, table in tables.items()}
        return json.dumps({"declared": asdict(self.declared), "gaps": list(self.gaps), **rows}, indent=2)

    def to_markdown(self) -> str:
        """Write the seven points as a page."""
        d, tables = self.declared, self.distributions
        lines = ["# Evaluation specification", ""]

        def section(title: str, *content: str) -> None:
            for block in (f"## {title}", *(c for c in content if c)):
                lines.extend([block, ""])

        def table_of(kind: str) -> str:
            return _markdown(pd.DataFrame(tables[tables["kind"] == kind]).drop(columns="kind"))

        section("1. Bias", d.bias_definition, f"{d.fairness} fairness; metrics: {', '.join(d.metrics)}")
        section(
            "2. Features of annotators",
            f"protected: {_names(d.protected)}; similarity: {_names(d.similarity)}; "
            f"representative: {_names(d.representative)}",
        )
        section("3. Annotators", d.annotators_reason, table_of("annotator"))
        section("4. Items", d.items_reason, table_of("item"))
        section(
            "5. Labels",
            f"at least {d.labels_per_item} labels an item, {d.labels_per_group_and_item} from each group",
            table_of("label"),
        )
        section("6. Collection", d.collection or "not stated")
        gaps = "\n".join(f"- {gap}" for gap in self.gaps) or "none found"
        section("7. Report", "Gaps:", gaps, "Groups:", _markdown(self.groups.reset_index()))
        if len(self.scores):
            section("Scores of groups", _markdown(self.scores))
        if len(self.individual):
            told = "Mean difference in performance between similar annotators; 0 is individual fairness."
            section("Individual fairness", told, _markdown(self.individual))
        return "\n".join(lines)


def _names(features: Sequence[str]) -> str:
    return ", ".join(features) or "none"


def _markdown(table: pd.DataFrame) -> str:
    """Write a table with pipes; a number that does not exist is empty."""
    if table.empty:
        return "none"

    def cell(value: Any) -> str:
        if isinstance(value, float):
            return "" if np.isnan(value) else f"{value:.3f}"
        return str(value).replace("|", "\\|")

    rows = [list(map(str, table.columns)), ["---"] * table.shape[1]]
    rows += [[cell(v) for v in row] for row in table.itertuples(index=False)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
