"""All checks of a test set, ranked and corrected together."""

import warnings
from typing import Any

import numpy as np
import pandas as pd

from bayesagree._types import Advance, silent
from bayesagree.annotations import Comparisons, Labels, Rankings, Ratings
from bayesagree.annotations._columns import column, float_column
from bayesagree.annotations.gold import Gold
from bayesagree.errors import InputError, of_commands, shorten
from bayesagree.findings import of_annotations, of_models
from bayesagree.findings.case import CHANCE, Case, Finding
from bayesagree.inference.streams import Seed
from bayesagree.io.doors import as_annotations, as_annotators, as_predictions

SEVERITIES = ["critical", "warning", "note", "none", "not run"]
# Each call in Python, and on the command line.
CALLS = {
    "weigh": ("ba.dawid_skene(labels)", "bayesagree annotators LABELS"),
    "score": ("ba.evaluate(labels, predictions)", "bayesagree evaluate LABELS PREDICTIONS"),
    "next": ("ba.annotate_next(labels)", "bayesagree next LABELS"),
    "plan": ("ba.plan(labels, predictions)", "bayesagree plan LABELS PREDICTIONS"),
    "groups": (
        "ba.group_posterior(...)",
        "bayesagree subjective LABELS PREDICTIONS --annotators PEOPLE --group AGE",
    ),
    "strengths": ('ba.davidson(..., order="annotator")', "bayesagree preferences LABELS --order annotator"),
    "skip": ('ba.evaluate(..., missing="skip")', "bayesagree evaluate LABELS PREDICTIONS --missing skip"),
    "merge": ("read_annotations(..., merge_similar=True)", "--merge-similar"),
    "no_answer": ("na_values=[...]", "--missing-labels"),
    "agreement": ("ba.agreement_table(labels)", "bayesagree agreement LABELS"),
}


def audit(
    annotations: Any,
    predictions: Any = None,
    *,
    people: Any = None,
    gold: Gold | None = None,
    time: pd.DataFrame | None = None,
    random_seed: Seed = None,
    progress: Advance = silent,
) -> pd.DataFrame:
    """Look for what is wrong with a test set, and rank it.

    Parameters
    ----------
    annotations, predictions
        Containers, tables or paths. Some checks need labels, some labels or ratings; rankings have few. Comparisons of
        models are also labels of their pairs.
    people
        Features of the annotators: `Annotators`, a table or a path.
    gold
        The true label of some items, a mapping or a series by item; other items have no part.
    time
        Seconds of each answer (column time), when it was given (column when), or both: a data frame with item and
        annotator.
    random_seed
        Of the scores of the models.
    progress
        Called with 1 after each check.

    Returns
    -------
    DataFrame
        One row per check, index ``check``, the worst first: ``severity`` (critical, warning, note; none: it found
        nothing; not run), ``finding``, ``evidence``, ``what_to_do``, and ``where`` (at most five items, annotators,
        models or labels; ``attrs["where"]`` has all, by check). What is inferred is corrected for all checks (Holm): a
        test set without defects has a critical finding or a warning in at most .05 of cases.

    Raises
    ------
    InputError
        What the containers refuse.

    See Also
    --------
    evaluate, agreement_table, annotate_next

    References
    ----------
    Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6 (1979).

    Examples
    --------
    >>> from bayesagree import Labels
    >>> rng = np.random.default_rng(1)
    >>> votes = np.where(rng.random((200, 5)) < 0.2, "no", np.array(["no", "yes"])[np.arange(200) % 2, None])
    >>> votes[:, 4] = rng.choice(["no", "yes"], 200)
    >>> audit(Labels.from_matrix(votes)).query("severity == 'warning'")["where"].tolist()
    ['4']
    """
    given = as_annotations(annotations, (Labels, Ratings, Rankings, Comparisons))
    games = given if isinstance(given, Comparisons) else None
    if isinstance(given, Comparisons):
        given = given.to_labels("keep" if given.items.size else "first")
    items = given.items
    models = as_predictions(predictions, given, may_lack=True)
    if models is not None:
        models = models.on_items(items)
        if not isinstance(given, Rankings):
            given = given.select(np.isin(items, models.items)[given.item_index])
    if gold is not None:
        known: Any = pd.Series(gold)
        gold = known[known.index.isin(given.items)]
    time = pd.DataFrame() if time is None else _times(time)
    case = Case(given, items, models, as_annotators(people), gold, time, random_seed, games)
    checks = of_annotations.CHECKS | of_models.CHECKS
    said = {}
    rows = {}
    where = {}
    for name, check in checks.items():
        about = (check.look.__doc__ or "").splitlines()[0].rstrip(".")
        rows[name] = ["none", f"nothing found: {about}", "", "", ""]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the audit says what they say
                said[name] = check.look(case)
        except InputError as lack:
            rows[name] = ["not run", f"{about}: needs {lack}", "", "", ""]
        progress(1)
    calls = {name: ways[of_commands.get()] for name, ways in CALLS.items()}
    for name, chance in _corrected(said).items():
        found, check = said[name], checks[name]
        if chance <= CHANCE and found.where:
            where[name] = found.where
            sure = f"chance without this defect at most {max(chance, 0.001):.1g}, of all checks"
            rows[name] = [
                found.severity or check.severity,
                found.said,
                sure if chance else "counted",
                check.what_to_do.format_map(calls),
                shorten(found.where),
            ]
    columns = ["severity", "finding", "evidence", "what_to_do", "where"]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=columns).rename_axis("check")
    table = table.sort_values("severity", key=lambda column: column.map(SEVERITIES.index), kind="stable")
    table.attrs["where"] = where
    return table


def _times(table: pd.DataFrame) -> pd.DataFrame:
    """Check a table of when answers were given, or how long they took."""
    for role in ("item", "annotator", "time" if "time" in table else "when"):
        (float_column if role == "time" else column)(table, role, role)
    return table


def _corrected(said: dict[str, Finding]) -> dict[str, float]:
    """Return the chance of each finding among all that are inferred, 0 of what is counted."""
    least = 0.0
    chances = {name: 0.0 for name, one in said.items() if one.chance is None}
    order = sorted((one.chance or 0.0, name) for name, one in said.items() if name not in chances)
    for k, (chance, name) in enumerate(order):
        chances[name] = least = max(least, chance * (len(order) - k), 1e-12)
    return chances
