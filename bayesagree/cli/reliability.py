"""`bayesagree reliability`: how well each trust in the annotators predicts the one left out."""

from typing import Annotated, Any

import typer

from bayesagree.cli import _input, _options, _output


def reliability(
    annotations: _options.AnnotationsFile = None,
    data: _options.Data = None,
    plausibility: Annotated[
        str | None, typer.Option("--plausibility", help="dirichlet, prirn or plackett_luce.")
    ] = None,
    reliabilities: Annotated[
        str | None, typer.Option("--reliability", help="Values to compare: 0.3,1,3 (whole numbers for plackett_luce).")
    ] = None,
    seed: _options.Seed = 1,
    item: _options.Item = "item",
    annotator: _options.Annotator = "annotator",
    label: _options.LabelColumn = "label",
    rank: _options.RankColumn = "rank",
    labels: _options.LabelNames = None,
    duplicates: _options.Duplicates = "error",
    as_json: _options.Json = False,
    output: _options.TableFile = None,
) -> None:
    """Show for each reliability how well the other annotators of an item predict the one left out.

    Annotators who err together predict each other well: the curve says what scale "low" and "high" have, not which
    value is right.

    Example: bayesagree reliability annotations.csv --reliability 0.3,1,3
    """
    from bayesagree.predictive.reliability import reliability_curve

    columns = {"item": item, "annotator": annotator, "label": label, "rating": "rating", "rank": rank}
    given: Any = _input.read(
        annotations, data, columns=columns, scale=None, step=None, labels=labels, duplicates=duplicates
    )[0]
    levels = None if reliabilities is None else _input.numbers(reliabilities, "--reliability")
    with _output.stderr.status("leaving out one annotator at a time"):
        curve = reliability_curve(given, levels, plausibility=plausibility, seed=seed)
    table = curve.drop_vars(["best", "observed_agreement"]).to_dataframe().reset_index()
    _output.write_table(table, output)
    best, observed = float(curve["best"]), float(curve["observed_agreement"])
    if as_json:
        rows: list[Any] = table.to_dict("records")
        _output.show_json({"best": best, "observed_agreement": observed, "curve": rows} | dict(curve.attrs))
        return
    shown = ["reliability", "log_score", "behind", "behind_lower", "behind_upper", "prob_best", "agreement"]
    title = f"best at {best:g}; observed agreement {observed:.3f} (intervals: 95 % over items)"
    _output.show_table(shown, table[shown].to_numpy().tolist(), title=title)
