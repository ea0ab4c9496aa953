"""The tables of a page: numbers of the data as rows of text, with drawings in them."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, cast

import pandas as pd
from markupsafe import Markup

from bayesagree.evaluation.tables import OPEN, score_table
from bayesagree.metrics._scorer import ANOTHER_ANNOTATOR
from bayesagree.report.data import AnyReport, ComparisonReport, OpenItem, ReportData
from bayesagree.report.figures import curve, shade, with_bars
from bayesagree.report.kinds import kind_of
from bayesagree.report.scores import ModelScores
from bayesagree.report.wording import (
    count,
    interval,
    metric_name,
    named,
    number,
    percent,
    percents,
    probability,
    sentence,
)

ENDS = ["lower", "upper"]
NUMBER = re.compile(r"[<>+–-]?\s?[\d.–][\d.,\s%<>–-]*( ?\(?[\d.%<>\s-]+ to .*)?$")
EFFECTS = {"tie_probability": "two equal models tie", "first_wins": "the first place wins, without ties"}


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


def tables(data: AnyReport) -> dict[str, Table]:
    """Return the tables of a page by their ids."""
    found = _of_comparisons(data) if isinstance(data, ComparisonReport) else _of_annotations(data)
    return {table.id: table for table in (*found, *_of_annotators(data))}


def _rows(table: pd.DataFrame, **columns: Callable[..., Any]) -> list[tuple[Any, ...]]:
    """Write columns of a table as a reader sees them; `ends` writes the columns lower and upper."""
    return [
        tuple(w(row["lower"], row["upper"]) if name == "ends" else w(row[name]) for name, w in columns.items())
        for row in table.to_dict("records")
    ]


def _of_annotations(data: Any) -> Iterator[Table]:
    if data.scores is not None:
        yield from (_scores(data, data.scores, metric) for metric in data.settings.metrics)
        table = data.scores.table.isel(reliability=0).drop_sel(metric=[*data.settings.metrics])
        if len(table["metric"]):
            rows = _rows(table.to_dataframe().reset_index(), model=str, metric=str, score=number, ends=interval)
            yield Table("risk-table", "Scores by risk", ("Model", "Metric", "Score", "95 % interval"), rows)
    if data.gold is not None:
        table = score_table(data.gold)
        rows = _rows(table, model=str, metric=metric_name, score=number, ends=interval)
        rows = with_bars(rows, table[["score", *ENDS]], 2)
        yield Table(
            "gold-table", "Scores against gold", ("Model", "Metric", "", "Score", "95 % interval"), rows
        )
    if data.groups is not None:
        yield from _groups(data.groups)
    rows = [
        (f"{level:g}", curve(values), number(float(values.mean())), percent(float((values < OPEN).mean())))
        for level, values in zip(data.settings.reliability, data.certainty.values)
    ]
    columns = ("Reliability", "All items, sorted", "Mean certainty", "Open items")
    yield Table("certainty-table", "Certainty at each reliability", columns, rows)
    some = list(map(_item, data.open_items))
    columns = ("Item", "Certainty", "Annotators", "Annotations", "What may be right", "Models")[: len(some[0])]
    caption = "The least certain items; a click on a heading sorts"
    yield Table("open-items", caption, columns, some, filtered=True)
    if data.specification is not None:
        texts = dict.fromkeys(("kind", "feature", "value"), str)
        rows = _rows(data.specification.distributions, **texts, target=percent, actual=percent, n=count)
        columns = ("Of", "Feature", "Value", "Target", "Actual", "Number")
        yield Table("shares", "Declared and actual shares", columns, rows)


def _ranked(
    name: str,
    caption: str,
    ranking: pd.DataFrame,
    shown: Mapping[str, pd.DataFrame],
    last: tuple[str, Callable[[Any], str]],
    write: tuple[Callable[..., str], Callable[..., str]] = (number, interval),
) -> Table:
    """Show models, best first: tier, interval, a score in every column, chances, and what `last` says of each."""

    def scores(model: Any) -> list[str]:
        rows = [table.loc[model] for table in shown.values()]
        return [f"{write[0](row['score'])} ({write[1](row['lower'], row['upper'])})" for row in rows]

    rows = []
    first = next(iter(shown.values()))
    for rank in cast("Iterator[Any]", ranking.itertuples()):
        tier = f"{rank.tier} (place {rank.rank_lower} to {rank.rank_upper})"
        chances = probability(rank.prob_best), probability(rank.prob_better)
        rows.append((str(rank.Index), tier, *scores(rank.Index), *chances, last[1](rank.Index)))
    order = ranking.index.tolist()
    if ANOTHER_ANNOTATOR in set(first.index) - set(order):
        order.append(ANOTHER_ANNOTATOR)
        rows.append((ANOTHER_ANNOTATOR.capitalize(), "", *scores(ANOTHER_ANNOTATOR), "", "", ""))
    columns = ("Model", "Tier", "", *shown, "Best", "Better than the next", last[0])
    return Table(name, caption, columns, with_bars(rows, first.loc[order, ["score", *ENDS]], 2))


def _scores(data: ReportData, scores: ModelScores, metric: str) -> Table:
    """Show all models by one metric, at each reliability or by each target, and the plug-in metric."""
    table = scores.table.sel(metric=metric)
    if scores.labels_only is not None:
        targets = {"Estimate": table, "Labels only": scores.labels_only.sel(metric=metric)}
        parts = {name: one.isel(reliability=0) for name, one in targets.items()}
    else:
        parts = {f"Reliability {level:g}": table.sel(reliability=level) for level in data.settings.reliability}
    shown = {name: one[["score", *ENDS]].to_dataframe() for name, one in parts.items()}
    vote = kind_of(data.annotations).point_estimate_name.removeprefix("the ").capitalize()
    plug_in = scores.plug_in.sel(metric=metric)
    caption = f"{metric_name(metric).capitalize()}: mean and 95 % interval. Models of one tier may be equal"
    last = vote, lambda model: number(float(plug_in.sel(model=model)))
    return _ranked(f"scores-{metric}", caption, scores.ranking[metric], shown, last)


def _groups(found: Any) -> Iterator[Table]:
    """Show how often each model gives the labels of each group, and who is in it."""
    if found.accuracy is not None:
        models, groups = (found.accuracy[dim].values.tolist() for dim in ("model", "group"))
        table = found.accuracy[["mean", *ENDS]].to_dataframe().swaplevel().T.to_dict()
        cells = {
            at: shade(one["mean"], f"{number(one['mean'])} ({interval(one['lower'], one['upper'])})")
            for at, one in table.items()
        }
        rows = [(str(group), *(cells[group, model] for model in models)) for group in groups]
        caption = "Accuracy of each model on the labels of each group"
        yield Table("group-scores", caption, ("Group", *map(str, models)), rows)
    sizes = dict.fromkeys(("annotators", "annotations", "items"), count)
    table = found.composition.rename_axis("group").reset_index()
    columns = ("Group", "Annotators", "Annotations", "Items")
    yield Table("group-sizes", "Who annotated", columns, _rows(table, group=str, **sizes))


def _item(row: OpenItem) -> tuple[Any, ...]:
    said = [
        Markup("{}: chance\N{NO-BREAK SPACE}{}").format(label, probability(p)) for label, p in row.candidates
    ]
    predicted = [
        Markup("{}: {}").format(label, Markup(", ").join(map(named, who)))
        for label, who in row.predicted.items()
    ]
    given, candidates, models = (Markup("<br>").join(lines) for lines in (row.given, said, predicted))
    found = (row.item, probability(row.certainty), given, str(row.n_annotations), candidates)
    return (*found, models) if predicted else found


def _of_comparisons(data: ComparisonReport) -> Iterator[Table]:
    models = data.models.rename(columns={"mean": "score"}).set_index("model")
    last = "Comparisons", lambda model: count(models.loc[model, "comparisons"])
    caption = "Wins against the average other model; models of one tier may be equal"
    yield _ranked("preference-table", caption, models, {"Wins": models}, last, (percent, percents))
    pairs = data.pairs.itertuples(index=False)
    rows = [(str(a), str(b), f"{gain:.1e}", probability(p), count(n)) for a, b, gain, p, n in pairs]
    columns = ("Show first", "Show second", "Gain", "First is better", "Comparisons so far")
    yield Table("next-table", "The next comparisons", columns, rows)
    if len(data.effects):
        shown = data.effects.fillna({"annotator": "all"})
        written = {"effect": lambda name: EFFECTS.get(name, name), "annotator": str, "mean": number}
        columns = ("Effect", "Annotator", "Value", "95 % interval")
        caption = "Effects beside the models: of all annotators, and of each"
        yield Table("effect-table", caption, columns, _rows(shown, **written, ends=interval), filtered=True)


def _of_annotators(data: AnyReport) -> Iterator[Table]:
    """Show every coefficient that exists, who agrees with whom, levels of raters, and the whole audit."""
    known: Any = data.agreement[data.agreement["estimate"].notna()]
    if len(known):
        rows = _rows(known, coefficient=coefficient_name, estimate=number, ends=interval, note=str)
        columns = ("Coefficient", "", "Value", "95 % interval", "Note")
        rows = with_bars(rows, known[["estimate", *ENDS]], 1)
        yield Table("agreement-table", "Agreement of the annotators", columns, rows)
    if "annotator_pairs" in data.people:
        yield _pairs(data.people["annotators"], data.people["annotator_pairs"])
    if (levels := data.people.get("levels")) is not None:
        rows = with_bars(_rows(levels, annotator=str, shift=number, ends=interval), levels[["shift", *ENDS]], 1)
        caption = "How far each annotator rates above the average of all, in units of the scale; lowest first"
        yield Table("levels-table", caption, ("Annotator", "", "Level", "95 % interval"), rows)
    columns = ("Severity", "Finding", "Evidence", "What to do", "Where")
    rows = _rows(data.findings, severity=str, finding=sentence, evidence=str, what_to_do=sentence, where=str)
    yield Table("audit-table", "All checks of the test set, the worst first", columns, rows)


def _pairs(people: pd.DataFrame, pairs: pd.DataFrame) -> Table:
    """Show the agreement of each annotator with the others, the lowest first, and that of each pair."""
    sides = ["annotator", "other_annotator"]
    kappa: Any = pd.concat(
        [pairs.set_index(order)["estimate"].rename_axis(sides) for order in (sides, sides[::-1])]
    )
    mean = people["annotator"].map(kappa.groupby(level=0).mean())  # too many values: pairs alone have a kappa
    people = people.assign(estimate=people["estimate"].fillna(mean)).sort_values("estimate")
    cells = {pair: shade(max(k, 0), number(k)) for pair, k in kappa.items()}
    names = people["annotator"].tolist()
    rows = [
        (who, f"{value} ({ends})", *(cells.get((name, other), "") for other in names))
        for name, (who, value, ends) in zip(names, _rows(people, annotator=str, estimate=number, ends=interval))
    ]
    caption = "Cohen's kappa of each annotator with the others, with its 95 % interval, and of each pair"
    rows = with_bars(rows, people[["estimate", *ENDS]], 1)
    return Table("pairs-table", caption, ("Annotator", "", "All others", *map(str, names)), rows)


def coefficient_name(name: str) -> str:
    """Write the name of a coefficient: gwet_ac1 is Gwet AC1."""
    if name == "phi":
        return "Common agreement Phi"
    return name.replace("_", " ").capitalize().replace("Icc", "ICC").replace(" ac", " AC")
