"""`bayesagree check`: is the claim that a new model is better supported? The exit code says it."""

from typing import Annotated

from typer import Option

from bayesagree.cli._options import (
    Items,
    Missing,
    PlausibilityName,
    Sampling,
    WithPredictions,
    name_or_trace,
    one_named,
)
from bayesagree.cli._output import Answer, Table
from bayesagree.errors import InputError


def check(
    source: WithPredictions,
    sampling: Sampling,
    new: Annotated[str, Option(help="Name of the new model.")] = "new",
    old: Annotated[str, Option(help="Name of the model that it is compared with.")] = "old",
    probability: Annotated[float, Option(help="Required probability of the claim.")] = 0.95,
    looks: Annotated[int, Option(min=1, help="How often this is checked while votes are added.")] = 1,
    not_worse: Annotated[float | None, Option(help="Claim: not worse by this; by default: better.")] = None,
    metric: Annotated[str, Option(help="Metric to compare by.")] = "accuracy",
    plausibility: PlausibilityName = None,
    items: Items = "fixed",
    missing: Missing = "error",
) -> Answer:
    """Check that a new model is better than an old one: exit code 0 if the annotations support it, 1 if not.

    Exit code 2 is bad input. The claim is about these items, or items like these with --items bootstrap.

    Example: bayesagree check labels.csv predictions.csv --new candidate --old deployed --not-worse .01
    """
    from bayesagree.evaluation.gates import claim, required_probability
    from bayesagree.evaluation.tables import given_notes

    truth, models = source.read(needed=True)
    if not_worse is not None and not not_worse > 0:
        raise InputError(f"--not-worse {not_worse:g} must be above 0, such as .01")
    options = {"items": items, "missing": missing, "plausibility": name_or_trace(plausibility)}
    margin, probability = -(not_worse or 0.0), required_probability(probability, looks)
    new, old = (one_named(name, models.model_names.tolist()) for name in (new, old))
    found = claim(truth, models, new, old, probability, margin, metric, **options, **vars(sampling))
    row = {"supported": found.supported, "claim_probability": found.found, "required": probability}
    pairs = found.table.assign(ci_kind="hdi", ci_prob=0.95)
    tables = [
        Table("claim", [row | {"margin": margin}], most=0),
        Table("pairs", pairs, f"{metric}: difference with its 95 % HDI"),
    ]
    notes = [f"{found.sentence}.", *given_notes(truth, models, missing)]
    return Answer(tables, notes, code=int(not found.supported))
