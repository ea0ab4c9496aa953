"""The methods paragraph of a report, ready to paste, and its papers: it names what was computed and no more."""

from collections.abc import Callable
from typing import Any

import pandas as pd

from bayesagree.agreement._coefficients import WEIGHTS_OF_LEVEL
from bayesagree.annotations import Annotations, Labels, Rankings
from bayesagree.draws.posterior import OF_ANNOTATIONS
from bayesagree.plausibility.registry import POSTERIORS, STUTZ, TEH, Reference
from bayesagree.report.annotators import GroupResults
from bayesagree.report.data import ReportData
from bayesagree.report.kinds import CHECCO, KRIPPENDORFF, RUBIN, kind_of
from bayesagree.report.models import COVERAGE, EPSILON, MIN_ITEMS
from bayesagree.report.scores import ModelScores
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

DUMITRACHE = Reference(
    "Dumitrache et al., 2018",
    "A. Dumitrache, O. Inel, L. Aroyo, B. Timmermans, C. Welty. CrowdTruth 2.0: quality metrics for crowdsourcing with "
    "disagreement. arXiv:1808.06080, 2018.",
)


def methods_paragraph(data: ReportData) -> str:
    """Write what was done, ready to paste into a paper."""
    found = {name: getattr(data, name) for name in METHODS}
    parts = [write(found[name]) for name, write in METHODS.items() if found[name] is not None]
    software = f"Computed with bayesagree {data.version}, seed {data.settings.seed}."
    agreement = [kind_of(data.annotations).method, *_weights(data.annotations)]
    return " ".join([_truth(data), *_metrics(data), *agreement, *parts, software])


def references(data: ReportData) -> list[Reference]:
    """List the papers that the paragraph cites."""
    text = methods_paragraph(data)
    known = {AMBIGUOUS, BALAYN, CALDERON, CHECCO, DUMITRACHE, KRIPPENDORFF, RUBIN, STUTZ, TEH}
    known |= {record.reference for record in POSTERIORS.values() if record.reference is not None}
    return sorted(reference for reference in known if reference.key in text)


def _truth(data: ReportData) -> str:
    settings, given, record = data.settings, data.annotations, data.settings.record
    limit = settings.threshold
    question = "" if limit is None else f" The question is whether the mean is below {limit:g}."
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


def _weights(annotations: Annotations) -> list[str]:
    """Name the weights of the coefficients that have any, and the order of labels that nobody stated."""
    if isinstance(annotations, Rankings):
        return []
    weights = WEIGHTS_OF_LEVEL[annotations.level]
    how = "are unweighted" if weights == "identity" else f"have {weights} weights"
    taken = isinstance(annotations, Labels) and annotations.ordered is None and annotations.has_order
    order = " Coefficients that need an order take the labels, which are numbers, as ordered." if taken else ""
    return [f"The kappas, Gwet's coefficient and that of Brennan and Prediger {how}.{order}"]


def _metrics(data: ReportData) -> list[str]:
    if data.scores is None:
        return []
    settings, plug_in_truth = data.settings, kind_of(data.annotations).point_estimate_name
    names = listed([metric_name(name) for name in settings.metrics])
    items = (
        "The items are taken as they are, not as a sample."
        if settings.items == "fixed"
        else f"The items are taken as a sample: each draw weights them by a Bayesian bootstrap ({RUBIN.key})."
    )
    return [
        f"The {names} of {data.scores.table.sizes['model']} models was computed against each of {settings.chains} x "
        f"{settings.draws} draws of the truth; scores are posterior means with 95 % highest density intervals, models "
        f"are compared on the same draws, and a tie counts one half. The target is the {data.scores.target}."
        f"{_own_output(data.scores)}{_another_annotator(data.scores)} The plug-in metric is computed against "
        f"{plug_in_truth}, tied labels sharing the point. {items}"
    ]


def _own_output(scores: ModelScores) -> str:
    """Name the predictions that informed the truth that a model is scored against."""
    if not scores.beside:
        return ""
    beside = f"Beside it stands the {OF_ANNOTATIONS}, under a Dirichlet posterior from the annotations alone."
    if scores.table.sizes["model"] == 1:
        return f" The predictions of the only model inform the truth that it is scored against. {beside}"
    return (
        " Each model is scored under the posterior that did not see its own output; models are compared under the one "
        f"that saw all of them. {beside}"
    )


def _another_annotator(scores: ModelScores) -> str:
    return " Another annotator gives a label drawn from the plausibilities of a draw." if scores.ceiling else ""


TRUTH = (
    "The truth of each group has a hierarchical Dirichlet posterior, which pools votes as far as groups agree "
    f"({TEH.key})."
)


def _groups(found: GroupResults) -> str:
    grouped = f"Annotators were grouped by {found.by} ({BALAYN.key})"
    if found.accuracy is None:
        return f"{grouped}."
    return (
        f"{grouped}; the accuracy for each group has a hierarchical beta-binomial posterior, and the spread over "
        "groups was compared with its distribution when annotators are assigned to groups at random."
        + ("" if found.truth is None else f" {TRUTH}")
    )


def _replacement(found: pd.DataFrame) -> str:
    return (
        f"Each model was compared with each annotator of {MIN_ITEMS} shared items or more by the alternative annotator "
        f"test ({CALDERON.key}; epsilon {EPSILON:g}, annotators' false discovery rate .05)."
    )


METHODS: dict[str, Callable[[Any], str]] = {
    "groups": _groups,
    "specification": lambda found: (
        f"The annotators and their annotations were compared with a declared specification of the evaluation "
        f"({BALAYN.key})."
    ),
    "gold": lambda found: (
        f"Scores against gold rest on the {count(found.n_gold)} items that have it; the truth of the others was learnt "
        "from annotations, predictions and gold together."
    ),
    "sets": lambda found: (
        f"Prediction sets were calibrated by conformal prediction on the vote shares ({AMBIGUOUS.key}), in the form "
        f"that samples no labels, for a coverage of {COVERAGE:g}; each random half of the items was tested with the "
        "sets that the other half calibrated."
    ),
    "areas": lambda found: (
        f"Areas under the curve are against the annotators' labels, with 95 % highest density intervals of a Bayesian "
        f"bootstrap over items ({RUBIN.key})."
    ),
    "annotators": lambda found: (
        f"The quality of annotators is the worker quality score of CrowdTruth ({DUMITRACHE.key}), with intervals of a "
        f"Bayesian bootstrap over items ({RUBIN.key})."
    ),
    "levels": lambda found: "The level of each annotator is a shift in log odds, estimated together with Phi.",
    "replacement": _replacement,
    "further_votes": lambda found: (
        "The value of further votes for the choice between the two best models follows from a normal approximation to "
        "the difference of their accuracies under a Dirichlet posterior of the votes alone."
    ),
}
"""Sentences on the fields of the data that have their name, where these were computed."""
