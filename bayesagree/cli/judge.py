"""`bayesagree judge`: what a judge's scores are worth, from people's votes on some of the items."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from bayesagree.cli import _options, _output
from bayesagree.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from bayesagree.annotations import Annotations, Rankings, Ratings


def judge(
    verdicts: Path,
    columns: _options.Columns,
    sampling: _options.Sampling,
    people: Path | None = None,
    system: str | None = None,
    positive: str | None = None,
    target: str = "share",
    inclusion: str | None = None,
    choose: int | None = None,
    design: str = "random",
    epsilon: float = 0.2,
    judge_column: str = "judge",
    verdicts_item: str | None = None,
    verdicts_label: str | None = None,
    scale: tuple[float, float] | None = None,
    json: bool = False,
    output: Path | None = None,
) -> None:
    """Show the corrected rate of each system beside the judge's own, and whether the judge may replace a person.

    With --choose instead of --people: the items that people should label, and their inclusion probabilities. Where
    people gave ratings or rankings there is no rate: only whether the judge may replace a person.

    Example: bayesagree judge verdicts.csv --people people.csv --system system --positive pass
    """
    from bayesagree.annotations import Labels, Ratings
    from bayesagree.io.files import read_table
    from bayesagree.judges import judge_table, label_allocation, warnings_of
    from bayesagree.judges.rate import corrected_rate
    from bayesagree.judges.tables import system_pairs

    table = read_table(verdicts)
    for ours, theirs in ((columns.item, verdicts_item), (columns.label, verdicts_label)):
        if theirs is not None:
            if theirs not in table.columns:
                raise InputError(f"the verdicts have no column {theirs!r}; they have {', '.join(table.columns)}")
            table = table.assign(**{ours: table[theirs]})
    if (people is None) == (choose is None):
        raise InputError("pass --people FILE for corrected rates, or --choose N for the items that people should label")
    table = _in_our_names(table, columns, judge_column, scale)
    votes = table.iloc[:0] if people is None else _in_our_names(read_table(people), columns, columns.annotator, scale)
    settings: dict[str, Any] = {"epsilon": epsilon, "seed": sampling.seed}
    test, title = {"epsilon": epsilon} | vars(sampling), f"May the judge replace a person (epsilon {epsilon:g})?"
    rated = columns.rating in votes.columns and columns.label not in votes.columns
    if people is not None and (columns.rank in votes.columns or rated):
        humans = _answers(votes, columns, columns.annotator, scale)
        rows, notes = _tests(humans, _answers(table, columns, judge_column, scale, humans), test)
        shown = [_output.Table("settings", [settings], most=0), _output.Table("judges", rows, title)]
        return _output.show(shown, json=json, notes=notes)
    named = {} if people is None else {"people's labels": votes}
    named |= {"the verdicts": table} if scale is None else {}
    known = _categories(named, columns.label) if named else []
    counted = _positive(positive, known) if known else None
    names: Any = {"item": columns.item, "annotator": judge_column, "duplicates": "keep"}
    given = (
        Labels.from_long(table, **names, label=columns.label, labels=known)
        if scale is None
        else Ratings.from_long(table, **names, rating=columns.rating, scale=scale)
    )
    how: dict[str, Any] = {"positive": counted, "system": _column(table, columns.item, system), "seed": sampling.seed}
    if choose is not None:
        way: Any = _options.one_of(design, "--design", ("random", "stratified", "doubt"))
        drawn = label_allocation(given, n=choose, design=way, **how)
        _output.write_table(drawn, output)
        first = drawn.sort_values("chosen", ascending=False, kind="stable")
        return _output.show([_output.Table("items", first, "Items for people to label", most=20)], json=json)
    human = Labels.from_long(votes, item=columns.item, annotator=columns.annotator, label=columns.label, labels=known)
    how |= {"target": target, "inclusion": _column(table, columns.item, inclusion)} | vars(sampling)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        tree = corrected_rate(given, human, **how)
    tests, notes = _tests(human, given, test) if isinstance(given, Labels) else ([], [])
    rates = judge_table(tree)
    _output.write_table(rates, output)
    settings = {"positive": counted, "target": target} | settings
    tables = [
        _output.Table("settings", [settings], most=0),
        _output.Table("rates", rates, f"Rate of {counted!r} ({target}), with its 95 % HDI"),
        _output.Table("pairs", system_pairs(tree), "Differences of systems, with their 95 % HDI"),
        _output.Table("judges", tests, title),
    ]
    _output.show(tables, json=json, notes=[*(str(w.message) for w in caught), *notes, *warnings_of(tree)])


def _in_our_names(
    table: "pd.DataFrame", columns: _options.Columns, who: str, scale: tuple[float, float] | None
) -> "pd.DataFrame":
    """Return a table with the names of `columns`: where it has others they are guessed, and said on stderr."""
    from bayesagree.io.formats._guess import Columns

    notes: list[str] = []
    ours = Columns(columns.item, who, columns.label, columns.rating, columns.rank)
    found = ours.guessed(table, notes)
    if scale is None:
        found = found.words_as_labels(table, notes)
    for note in notes:
        typer.echo(note, err=True)
    return table.rename(columns={their: our for our, their in zip(ours, found) if their != our})


def _categories(tables: dict[str, "pd.DataFrame"], label: str) -> list[Any]:
    """Return the labels that people or judges gave, sorted."""
    for whose, table in tables.items():
        if label not in table.columns:
            raise InputError(f"{whose} have no column {label!r}; name it with label=..., or give scores a --scale 1 10")
    found = {value for table in tables.values() for value in table[label].dropna().tolist()}
    return sorted(found, key=lambda value: (str(type(value)), value))


def _positive(requested: str | None, categories: list[Any]) -> Any:
    """Return the category that counts, in its own type."""
    if requested is None:
        if len(categories) != 2:
            raise InputError(f"which of the labels {', '.join(map(str, categories))} counts? pass --positive LABEL")
        return categories[-1]
    found = [name for name in categories if str(name) == requested]
    if not found:
        raise InputError(f"--positive {requested}: people's labels are {', '.join(map(str, categories))}")
    return found[0]


def _column(table: "pd.DataFrame", item: str, name: str | None) -> Any:
    """Return the value of a column for each item, one of each."""
    if name is None:
        return None
    if name not in table.columns:
        raise InputError(f"the verdicts have no column {name!r}; they have {', '.join(table.columns)}")
    return table.drop_duplicates([item, name]).set_index(item)[name]


def _answers(
    table: "pd.DataFrame",
    columns: _options.Columns,
    who: str,
    scale: tuple[float, float] | None,
    people: "Annotations | None" = None,
) -> "Rankings | Ratings":
    """Return rankings, where there is a column of ranks, or ratings; of judges those of the items of people."""
    from bayesagree.annotations import Rankings, Ratings

    ranked = columns.rank in table.columns if people is None else isinstance(people, Rankings)
    value = columns.rank if ranked else columns.rating
    if value not in table.columns:
        raise InputError(
            f"people's table has a column {value!r} and the verdicts have none; judges answer what people answer"
        )
    names: dict[str, Any] = {"item": columns.item, "annotator": who}
    if people is not None:
        table = table.loc[table[columns.item].isin(people.items.tolist())]
    if ranked:
        labels = None if people is None else people.categories.tolist()
        return Rankings.from_long(table, **names, label=columns.label, rank=value, labels=labels)
    if scale is None:
        raise InputError("people gave ratings: name their scale, such as --scale 1 5")
    kept: Any = "error" if people is None else "keep"
    return Ratings.from_long(table, **names, rating=value, scale=scale, duplicates=kept)


def _tests(people: Any, verdicts: Any, how: dict[str, Any]) -> tuple[list[dict[str, Any]], list[str]]:
    """Test every judge against people, with warnings; no rows, and a note, where they cannot be compared."""
    from bayesagree.judges import verdict_predictions
    from bayesagree.judges.annotator_test import alternative_annotator_test

    given = verdict_predictions(verdicts, people)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            found = alternative_annotator_test(people, given, **how)
        except InputError as error:
            return [], [f"the alternative annotator test is not possible: {error}"]
    names = ["winning_rate", "advantage_probability", "passes", "prob_passes", "prob_new_annotator"]
    rows = [
        {"judge": model} | {name: found[name].sel(model=model).item() for name in names}
        for model in found["model"].values.tolist()
    ]
    return rows, [str(w.message) for w in caught]
