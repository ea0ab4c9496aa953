"""The sections of a page: numbers of the data as rows of text, with drawings in them."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import pandas as pd
import xarray as xr
from markupsafe import Markup

from bayesagree.report.data import OPEN, OpenItem, ReportData
from bayesagree.report.figures import curve, shade, with_bars
from bayesagree.report.kinds import kind_of
from bayesagree.report.panel import sentence, text
from bayesagree.report.scores import ModelScores
from bayesagree.report.wording import (
    count,
    interval,
    listed,
    metric_meaning,
    metric_name,
    named,
    number,
    percent,
    probability,
)

# Models shown in pairs, the best ones; the table of scores has all of them.
MOST_MODELS = 12
PAIR = ("prob_better", "difference", "lower", "upper")
ENDS = ["lower", "upper"]
# Names of coefficients, where they are not those of the table.
COEFFICIENTS = {"phi": "Common agreement Phi", "leave_one_out": "Names what the others put first"}
NUMBER = re.compile(r"[<>+–-]?\s?[\d.–][\d.,\s%<>–-]*( ?\(?[\d.%<>\s-]+ to .*)?$")


class Table(NamedTuple):
    """A table of texts, the first of each row its name; `filtered`: with a field that narrows it."""

    id: str
    caption: str
    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    filtered: bool = False

    def numeric(self, column: int) -> bool:
        """Whether all cells of a column are numbers, which stand right."""
        cells = [re.sub("<.*?>", "", str(row[column])) for row in self.rows]
        return column > 0 and all(NUMBER.match(cell) for cell in cells if cell)


# Sentences and tables of a section.
type Parts = Iterator[str | Table]


class Section(NamedTuple):
    """A section that folds: sentences and tables under a title."""

    id: str
    title: str
    parts: tuple[str | Table, ...]


def sections(data: Any, views: Sequence[tuple[str, str, Callable[[Any], Parts]]]) -> list[Section]:
    """Return the sections that have something to say, by rows of their id, title and view."""
    return [Section(name, title, parts) for name, title, view in views if (parts := tuple(view(data)))]


def _rows(table: pd.DataFrame, **columns: Callable[..., Any]) -> list[tuple[Any, ...]]:
    """Write columns of a table as a reader sees them; `ends` writes the columns lower and upper."""
    return [
        tuple(w(row["lower"], row["upper"]) if name == "ends" else w(row[name]) for name, w in columns.items())
        for row in table.to_dict("records")
    ]


def score_table(data: ReportData, scores: ModelScores, metric: str) -> Table:
    """Show all models by one metric, best first: tier, interval, score in every column, and the plug-in metric."""
    alone = None if scores.labels_only is None else scores.labels_only.sel(metric=metric)
    columns = _columns(data, scores.table.sel(metric=metric), alone)
    rows, drawn = [], []
    for model, rank in scores.ranking[metric].iterrows():
        place = f"{rank['rank_lower']} to {rank['rank_upper']}"
        cells = [one.sel(model=model) for one in columns.values()]
        plug_in = number(float(scores.table["plug_in"].sel(metric=metric, model=model)))
        rows.append((str(model), f"{rank['tier']} (place {place})", *map(_score, cells), plug_in))
        drawn.append([float(cells[0][name]) for name in ("score", *ENDS)])
    if line := scores.ceiling_of(metric):
        cells = list(_columns(data, *line).values())
        rows.append(("Another annotator", "", *map(_score, cells), ""))
        drawn.append([float(cells[0][name]) for name in ("score", *ENDS)])
    vote = kind_of(data.annotations).point_estimate_name.removeprefix("the ").capitalize()
    caption = f"{metric_name(metric).capitalize()}: mean and 95 % interval. Models of one tier may be equal"
    return Table(f"scores-{metric}", caption, ("Model", "Tier", "", *columns, vote), with_bars(rows, drawn, 2))


def _columns(data: ReportData, first: xr.Dataset, alone: xr.Dataset | None) -> dict[str, xr.Dataset]:
    """Return the scores to show by their names, the leading one first: of each reliability, or of each target."""
    if alone is None:
        return {f"Reliability {level:g}": first.sel(reliability=level) for level in data.settings.reliability}
    return {"Estimate": first.isel(reliability=0), "Labels only": alone.isel(reliability=0)}


def _score(found: xr.Dataset) -> str:
    return f"{number(float(found['score']))} ({interval(float(found['lower']), float(found['upper']))})"


def models(data: ReportData) -> Parts:
    """Show the other metrics, every pair of models and the probability of every place."""
    if data.scores is None:
        return
    yield f"Score: the {data.scores.target}."
    if data.scores.labels_only is not None:
        yield "Predictions inform that truth. From the labels only, scores come out too low where labels are few."
    else:
        weight = "all annotations of an item together" if _together(data) else "an annotation"
        yield f"Reliability: the weight of {weight}. It is unknown: rely on what holds at every value."
    vote = kind_of(data.annotations).point_estimate_name
    yield f"The last column scores against {vote} as if it were the truth: it ignores that annotators disagree."
    for k, metric in enumerate(data.settings.metrics):
        yield f"{metric_meaning(metric).capitalize()}."
        if k:
            yield score_table(data, data.scores, metric)
        yield from _comparison(data.scores, metric)


def _together(data: ReportData) -> bool:
    """Whether the reliability is the weight of all annotations of an item together."""
    return data.settings.record.name == "prirn"


def _comparison(scores: ModelScores, metric: str) -> Iterator[Table]:
    """Yield the pairs of the best models, better one first, and the probability of every place."""
    found = scores.comparison[metric].isel(model=slice(MOST_MODELS), other_model=slice(MOST_MODELS))
    names, rows = found["model"].values.tolist(), []
    if len(names) < 2:
        return
    for a, b in combinations(names, 2):
        p, difference, *ends = (float(found[key].sel(model=a, other_model=b)) for key in PAIR)
        rows.append((a, b, probability(p), f"{difference:+.3f} ({interval(*ends)})"))
    name = metric_name(metric)
    columns = ("Model", "Better than", "Probability", "Difference")
    yield Table(f"pairs-{metric}", f"Pairs of models by {name}; a tie counts one half", columns, rows)
    places = found["rank"].values.tolist()[:MOST_MODELS]
    chances = found["rank_probability"].transpose("model", "rank").values
    shades = [(model, *map(shade, row[: len(places)])) for model, row in zip(names, chances)]
    yield Table(f"ranks-{metric}", f"Probability of each place by {name}", ("Model", *map(str, places)), shades)


def gold(data: ReportData) -> Parts:
    """Show the scores of each model against gold."""
    if (found := data.gold) is None:
        return
    words = f"Gold is known for {count(found.n_gold)} items; the truth of the others is estimated from labels, "
    words += "predictions and gold together."
    if found.vote_agrees is not None:
        words += f" The majority vote is gold on {percent(found.vote_agrees)} of the items that have it."
    yield words
    table = found.table.to_dataframe().reset_index()
    rows = _rows(table, model=str, metric=metric_name, score=number, ends=interval)
    rows = with_bars(rows, table[["score", *ENDS]], 2)
    yield Table("gold-table", "Scores against gold", ("Model", "Metric", "", "Score", "95 % interval"), rows)


def groups(data: ReportData) -> Parts:
    """Show the groups of annotators and how often each model gives their labels."""
    if (found := data.groups) is None:
        return
    yield f"Annotators are grouped by {found.by}. Small groups have wider intervals."
    if found.accuracy is not None:
        names, rows = found.accuracy["model"].values.tolist(), []
        for group in found.accuracy["group"].values.tolist():
            cells = [found.accuracy.sel(group=group, model=model) for model in names]
            values = [[float(one[name]) for name in ("mean", *ENDS)] for one in cells]
            rows.append((str(group), *(shade(m, f"{number(m)} ({interval(*ends)})") for m, *ends in values)))
        caption = "Accuracy of each model on the labels of each group"
        yield Table("group-scores", caption, ("Group", *names), rows)
        yield "A group that agrees less with itself is matched less by any model, however fair."
    sizes = found.composition.reset_index().itertuples(index=False)
    rows = [(str(name), *map(count, map(int, numbers))) for name, *numbers in sizes]
    yield Table("group-sizes", "Who annotated", ("Group", "Annotators", "Annotations", "Items"), rows)


def certainty(data: ReportData) -> Parts:
    """Show the certainty of the items at every reliability, and the least certain items."""
    raised = "More annotations raise it, if they agree."
    if data.settings.record.takes_predictions:
        raised = "Annotations raise it, and so do predictions that agree with annotators."
    elif _together(data):
        raised = "All annotations of an item count together as the reliability says, however many they are."
    yield (
        "The certainty of an item is the probability that its top label is the most plausible one; below "
        f"{OPEN} it is open. {raised}"
    )
    rows = [
        (f"{level:g}", curve(values), number(float(values.mean())), percent(float((values < OPEN).mean())))
        for level, values in zip(data.settings.reliability, data.certainty.values)
    ]
    columns = ("Reliability", "All items, sorted", "Mean certainty", "Open items")
    yield Table("certainty-table", "Certainty at each reliability", columns, rows)
    yield "Chance: the probability that this label is the right one."
    some = list(map(_item, data.open_items))
    columns = ("Item", "Certainty", "Annotators", "Annotations", "What may be right", "Models")[: len(some[0])]
    yield Table(
        "open-items", "The least certain items; a click on a heading sorts", columns, some, filtered=True
    )


def _item(row: OpenItem) -> tuple[Any, ...]:
    said = [
        Markup("{}: chance\N{NO-BREAK SPACE}{}").format(label, probability(p)) for label, p in row.candidates
    ]
    found = (row.item, probability(row.certainty), _lines(row.given), str(row.n_annotations), _lines(said))
    predicted = [
        Markup("{}: {}").format(label, Markup(", ").join(map(named, who))) for label, who in row.predicted
    ]
    return (*found, _lines(predicted)) if row.predicted else found


def _lines(parts: Any) -> Markup:
    return Markup("<br>").join(parts)


def agreement(data: Any) -> Parts:
    """Show every coefficient that exists, say why the others do not, and show who agrees with whom."""
    names = [COEFFICIENTS.get(c) or _coefficient(c) for c in data.agreement["coefficient"]]
    table = data.agreement.assign(name=names)
    known = table["estimate"].notna()
    if known.any():
        rows = _rows(table[known], name=str, estimate=number, ends=interval, note=str)
        rows = with_bars(rows, table.loc[known, ["estimate", *ENDS]], 1)
        columns = ("Coefficient", "", "Value", "95 % interval", "Note")
        yield Table("agreement-table", "Agreement of the annotators", columns, rows)
    else:
        yield "No coefficient of agreement exists for these annotations."
    missing = table[~known].groupby("note", sort=False)["name"].agg(", ".join)
    yield from (f"{names}: {note}." for note, names in missing.items())
    if "annotator_pairs" in data.people:
        yield from _pairs(data.people["annotators"], data.people["annotator_pairs"])
    if (levels := data.people.get("levels")) is not None:
        rows = with_bars(_rows(levels, annotator=str, shift=number, ends=interval), levels[["shift", *ENDS]], 1)
        caption = "How far each annotator rates above the average of all, in units of the scale; lowest first"
        yield Table("levels-table", caption, ("Annotator", "", "Level", "95 % interval"), rows)


def _pairs(people: pd.DataFrame, pairs: pd.DataFrame) -> Parts:
    """Name the annotator who agrees least with the others, and show the agreement of each pair."""
    sides = ["annotator", "other_annotator"]
    kappa: Any = pd.concat(
        [pairs.set_index(order)["estimate"].rename_axis(sides) for order in (sides, sides[::-1])]
    )
    mean = people["annotator"].map(kappa.groupby(level=0).mean())  # too many values: pairs alone have a kappa
    people = people.assign(estimate=people["estimate"].fillna(mean)).sort_values("estimate")
    known = _rows(people, annotator=named, estimate=number, ends=interval)
    yield text("{} agrees least with the others: Cohen's kappa {} ({}).", *known[0])
    cells, names = {pair: shade(max(k, 0), number(k)) for pair, k in kappa.items()}, people["annotator"].tolist()
    rows = [(*row[:2], *(cells.get((name, other), "") for other in names)) for name, row in zip(names, known)]
    caption = "Cohen's kappa of each annotator with the others, with its 95 % interval, and of each pair"
    rows = with_bars(rows, people[["estimate", *ENDS]], 1)
    yield Table("pairs-table", caption, ("Annotator", "", "All others", *map(str, names)), rows)


def _coefficient(name: str) -> str:
    """Write the name of a coefficient: gwet_ac1 is Gwet AC1."""
    return name.replace("_", " ").capitalize().replace("Icc", "ICC").replace(" ac", " AC")


def specification(data: ReportData) -> Parts:
    """Show what was declared, the gaps, and the shares beside their targets."""
    if (found := data.specification) is None:
        return
    declared = found.declared
    told = {
        "What would be a bias": declared.bias_definition,
        "Fairness": declared.fairness,
        "Metrics": ", ".join(declared.metrics),
        "Protected features": ", ".join(declared.protected) or "none",
        "How annotations were collected": declared.collection or "not stated",
    }
    yield from (f"{name}: {said}." for name, said in told.items())
    yield from (f"Gap between declaration and data: {gap}" for gap in found.gaps)
    if not found.gaps:
        yield "No gap between declaration and data."
    texts: dict[str, Any] = dict.fromkeys(("kind", "feature", "value"), str)
    rows = _rows(found.distributions, **texts, target=percent, actual=percent, n=count)
    columns = ("Of", "Feature", "Value", "Target", "Actual", "Number")
    yield Table("shares", "Declared and actual shares", columns, rows)


def checks(data: Any) -> Parts:
    """Show the whole audit."""
    columns = ("Severity", "Finding", "Evidence", "What to do", "Where")
    rows = _rows(data.findings, severity=str, finding=sentence, evidence=str, what_to_do=sentence, where=str)
    yield Table("audit-table", "All checks of the test set, the worst first", columns, rows)


def diagnostics(found: dict[str, float]) -> list[tuple[str, str]]:
    """Show the convergence of the Markov chains, or that there are none."""
    shown = [("Draws", "independent: no Markov chain to diagnose")] if not found else []
    if "r_hat" in found:
        shown.append(
            ("Largest split r-hat", f"{number(found['r_hat'])} (wanted below 1.01 of a printed number)")
        )
    if "ess" in found:
        shown.append(("Smallest effective sample size", f"{found['ess']:.0f}"))
    return shown


def settings(data: ReportData) -> list[tuple[str, str]]:
    """List how the numbers were made."""
    chosen, given, record = data.settings, data.annotations, data.settings.record
    levels = f"{chosen.reference:g} (reference)" + "".join(f", {r:g}" for r in chosen.reliability[1:])
    if record.reference is None or record.takes_predictions:
        levels = "annotators count as exchangeable" if record.takes_predictions else "as that model has it"
    of_models = data.scores is not None
    rows = [
        (
            "Annotations",
            f"{kind_of(given).title}: {count(given.n_annotations)} of {count(given.items.size)} items",
        ),
        ("Annotators", count(given.annotators.size) if given.annotators.size else "not named"),
        ("Model of the truth", record.title),
        *(("Chosen", note) for note in data.choice),
        *(("Data", note) for note in data.given),
        ("Score", data.scores.target if data.scores is not None else ""),
        ("Threshold", "" if chosen.threshold is None else f"{chosen.threshold:g}"),
        ("Reliability", "learnt for each annotator" if record.learns_reliability else levels),
        ("Metrics", listed([metric_name(m) for m in chosen.metrics]) if of_models else ""),
        (
            "Items",
            ("this test set", "a sample (Bayesian bootstrap)")[chosen.items != "fixed"] if of_models else "",
        ),
        ("Draws", f"{chosen.chains} chains of {chosen.draws}"),
        ("Seed", str(chosen.random_seed)),
    ]
    return [row for row in rows if row[1]]


def numbers(data: ReportData) -> dict[str, list[dict[str, Any]]]:
    """Return the numbers of the page with all digits, as records by table: what a reader loads into another program."""
    tables = {"agreement": data.agreement, "certainty": data.certainty.to_dataframe().reset_index()}
    if data.scores is not None:
        by_target = {"posterior": data.scores.table, "annotations_only": data.scores.labels_only}
        shown = {
            name: one[["score", *ENDS]].to_dataframe() for name, one in by_target.items() if one is not None
        }
        pairs = {m: one[list(PAIR)].to_dataframe() for m, one in data.scores.comparison.items()}
        tables["scores"] = pd.concat(shown, names=["group"]).reset_index()
        tables["pairs"] = pd.concat(pairs, names=["metric"]).reset_index().dropna()
        tables["point_estimate"] = data.scores.table["plug_in"].to_dataframe().reset_index()
    if data.groups is not None and data.groups.accuracy is not None:
        tables["groups"] = data.groups.accuracy.to_dataframe().reset_index()
    return as_records(tables | data.people | {"audit": data.findings.reset_index()})


def as_records(tables: dict[str, pd.DataFrame]) -> dict[str, list[dict[str, Any]]]:
    """Return tables as records, numbers with all digits."""
    return {name: json.loads(str(table.to_json(orient="records"))) for name, table in tables.items()}


# Sections that pages of all kinds of data end with, and all of a page of annotations.
AGREEMENT = ("agreement", "How far do annotators agree?", agreement)
CHECKS = ("audit", "What was checked?", checks)
SECTIONS = (
    ("models", "How good are the models?", models),
    ("gold", "How good are the models against gold?", gold),
    ("groups", "Who annotated, and whom do the models serve?", groups),
    ("certainty", "How much is undecided?", certainty),
    AGREEMENT,
    ("specification", "What was declared about this evaluation", specification),
    CHECKS,
)
