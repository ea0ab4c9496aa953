"""`bayesagree blind`: which system is better, without expert labels."""

from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from bayesagree.cli import _options
from bayesagree.cli._output import Answer, ResultAnswer, Table


def blind(
    systems: Annotated[Path, Argument(help="Columns model, item and label (or scores).")],
    columns: _options.Columns,
    sampling: _options.Sampling,
    crowd: Annotated[Path | None, Option(help="Crowd labels: columns item, annotator and label.")] = None,
    gold: Annotated[Path | None, Option(help="Gold to set beside: columns item and label.")] = None,
    methods: Annotated[str, Option(help="Intervals of the first.")] = "dawid_skene,majority,sampling",
    metrics: Annotated[str, Option(help="Comma separated, such as accuracy,recall,f1.")] = "accuracy",
    positive: Annotated[str | None, Option(help="The positive label; by default the last of two.")] = None,
    leave_one_out: Annotated[bool, Option("--leave-one-out", help="Judge each by the others only.")] = False,
    model: Annotated[str, Option(help="Column that names the system.")] = "model",
    duplicates: _options.Duplicates = "error",
) -> ResultAnswer:
    """Score and rank systems that no expert judged; without a crowd these are scores against one another.

    Example: bayesagree blind systems.csv --crowd crowd.csv --methods dawid_skene,majority
    """
    import pandas as pd

    from bayesagree.blind import independence_check
    from bayesagree.blind.scores import blind_posterior, blind_scores
    from bayesagree.evaluation.tables import score_table
    from bayesagree.io.exports import read_annotations
    from bayesagree.io.predictions import read_predictions
    from bayesagree.metrics import hard_label_scores

    given = read_predictions(systems, model=model, item=columns.item, label=columns.label)
    names, seed = given.categories.tolist(), sampling.random_seed
    how: Any = {"leave_one_out": leave_one_out, "random_seed": seed}
    if crowd is not None:
        read: Any = {"labels": names, "duplicates": duplicates}
        how["crowd"] = read_annotations(crowd, **vars(columns), **read)
    if positive is not None:
        how["positive"] = next((name for name in names if str(name) == positive), positive)
    judges: Any = _options.names(methods)
    sorts: Any = tuple(_options.names(metrics))
    tree = blind_posterior(given, method=judges[0], metrics=sorts, **how | vars(sampling))
    truth = None if gold is None else _options.by_item(gold, columns.item, columns.label).to_dict()
    parts: dict[str, Any] = {}
    for name in sorts:
        judged = {judge: blind_scores(given, method=judge, metric=name, **how).to_series() for judge in judges}
        if truth is not None:
            found = hard_label_scores(given, truth, metric=name, positive=how.get("positive"))
            judged["gold"] = found.to_series()
        parts[name] = pd.DataFrame(judged)
    rows = pd.concat(parts, names=["metric"]).reset_index()
    title = f"Scores by every method{', and against gold' if truth else ''}"
    tables = [
        Table("scores", score_table(tree), f"Scores by {judges[0]}, 95 % HDI"),
        Table("methods", rows, title),
    ]
    notes = []
    if given.models.size > 2:
        p_value = float(independence_check(given, random_seed=seed)["p_value"])
        shared = "systems share errors: blind scores flatter those that do, and blind intervals are too narrow"
        verdict = shared if p_value < 0.05 else "no sign of shared errors"
        notes = [f"Independence check: p = {p_value:.2f}, {verdict}."]
    return Answer(tables, notes, tree)
