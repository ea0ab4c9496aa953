from . import (
    agreement,
    annotations,
    blind,
    comparisons,
    conformal,
    datasets,
    errors,
    evaluation,
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
from .agreement.differences import agreement_difference
from .agreement.phi import common_agreement, common_agreement_model
from .annotations import Annotators, Comparisons, Labels, Predictions, Rankings, Ratings
from .blind.scores import blind_scores
from .comparisons.model import davidson_model
from .comparisons.posterior import davidson
from .conformal.calibration import conformalize
from .datasets import simulate
from .errors import ConvergenceError, InputError, SizeError
from .evaluation.comparison import compare
from .evaluation.gates import assert_better
from .evaluation.humans import human_baseline
from .evaluation.scoring import evaluate
from .io.exports import read_annotations
from .io.files import read_predictions, read_result, write_result
from .io.outputs import write_table
from .judges.annotator_test import alternative_annotator_test
from .judges.model import corrected_rate_model
from .judges.rate import corrected_rate
from .metrics.crowd_auc import auc
from .metrics.posterior_scores import score
from .metrics.sklearn_scorer import make_scorer
from .planning.designs import plan
from .planning.next_items import annotate_next
from .plausibility import certainty
from .plausibility.calibration import calibrate
from .plausibility.certainty import annotation_certainty, label_certainty
from .plausibility.dawid_skene.model import dawid_skene_model
from .plausibility.dawid_skene.posterior import dawid_skene
from .plausibility.dirichlet.model import dirichlet_model
from .plausibility.dirichlet.posterior import dirichlet
from .plausibility.group_dirichlet.model import group_dirichlet_model
from .plausibility.group_dirichlet.posterior import group_dirichlet
from .plausibility.informed import informed_dirichlet, informed_dirichlet_model
from .plausibility.informed_normal import informed_normal, informed_normal_model
from .plausibility.normal_inverse_gamma.model import normal_inverse_gamma_model
from .plausibility.normal_inverse_gamma.posterior import normal_inverse_gamma
from .plausibility.plackett_luce.model import plackett_luce_model
from .plausibility.plackett_luce.posterior import plackett_luce
from .plausibility.prirn.model import prirn_model
from .plausibility.prirn.posterior import prirn
from .plausibility.votes import majority_vote
from .subjective.group_model import group_posterior

__all__ = [
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
    "write_table",
    # how far annotators agree
    "common_agreement",
    "common_agreement_model",
    "agreement_table",
    "agreement_difference",
    "krippendorff_alpha",
    # what the truth of each item may be
    "dirichlet",
    "dirichlet_model",
    "informed_dirichlet",
    "informed_dirichlet_model",
    "informed_normal",
    "informed_normal_model",
    "prirn",
    "prirn_model",
    "plackett_luce",
    "plackett_luce_model",
    "normal_inverse_gamma",
    "normal_inverse_gamma_model",
    "dawid_skene",
    "dawid_skene_model",
    "group_dirichlet",
    "group_dirichlet_model",
    "majority_vote",
    # how certain that is
    "annotation_certainty",
    "label_certainty",
    # how good a model is then
    "evaluate",
    "compare",
    "assert_better",
    "human_baseline",
    "score",
    "make_scorer",
    "auc",
    "conformalize",
    "calibrate",
    # how many annotations, and of which items next
    "plan",
    "annotate_next",
    # judges, models without gold, groups of annotators
    "corrected_rate",
    "corrected_rate_model",
    "davidson",
    "davidson_model",
    "alternative_annotator_test",
    "blind_scores",
    "group_posterior",
    # errors
    "InputError",
    "SizeError",
    "ConvergenceError",
]
