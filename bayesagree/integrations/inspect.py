"""Inspect AI: accuracy against votes of people, rates corrected by people's verdicts, and a report beside the log.

The entry point ``inspect_ai`` of this package registers the metrics as ``bayesagree/uncertain_accuracy`` and
``bayesagree/corrected_rate``, and the hook that writes reports. The extra ``bayesagree[inspect]`` installs Inspect.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from inspect_ai.hooks import Hooks, TaskEnd, hooks
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.scorer import Metric, SampleScore, Value, metric, value_to_float

from bayesagree.errors import InputError, shorten

if TYPE_CHECKING:  # Inspect loads this module at every start, so that the functions load what they use
    import xarray as xr

    from bayesagree.annotations import Labels, Predictions

METRIC = "uncertain_accuracy"


@metric(name=METRIC)
def uncertain_accuracy(
    votes: str = "votes",
    *,
    labels: Sequence[Any] | None = None,
    plausibility: str = "auto",
    random_seed: int = 0,
) -> Metric:
    """Accuracy of the answers against a truth that votes leave uncertain.

    Parameters
    ----------
    votes
        Key of each sample's metadata that holds the votes of people: a list of labels, or ``{annotator: label}``.
        Samples without votes do not count.
    labels
        All possible labels; by default those that got a vote. An answer that is none of them is wrong.
    plausibility
        Posterior of the truth, as in `evaluate`.
    random_seed
        Same seed and samples, same numbers.

    Returns
    -------
    Metric
        Its values are ``accuracy`` (posterior mean), ``lower`` and ``upper`` (95 % HDI).

    Raises
    ------
    InputError
        No sample has votes, or the scorer keeps no answers.
    """

    def values(scores: list[SampleScore]) -> Value:
        from bayesagree.evaluation.scoring import evaluate

        answers = {score.sample_id: score.score.answer for score in scores}
        voted = {score.sample_id: (score.sample_metadata or {}).get(votes) for score in scores}
        people, models = _annotated(answers, voted, votes, labels)
        how = {"plausibility": plausibility, "missing": "wrong", "random_seed": random_seed}
        result = evaluate(people, models, metrics=("accuracy",), draws=1000, **how)
        return _interval("accuracy", result["posterior"].to_dataset()["accuracy"])

    return values


@metric(name="corrected_rate")
def corrected_rate(gold: str = "human", *, random_seed: int = 0) -> Metric:
    """Share of samples that people would call right, from a scorer's verdicts on all and people's on some.

    Parameters
    ----------
    gold
        Key of each sample's metadata that holds people's verdicts: one, or a list of several; ``"C"`` and ``"I"``,
        true and false, or 1 and 0. Samples without the key are those that no person saw.
    random_seed
        Same seed and samples, same numbers.

    Returns
    -------
    Metric
        Its values are ``rate`` (posterior mean), ``lower`` and ``upper`` (95 % HDI), and ``raw``, the scorer's own.

    Raises
    ------
    InputError
        No sample has a verdict of people, or a verdict is neither right nor wrong.
    """

    def values(scores: list[SampleScore]) -> Value:
        from bayesagree.annotations import Labels
        from bayesagree.judges.rate import corrected_rate as corrected_rate_of

        verdicts = {score.sample_id: _right(score.score.value, score.sample_id) for score in scores}
        seen = {score.sample_id: _listed((score.sample_metadata or {}).get(gold)) for score in scores}
        given = {item: [_right(value, item) for value in values] for item, values in seen.items() if values}
        if not given:
            raise InputError(f"no sample has {gold!r} in its metadata; some samples need people's verdicts")
        sides, column = [False, True], [[right] for right in verdicts.values()]
        judge = Labels.from_matrix(column, items=list(verdicts), labels=sides)
        tree = corrected_rate_of(judge, _labels(given, sides), positive=True, random_seed=random_seed)
        raw = {"raw": sum(verdicts.values()) / len(verdicts)}
        return _interval("rate", tree["posterior"].to_dataset()["rate"]) | raw

    return values


@hooks(name="bayesagree_report", description="Report beside the log of tasks with uncertain_accuracy")
class ReportBesideLog(Hooks):
    """Write ``<log>.report.html`` for each scorer that uses `uncertain_accuracy`."""

    async def on_task_end(self, data: TaskEnd) -> None:
        """Write the reports of a log that is on this machine."""
        location = urlsplit(data.log.location)
        for name, votes in _scorers(data.log) if location.scheme in ("", "file") else ():
            _write(data.log, Path(unquote(location.path)), name, votes)


def _write(log: EvalLog, path: Path, scorer: str, votes: str) -> None:
    from bayesagree.report.data import report_data
    from bayesagree.report.page import write_report
    from bayesagree.report.settings import ReportSource

    samples = log.samples if log.samples is not None else read_eval_log(str(path)).samples or []
    scored = {sample.id: (sample.scores or {}).get(scorer) for sample in samples}
    answers = {item: score.answer for item, score in scored.items() if score is not None}
    voted = {sample.id: (sample.metadata or {}).get(votes) for sample in samples if sample.id in answers}
    people, models = _annotated(answers, voted, votes, None, model=log.eval.model)
    data = report_data(people, models, source=ReportSource(name=log.eval.task))
    page = path.with_name(f"{path.stem}.{scorer}.report.html")
    write_report(data, page, title=f"{log.eval.task}: {log.eval.model}")


def _scorers(log: EvalLog) -> list[tuple[str, str]]:
    """Scorers of a log that use the metric, each with the key of its votes."""
    found = log.results.scores if log.results else []
    used = ((score.name, value) for score in found for value in score.metrics.values())
    return [*{name: v.params.get("votes", "votes") for name, v in used if METRIC in (v.group or "")}.items()]


def _annotated(
    answers: Any, voted: Any, key: str, labels: Any, model: str = "model"
) -> "tuple[Labels, Predictions]":
    """Votes and answers of the samples that have votes."""
    from bayesagree.annotations import Predictions

    items = [item for item, given in voted.items() if _listed(given)]
    if not items:
        raise InputError(f"no sample has votes: metadata[{key!r}] is to hold labels, or {{annotator: label}}")
    if all(answers[item] is None for item in items):
        raise InputError("the scorer keeps no answers: return Score(value=..., answer=...) with the label")
    people = _labels({item: voted[item] for item in items}, labels)
    known = {str(label): label for label in people.categories.tolist()}
    predicted = [known.get(str(answers[item])) for item in people.items.tolist()]
    return people, Predictions.from_labels(
        {model: predicted}, items=people.items.tolist(), labels=list(known.values())
    )


def _labels(given: Mapping[Any, Any], labels: Sequence[Any] | None) -> "Labels":
    """Votes by item: of named annotators where every item has a mapping, else of unknown ones."""
    import pandas as pd

    from bayesagree.annotations import Labels

    named = all(isinstance(votes, Mapping) for votes in given.values())
    rows = [
        (item, who, label)
        for item, votes in given.items()
        for who, label in (votes.items() if named else enumerate(_listed(votes)))
    ]
    frame = pd.DataFrame(rows, columns=["item", "annotator", "label"])
    return Labels.from_long(frame, annotator="annotator" if named else None, labels=labels)


def _listed(given: Any) -> list[Any]:
    if isinstance(given, Mapping):
        return list(given.values())
    return list(given) if isinstance(given, list | tuple) else [given] if given is not None else []


def _right(value: Any, item: Any) -> bool:
    """Whether a verdict calls a sample right; anything between right and wrong is refused."""
    number = value_to_float()(value) if isinstance(value, str | bool | int | float) else None
    if number not in (0, 1):
        raise InputError(f"the verdict {shorten([value])} on sample {item!r} is not right (1) or wrong (0)")
    return bool(number)


def _interval(name: str, draws: "xr.DataArray") -> dict[str, Any]:
    from bayesagree.inference.intervals import column_hdi

    lower, upper = column_hdi(draws.values.reshape(-1, 1))
    return {name: float(draws.mean()), "lower": float(lower[0]), "upper": float(upper[0])}
