"""One record per posterior of the truth: everything that other folders of the package know about it.

`evaluate`, the report and the command line read these records and nothing else, so that a new posterior is its own
folder and one record here. The first record that fits a kind of annotations is the default for it.
"""

from collections import ChainMap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from bayesagree.annotations import Annotations, Labels, Predictions, Rankings, Ratings
from bayesagree.annotations.rankings import who_competed
from bayesagree.errors import InputError, one_of, say
from bayesagree.inference.posterior import Posterior
from bayesagree.inference.predictive import HeldOut, PredictiveRecord
from bayesagree.inference.trace import Trace
from bayesagree.plausibility.dawid_skene import predictive as dawid_skene_predictive
from bayesagree.plausibility.dawid_skene.posterior import DawidSkene
from bayesagree.plausibility.dirichlet import predictive as dirichlet_predictive
from bayesagree.plausibility.dirichlet.posterior import Dirichlet
from bayesagree.plausibility.group_dirichlet.posterior import GroupDirichlet
from bayesagree.plausibility.informed.posterior import InformedDirichlet
from bayesagree.plausibility.informed.prior import InformedPrior
from bayesagree.plausibility.informed_normal.posterior import InformedNormal
from bayesagree.plausibility.informed_plackett_luce.posterior import InformedPlackettLuce
from bayesagree.plausibility.normal_inverse_gamma.posterior import NormalInverseGamma
from bayesagree.plausibility.plackett_luce.posterior import PlackettLuce
from bayesagree.plausibility.prirn import predictive as prirn_predictive
from bayesagree.plausibility.prirn.posterior import PrIRN

# A posterior by its name, as its draws, or as its specification.
Plausibility = str | xr.DataTree | Posterior


class Reference(NamedTuple):
    """A paper: how the text cites it, and where it is."""

    key: str
    text: str


STUTZ = Reference(
    "Stutz et al., 2023",
    "D. Stutz et al. Evaluating AI systems under uncertain ground truth: a case study in dermatology. "
    "arXiv:2307.02191, 2023.",
)
DAWID_SKENE = Reference(
    "Dawid and Skene, 1979",
    "A. P. Dawid, A. M. Skene. Maximum likelihood estimation of observer error-rates using the EM algorithm. "
    "Applied Statistics 28(1), 1979.",
)
TEH = Reference(
    "Teh et al., 2006",
    "Y. W. Teh et al. Hierarchical Dirichlet processes. Journal of the American Statistical Association 101, 2006.",
)
ANGELOPOULOS = Reference(
    "Angelopoulos et al., 2023",
    "A. N. Angelopoulos et al. Prediction-powered inference. Science 382, 2023.",
)


@dataclass(frozen=True)
class PosteriorRecord:
    """Record of one posterior of the truth.

    Attributes
    ----------
    specification
        The posterior with the arguments that evaluations and reports pass where the user gives none.
    title
        The name that readers of a report see.
    annotations
        The container that it takes.
    reliabilities
        Default values of the reliability, the reference first: the scales of two posteriors differ. One value where
        the model learns the reliability of each annotator.
    closed_form
        Whether certainties follow without draws.
    sentence, reference
        For the methods section of a report; no reference: a posterior of the user's own.
    predictive
        Functions of the predictive checks; None without a sampling model of the annotations.
    held_out
        Scores of annotators left out, for the reliability curve; None where the reliability is learnt or there is none.
    """

    specification: Posterior
    title: str
    annotations: type
    sentence: str
    reference: Reference | None
    reliabilities: tuple[float, ...] = (1.0,)
    closed_form: bool = False
    predictive: PredictiveRecord | None = None
    held_out: HeldOut | None = None

    @property
    def name(self) -> str:
        """The name of its function, of ``plausibility=``, and of ``attrs["model"]`` in its results."""
        return self.specification.name


