"""`bayesagree blind`: which system is better, without expert labels."""

from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from bayesagree.cli._options import (
    Columns,
    Duplicates,
    ModelColumn,
    Sampling,
    by_item,
    names,
    one_named,
    unused,
)
from bayesagree.cli._output import Answer, ResultAnswer, Table


def blind(
    systems: Annotated[Path, Argument(help="Columns model, item and label (or scores).")],
    columns: Columns,
    sampling: Sampling,
    crowd: Annotated[Path | None, Option(help="Crowd labels: columns item, annotator and label.")] = None,
    gold: Annotated[Path | None, Option(help="Gold to set beside: columns item and label.")] = None,
    methods: Annotated[
        Any, Option(parser=names, help="Intervals of the first.")
    ] = "dawid_skene,majority,sampling",
    metrics: Annotated[Any, Option(parser=names, help="Such as accuracy,recall,f1.")] = "accuracy",
    positive: Annotated[str | None, Option(help="The positive label; by default the last of two.")] = None,
    leave_one_out: Annotated[bool, Option("--leave-one-out", help="Judge each by the others only.")] = False,
    model: ModelColumn = "model",
    duplicates: Duplicates = "error",
) -> ResultAnswer:
    """Score and rank systems that no expert judged; without a crowd these are scores against one another.

    Example: bayesagree blind systems.csv --crowd crowd.csv --methods direct,majority
    """
    import pandas as pd

    from bayesagree._types import SAMPLE
    from bayesagree.blind import independence_check
    from bayesagree.blind.scores import WITH_CROWD, blind_posterior, blind_scores
    from bayesagree.evaluation.tables import score_table
    from bayesagree.io.exports import read_annotations
    from bayesagree.io.predictions import read_predictions
    from bayesagree.metrics import hard_label_scores

    if not {*methods} & {*WITH_CROWD}:
        unused(f"by these methods, but by {', '.join(WITH_CROWD)}", "crowd")
    given = read_predictions(systems, model=model, item=columns.item, label=columns.label)
    labels, seed = given.categories.tolist(), sampling.random_seed
    how = {"leave_one_out": leave_one_out, "random_seed": seed}
    if crowd is not None:
        how["crowd"] = read_annotations(crowd, **vars(columns), labels=labels, duplicates=duplicates)
    if positive is not None:
        how["positive"] = one_named(positive, labels)
    of: Any = {judge: how if judge in WITH_CROWD else how | {"crowd": None} for judge in methods}
    tree = blind_posterior(given, method=methods[0], metrics=tuple(metrics), **of[methods[0]] | vars(sampling))
    truth = None if gold is None else by_item(gold, columns.item, columns.label).to_dict()
    parts = {}
    for name in metrics:
        judged = {methods[0]: tree["posterior"].to_dataset()[name].mean(SAMPLE)}
        judged |= {judge: blind_scores(given, method=judge, metric=name, **of[judge]) for judge in methods[1:]}
        if truth is not None:
            judged["gold"] = hard_label_scores(given, truth, metric=name, positive=how.get("positive"))
        parts[name] = pd.DataFrame({judge: scores.to_series() for judge, scores in judged.items()})
    rows = pd.concat(parts, names=["metric"]).reset_index()
    title = f"Scores by every method{', and against gold' if truth else ''}"
    scores = Table("scores", score_table(tree), f"Scores by {methods[0]}, 95 % HDI")
    notes = []
    if given.models.size > 2:
        p_value = float(independence_check(given, random_seed=seed)["p_value"])
        shared = "systems share errors: blind scores flatter those that do, and blind intervals are too narrow"
        verdict = shared if p_value < 0.05 else "no sign of shared errors"
        notes = [f"Independence check: p = {p_value:.2f}, {verdict}."]
    return Answer([scores, Table("methods", rows, title)], notes, tree)
