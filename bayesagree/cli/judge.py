"""`bayesagree judge`: what a judge's scores are worth, from people's votes on some of the items."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from bayesagree.cli._options import Columns, Duplicates, Sampling, Scale, by_item, one_named
from bayesagree.cli._output import Answer, Table, TableAnswer
from bayesagree.errors import InputError, shorten

# What a test of the judge shows.
TESTED = ["winning_rate", "advantage_probability", "passes", "prob_passes", "prob_new_annotator"]


def judge(
    verdicts: Annotated[Path, Argument(help="Columns item, judge, and label or rating.")],
    columns: Columns,
    sampling: Sampling,
    people: Annotated[Path, Option(help="Labels or ratings of people on some items.")],
    system: Annotated[str | None, Option(help="Column that names the system of an item.")] = None,
    positive: Annotated[str | None, Option(help="The label that counts; of two the last.")] = None,
    inclusion: Annotated[str | None, Option(help="Column: probability that people got the item.")] = None,
    epsilon: Annotated[float, Option(help="Margin of the test: .2 experts, .1 crowd.")] = 0.2,
    judge_column: Annotated[str, Option("--judge", help="Column that names the judge.")] = "judge",
    scale: Scale = None,
    duplicates: Duplicates = "error",
) -> TableAnswer:
    """Show the corrected rate of each system beside the judge's own, and whether the judge may replace a person.

    Where people gave ratings there is no rate: only whether the judge may replace a person.

    Example: bayesagree judge verdicts.csv --people people.csv --system system --positive pass
    """
    import pandas as pd

    from bayesagree.judges import judge_table
    from bayesagree.judges.annotator_test import alternative_annotator_test
    from bayesagree.judges.rate import corrected_rate
    from bayesagree.judges.tables import system_pairs

    files = ((verdicts, replace(columns, annotator=judge_column), "keep"), (people, columns, duplicates))
    given, human = (_read(*file, scale=scale) for file in files)
    if given.kind == human.kind == "labels":  # of the same labels
        every = {*given.categories.tolist(), *human.categories.tolist()}
        ordered = sorted(every, key=lambda name: (str(type(name)), name))
        given, human = (_read(*file, labels=ordered) for file in files)
    settings = {"epsilon": epsilon, "seed": sampling.random_seed}
    tables, notes, rates = [], [], None
    if human.kind == "labels":
        known, asked = human.categories.tolist(), {"system": system, "inclusion": inclusion}
        if positive is None and len(known) != 2:
            raise InputError(f"the labels are {shorten(known)}: name the one that counts, --positive LABEL")
        counted = known[-1] if positive is None else one_named(positive, known)
        how = {"positive": counted} | vars(sampling)
        how |= {role: by_item(verdicts, columns.item, name) for role, name in asked.items() if name}
        tree = corrected_rate(given, human, **how)
        settings["positive"], rates = counted, judge_table(tree)
        notes = rates.attrs["warnings"]
        votes = human.counts().sum(axis=1)
        if (votes > 1).sum() >= (votes > 0).sum() / 2:  # people's accuracy is learnt from their disagreement
            rates = pd.concat([rates, judge_table(corrected_rate(given, human, target="truth", **how))])
        title = f"Share of people who say {counted!r} (target share), of items that are (truth), 95 % HDI"
        tables = [
            Table("rates", rates, title),
            Table("pairs", system_pairs(tree), "Differences of systems, with their 95 % HDI"),
        ]
    tests = []
    if human.kind != "labels" or given.kind == "labels":
        try:
            found = alternative_annotator_test(human, given, epsilon=epsilon, **vars(sampling))
            tests = found[TESTED].to_dataframe()[TESTED].rename_axis("judge").reset_index()
        except InputError as error:
            notes = [f"the alternative annotator test is not possible: {error}", *notes]
    tables.append(Table("judges", tests, f"May the judge replace a person (epsilon {epsilon:g})?"))
    return Answer([Table("settings", [settings], most=0), *tables], notes, rates)


def _read(path: Path, columns: Columns, duplicates: Any, **how: Any) -> Any:
    from bayesagree.io.exports import read_annotations
    from bayesagree.io.formats._file import File
    from bayesagree.io.formats.registry import format_of

    known = format_of(File(path), None)
    if known is not None and known.name == "comparisons":
        raise InputError(f"{str(path)!r} holds comparisons of models: bayesagree preferences {path} reads them")
    return read_annotations(path, **vars(columns), duplicates=duplicates, **how)