_RECORDS = (
    PosteriorRecord(
        Dirichlet(), "Dirichlet", Labels, "a Dirichlet posterior, prior 1/K for each of K labels", STUTZ,
        reliabilities=(1.0, 0.3, 3.0), closed_form=True,
        predictive=dirichlet_predictive.PREDICTIVE, held_out=dirichlet_predictive.held_out_scores,
    ),
    PosteriorRecord(
        DawidSkene(), "Dawid-Skene", Labels,
        "a posterior of the Dawid-Skene family, with a confusion matrix for each annotator", DAWID_SKENE,
        predictive=dawid_skene_predictive.PREDICTIVE,
    ),
    PosteriorRecord(
        InformedDirichlet(), "informed Dirichlet", Labels,
        "a posterior that learns from votes and predictions together what the truth of items looks like", ANGELOPOULOS,
    ),
    PosteriorRecord(
        PlackettLuce(), "Plackett-Luce", Rankings,
        "a Plackett-Luce posterior over partial rankings with ties", STUTZ, reliabilities=(1.0, 3.0),
    ),
    PosteriorRecord(
        PrIRN(), "probabilistic inverse rank normalisation (PrIRN)", Rankings,
        "a Dirichlet distribution around the inverse rank normalisation (PrIRN)", STUTZ,
        reliabilities=(10.0, 2.0, 50.0), closed_form=True, held_out=prirn_predictive.held_out_scores,
    ),
    PosteriorRecord(
        InformedPlackettLuce(), "informed Plackett-Luce", Rankings,
        "a posterior that learns from rankings and predictions together what the truth of items looks like",
        ANGELOPOULOS,
    ),
    PosteriorRecord(
        NormalInverseGamma(), "normal-inverse-gamma", Ratings,
        "a normal-inverse-gamma posterior of the item's mean rating", STUTZ,
        reliabilities=(1.0, 0.3, 3.0), closed_form=True,
    ),
    PosteriorRecord(
        InformedNormal(), "informed normal", Ratings,
        "a posterior that regresses the mean rating of an item on the predictions, with shrinkage", ANGELOPOULOS,
    ),
)  # fmt: skip

# Every posterior of one truth by name.
POSTERIORS = {record.name: record for record in _RECORDS}
# The posterior of the truth of each group, by name for who gives its groups: none of the defaults.
GROUPS = PosteriorRecord(
    GroupDirichlet(), "Dirichlet by group", Labels,
    "a posterior of the truth of each group of annotators, pooled as far as the groups agree", TEH,
)  # fmt: skip
BY_NAME = ChainMap(POSTERIORS, {GROUPS.name: GROUPS})


def fitting_posteriors(annotations: Annotations) -> list[PosteriorRecord]:
    """List the posteriors for annotations of this kind, the default first."""
    if not (found := [one for one in POSTERIORS.values() if isinstance(annotations, one.annotations)]):
        raise InputError("comparisons of models are no labels of items: bayesagree preferences reads them")
    return found


class Choice(NamedTuple):
    """The posterior that ``plausibility="auto"`` stands for, and why."""

    name: Plausibility
    reason: str


# The posterior that learns from predictions too, the fewest items from which it does (ranked ones have a prior that
# carries more), what it learns from, and whose scores it estimates.
INFORMED = {
    Labels: (InformedDirichlet, 0, "Votes", "annotators"),
    Rankings: (InformedPlackettLuce, 5, "Rankings", "readers"),
    Ratings: (InformedNormal, 30, "Ratings", "annotators"),
}


def default_posterior(
    annotations: Annotations,
    predictions: Predictions | None = None,
    given: Mapping[str, Any] = MappingProxyType({}),
) -> Choice:
    """Choose the posterior for ``plausibility="auto"``: for labels and predictions of models the informed one.

    Parameters
    ----------
    annotations, predictions
        What is evaluated.
    given
        Arguments of the model that the user gave, such as ``prior=`` or ``reliability=``.

    Returns
    -------
    Choice
        The name of the posterior, and the reason as a sentence. Of labels it is ``"informed_dirichlet"``, which
        estimates the score against many annotators, unless the predictions say the same of every item; of ratings and
        predicted numbers ``"informed_normal"``, from 30 items on.

    Raises
    ------
    InputError
        An argument of another posterior: it belongs to one that is named.

    Examples
    --------
    >>> default_posterior(Labels.from_counts([[2, 1]])).reason
    'Labels alone determine the truth (dirichlet): there are no predictions to learn from.'
    """
    first, kind = fitting_posteriors(annotations)[0].name, type(annotations)
    said = f" {who_competed(annotations)[0]}" if isinstance(annotations, Rankings) else ""
    if why := _why_alone(annotations, predictions, given):
        return Choice(first, f"{kind.__name__} alone determine the truth ({first}): {why}.{said}")
    informed, _, known, against = INFORMED[kind]
    for name, value in given.items():
        another = name == "prior" and not isinstance(value, InformedPrior | None)
        if another or name not in informed.arguments():
            raise InputError(
                f"{say(name)} is no argument of {informed.name}, the default for these data: name the posterior that "
                f"it is for, such as {say('plausibility', first)}, or leave it out"
            )
    sources, target = (
        (", predictions and gold", "gold") if "gold" in given else (" and predictions", f"many {against}")
    )
    reason = f"{known}{sources} together estimate the score against {target}"
    return Choice(informed.name, f"{reason} ({informed.name}).{said}")


