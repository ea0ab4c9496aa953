"""`bayesagree check`: is the claim that a new model is better supported? The exit code says it."""

from pathlib import Path

from typer import Exit

from bayesagree.cli import _options, _output
from bayesagree.errors import InputError, shorten


def check(
    source: _options.Source,
    columns: _options.PredictionColumns,
    sampling: _options.Sampling,
    predictions: Path | None = None,
    new: str = "new",
    old: str = "old",
    probability: float = 0.95,
    not_worse: float | None = None,
    metric: str = "top_1_accuracy",
    plausibility: str | None = None,
    items: str = "fixed",
    json: bool = False,
) -> None:
    """Check that a new model is better than an old one: exit code 0 if the annotations support it, 1 if not.

    Exit code 2 is bad input. The claim is about these items, or items like these with --items bootstrap.

    Example: bayesagree check labels.csv predictions.csv --new candidate --old deployed --not-worse .01
    """
    from bayesagree.evaluation.gates import claim

    truth, models = source.read(predictions, columns)
    if models is None:
        raise InputError("there are no predictions: give a file of predictions")
    names = {str(name): name for name in models.models.tolist()}
    for option, name in (("--new", new), ("--old", old)):
        if name not in names:
            raise InputError(f"{option} {name!r} is not one of the models, {shorten(names)}")
    if not_worse is not None and not not_worse > 0:
        raise InputError(f"--not-worse {not_worse:g} must be above 0, such as .01")
    options = vars(sampling) | {"items": _options.one_of(items, "--items", ("fixed", "bootstrap"))}
    if plausibility is not None:
        options["plausibility"] = _options.name_or_trace(plausibility)
    margin = -not_worse if not_worse else 0.0
    found = claim(truth, models, names[new], names[old], probability, margin, metric, **options)
    row = {"supported": found.supported, "claim_probability": found.found, "required": probability, "margin": margin}
    pairs = found.table.assign(ci_kind="hdi", ci_prob=0.95)
    tables = [
        _output.Table("claim", [row], most=0),
        _output.Table("pairs", pairs, f"{metric}: difference with its 95 % HDI"),
    ]
    _output.show(tables, json=json, notes=[f"{found.sentence}."])
    if not found.supported:
        raise Exit(1)
