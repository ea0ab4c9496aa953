"""Methods, ready to paste: what was computed, by which models, and the papers to cite."""

from collections.abc import Iterator

from bayesagree.agreement._coefficients import WEIGHTS_OF_LEVEL
from bayesagree.annotations import Annotations, Labels, Rankings
from bayesagree.inference.posterior import OF_ANNOTATIONS
from bayesagree.plausibility.registry import POSTERIORS, STUTZ, Reference
from bayesagree.report.data import ReportData
from bayesagree.report.kinds import kind_of
from bayesagree.report.scores import ModelScores
from bayesagree.report.wording import (
    BALAYN,
    CHECCO,
    HOLM,
    KRIPPENDORFF,
    RUBIN,
    count,
    listed,
    metric_name,
)


def methods_paragraph(data: ReportData) -> str:
    """Write what was done, ready to paste into a paper."""
    software = f"Computed with bayesagree {data.version}, seed {data.settings.random_seed}."
    read = (
        [f"When the annotations were read: {'; '.join(data.source.left_out)}."] if data.source.left_out else []
    )
    agreement = [kind_of(data.annotations).method, *_weights(data.annotations)]
    return " ".join([_truth(data), *read, *_metrics(data), *agreement, *_beside(data), software])


def _beside(data: ReportData) -> Iterator[str]:
    """Yield a sentence on each section that the page has."""
    yield f"The test set was searched for {len(data.findings)} defects, corrected together ({HOLM.key})."
    if data.groups is not None:
        yield f"Annotators were grouped by {data.groups.by} ({BALAYN.key})" + (
            "."
            if data.groups.accuracy is None
            else "; the accuracy for each group has a hierarchical beta-binomial posterior, and the spread over groups "
            "was compared with its distribution when annotators are assigned to groups at random."
        )
    if data.specification is not None:
        yield (
            "The annotators and their annotations were compared with a declared specification of the evaluation "
            f"({BALAYN.key})."
        )
    if data.gold is not None:
        yield (
            f"Scores against gold rest on the {count(data.gold.n_gold)} items that have it; the truth of the others "
            "was learnt from annotations, predictions and gold together."
        )
    if data.further_votes is not None:
        yield (
            "The value of further votes for the choice between the two best models follows from a normal "
            "approximation to the difference of their accuracies under a Dirichlet posterior of the votes alone."
        )


def references(data: ReportData) -> list[Reference]:
    """List the papers that the paragraph cites."""
    text = methods_paragraph(data)
    known = {BALAYN, CHECCO, HOLM, KRIPPENDORFF, RUBIN, STUTZ}
    known |= {record.reference for record in POSTERIORS.values() if record.reference is not None}
    return sorted(reference for reference in known if reference.key in text)


def _truth(data: ReportData) -> str:
    settings, given, record = data.settings, data.annotations, data.settings.record
    limit = settings.threshold
    question = "" if limit is None else f" The question is whether the mean is below {limit:g}."
    weight = f"reliability (weight of an annotation) {settings.reference:g}"
    if record.name == "prirn":
        weight = f"reliability {settings.reference:g} (the weight of all annotations of an item together)"
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
        f"{_informed_by(data.scores)}{_another_annotator(data.scores)} The plug-in metric is computed against "
        f"{plug_in_truth}, tied labels sharing the point. {items}"
    ]


def _informed_by(scores: ModelScores) -> str:
    """Name the predictions that informed the truth that a model is scored against."""
    if scores.labels_only is None:
        return ""
    beside = f"Beside it stands the {OF_ANNOTATIONS}, under a Dirichlet posterior from the annotations alone."
    but = f", but those of {listed(scores.left_out)}," if scores.left_out else ""
    return f" The predictions of the models{but} inform the truth that they are scored against. {beside}"


def _another_annotator(scores: ModelScores) -> str:
    return " Another annotator gives a label drawn from the plausibilities of a draw." if scores.ceiling else ""
