"""The methods paragraph of a report, ready to paste, and the papers it cites."""

from bayesagree.annotations import Rankings, Ratings
from bayesagree.plausibility.registry import DAWID_SKENE, POSTERIORS, STUTZ, Reference
from bayesagree.report.data import ReportData
from bayesagree.report.headlines import ordinary_truth
from bayesagree.report.wording import count, listed, metric_name

CHECCO = Reference(
    "Checco et al., 2017",
    "A. Checco, K. Roitero, E. Maddalena, S. Mizzaro, G. Demartini. Let's agree to disagree: fixing agreement measures "
    "for crowdsourcing. HCOMP, 2017.",
)
BALAYN = Reference(
    "Balayn and Bozzon, 2019",
    "A. Balayn, A. Bozzon. Designing evaluations of machine learning models for subjective inference: the case of "
    "sentence toxicity. arXiv:1911.02471, 2019.",
)
KRIPPENDORFF = Reference("Krippendorff, 2004", "K. Krippendorff. Content analysis, 2nd edition. Sage, 2004.")
RUBIN = Reference("Rubin, 1981", "D. B. Rubin. The Bayesian bootstrap. Annals of Statistics 9(1), 1981.")


def methods_paragraph(data: ReportData) -> str:
    """Write what was done, ready to paste into a paper."""
    return " ".join([_truth(data), *_metrics(data), _agreement(data), *_groups(data), _software(data)])


def references(data: ReportData) -> list[Reference]:
    """List the papers that the paragraph cites."""
    text = methods_paragraph(data)
    return [r for r in (BALAYN, CHECCO, DAWID_SKENE, KRIPPENDORFF, RUBIN, STUTZ) if r.key in text]


def _truth(data: ReportData) -> str:
    settings, given = data.settings, data.annotations
    record = POSTERIORS[settings.plausibility]
    asked = settings.threshold
    question = "" if asked is None else f" The question is whether the mean is below {asked:g}."
    trust = (
        "the reliability of each annotator is learnt from the data"
        if record.learns_reliability
        else f"reliability (trust in one annotator) {settings.reference:g}"
    )
    others = settings.reliability[1:]
    shown = f", results also shown at {listed([f'{r:g}' for r in others])}" if others else ""
    return (
        f"The {count(given.items.size)} items have {count(given.n_annotations)} annotations. Their truth was treated "
        f"as uncertain ({STUTZ.key}): the plausibilities of each item's labels follow {record.sentence} "
        f"({record.reference.key}), with {trust}{shown}.{question} Annotation certainty is the posterior "
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
        "are compared on the same draws, and a tie counts one half. The ordinary metric is computed against "
        f"{ordinary_truth(data)}, tied labels sharing the point. {items}"
    ]


def _agreement(data: ReportData) -> str:
    if isinstance(data.annotations, Rankings):
        return (
            "Agreement is the share of annotators who name what the others rank first, averaged over items, with a "
            "normal 95 % interval."
        )
    phi = f"Phi ({CHECCO.key}) has a 95 % highest density interval; " if isinstance(data.annotations, Ratings) else ""
    return (
        f"Agreement: {phi}the chance-corrected coefficients, among them Krippendorff's alpha ({KRIPPENDORFF.key}), "
        f"have the shortest 95 % intervals of a Bayesian bootstrap over items ({RUBIN.key})."
    )


def _groups(data: ReportData) -> list[str]:
    if data.groups is None:
        return []
    return [
        f"Annotators were grouped by {data.groups.by} ({BALAYN.key}); the accuracy for each group has a hierarchical "
        "beta-binomial posterior, and the spread over groups was tested against annotators dealt to them at random."
    ]


def _software(data: ReportData) -> str:
    return f"Computed with bayesagree {data.version}, seed {data.settings.seed}."
