"""`bayesagree judge`: what a judge's scores are worth, from people's votes on some of the items."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from bayesagree.cli import _options, _output
from bayesagree.errors import InputError, shorten

if TYPE_CHECKING:
    import pandas as pd

    from bayesagree.annotations import Annotations, Labels, Rankings, Ratings
    from bayesagree.annotations.predictions import Predictions


def judge(
    verdicts: Annotated[Path, Argument(help="Verdicts on every item: columns item, judge and label or rating.")],
    people: Annotated[
        Path | None,
        Option("--people", help="People's labels on some items: columns item, annotator, label (or rating, or rank)."),
    ] = None,
    system: Annotated[
        str | None, Option("--system", help="Column of the verdicts that names the system an item came from.")
    ] = None,
    positive: Annotated[
        str | None, Option("--positive", help="The label that counts; of two labels the last by default.")
    ] = None,
    target: Annotated[
        str, Option("--target", help="share: of people who say positive; truth: of truly positive items.")
    ] = "share",
    inclusion: Annotated[
        str | None, Option("--inclusion", help="Column of the verdicts: with which probability people were to see it.")
    ] = None,
    choose: Annotated[
        int | None, Option("--choose", help="Without --people: so many items for them to label.", min=1)
    ] = None,
    design: Annotated[
        str, Option("--design", help="How to choose: random, stratified by system, doubt of the judges.")
    ] = "random",
    epsilon: Annotated[
        float, Option("--epsilon", help="Margin of the alternative annotator test: .2 experts, .1 crowd.")
    ] = 0.2,
    item: _options.Item = "item",
    judge_column: Annotated[str, Option("--judge", help="Column of the verdicts that names the judge.")] = "judge",
    annotator: _options.Annotator = "annotator",
    label: _options.LabelColumn = "label",
    rating: _options.RatingColumn = "rating",
    rank: _options.RankColumn = "rank",
    scale: _options.Scale = None,
    draws: _options.Draws = 1000,
    chains: _options.Chains = 4,
    seed: _options.Seed = 1,
    json: _options.Json = False,
    output: _options.TableFile = None,
) -> None:
    """Show the corrected rate of each system beside the judge's own, and whether the judge may replace a person.

    With --choose instead of --people: the items that people should label, and their inclusion probabilities. Where
    people gave ratings or rankings there is no rate: only whether the judge may replace a person.

    Example: bayesagree judge verdicts.csv --people people.csv --system system --positive pass
    """
    import numpy as np

    from bayesagree.annotations import Labels, Ratings
    from bayesagree.io.files import read_table
    from bayesagree.judges import corrected_rate, judge_table, label_allocation, warnings_of

    table = read_table(verdicts)
    if (people is None) == (choose is None):
        raise InputError("say --people FILE for corrected rates, or --choose N for the items that people should label")
    votes = table.iloc[:0] if people is None else read_table(people)
    test: dict[str, Any] = {"epsilon": epsilon, "draws": draws, "chains": chains, "seed": seed}
    may_replace = f"May the judge replace a person (epsilon {epsilon:g})?"
    if rank in votes.columns or (rating in votes.columns and label not in votes.columns):
        columns = {"item": item, "label": label, "rank": rank, "rating": rating}
        humans = _people(votes, columns | {"annotator": annotator}, scale)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            rows = _tests(humans, _judges(table, humans, columns | {"judge": judge_column}), test)
        settings = _output.Table("settings", [{"epsilon": epsilon, "seed": seed}], most=0)
        shown = [settings, _output.Table("judges", rows, may_replace)]
        _output.show(shown, json=json, notes=[str(w.message) for w in caught])
        return
    named = ([] if people is None else [votes]) + ([table] if scale is None else [])
    known = _categories(named, label) if named else []
    counted = _positive(positive, np.array(known)) if known else None
    given = (
        Labels.from_long(table, item=item, annotator=judge_column, label=label, labels=known, duplicates="keep")
        if scale is None
        else Ratings.from_long(table, item=item, annotator=judge_column, rating=rating, scale=scale, duplicates="keep")
    )
    if choose is not None:
        way: Any = _options.one_of(design, "--design", ("random", "stratified", "doubt"))
        groups = _column(table, item, system)
        drawn = label_allocation(given, n=choose, positive=counted, design=way, system=groups, seed=seed)
        _output.write_table(drawn, output)
        first = drawn.sort_values("chosen", ascending=False, kind="stable")
        _output.show([_output.Table("items", first, "Items for people to label", most=20)], json=json)
        return
    human = Labels.from_long(votes, item=item, annotator=annotator, label=label, labels=known)
    chosen: Any = target
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        tree = corrected_rate(
            given, human, system=_column(table, item, system), positive=counted, target=chosen, draws=draws,
            inclusion=_column(table, item, inclusion), chains=chains, seed=seed,
        )  # fmt: skip
        tests = _tests(human, _hard_labels(given, human), test) if isinstance(given, Labels) else []
    notes = [*map(str, (w.message for w in caught)), *warnings_of(tree)]
    shown = judge_table(tree)
    _output.write_table(shown, output)
    tables = [
        _output.Table("settings", [{"positive": counted, "target": target, "epsilon": epsilon, "seed": seed}], most=0),
        _output.Table("rates", shown, f"Rate of {counted!r} ({target}), with its 95 % HDI"),
        _output.Table("pairs", _pairs(tree), "Differences of systems, with their 95 % HDI"),
        _output.Table("judges", tests, may_replace),
    ]
    _output.show(tables, json=json, notes=notes)


def _categories(tables: list["pd.DataFrame"], label: str) -> list[Any]:
    """Return the labels that people or judges gave, sorted."""
    for table, whose in zip(tables, ("people's labels", "the verdicts")):
        if label not in table.columns:
            raise InputError(f"{whose} have no column {label!r}; name it with label=..., or give scores a --scale 1 10")
    found = {value for table in tables for value in table[label].dropna().tolist()}
    return sorted(found, key=lambda value: (str(type(value)), value))


def _positive(asked: str | None, categories: Any) -> Any:
    """Return the category that counts, in its own type."""
    if asked is None:
        if categories.size != 2:
            raise InputError(f"which of the labels {', '.join(map(str, categories))} counts? say --positive LABEL")
        return categories.tolist()[-1]
    found = [name for name in categories.tolist() if str(name) == asked]
    if not found:
        raise InputError(f"--positive {asked}: people's labels are {', '.join(map(str, categories))}")
    return found[0]


def _column(table: "pd.DataFrame", item: str, name: str | None) -> Any:
    """Return what a column says of each item, one value of each."""
    if name is None:
        return None
    if name not in table.columns:
        raise InputError(f"the verdicts have no column {name!r}; they have {', '.join(table.columns)}")
    return table.drop_duplicates([item, name]).set_index(item)[name]


def _pairs(tree: Any) -> list[dict[str, Any]]:
    found = tree["derived"].to_dataset()
    names = found["system"].values.tolist()
    columns = ("difference", "difference_lower", "difference_upper", "prob_better")
    return [
        {"system": a, "other_system": b}
        | {name.removeprefix("difference_"): float(found[name].values[i, j]) for name in columns}
        for i, a in enumerate(names)
        for j, b in enumerate(names)
        if i < j
    ]


def _people(votes: "pd.DataFrame", columns: dict[str, str], scale: tuple[float, float] | None) -> "Rankings | Ratings":
    """Return people's rankings, where there is a column of ranks, or their ratings."""
    from bayesagree.annotations import Rankings, Ratings

    names: dict[str, Any] = {name: columns[name] for name in ("item", "annotator")}
    if columns["rank"] in votes.columns:
        return Rankings.from_long(votes, **names, label=columns["label"], rank=columns["rank"])
    if scale is None:
        raise InputError("people gave ratings: say on which scale, such as --scale 1 5")
    return Ratings.from_long(votes, **names, rating=columns["rating"], scale=scale)


