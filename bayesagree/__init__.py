"""How good is a model, when the people who labelled its test set do not agree: this package answers that.

Names stand in the order in which data flow: annotations, what the truth of each item may be, how certain that is, and
how good a model is then.
"""

from bayesagree.annotations import Labels, Rankings, Ratings
from bayesagree.certainty import (
    annotation_certainty,
    annotator_agreement,
    expected_risk,
    label_certainty,
    plausibility_entropy,
    risk_certainty,
)
from bayesagree.compare import compare
from bayesagree.errors import ConvergenceError, InputError, SizeError
from bayesagree.evaluate import evaluate
from bayesagree.io import read_annotations, read_predictions, read_result, write_result
from bayesagree.metrics.partial_average_overlap import partial_average_overlap
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
from bayesagree.plausibility.dirichlet import dirichlet, dirichlet_model
from bayesagree.plausibility.majority_vote import majority_vote
from bayesagree.plausibility.normal_inverse_gamma import (
    NormalInverseGammaPrior,
    normal_inverse_gamma,
    normal_inverse_gamma_model,
)
from bayesagree.plausibility.prirn import irn, prirn, prirn_model
from bayesagree.predictions import Predictions

__all__ = [
    "Labels",
    "Ratings",
    "Rankings",
    "Predictions",
    "read_annotations",
    "read_predictions",
    "read_result",
    "write_result",
    "dirichlet",
    "dirichlet_model",
    "irn",
    "prirn",
    "prirn_model",
    "normal_inverse_gamma",
    "normal_inverse_gamma_model",
    "NormalInverseGammaPrior",
    "majority_vote",
    "label_certainty",
    "annotation_certainty",
    "plausibility_entropy",
    "risk_certainty",
    "expected_risk",
    "annotator_agreement",
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
    "InputError",
    "SizeError",
    "ConvergenceError",
]