def _why_alone(annotations: Annotations, predictions: Predictions | None, given: Mapping[str, Any]) -> str:
    """Say why predictions inform no truth of these annotations; nothing where they do."""
    if predictions is None:
        return "there are no predictions to learn from"
    if isinstance(annotations, Labels):
        hard = predictions.hard_labels()
        alike = not {"gold", "exclude"} & given.keys() and (hard == hard[:, :1]).all()
        return "every model predicts one label for all items" if alike else ""
    if isinstance(annotations, Rankings) and annotations.offered is not None:
        return "rankings say what was on offer"
    if isinstance(annotations, Ratings) and predictions.numbers is None:
        return "predictions are labels"
    few = np.unique(annotations.item_index).size < (fewest := INFORMED[type(annotations)][1])
    return f"there are fewer than {fewest} items" if few else ""


def record_for(annotations: Annotations, plausibility: Plausibility) -> PosteriorRecord:
    """Return the record of a posterior, if it takes annotations of this kind."""
    record = record_of(plausibility)
    if not isinstance(annotations, record.annotations):
        raise InputError(
            f"plausibility={record.name!r} is for {record.annotations.__name__}, and these are "
            f"{type(annotations).__name__}; use {' or '.join(repr(r.name) for r in fitting_posteriors(annotations))}"
        )
    return record


def record_of(plausibility: Plausibility) -> PosteriorRecord:
    """Return the record of a posterior by name, or with the specification or the draws that are given."""
    if isinstance(plausibility, str):
        return BY_NAME[one_of(plausibility, "plausibility", (*POSTERIORS, GROUPS.name))]
    specification = Trace.of(plausibility) if isinstance(plausibility, xr.DataTree) else plausibility
    if specification.name in BY_NAME:
        return replace(BY_NAME[specification.name], specification=specification)
    return PosteriorRecord(specification, "user's own", object, "a posterior of the authors' own", None)


def is_auto(plausibility: Any) -> bool:
    """Return whether the data choose the posterior; a trace, which is one of its own, compares element by element."""
    return isinstance(plausibility, str) and plausibility == "auto"


def specification_for(
    annotations: Annotations, plausibility: Plausibility, options: Mapping[str, Any], own: Iterable[str]
) -> Posterior:
    """Return the specification of a posterior with some arguments of its model; `own` are those of `evaluate`."""
    base = record_for(annotations, plausibility).specification
    takes = [name for name in base.arguments() if name not in ("predictions", "tree", "states", "group")]
    unknown = [name for name in options if name not in takes]
    if "gold" in unknown:
        raise InputError(
            "gold is for plausibility='informed_dirichlet' (with predictions) and 'dawid_skene', which learn from it; "
            f"not for {base.name!r}"
        )
    if unknown:
        near = get_close_matches(unknown[0], (*own, *takes), 1, 0.65)
        way_out = f"did you mean {near[0]}=?" if near else f"{base.name} takes {', '.join(takes)}"
        raise TypeError(f"evaluate() has no argument {unknown[0]}=; {way_out}")
    return replace(base, **options)


def reliabilities_of(posterior: Posterior, given: tuple[float, ...] | None) -> tuple[float, ...]:
    """Return the reliabilities under which `evaluate` scores, by default that of the posterior."""
    if given is None:
        return (float(getattr(posterior, "reliability", 1.0)),)
    if not 0 < len(given) == len(set(given)):
        raise InputError(f"reliability {list(given)} lists a value twice, or none")
    if posterior.learns_reliability and given != (1.0,):
        raise InputError(
            f"plausibility={posterior.name!r} learns the reliability of each annotator; leave reliability at 1"
        )
    return given
