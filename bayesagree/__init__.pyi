from . import (
    agreement,
    annotations,
    blind,
    comparisons,
    conformal,
    datasets,
    errors,
    evaluation,
    findings,
    io,
    judges,
    metrics,
    planning,
    plausibility,
    plots,
    predictive,
    report,
    subjective,
)
from .agreement.coefficients import agreement_table, krippendorff_alpha
from .agreement.details import confusion
from .agreement.differences import agreement_difference
from .agreement.phi import common_agreement
from .annotations import Annotators, Comparisons, Labels, Predictions, Rankings, Ratings
from .blind.scores import blind_scores
from .comparisons.posterior import davidson
from .conformal.calibration import conformalize
from .datasets import simulate
from .errors import ConvergenceError, InputError
from .evaluation.comparison import compare, pairwise
from .evaluation.gates import assert_better
from .evaluation.scoring import evaluate
from .findings.table import audit
from .io.exports import read_annotations
from .io.files import read_result, write_result
from .io.predictions import read_predictions
from .judges.annotator_test import alternative_annotator_test
from .judges.rate import corrected_rate
from .metrics.crowd_auc import auc
from .metrics.posterior_scores import score
from .planning.designs import plan
from .planning.next_items import annotate_next
from .plausibility import certainty
from .plausibility.calibration import calibrate
from .plausibility.certainty import annotation_certainty
from .plausibility.dawid_skene.posterior import dawid_skene
from .plausibility.dirichlet.posterior import dirichlet
from .plausibility.group_dirichlet.posterior import group_dirichlet
from .plausibility.informed.posterior import informed_dirichlet
from .plausibility.informed_normal.posterior import informed_normal
from .plausibility.informed_plackett_luce.posterior import informed_plackett_luce
from .plausibility.normal_inverse_gamma.posterior import normal_inverse_gamma
from .plausibility.plackett_luce.posterior import plackett_luce
from .plausibility.prirn.posterior import prirn
from .plausibility.votes import majority_vote, vote_shares
from .subjective.group_model import group_posterior

__all__ = [
    # what is wrong with a test set
    "audit",
    # annotations and predictions
    "Labels",
    "Ratings",
    "Rankings",
    "Annotators",
    "Comparisons",
    "Predictions",
    "read_annotations",
    "read_predictions",
    "read_result",
    "write_result",
    # how far annotators agree
    "common_agreement",
    "agreement_table",
    "agreement_difference",
    "confusion",
    "krippendorff_alpha",
    # what the truth of each item may be
    "dirichlet",
    "informed_dirichlet",
    "informed_normal",
    "informed_plackett_luce",
    "prirn",
    "plackett_luce",
    "normal_inverse_gamma",
    "dawid_skene",
    "group_dirichlet",
    "majority_vote",
    "vote_shares",
    # how certain that is
    "annotation_certainty",
    # how good a model is then
    "evaluate",
    "compare",
    "pairwise",
    "assert_better",
    "score",
    "auc",
    "conformalize",
    "calibrate",
    # how many annotations, and of which items next
    "plan",
    "annotate_next",
    # judges, models without gold, groups of annotators
    "corrected_rate",
    "davidson",
    "alternative_annotator_test",
    "blind_scores",
    "group_posterior",
    # errors
    "InputError",
    "ConvergenceError",
]
