"""How good is a model, when the people who labelled its test set do not agree: this package answers that.

Names stand in the order in which data flow: annotations, what the truth of each item may be, how certain that is, and
how good a model is then.
"""

from bayesagree.agreement.checks import item_fit, item_mean_check, phi_clusters
from bayesagree.agreement.coefficients import agreement_table, krippendorff_alpha
from bayesagree.agreement.model import AgreementPrior
from bayesagree.agreement.phi import common_agreement, common_agreement_model, phi_difference
from bayesagree.annotations import Labels, Rankings, Ratings
from bayesagree.annotations.annotators import Annotators
from bayesagree.blind.scores import blind_posterior, blind_scores
from bayesagree.calibration.recalibration import calibrate, calibration_scores, pool_with_votes
from bayesagree.certainty import (
    annotation_certainty,
    annotator_agreement,
    expected_risk,
    label_certainty,
    plausibility_entropy,
    risk_certainty,
)
from bayesagree.crowd_quality.quality import crowdtruth
from bayesagree.crowd_quality.resampling import crowdtruth_posterior, spammers
from bayesagree.errors import ConvergenceError, InputError, SizeError
from bayesagree.evaluation.comparison import compare, practical_equivalence
from bayesagree.evaluation.paired_tests import copeland_rank
from bayesagree.evaluation.rank_correlation import swap_rate, williams_test
from bayesagree.evaluation.scoring import evaluate
from bayesagree.io.files import read_annotations, read_predictions, read_result, write_result
from bayesagree.metrics.auc.concordant_pairs import concordance
from bayesagree.metrics.auc.estimates import auc, hand_till_auc, one_vs_rest_auc
from bayesagree.metrics.auc.posterior import auc_posterior
from bayesagree.metrics.hard_labels import hard_label_scores
from bayesagree.metrics.partial_rankings import partial_average_overlap
from bayesagree.metrics.uncertainty_adjusted import (
    accuracy_given_risk,
    average_overlap,
    expected_top_k_accuracy,
    kendall_tau,
    overlap,
    per_item,
    set_accuracy,
    spearman_footrule,
    top_k_accuracy,
)
from bayesagree.patterns.patterns import LabelPatterns, RankingPatterns, RatingPatterns
from bayesagree.plausibility.dawid_skene.model import dawid_skene_model
from bayesagree.plausibility.dawid_skene.posterior import dawid_skene
from bayesagree.plausibility.dawid_skene.prior import CrowdPrior
from bayesagree.plausibility.dirichlet.inverse_rank_normalization import irn, prirn, prirn_model
from bayesagree.plausibility.dirichlet.posterior import dirichlet, dirichlet_model
from bayesagree.plausibility.normal_inverse_gamma.posterior import (
    NormalInverseGammaPrior,
    normal_inverse_gamma,
    normal_inverse_gamma_model,
)
from bayesagree.plausibility.plackett_luce.likelihood import plackett_luce_log_likelihood, plackett_luce_ml
from bayesagree.plausibility.plackett_luce.posterior import plackett_luce, plackett_luce_model
from bayesagree.plausibility.votes import majority_vote
from bayesagree.predictions import Predictions
from bayesagree.predictive.annotator_checks import annotator_table
from bayesagree.subjective.disagreement import disagreement_rate, recode
from bayesagree.subjective.group_model import group_posterior, prob_worse
from bayesagree.subjective.performance import group_performance
from bayesagree.subjective.specification import EvaluationSpecification
from bayesagree.subjective.specification_check import check_specification

__all__ = [
    # annotations and predictions
    "Labels",
    "Ratings",
    "Rankings",
    "Annotators",
    "LabelPatterns",
    "RatingPatterns",
    "RankingPatterns",
    "Predictions",
    "read_annotations",
    "read_predictions",
    "read_result",
    "write_result",
    # how far annotators agree
    "common_agreement",
    "common_agreement_model",
    "AgreementPrior",
    "phi_difference",
    "item_fit",
    "item_mean_check",
    "phi_clusters",
    "agreement_table",
    "krippendorff_alpha",
    # what the truth of each item may be
    "dirichlet",
    "dirichlet_model",
    "irn",
    "prirn",
    "prirn_model",
    "plackett_luce",
    "plackett_luce_model",
    "plackett_luce_ml",
    "plackett_luce_log_likelihood",
    "normal_inverse_gamma",
    "normal_inverse_gamma_model",
    "NormalInverseGammaPrior",
    "dawid_skene",
    "dawid_skene_model",
    "CrowdPrior",
    "majority_vote",
    "calibrate",
    "calibration_scores",
    "pool_with_votes",
    "annotator_table",
    # how certain that is
    "label_certainty",
    "annotation_certainty",
    "plausibility_entropy",
    "risk_certainty",
    "expected_risk",
    "annotator_agreement",
    # how good a model is then
    "top_k_accuracy",
    "expected_top_k_accuracy",
    "accuracy_given_risk",
    "set_accuracy",
    "overlap",
    "average_overlap",
    "partial_average_overlap",
    "kendall_tau",
    "spearman_footrule",
    "per_item",
    "evaluate",
    "compare",
    "practical_equivalence",
    # rankings of models by AUC, without gold
    "auc",
    "one_vs_rest_auc",
    "hand_till_auc",
    "auc_posterior",
    "concordance",
    # models judged without expert labels
    "blind_scores",
    "blind_posterior",
    "hard_label_scores",
    "copeland_rank",
    "swap_rate",
    "williams_test",
    # whose opinion a model serves
    "disagreement_rate",
    "recode",
    "group_performance",
    "group_posterior",
    "prob_worse",
    "crowdtruth",
    "crowdtruth_posterior",
    "spammers",
    "EvaluationSpecification",
    "check_specification",
    # errors
    "InputError",
    "SizeError",
    "ConvergenceError",
]
