"""`bayesagree reliability`: how well each reliability predicts a held-out annotator."""

from pathlib import Path

from bayesagree.cli import _options, _output


def reliability(
    source: _options.Source,
    plausibility: str | None = None,
    reliabilities: str | None = None,
    seed: int = 1,
    json: bool = False,
    output: Path | None = None,
) -> None:
    """Show for each reliability how well the other annotators of an item predict a held-out one.

    Annotators who share errors predict each other well: the curve tells the scale of low and high reliability, not
    the right value.

    Example: bayesagree reliability annotations.csv --reliability 0.3,1,3
    """
    from bayesagree.predictive.reliability import reliability_curve

    given, _ = source.read()
    levels = None if reliabilities is None else _options.numbers(reliabilities, "--reliability")
    curve = reliability_curve(given, levels, plausibility=plausibility, seed=seed)
    table = curve.drop_vars(["best", "observed_agreement"]).to_dataframe().reset_index()
    _output.write_table(table, output)
    best = {"best": float(curve["best"]), "observed_agreement": float(curve["observed_agreement"])}
    title = "Held-out prediction (intervals: 95 % over items)"
    note = f"best at {best['best']:g}; observed agreement {best['observed_agreement']:.3f}"
    tables = [_output.Table("settings", [best | dict(curve.attrs)], most=0), _output.Table("curve", table, title)]
    _output.show(tables, json=json, notes=[note])
