"""The sections of a page: numbers of the data as rows of text, with drawings in them."""

import json
import re
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Any, NamedTuple

import pandas as pd
import xarray as xr
from markupsafe import Markup

from bayesagree.report.data import OPEN, OpenItem, ReportData
from bayesagree.report.figures import curve, shade, with_bars
from bayesagree.report.kinds import kind_of
from bayesagree.report.panel import sentence
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


class Section(NamedTuple):
    """A section that folds: sentences and tables under a title."""

    id: str
    title: str
    parts: tuple[str | Table, ...]


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


def models(data: ReportData) -> Iterator[Section]:
    """Show the other metrics, every pair of models and the probability of every place."""
    if data.scores is None:
        return
    vote = kind_of(data.annotations).point_estimate_name
    parts: list[str | Table] = [f"Score: the {data.scores.target}."]
    if data.scores.labels_only is not None:
        parts += [
            "Predictions inform that truth. From the labels only, scores come out too low where labels are few."
        ]
    else:
        weight = (
            "the weight of all annotations of an item together"
            if _together(data)
            else "the weight of an annotation"
        )
        parts += [f"Reliability: {weight}. It is unknown: rely on what holds at every value."]
    parts += [
        f"The last column scores against {vote} as if it were the truth: it ignores that annotators disagree."
    ]
    for k, metric in enumerate(data.settings.metrics):
        parts += [
            f"{metric_meaning(metric).capitalize()}.",
            *([score_table(data, data.scores, metric)] if k else []),
        ]
        parts += _comparison(data.scores, metric)
    yield Section("models", "How good are the models?", tuple(parts))


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


def gold(data: ReportData) -> Iterator[Section]:
    """Show the scores of each model against gold."""
    if (found := data.gold) is None:
        return
    table = found.table.to_dataframe().reset_index()
    rows = with_bars(
        _rows(table, model=str, metric=metric_name, score=number, ends=interval), table[["score", *ENDS]], 2
    )
    words = f"Gold is known for {count(found.n_gold)} items; the truth of the others is estimated from labels, "
    words += "predictions and gold together."
    if found.vote_agrees is not None:
        words += f" The majority vote is gold on {percent(found.vote_agrees)} of the items that have it."
    shown = Table("gold-table", "Scores against gold", ("Model", "Metric", "", "Score", "95 % interval"), rows)
    yield Section("gold", "How good are the models against gold?", (words, shown))


def groups(data: ReportData) -> Iterator[Section]:
    """Show the groups of annotators and how often each model gives their labels."""
    if (found := data.groups) is None:
        return
    parts: list[str | Table] = [f"Annotators are grouped by {found.by}. Small groups have wider intervals."]
    if found.accuracy is not None:
        names, rows = found.accuracy["model"].values.tolist(), []
        for group in found.accuracy["group"].values.tolist():
            cells = [found.accuracy.sel(group=group, model=model) for model in names]
            ends = [interval(float(one["lower"]), float(one["upper"])) for one in cells]
            means = [float(one["mean"]) for one in cells]
            rows.append((str(group), *(shade(m, f"{number(m)} ({e})") for m, e in zip(means, ends))))
        parts.append(
            Table("group-scores", "Accuracy of each model on the labels of each group", ("Group", *names), rows)
        )
        parts.append("A group that agrees less with itself is matched less by any model, however fair.")
    sizes = found.composition.reset_index().itertuples(index=False)
    rows = [(str(name), *map(count, map(int, numbers))) for name, *numbers in sizes]
    parts.append(Table("group-sizes", "Who annotated", ("Group", "Annotators", "Annotations", "Items"), rows))
    yield Section(
        "groups", "Whom do the models serve?" if found.accuracy is not None else "Who annotated?", tuple(parts)
    )


def certainty(data: ReportData) -> Iterator[Section]:
    """Show the certainty of the items at every reliability, and the least certain items."""
    words = (
        f"The certainty of an item is the probability that its top label is the most plausible one; below {OPEN} "
    )
    words += "it is open. " + (
        "Annotations raise it, and so do predictions that agree with annotators."
        if data.settings.record.takes_predictions
        else "All annotations of an item count together as the reliability says, however many they are."
        if _together(data)
        else "More annotations raise it, if they agree."
    )
    rows = [
        (f"{level:g}", curve(values), number(float(values.mean())), percent(float((values < OPEN).mean())))
        for level, values in zip(data.settings.reliability, data.certainty.values)
    ]
    columns = ("Reliability", "All items, sorted", "Mean certainty", "Open items")
    table = Table("certainty-table", "Certainty at each reliability", columns, rows)
    chance = "Chance: the probability that this label is the right one."
    some = tuple(map(_item, data.open_items))
    columns = ("Item", "Certainty", "Annotators", "Annotations", "What may be right", "Models")[: len(some[0])]
    items = Table(
        "open-items", "The least certain items; a click on a heading sorts", columns, list(some), filtered=True
    )
    yield Section("certainty", "How much is undecided?", (words, table, chance, items))


