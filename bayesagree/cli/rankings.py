"""`bayesagree rankings`: a whole evaluation against rankings, under two aggregation models and many reliabilities."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesagree.cli import _options, _output
from bayesagree.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

    from bayesagree.annotations import Rankings


def rankings(
    source: _options.Source,
    columns: _options.PredictionColumns,
    sampling: _options.Sampling,
    predictions: Path | None = None,
    simulated_models: int = 4,
    prirn: str = "2,5,10,20,50",
    plackett_luce: str = "1,2,3,5",
    unranked: str = "lumped",
    risk: Path | None = None,
    case: str | None = None,
    json: bool = False,
    output: Path | None = None,
) -> None:
    """Evaluate against rankings, under two aggregation models and many reliabilities.

    Certainty, risk and scores under PrIRN and Plackett-Luce at several reliabilities; how the two agree; which items
    stay open at every reliability.

    Example: bayesagree rankings --data derm-ddx --draws 250
    """
    from bayesagree.annotations import Rankings
    from bayesagree.datasets.simulate import noisy_models
    from bayesagree.evaluation.rankings import ranking_study
    from bayesagree.io.files import write_result

    truth, models = source.read(predictions, columns)
    if not isinstance(truth, Rankings):
        raise InputError(f"these are {type(truth).__name__}, not rankings; use `bayesagree evaluate`")
    unnamed = _options.one_of(unranked, "--unranked", ("exact", "lumped"))
    if case is not None and case not in truth.items.astype(str):
        raise InputError(f"--case {case!r}: there is no such item")
    simulated = models is None
    models = models or noisy_models(truth, n_models=simulated_models, seed=sampling.seed)
    levels = _options.numbers(prirn, "--prirn")
    whole = _whole(_options.numbers(plackett_luce, "--plackett-luce"))
    with _output.progress("settings", len(levels) + len(whole)) as advance:
        how: Any = {"prirn_reliability": levels, "plackett_luce_reliability": whole, "unranked": unnamed}
        risks = _risk(risk, source.data)
        tree = ranking_study(truth, models, risk=risks, progress=advance, **how, **vars(sampling))
    if output is not None:
        write_result(tree, output)
    notes = ["The models are simulated."] if simulated else []
    _output.show(_tables(truth, tree, case), json=json, notes=notes)


def _tables(truth: "Rankings", tree: "xr.DataTree", case: str | None) -> list[_output.Table]:
    from bayesagree.evaluation import ranking_tables as study
    from bayesagree.evaluation.rankings import certainty_correlation

    correlation = certainty_correlation(tree).values
    names, view = study.setting_names(tree), study.item_view(truth, tree, case)
    given = [{"ranking": " > ".join("{" + ", ".join(map(str, block)) + "}" for block in r)} for r in view.rankings]
    matrix: list[dict[str, Any]] = [{"setting": n} | dict(zip(names, row)) for n, row in zip(names, correlation)]
    return [
        _output.Table("annotations", [study.annotation_summary(tree)], "Annotations"),
        _output.Table("settings", study.setting_table(tree), "Certainty"),
        _output.Table("correlation_of_certainty", matrix, most=0),
        _output.Table(
            "nearest_settings", study.nearest_settings(tree), "Settings of PrIRN whose certainty correlates most"
        ),
        _output.Table("unsettled_items", study.unsettled_items(tree), "Items that no reliability settles"),
        _output.Table("scores", study.model_scores(tree), "Mean scores, models in order of columns"),
        _output.Table("item", [{"item": view.item, "certainty": view.certainty}], most=0),
        _output.Table("rankings", given, f"Item {view.item}, certainty {view.certainty:.2f}"),
        _output.Table("labels", view.labels, "Probability to be the top label"),
    ]


def _whole(levels: list[float]) -> list[int]:
    broken = [level for level in levels if level < 1 or not level.is_integer()]
    if broken:
        raise InputError(f"--plackett-luce {broken[0]:g}: Plackett-Luce repeats rankings 1, 2, 3, ... times")
    return [int(level) for level in levels]


def _risk(path: Path | None, data: str | None) -> dict[Any, float] | None:
    if path is not None:
        from bayesagree.io.files import read_table

        table = read_table(path)
        if not {"label", "risk"} <= set(table.columns):
            raise InputError(f"{path} needs the columns label and risk; it has {', '.join(map(str, table.columns))}")
        return dict(zip(table["label"].tolist(), table["risk"].tolist()))
    if data is not None:
        from bayesagree.datasets import load

        return load(data).extra.get("risk")
    return None
