"""`bayesagree certainty`: how much the annotations leave open."""

from pathlib import Path
from typing import Any

from bayesagree.cli import _options, _output
from bayesagree.cli.plausibility import posterior

# Items on the screen: what fits without scrolling back; the document and the file have all.
_SHOWN = 20


def certainty(
    source: _options.Source,
    sampling: _options.Sampling,
    plausibility: str | None = None,
    reliability: str | None = None,
    k: int = 1,
    exact: bool = False,
    threshold: float | None = None,
    json: bool = False,
    tool: str | None = None,
    contents: Path | None = None,
    output: Path | None = None,
) -> None:
    """Show the annotation certainty of the items, least certain first.

    Example: bayesagree certainty annotations.csv --reliability 1,3,10
    """
    import pandas as pd

    from bayesagree._inference.results import settings_of
    from bayesagree.evaluation.tables import OPEN
    from bayesagree.plausibility.certainty import annotation_certainty

    truth, _ = source.read()
    size: dict[str, Any] = vars(sampling) | ({"draws": 1} if exact else {})
    if not hasattr(truth, "rating") and not exact:
        size["top_labels"] = k
    tables = []
    for level in [None] if reliability is None else _options.numbers(reliability, "--reliability"):
        tree = posterior(truth, plausibility, reliability=level, **size)
        values = annotation_certainty(tree, k=k, threshold=threshold, exact=exact)
        tables.append(
            pd.DataFrame(
                {
                    "item": truth.items,
                    "reliability": settings_of(tree).get("reliability", 1.0),
                    "certainty": values.values,
                }
            )
        )
    table = pd.concat(tables).sort_values(["reliability", "certainty", "item"], kind="stable")
    if tool is None:
        _output.write_table(table, output)
    else:
        first = table[table["reliability"] == table["reliability"].iloc[0]]
        _options.write_items(first.drop(columns="reliability"), output, tool, contents, source.item)
    below = (f"share_below_{OPEN}", lambda values: float((values < OPEN).mean()))
    summary = table.groupby("reliability")["certainty"].agg(mean="mean", smallest="min", **dict([below]))
    shown = [
        _output.Table("certainty", summary.reset_index(), "Annotation certainty"),
        _output.Table("items", table, "Least certain items", most=_SHOWN),
    ]
    _output.show(shown, json=json)
