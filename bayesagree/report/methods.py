"""The methods paragraph of a report, ready to paste, and the papers it cites."""

from bayesagree.evaluation.scoring import PROVEN
from bayesagree.plausibility.registry import POSTERIORS, STUTZ, Reference
from bayesagree.report.data import ReportData
from bayesagree.report.headlines import plug_in_truth
from bayesagree.report.kinds import CHECCO, KRIPPENDORFF, RUBIN, kind_of
from bayesagree.report.next_steps import EPSILON, MIN_ITEMS
from bayesagree.report.scores import ModelScores
from bayesagree.report.sets import COVERAGE
from bayesagree.report.wording import count, listed, metric_name

BALAYN = Reference(
    "Balayn and Bozzon, 2019",
    "A. Balayn, A. Bozzon. Designing evaluations of machine learning models for subjective inference: the case of "
    "sentence toxicity. arXiv:1911.02471, 2019.",
)

AMBIGUOUS = Reference(
    "Stutz et al., TMLR 2023",
    "D. Stutz, A. G. Roy, T. Matejovicova, P. Strachan, A. T. Cemgil, A. Doucet. Conformal prediction under ambiguous "
    "ground truth. TMLR, 2023. arXiv:2307.09302.",
)

CALDERON = Reference(
    "Calderon et al., ACL 2025",
    "N. Calderon, R. Reichart, R. Dror. The alternative annotator test for LLM-as-a-judge: how to statistically "
    "justify replacing human annotators with LLMs. ACL, 2025. arXiv:2501.10970.",
)


def methods_paragraph(data: ReportData) -> str:
    """Write what was done, ready to paste into a paper."""
    parts = [*_groups(data), *_sets(data), *_replacement(data), _software(data)]
    return " ".join([_truth(data), *_metrics(data), kind_of(data.annotations).method, *parts])


def references(data: ReportData) -> list[Reference]:
    """List the papers that the paragraph cites."""
    text = methods_paragraph(data)
    known = {
        AMBIGUOUS,
        BALAYN,
        CALDERON,
        CHECCO,
        KRIPPENDORFF,
        RUBIN,
        STUTZ,
        *(record.reference for record in POSTERIORS.values() if record.reference is not None),
    }
    return sorted(reference for reference in known if reference.key in text)


def _truth(data: ReportData) -> str:
    settings, given = data.settings, data.annotations
    record = settings.record
    asked = settings.threshold
    question = "" if asked is None else f" The question is whether the mean is below {asked:g}."
    weight = f"reliability (weight of an annotation) {settings.reference:g}"
    if record.takes_predictions:
        weight = "annotators counting as exchangeable"
    elif record.reference is None:
        weight = ""
    elif record.learns_reliability:
        weight = "the reliability of each annotator is learnt from the data"
    others = settings.reliability[1:]
    source = "" if record.reference is None else f" ({record.reference.key}), with {weight}"
    shown = f", results also shown at {listed([f'{r:g}' for r in others])}" if others else ""
    return (
        f"The {count(given.items.size)} items have {count(given.n_annotations)} annotations. Their truth was treated "
        f"as uncertain ({STUTZ.key}): the plausibilities of each item's labels follow {record.sentence}"
        f"{source}{shown}.{question} Annotation certainty is the posterior "
        "probability of the label most likely to be the most plausible one."
    )


def _metrics(data: ReportData) -> list[str]:
    if data.scores is None:
        return []
    settings = data.settings
    names = listed([metric_name(name) for name in settings.metrics])
    items = (
        "The items are taken as they are, not as a sample."
        if settings.items == "fixed"
        else f"The items are taken as a sample: a Bayesian bootstrap ({RUBIN.key}) weights them anew in every draw."
    )
    return [
        f"The {names} of {data.scores.table.sizes['model']} models was computed against each of {settings.chains} x "
        f"{settings.draws} draws of the truth; scores are posterior means with 95 % highest density intervals, models "
        f"are compared on the same draws, and a tie counts one half. The target is the {data.scores.target}."
        f"{_own_output(data.scores)} The plug-in metric is computed against {plug_in_truth(data)}, tied labels sharing "
        f"the point. {items}"
    ]


def _own_output(scores: ModelScores) -> str:
    """Say which predictions informed the truth that a model is scored against."""
    if not scores.beside:
        return ""
    beside = f"Beside it stands the {PROVEN}, under a Dirichlet posterior from the annotations alone."
    if scores.table.sizes["model"] == 1:
        return f" The predictions of the only model inform the truth that it is scored against. {beside}"
    return (
        " Each model is scored under the posterior that did not see its own output; models are compared under the one "
        f"that saw all of them. {beside}"
    )


def _groups(data: ReportData) -> list[str]:
    if data.groups is None:
        return []
    return [
        f"Annotators were grouped by {data.groups.by} ({BALAYN.key}); the accuracy for each group has a hierarchical "
        "beta-binomial posterior, and the spread over groups was tested against annotators dealt to them at random."
    ]


def _sets(data: ReportData) -> list[str]:
    if data.sets is None:
        return []
    return [
        f"Prediction sets were calibrated by conformal prediction on the vote shares ({AMBIGUOUS.key}), in the form "
        f"that samples no labels, for a coverage of {COVERAGE:g}; each random half of the items was tested with the "
        "sets that the other half calibrated."
    ]


def _replacement(data: ReportData) -> list[str]:
    if data.replacement is None:
        return []
    return [
        f"Each model was compared with each annotator of {MIN_ITEMS} shared items or more by the alternative annotator "
        f"test ({CALDERON.key}; epsilon {EPSILON:g}, annotators' false discovery rate .05)."
    ]


def _software(data: ReportData) -> str:
    return f"Computed with bayesagree {data.version}, seed {data.settings.seed}."
