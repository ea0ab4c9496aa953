"""`bayesagree blind`: which system is better, without expert labels."""

from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from bayesagree.cli import _options, _output
from bayesagree.errors import InputError


def blind(
    systems: Annotated[Path, Argument(help="Columns model, item and label (or scores).")],
    columns: _options.Columns,
    sampling: _options.Sampling,
    crowd: Annotated[Path | None, Option(help="Crowd labels: columns item, annotator and label.")] = None,
    gold: Annotated[Path | None, Option(help="Gold to set beside: columns item and label.")] = None,
    methods: Annotated[
        str,
        Option(help="Such as majority, em, sampling; intervals of the first."),
    ] = "dawid_skene,majority,sampling",
    metrics: Annotated[str, Option(help="Comma separated, such as accuracy,recall,f1.")] = "accuracy",
    positive: Annotated[str | None, Option(help="The positive label; by default the last of two.")] = None,
    leave_one_out: Annotated[bool, Option("--leave-one-out", help="Judge each system by the others only.")] = False,
    model: Annotated[str, Option(help="Column that names the system.")] = "model",
    duplicates: _options.Duplicates = "error",
    json: _options.Json = False,
    output: _options.ResultFile = None,
) -> None:
    """Score and rank systems that no expert judged; without a crowd these are scores against one another.

    Example: bayesagree blind systems.csv --crowd crowd.csv --methods dawid_skene,majority
    """
    from bayesagree.blind.scores import blind_posterior, blind_scores
    from bayesagree.evaluation.comparison import compare
    from bayesagree.evaluation.tables import best_first, score_table
    from bayesagree.io.exports import read_annotations
    from bayesagree.io.files import read_predictions, write_result
    from bayesagree.metrics import hard_label_scores

    predictions = read_predictions(systems, model=model, item=columns.item, label=columns.label)
    names = predictions.categories.tolist()
    sorts: Any = _options.words(metrics)
    how: Any = {
        "crowd": None
        if crowd is None
        else read_annotations(crowd, **columns.names(), labels=names, duplicates=duplicates),  # type: ignore[arg-type]
        "positive": None if positive is None else next((n for n in names if str(n) == positive), positive),
        "leave_one_out": leave_one_out,
        "random_seed": sampling.random_seed,
    }
    judges: Any = _options.words(methods)
    tree = blind_posterior(
        predictions, method=judges[0], metrics=tuple(sorts), draws=sampling.draws, chains=sampling.chains, **how
    )
    if output is not None:
        write_result(tree, output)
    scores = score_table({(name, 1.0): best_first(compare(tree, metric=name)) for name in sorts})
    rows = []
    for name in sorts:
        judged = {judge: blind_scores(predictions, method=judge, metric=name, **how) for judge in judges}
        if gold is not None:
            truth = _gold(gold, columns)
            judged["gold"] = hard_label_scores(predictions, truth, metric=name, positive=how["positive"])
        rows += [
            {"metric": name, "model": system}
            | {judge: found.sel(model=system).item() for judge, found in judged.items()}
            for system in predictions.models.tolist()
        ]
    tables = [
        _output.Table("scores", scores.drop(columns="reliability"), f"Scores by {judges[0]}, 95 % HDI"),
        _output.Table("methods", rows, "Scores by every method" + (", and against gold" if gold is not None else "")),
    ]
    _output.show(tables, json=json, notes=_independence(predictions, sampling.random_seed))


def _gold(path: Path, columns: _options.Columns) -> dict[Any, Any]:
    from bayesagree.io.files import read_table

    table = read_table(path)
    for name in (columns.item, columns.label):
        if name not in table.columns:
            raise InputError(f"{str(path)!r} has no column {name!r}; it has {', '.join(map(str, table.columns))}")
    return dict(zip(table[columns.item].tolist(), table[columns.label].tolist()))


def _independence(predictions: Any, random_seed: int) -> list[str]:
    from bayesagree.blind import independence_check

    if predictions.models.size < 3:
        return []
    p_value = float(independence_check(predictions, random_seed=random_seed)["p_value"])
    if p_value < 0.05:
        verdict = "systems share errors: blind scores flatter those that do, and blind intervals are too narrow"
    else:
        verdict = "no sign of shared errors"
    return [f"Independence check: p = {p_value:.2f}, {verdict}."]
