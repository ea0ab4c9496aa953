from . import (
    agreement,
    annotations,
    blind,
    calibration,
    certainty,
    conformal,
    crowd_quality,
    datasets,
    distributions,
    errors,
    evaluation,
    io,
    judges,
    metrics,
    patterns,
    planning,
    plausibility,
    plots,
    predictions,
    predictive,
    report,
    simulate,
    studies,
    subjective,
)
from .agreement import (
    AgreementPrior,
    agreement_difference,
    agreement_table,
    annotator_levels,
    common_agreement,
    common_agreement_model,
    item_fit,
    item_mean_check,
    krippendorff_alpha,
    phi_clusters,
    phi_difference,
    phi_summary,
)
from .agreement.leave_one_out import annotator_agreement
from .annotations import Annotators, Labels, Rankings, Ratings
from .blind import blind_posterior, blind_scores
from .calibration import calibrate, calibration_scores, pool_with_votes
from .certainty import (
    annotation_certainty,
    expected_risk,
    label_certainty,
    plausibility_entropy,
    risk_certainty,
)
from .conformal import ConformalSets, conformalize, conformalize_mass, plausibility_regions, set_coverage
from .crowd_quality import crowdtruth, crowdtruth_posterior, spammers
from .errors import ConvergenceError, InputError, SizeError, UnmixedError
from .evaluation import compare, copeland_rank, evaluate, practical_equivalence, swap_rate, williams_test
from .io import (
    read_annotations,
    read_export,
    read_predictions,
    read_result,
    write_items,
    write_result,
    write_table,
)
from .judges import (
    CorrectedRatePrior,
    alternative_annotator_test,
    best_panel,
    corrected_rate,
    corrected_rate_model,
    effective_judges,
    prediction_powered_mean,
    rogan_gladen,
)
from .metrics import (
    UserMetric,
    accuracy_given_risk,
    annotator_overlap,
    average_overlap,
    expected_top_k_accuracy,
    hard_label_scores,
    human_ceiling,
    kendall_tau,
    make_scorer,
    overlap,
    partial_average_overlap,
    per_item,
    score,
    set_accuracy,
    spearman_footrule,
    top_k_accuracy,
    top_k_in_top_m,
)
from .metrics.auc import auc, auc_posterior, concordance, hand_till_auc, one_vs_rest_auc
from .patterns import LabelPatterns, RankingPatterns, RatingPatterns
from .planning import annotate_next, plan, value_of_votes
from .plausibility import majority_vote
from .plausibility.dawid_skene import DawidSkenePrior, dawid_skene, dawid_skene_model
from .plausibility.dirichlet import dirichlet, dirichlet_model, irn, prirn, prirn_model
from .plausibility.informed import InformedPrior, informed_dirichlet, informed_dirichlet_model
from .plausibility.normal_inverse_gamma import NormalInverseGammaPrior, normal_inverse_gamma, normal_inverse_gamma_model
from .plausibility.plackett_luce import (
    plackett_luce,
    plackett_luce_log_likelihood,
    plackett_luce_ml,
    plackett_luce_model,
)
from .predictions import Predictions
from .predictive import annotator_table
from .subjective import (
    EvaluationSpecification,
    check_specification,
    disagreement_rate,
    group_performance,
    group_posterior,
    prob_worse,
    recode,
)

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
    "read_export",
    "read_predictions",
    "read_result",
    "write_items",
    "write_result",
    "write_table",
    # how far annotators agree
    "common_agreement",
    "common_agreement_model",
    "AgreementPrior",
    "annotator_levels",
    "phi_difference",
    "phi_summary",
    "item_fit",
    "item_mean_check",
    "phi_clusters",
    "agreement_table",
    "agreement_difference",
    "krippendorff_alpha",
    # what the truth of each item may be
    "dirichlet",
    "dirichlet_model",
    "informed_dirichlet",
    "informed_dirichlet_model",
    "InformedPrior",
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
    "DawidSkenePrior",
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
    "annotator_overlap",
    # how good a model is then
    "score",
    "UserMetric",
    "human_ceiling",
    "make_scorer",
    "top_k_accuracy",
    "top_k_in_top_m",
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
    # sets of labels that cover the truth
    "conformalize",
    "conformalize_mass",
    "ConformalSets",
    "set_coverage",
    "plausibility_regions",
    # rankings of models by AUC, without gold
    "auc",
    "one_vs_rest_auc",
    "hand_till_auc",
    "auc_posterior",
    "concordance",
    # models judged without expert labels
    "best_panel",
    "blind_scores",
    "blind_posterior",
    "hard_label_scores",
    "copeland_rank",
    "swap_rate",
    "williams_test",
    # how many, and which next
    "plan",
    "annotate_next",
    "value_of_votes",
    # language models as judges
    "alternative_annotator_test",
    "corrected_rate",
    "corrected_rate_model",
    "CorrectedRatePrior",
    "effective_judges",
    "rogan_gladen",
    "prediction_powered_mean",
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
    "UnmixedError",
    "ConvergenceError",
]
