"""One record per posterior of the truth: everything that other rooms of the package know about it.

`evaluate`, the report and the command line read these records and nothing else, so that a new posterior is its own
folder and one record here. The first record that fits a kind of annotations is the default for it. Predictive checks
and reliability curves ask for more, how annotators annotate, and keep lists of their own in `bayesagree.predictive`.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import xarray as xr

from bayesagree._inference.arguments import checked
from bayesagree._inference.predictive import HeldOutRecord, PredictiveRecord
from bayesagree.annotations import Annotations, Labels, Rankings, Ratings
from bayesagree.errors import InputError, shorten
from bayesagree.plausibility.dawid_skene import predictive as dawid_skene_predictive
from bayesagree.plausibility.dawid_skene.model import dawid_skene_model
from bayesagree.plausibility.dawid_skene.posterior import dawid_skene, dawid_skene_blocks
from bayesagree.plausibility.dirichlet import predictive as dirichlet_predictive
from bayesagree.plausibility.dirichlet.inverse_rank_normalization import prirn, prirn_blocks, prirn_model
from bayesagree.plausibility.dirichlet.posterior import dirichlet, dirichlet_blocks, dirichlet_model, prior_share
from bayesagree.plausibility.informed.model import informed_dirichlet_model
from bayesagree.plausibility.informed.posterior import informed_blocks, informed_dirichlet
from bayesagree.plausibility.normal_inverse_gamma import predictive as normal_predictive
from bayesagree.plausibility.normal_inverse_gamma.posterior import (
    normal_inverse_gamma,
    normal_inverse_gamma_blocks,
    normal_inverse_gamma_model,
)
from bayesagree.plausibility.plackett_luce import predictive as plackett_luce_predictive
from bayesagree.plausibility.plackett_luce.posterior import (
    plackett_luce,
    plackett_luce_blocks,
    plackett_luce_model,
)


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
ANGELOPOULOS = Reference(
    "Angelopoulos et al., 2023",
    "A. N. Angelopoulos et al. Prediction-powered inference. Science 382, 2023.",
)


@dataclass(frozen=True)
class PosteriorRecord:
    """Record of one posterior of the truth.

    Attributes
    ----------
    name
        The name of its function, of `plausibility=` in `evaluate`, and of ``attrs["model"]`` in its results.
    title
        The name that readers of a report see.
    annotations
        The container that it takes.
    posterior, blocks, model
        Draws that are kept, draws that stream through metrics, and the same posterior in PyMC.
    reliabilities
        Default values of the reliability, the reference first: the scales of two posteriors differ. One value where
        the model learns the reliability of each annotator.
    learns_reliability
        Whether the model learns how much an annotation weighs, so that there is no ``reliability=``.
    takes_predictions
        Whether its second argument are the predictions of the models: they tell what items look like.
    closed_form
        Whether certainties follow without draws.
    asks_threshold
        Whether its truth are numbers, so that questions about labels need a threshold.
    streams_plausibility
        Whether `blocks` gives all plausibilities too (``plausibility=True``).
    checks_chains
        Whether `blocks` refuses chains that disagree, unless ``allow_unmixed=True``.
    defaults
        Arguments that evaluations and reports pass where the user says nothing.
    prior_share
        Mean weight of the prior in the posterior of an item, from annotations, ``reliability=`` and ``prior=``; None
        where there is no such number.
    sentence, reference
        For the methods section of a report; no reference: a trace of the user's own.
    predictive
        Functions of the predictive checks; None without a sampling model of the annotations.
    held_out
        Scores of annotators left out, for the reliability curve; None where the reliability is learnt or there is none.
    """

    name: str
    title: str
    annotations: type
    posterior: Callable[..., xr.DataTree]
    blocks: Callable[..., Iterator[Any]]
    model: Callable[..., Any]
    sentence: str
    reference: Reference | None
    reliabilities: tuple[float, ...] = (1.0,)
    learns_reliability: bool = False
    takes_predictions: bool = False
    closed_form: bool = False
    predictive: PredictiveRecord | None = None
    held_out: HeldOutRecord | None = None
    asks_threshold: bool = False
    streams_plausibility: bool = False
    checks_chains: bool = False
    defaults: Mapping[str, Any] = field(default_factory=dict)
    prior_share: Callable[..., float] | None = None


_RECORDS = (
    PosteriorRecord(
        name="dirichlet",
        title="Dirichlet",
        annotations=Labels,
        posterior=dirichlet,
        blocks=dirichlet_blocks,
        model=dirichlet_model,
        sentence="a Dirichlet posterior, prior 1/K for each of K labels",
        reference=STUTZ,
        reliabilities=(1.0, 0.3, 3.0),
        closed_form=True,
        predictive=dirichlet_predictive.PREDICTIVE,
        held_out=dirichlet_predictive.LABELS_HELD_OUT,
        streams_plausibility=True,
        prior_share=prior_share,
    ),
    PosteriorRecord(
        name="dawid_skene",
        title="Dawid-Skene",
        annotations=Labels,
        posterior=dawid_skene,
        blocks=dawid_skene_blocks,
        model=dawid_skene_model,
        sentence="the posterior of the Dawid-Skene model, a confusion matrix for each annotator",
        reference=DAWID_SKENE,
        learns_reliability=True,
        predictive=dawid_skene_predictive.PREDICTIVE,
        streams_plausibility=True,
        checks_chains=True,
        defaults={"variant": "auto"},
    ),
    PosteriorRecord(
        name="informed_dirichlet",
        title="informed Dirichlet",
        annotations=Labels,
        posterior=informed_dirichlet,
        blocks=informed_blocks,
        model=informed_dirichlet_model,
        sentence="a posterior that learns from votes and predictions together what the truth of items looks like",
        reference=ANGELOPOULOS,
        learns_reliability=True,
        takes_predictions=True,
        streams_plausibility=True,
    ),
    PosteriorRecord(
        name="prirn",
        title="probabilistic inverse rank normalisation (PrIRN)",
        annotations=Rankings,
        posterior=prirn,
        blocks=prirn_blocks,
        model=prirn_model,
        sentence="a Dirichlet distribution around the inverse rank normalisation (PrIRN)",
        reference=STUTZ,
        reliabilities=(10.0, 2.0, 50.0),
        closed_form=True,
        held_out=dirichlet_predictive.RANKINGS_HELD_OUT,
        streams_plausibility=True,
    ),
    PosteriorRecord(
        name="plackett_luce",
        title="Plackett-Luce",
        annotations=Rankings,
        posterior=plackett_luce,
        blocks=plackett_luce_blocks,
        model=plackett_luce_model,
        sentence="a Plackett-Luce posterior over partial rankings with ties",
        reference=STUTZ,
        reliabilities=(1.0, 3.0),
        predictive=plackett_luce_predictive.PREDICTIVE,
        held_out=plackett_luce_predictive.HELD_OUT,
    ),
    PosteriorRecord(
        name="normal_inverse_gamma",
        title="normal-inverse-gamma",
        annotations=Ratings,
        posterior=normal_inverse_gamma,
        blocks=normal_inverse_gamma_blocks,
        model=normal_inverse_gamma_model,
        sentence="a normal-inverse-gamma posterior of the item's mean rating",
        reference=STUTZ,
        reliabilities=(1.0, 0.3, 3.0),
        closed_form=True,
        predictive=normal_predictive.PREDICTIVE,
        asks_threshold=True,
    ),
)

POSTERIORS = {record.name: record for record in _RECORDS}
"""Every posterior of the truth by name."""


@checked
def posterior_for(annotations: Annotations, name: str) -> PosteriorRecord:
    """Return the record of a posterior, if it takes annotations of this kind."""
    if name not in POSTERIORS:
        raise InputError(f"plausibility={name!r} is not one of {shorten(POSTERIORS, 20)}")
    record = POSTERIORS[name]
    if not isinstance(annotations, record.annotations):
        raise InputError(
            f"plausibility={name!r} is for {record.annotations.__name__}, and these are {type(annotations).__name__}; "
            f"use {' or '.join(repr(r.name) for r in fitting_posteriors(annotations))}"
        )
    return record


@checked
def fitting_posteriors(annotations: Annotations) -> list[PosteriorRecord]:
    """List the posteriors for annotations of this kind, the default first."""
    return [record for record in _RECORDS if isinstance(annotations, record.annotations)]