def _judges(table: "pd.DataFrame", people: "Rankings | Ratings", columns: dict[str, str]) -> "Predictions":
    """Return what each judge said of the people's items: ranks as scores, unnamed labels last; or the mean rating."""
    from bayesagree.annotations import Rankings, Ratings
    from bayesagree.annotations.predictions import Predictions

    said = columns["rank" if isinstance(people, Rankings) else "rating"]
    if said not in table.columns:
        raise InputError(f"people's table has a column {said!r} and the verdicts have none; judges say what people say")
    rows = table[table[columns["item"]].isin(people.items.tolist())]
    names: dict[str, Any] = {"item": columns["item"], "annotator": columns["judge"]}
    if isinstance(people, Rankings):
        labels = people.categories.tolist()
        ranked = Rankings.from_long(rows, **names, label=columns["label"], rank=said, labels=labels).to_long()
        scores: dict[str, Any] = {
            str(judge): _scores(part, people, judge) for judge, part in ranked.groupby("annotator")
        }
        return Predictions.from_scores(scores)
    rated = Ratings.from_long(rows, **names, rating=said, scale=people.scale, duplicates="keep").to_long()
    means: dict[str, Any] = {
        str(judge): part.groupby("item")["rating"].mean() for judge, part in rated.groupby("annotator")
    }
    return Predictions.from_labels({judge: mean.reindex(people.items.tolist()) for judge, mean in means.items()})


def _scores(part: "pd.DataFrame", people: "Rankings", judge: Any) -> "pd.DataFrame":
    """Return a judge's ranks, the best highest and labels without a rank below all, one row for each item."""
    wide = part.pivot(index="item", columns="label", values="rank")
    missing = [item for item in people.items.tolist() if item not in wide.index]
    if missing:
        raise InputError(
            f"judge {judge!r} ranked nothing of {shorten(missing)}; leave these items out of people's table"
        )
    ranks = wide.reindex(people.items.tolist(), columns=people.categories.tolist())
    return -ranks.fillna(ranks.max(axis=None) + 1)


def _hard_labels(given: "Labels", human: "Labels") -> "Predictions":
    """Return the judges' labels of the people's items."""
    import pandas as pd

    from bayesagree.annotations.predictions import Predictions
    from bayesagree.judges._panel import verdict_codes

    rows = pd.Index(given.items).get_indexer(pd.Index(human.items))
    said, names = verdict_codes(given), given.categories.astype(object)
    predicted = {str(n): [names[c] if c >= 0 else None for c in said[rows, j]] for j, n in enumerate(given.annotators)}
    return Predictions.from_labels(predicted, items=human.items.tolist(), labels=given.categories.tolist())


def _tests(people: "Annotations", judges: "Predictions", options: dict[str, Any]) -> list[dict[str, Any]]:
    """Test every judge against the people; no rows where they cannot be compared."""
    from bayesagree.judges import alternative_annotator_test

    try:
        found = alternative_annotator_test(people, judges, **options)
    except InputError as error:
        warnings.warn(f"the alternative annotator test is not possible: {error}", UserWarning, stacklevel=2)
        return []
    names = ("winning_rate", "advantage_probability", "passes", "prob_passes", "prob_new_annotator")
    return [
        {"judge": model} | {name: found[name].sel(model=model).item() for name in names}
        for model in found["model"].values.tolist()
    ]