def _item(row: OpenItem) -> tuple[Any, ...]:
    said = [Markup("{}: chance\N{NO-BREAK SPACE}{}").format(label, probability(p)) for label, p in row.candidates]
    found = (row.item, probability(row.certainty), _lines(row.given), str(row.n_annotations), _lines(said))
    predicted = [
        Markup("{}: {}").format(label, Markup(", ").join(map(named, who))) for label, who in row.predicted
    ]
    return (*found, _lines(predicted)) if row.predicted else found


def _lines(parts: Any) -> Markup:
    return Markup("<br>").join(parts)


def agreement(data: Any) -> Iterator[Section]:
    """Show every coefficient that exists, and say why the others do not."""
    names = [COEFFICIENTS.get(c) or _coefficient(c) for c in data.agreement["coefficient"]]
    table = data.agreement.assign(name=names)
    known = table["estimate"].notna()
    missing = [f"{name}: {note}." for name, note in zip(table["name"][~known], table["note"][~known])]
    rows = _rows(table[known], name=str, estimate=number, ends=interval, note=str)
    columns = ("Coefficient", "", "Value", "95 % interval", "Note")
    rows = with_bars(rows, table.loc[known, ["estimate", *ENDS]], 1)
    parts = [Table("agreement-table", "Agreement of the annotators", columns, rows)] if rows else []
    none = ["No coefficient of agreement exists for these annotations."] if not rows else []
    yield Section("agreement", "How far do annotators agree?", (*none, *parts, *missing))


def _coefficient(name: str) -> str:
    """Write the name of a coefficient: gwet_ac1 is Gwet AC1."""
    return name.replace("_", " ").capitalize().replace("Icc", "ICC").replace(" ac", " AC")


def specification(data: ReportData) -> Iterator[Section]:
    """Show what was declared, the gaps, and the shares beside their targets."""
    if (found := data.specification) is None:
        return
    declared = found.declared
    told = {"What would be a bias": declared.bias_definition, "Fairness": declared.fairness}
    told |= {
        "Metrics": ", ".join(declared.metrics),
        "Protected features": ", ".join(declared.protected) or "none",
    }
    told |= {"How annotations were collected": declared.collection or "not stated"}
    gaps = [f"Gap between declaration and data: {gap}" for gap in found.gaps] or [
        "No gap between declaration and data."
    ]
    texts: dict[str, Any] = dict.fromkeys(("kind", "feature", "value"), str)
    rows = _rows(found.distributions, **texts, target=percent, actual=percent, n=count)
    columns = ("Of", "Feature", "Value", "Target", "Actual", "Number")
    shares = [Table("shares", "Declared and actual shares", columns, rows)]
    words = [f"{name}: {said}." for name, said in told.items()]
    yield Section("specification", "What was declared about this evaluation", (*words, *gaps, *shares))


def checks(data: Any) -> Iterator[Section]:
    """Show the whole audit."""
    rows = [
        (row["severity"], sentence(row["finding"]), row["evidence"], sentence(row["what_to_do"]), row["where"])
        for row in data.findings.to_dict("records")
    ]
    columns = ("Severity", "Finding", "Evidence", "What to do", "Where")
    table = Table("audit-table", "All checks of the test set, the worst first", columns, rows)
    yield Section("audit", "What was checked?", (table,))


def diagnostics(found: dict[str, float]) -> list[tuple[str, str]]:
    """Show the convergence of the Markov chains, or that there are none."""
    shown = [("Draws", "independent: no Markov chain to diagnose")] if not found else []
    if "r_hat" in found:
        shown.append(("Largest split r-hat", f"{number(found['r_hat'])} (wanted below 1.01 of a printed number)"))
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
        shown = {name: one[["score", *ENDS]].to_dataframe() for name, one in by_target.items() if one is not None}
        pairs = {m: one[list(PAIR)].to_dataframe() for m, one in data.scores.comparison.items()}
        tables["scores"] = pd.concat(shown, names=["group"]).reset_index()
        tables["pairs"] = pd.concat(pairs, names=["metric"]).reset_index().dropna()
        tables["point_estimate"] = data.scores.table["plug_in"].to_dataframe().reset_index()
    if data.groups is not None and data.groups.accuracy is not None:
        tables["groups"] = data.groups.accuracy.to_dataframe().reset_index()
    return as_records(tables | {"audit": data.findings.reset_index()})


def as_records(tables: dict[str, pd.DataFrame]) -> dict[str, list[dict[str, Any]]]:
    """Return tables as records, numbers with all digits."""
    return {name: json.loads(str(table.to_json(orient="records"))) for name, table in tables.items()}


SECTIONS = (models, gold, groups, certainty, agreement, specification, checks)
