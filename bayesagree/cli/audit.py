"""`bayesagree audit`: what is wrong with a test set, ranked."""

from pathlib import Path
from typing import Annotated, Any

from typer import Option

from bayesagree.cli._options import AnnotatorsFile, GoldFile, Seed, WithPredictions
from bayesagree.cli._output import Answer, Table, TableAnswer


def audit(
    source: WithPredictions,
    annotators: AnnotatorsFile = None,
    gold: GoldFile = None,
    time: Annotated[Path | None, Option(help="Columns item, annotator, time (seconds), when.")] = None,
    random_seed: Seed = 1,
) -> TableAnswer:
    """Look for what is wrong with annotations and predictions: the worst findings first, with what to do.

    Checks that found nothing, and those that could not run, stand below; --json and -o have all columns.

    Example: bayesagree audit labels.csv predictions.csv --gold gold.csv
    """
    from bayesagree.findings.table import audit
    from bayesagree.io.tables import read_table

    truth, models = source.read()
    known = source.gold(gold, truth)
    beside = {"time": None if time is None else read_table(time), "random_seed": random_seed}
    table: Any = audit(truth, models, people=source.features(annotators), gold=known, **beside)
    files = {"LABELS": source.annotations or f"--data {source.data}", "PREDICTIONS": source.predictions}
    for word, file in files.items():
        table["what_to_do"] = table["what_to_do"].str.replace(word, str(file or word))
    spoken = table["severity"].isin(["critical", "warning", "note"])
    shown = [
        Table("", table[spoken][["severity", "finding", "evidence"]], "Findings, the worst first"),
        Table("", table[spoken][["what_to_do", "where"]], "What to do"),
        Table("audit", table.reset_index(), most=0),
    ]
    notes = [f"{text[0].upper()}{text[1:]}." for text in table["finding"][~spoken]]
    return Answer(shown, notes, table.reset_index())
