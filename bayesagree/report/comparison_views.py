"""The page of comparisons: which model wins, how certain its place is, and what ties, places and annotators do."""

from collections.abc import Iterator
from typing import Any

import pandas as pd
from markupsafe import Markup

from bayesagree.inference.results import settings_of
from bayesagree.report.comparisons import ComparisonReport
from bayesagree.report.figures import with_bars
from bayesagree.report.kinds import kind_of
from bayesagree.report.panel import DECIDED, Fact, agreement_fact, text
from bayesagree.report.views import AGREEMENT, CHECKS, ENDS, Parts, Table, as_records, sections
from bayesagree.report.wording import DAVIDSON, count, interval, named, number, percent, percents, probability

EFFECTS = {"tie_probability": "two equal models tie", "first_wins": "the first place wins, without ties"}


def context(data: ComparisonReport) -> dict[str, Any]:
    """Return what the template knows by which name."""
    tables = {"models": data.models, "effects": data.effects, "next_pairs": data.pairs}
    tables |= {"agreement": data.agreement} | data.people
    made = settings_of(data.result) | {"seed": data.result.attrs["seed"]}
    return {
        "title": "Which model do people prefer, when they disagree?",
        "answer": list(answer(data)),
        "tables": [_models(data.models)],
        "facts": list(facts(data)),
        "steps": list(steps(data)),
        "basis": basis(data),
        "sections": sections(data, SECTIONS),
        "settings": [(name, str(value)) for name, value in made.items()],
        "numbers": as_records(tables),
        "methods": _methods(data),
        "references": [DAVIDSON],
    }


def answer(data: ComparisonReport) -> Iterator[Markup]:
    """Yield which of the two best models is better, or that this is open."""
    best, other = _tuples(data.models[:2])
    words = "{} is better than {} with probability {}."
    if best.prob_better < DECIDED:
        words = f"Which of the two is better is undecided: {words}"
    yield text(words, named(best.model), named(other.model), probability(best.prob_better))
    wins = percent(best.mean), percents(best.lower, best.upper)
    words = "{} wins {} ({}) against the average other model, in a neutral order; a tie counts half."
    yield text(words, named(best.model), *wins)


def facts(data: ComparisonReport) -> Iterator[Fact]:
    """Yield how far annotators agree, and whether the first place and ties decide."""
    yield from agreement_fact(data)
    common = data.effects[data.effects["annotator"].isna()].set_index("effect")
    questions = {
        "first_wins": ("Does the first place win?", "50 % if the place does not matter."),
        "tie_probability": ("How often do two equal models tie?", ""),
    }
    for name in common.index.intersection(list(questions)):
        row: Any = common.loc[name]
        question, meaning = questions[name]
        yield Fact(question, percent(row["mean"]), percents(row["lower"], row["upper"]), Markup(meaning))


def steps(data: ComparisonReport) -> Iterator[Markup]:
    """Yield what to compare next, and what the numbers leave out."""
    if (number_of := data.worth.attrs["separating"]) != 0:
        more = "More than a million" if number_of is None else count(number_of)
        yield text("{} more comparisons of the two best would separate them with probability 0.8.", more)
    pair: Any = data.pairs.iloc[0]
    yield text("Compare next {} with {}.", *map(named, pair.iloc[:2]))
    if data.comparisons.overview()["components"] > 1:
        yield text("No comparison links some models with others: there only the prior compares them.")
    if not settings_of(data.result)["item_effects"] and data.comparisons.items.size:
        yield text("Comparisons on one item are taken as independent; item effects give wider intervals.")


def basis(data: ComparisonReport) -> str:
    """Write what all numbers rest on."""
    found = data.comparisons
    people = f" by {count(found.annotators.size)} annotators" if found.annotators.size else ""
    return f"{count(found.n_comparisons)} comparisons{people} of {count(found.models.size)} models."


def _tuples(table: Any) -> Iterator[Any]:
    return table.itertuples(index=False)


def _models(table: pd.DataFrame) -> Table:
    rows = []
    for r in _tuples(table):
        wins, places = f"{percent(r.mean)} ({percents(r.lower, r.upper)})", f"{r.rank_lower} to {r.rank_upper}"
        chances = probability(r.prob_best), probability(r.prob_better)
        rows.append((str(r.model), f"{r.tier} (place {places})", wins, *chances, count(r.comparisons)))
    columns = ("Model", "Tier", "", "Wins", "Best", "Better than the next", "Comparisons")
    caption = "Wins against the average other model; models of one tier may be equal"
    return Table("preference-table", caption, columns, with_bars(rows, table[["mean", *ENDS]], 2))


def _pairs(data: ComparisonReport) -> Parts:
    rows = [
        (str(a), str(b), f"{gain:.1e}", probability(p), count(n)) for a, b, gain, p, n in _tuples(data.pairs)
    ]
    columns = ("Show first", "Show second", "Gain", "First is better", "Comparisons so far")
    yield "These pairs tell most about which model is the best."
    yield Table("next-table", "The next comparisons", columns, rows)


def _effects(data: ComparisonReport) -> Parts:
    """Show the common effects, of ties and places, and those of each annotator, a column for each."""
    table: Any = data.effects
    own = table["annotator"].notna()
    if (~own).any():
        rows = [(EFFECTS.get(r.effect, str(r.effect)), _ends(r)) for r in _tuples(table[~own])]
        yield Table("effect-table", "Effects beside the models", ("Effect", "Value"), rows)
    if own.any():
        names: Any = list(dict.fromkeys(table["effect"][own]))
        rows = [
            (str(who), *map(_ends, _tuples(part))) for who, part in table[own].groupby("annotator", sort=True)
        ]
        columns = ("Annotator", *(str(EFFECTS.get(name, name)) for name in names))
        yield "Who ties often, who prefers the first place, whose verdicts follow the strengths less."
        yield Table("people-table", "Effects of each annotator, with 95 % intervals", columns, rows)


def _ends(row: Any) -> str:
    return f"{number(row.mean)} ({interval(row.lower, row.upper)})"


def _methods(data: ComparisonReport) -> str:
    made, draws = settings_of(data.result), data.result["posterior"].sizes
    known = {"ties": "ties", "order": "the advantage of the first place", "discrimination": "care"}
    how = {"annotator": "by annotator"}
    effects = [f"{n} {how.get(made[key], 'common to all')}" for key, n in known.items() if made[key] is not None]
    alpha = kind_of(data.annotations).method.removeprefix("Agreement: ")
    return (
        f"The strengths of {len(data.models)} models follow from {count(data.comparisons.n_comparisons)} comparisons "
        f"({DAVIDSON.key}), with {', '.join(effects) or 'no further effect'}. {draws['chain']} x {draws['draw']} "
        "draws of the posterior; intervals are 95 % highest density intervals, and the rank sets hold the places of "
        f"all models together with probability .95. Agreement of the annotators on pairs: {alpha} Computed with "
        f"bayesagree {data.version}, seed {data.result.attrs['seed']}."
    )


SECTIONS = (
    ("next", "Which comparisons should be next?", _pairs),
    ("effects", "What else decides a comparison?", _effects),
    AGREEMENT,
    CHECKS,
)
