"""Files of an evaluation by groups: predictions per item or per annotation, and the report of a specification."""

from pathlib import Path

import pandas as pd

from bayesagree.annotations import Labels, Ratings
from bayesagree.errors import InputError
from bayesagree.io.files import atomic_path, read_predictions, read_table
from bayesagree.subjective.agreement import predictions_of
from bayesagree.subjective.performance import ModelPredictions
from bayesagree.subjective.specification import EvaluationSpecification, SpecificationReport


def read_model_predictions(
    path: str | Path,
    annotations: Labels | Ratings,
    *,
    model: str = "model",
    item: str = "item",
    annotator: str = "annotator",
    label: str = "label",
    rating: str = "rating",
) -> ModelPredictions:
    """Read predictions per item, or per (item, annotator) where the table has a column for the annotator.

    Parameters
    ----------
    path
        Table in any format of `read_table`.
    annotations
        Annotations to compare with: labels are predicted in the column `label`, ratings in the column `rating`.
    model, item, annotator, label, rating
        Names of the columns.

    Raises
    ------
    InputError
        A missing column.
    """
    table = read_table(path)
    index = [item, annotator] if annotator in table.columns else item
    if isinstance(annotations, Labels) and index == item:
        return predictions_of(read_predictions(path, model=model, item=item, label=label), annotations.items)
    column = label if isinstance(annotations, Labels) else rating
    missing = [name for name in (model, item, column) if name not in table.columns]
    if missing:
        raise InputError(f"{path}: no column {missing[0]!r}; these predictions need {model}, {item}, {column}")
    return {str(m): pd.Series(part.set_index(index)[column]) for m, part in table.groupby(model)}


def read_specification(path: Path) -> EvaluationSpecification:
    """Read the JSON file of an `EvaluationSpecification`."""
    return EvaluationSpecification.from_json(path.read_text(encoding="utf-8"))


def write_specification_report(path: Path, report: SpecificationReport) -> None:
    """Write the comparison of a declared evaluation with the data, as Markdown or JSON.

    Parameters
    ----------
    path
        File that ends in .md or .json.
    report
        Result of `check_specification`.

    Raises
    ------
    InputError
        Another ending.
    """
    if path.suffix not in (".md", ".json"):
        raise InputError(f"{path}: the report is written as .md or .json")
    with atomic_path(path) as temporary:
        text = report.to_markdown() if path.suffix == ".md" else report.to_json()
        temporary.write_text(text + "\n", encoding="utf-8")
