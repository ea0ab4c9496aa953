from .agreement import group_agreement, group_phi
from .crowd_quality import crowdtruth
from .disagreement import disagreement_rate, recode, without_items
from .dispersion import dispersion_draws, dispersion_null
from .group_model import (
    GroupCounts,
    GroupPrior,
    group_counts,
    group_performance_model,
    group_posterior,
    group_summary,
    minimum_group_size,
    prob_worse,
)
from .group_truth import dividing_items, group_permutation_test
from .normal_model import GroupValues, group_values, normal_group_model, normal_group_posterior
from .performance import annotator_performance, group_performance, left_out
from .specification import (
    EvaluationSpecification,
    SpecificationReport,
    check_specification,
    individual_unfairness,
)

__all__ = [
    "EvaluationSpecification",
    "GroupCounts",
    "GroupPrior",
    "GroupValues",
    "SpecificationReport",
    "annotator_performance",
    "check_specification",
    "crowdtruth",
    "disagreement_rate",
    "dispersion_draws",
    "dispersion_null",
    "dividing_items",
    "group_agreement",
    "group_counts",
    "group_performance",
    "group_performance_model",
    "group_permutation_test",
    "group_phi",
    "group_posterior",
    "group_summary",
    "group_values",
    "individual_unfairness",
    "left_out",
    "minimum_group_size",
    "normal_group_model",
    "normal_group_posterior",
    "prob_worse",
    "recode",
    "without_items",
]
