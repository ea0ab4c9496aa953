"""The report of comparisons: which model wins, how certain its place is, and what ties, places and annotators do."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesagree.agreement.coefficients import agreement_table
from bayesagree.annotations import Comparisons, Labels
from bayesagree.comparisons.tables import effect_table, preference_table
from bayesagree.errors import InputError
from bayesagree.inference.results import settings_of
from bayesagree.planning._pairs import Pairs
from bayesagree.plausibility.registry import Reference
from bayesagree.report.data import ReportSource
from bayesagree.report.kinds import kind_of
from bayesagree.report.panel import DECIDED, Answer, agreement_answer, text
from bayesagree.report.views import _with_bars, agreement, diagnostics
from bayesagree.report.wording import (
    DAVIDSON,
    count,
    interval,
    named,
    number,
    percent,
    percents,
    probability,
)

TITLE = "Which model do people prefer, when they disagree?"
# Pairs that are listed for the next comparison.
NEXT = 5
EFFECTS = {"tie_probability": "two equal models tie", "first_wins": "the first place wins, without ties"}
DIAGNOSTICS = ("r_hat", "ess")


@dataclass(frozen=True, eq=False)
class ComparisonReport:
    """All numbers of a report of comparisons.

    Attributes
    ----------
    comparisons, result, source
        Who won against whom, the result of `davidson`, and where the comparisons are from.
    annotations, agreement
        What annotators say of each pair, and rows as `agreement_table` gives them.
    models
        Rows as `preference_table` gives them, as win rates.
    effects
        Rows as `effect_table` gives them.
    pairs, worth
        Pairs for the next comparison, and what more comparisons of the two best models show.
    diagnostics, warnings, version
        As in `ReportData`.
    """

    comparisons: Comparisons
    result: xr.DataTree
    source: ReportSource
    annotations: Labels
    agreement: pd.DataFrame
    models: pd.DataFrame
    effects: pd.DataFrame
    pairs: pd.DataFrame
    worth: pd.DataFrame
    diagnostics: dict[str, float]
    gold: None = None
    warnings: tuple[str, ...] = ()
    version: str = field(default_factory=lambda: version("bayesagree"))


def comparison_report(
    comparisons: Comparisons,
    result: xr.DataTree,
    *,
    source: ReportSource | None = None,
    warnings: tuple[str, ...] = (),
) -> ComparisonReport:
    """Compute everything that the report of a result of `davidson` shows; `write_report` writes it.

    Parameters
    ----------
    comparisons, result
        The comparisons, and the result of `davidson` for them.
    source
        Name and origin of the comparisons.
    warnings
        Those of `davidson`, to be shown on the page.

    Raises
    ------
    InputError
        A result of other models.

    Examples
    --------
    >>> from bayesagree import davidson
    >>> table = pd.DataFrame({"left": list("AABBC") * 6, "right": list("BCCAA") * 6, "winner": list("AABAA") * 6})
    >>> games = Comparisons.from_long(table)
    >>> comparison_report(games, davidson(games, draws=300, chains=2, random_seed=1)).models["model"].tolist()
    ['A', 'B', 'C']
    """
    names = result["components"].to_dataset()["model"].values.tolist() if "components" in result else None
    if names != comparisons.models.tolist():
        raise InputError("the result is none of davidson for these comparisons; pass davidson(comparisons)")
    pairs, random_seed = Pairs.of_result(comparisons, result), int(result.attrs.get("seed", 1))
    # An annotator who compared a pair twice, such as in both orders, counts once.
    annotations = comparisons.to_labels("first" if comparisons.annotators.size else "error")
    checks = result["diagnostics"].to_dataset()
    return ComparisonReport(
        comparisons=comparisons,
        result=result,
        source=source or ReportSource("comparisons"),
        annotations=annotations,
        agreement=agreement_table(annotations, random_seed=random_seed),
        models=preference_table(result, scale="win_rate"),
        effects=effect_table(result),
        pairs=pairs.next_pairs(NEXT, "decision", random_seed),
        worth=pairs.value_of_comparisons(),
        diagnostics={n: float(f(checks[n])) for n, f in zip(DIAGNOSTICS, (np.max, np.min))},
        warnings=warnings,
    )


def context(data: ComparisonReport) -> dict[str, Any]:
    """Return what the template knows by which name."""
    like = DAVIDSON
    tables = {"models": data.models, "effects": data.effects, "next_pairs": data.pairs, "agreement": data.agreement}
    records = {name: json.loads(str(table.to_json(orient="records"))) for name, table in tables.items()}
    return {
        "panel": list(panel(data)),
        "notes": list(_notes(data)),
        "basis": basis(data),
        "models": _models(data.models),
        "effects": _effects(data.effects),
        "people": _people(data.effects),
        "pairs": [
            (str(a), str(b), f"{gain:.1e}", probability(p), count(n)) for a, b, gain, p, n in _tuples(data.pairs)
        ],
        "worth": _worth(data),
        "agreement": agreement(data),
        "diagnostics": diagnostics(data),
        "settings": [
            (k, str(v)) for k, v in (settings_of(data.result) | {"seed": data.result.attrs["seed"]}).items()
        ],
        "numbers": records,
        "methods": _methods(data, like),
        "references": [like],
    }


def panel(data: ComparisonReport) -> Iterator[Answer]:
    """Answer the questions, the most important first."""
    best, other = _tuples(data.models[:2])
    p = best.prob_better
    sentence = text(
        "{} is better than {} with probability {}.", *map(named, (best.model, other.model)), probability(p)
    )
    if p < DECIDED:
        sentence = text("Which of the two is better is undecided: {} {}.", sentence, _worth(data))
    places = text("The rank set of {} is {} to {}.", named(best.model), str(best.rank_lower), str(best.rank_upper))
    method = text("Probability that the model is the strongest; rank sets hold for all models together with .95.")
    first, ends = probability(best.prob_best), f"for {best.model}, of {len(data.models)} models"
    yield Answer(text("Which model is best?"), first, ends, (sentence, places), method)
    question = text("How often does {} win?", named(best.model))
    ends = percents(best.lower, best.upper)
    method = text("Against the average other model, in a neutral order; a tie counts half.")
    yield Answer(question, percent(best.mean), ends, (), method)
    yield from agreement_answer(data)
    common = data.effects[data.effects["annotator"].isna()].set_index("effect")
    if "first_wins" in common.index:
        row: Any = common.loc["first_wins"]
        beside = ()
        if "tie_probability" in common.index:
            tie: Any = common.loc["tie_probability"]
            beside = (("Two equal models tie", percent(tie["mean"]), percents(tie["lower"], tie["upper"])),)
        method = text(
            "Wins of the first place where two equal models do not tie; 50 % if the place does not matter."
        )
        ends = percents(row["lower"], row["upper"])
        yield Answer(text("Does the first place win?"), percent(row["mean"]), ends, (), method, beside)


def _notes(data: ComparisonReport) -> Iterator[Any]:
    if data.comparisons.overview()["components"] > 1:
        yield text("No comparison links some models with others: there only the prior compares them.")
    settings = settings_of(data.result)
    if not settings["item_effects"] and data.comparisons.items.size:
        yield text("Comparisons on one item are taken as independent; item effects give wider intervals.")


def basis(data: ComparisonReport) -> str:
    """Write what all numbers rest on."""
    found = data.comparisons
    people = f" by {count(found.annotators.size)} annotators" if found.annotators.size else ""
    return f"{count(found.n_comparisons)} comparisons{people} of {count(found.models.size)} models."


def _tuples(table: Any) -> Iterator[Any]:
    return table.itertuples(index=False)


def _models(table: pd.DataFrame) -> dict[str, Any]:
    rows = [
        (
            *(
                str(r.model),
                percent(r.mean),
                percents(r.lower, r.upper),
                f"{r.rank_lower} to {r.rank_upper} (tier {r.tier})",
            ),
            *(probability(r.prob_best), probability(r.prob_better), count(r.comparisons)),
        )
        for r in _tuples(table)
    ]
    return {"rows": _with_bars(rows, table[["mean", "lower", "upper"]])}


def _effects(table: pd.DataFrame) -> list[tuple[str, ...]]:
    """Write the common effects: shares of ties and places, and coefficients of covariates."""
    return [
        (EFFECTS.get(r.effect, str(r.effect)), number(r.mean), interval(r.lower, r.upper))
        for r in _tuples(table[table["annotator"].isna()])
    ]


def _people(table: pd.DataFrame) -> dict[str, Any]:
    """Write the effects of each annotator, a column for each effect."""
    by = table[table["annotator"].notna()]
    columns = list(dict.fromkeys(by["effect"]))
    rows = [
        (str(who), *(f"{number(r.mean)} ({interval(r.lower, r.upper)})" for r in _tuples(part)))
        for who, part in by.groupby("annotator", sort=True)
    ]
    return {"columns": [EFFECTS.get(name, name) for name in columns], "rows": rows}


def _worth(data: ComparisonReport) -> str:
    number_of = data.worth.attrs["separating"]
    more = "More than a million" if number_of is None else count(number_of)
    return f"{more} more comparisons of the two best would separate them with probability 0.8"


def _methods(data: ComparisonReport, like: Reference) -> str:
    settings, draws = settings_of(data.result), data.result["posterior"].sizes
    effects = [
        f"{name} {'by annotator' if settings[key] == 'annotator' else 'common to all'}"
        for key, name in (
            ("ties", "ties"),
            ("order", "the advantage of the first place"),
            ("discrimination", "care"),
        )
        if settings[key] is not None
    ]
    alpha = f" Agreement of the annotators on pairs: {kind_of(data.annotations).method.removeprefix('Agreement: ')}"
    return (
        f"The strengths of {len(data.models)} models follow from {count(data.comparisons.n_comparisons)} comparisons "
        f"({like.key}), with {', '.join(effects) or 'no further effect'}. {draws['chain']} x {draws['draw']} "
        "draws of the posterior; intervals are 95 % highest density intervals, and the rank sets hold the places of "
        f"all models together with probability .95.{alpha} Computed with bayesagree {data.version}, "
        f"seed {data.result.attrs['seed']}."
    )
