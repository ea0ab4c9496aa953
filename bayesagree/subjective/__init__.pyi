from .agreement import group_agreement
from .crowd_quality import crowdtruth
from .disagreement import disagreement_rate, recode
from .group_model import group_summary
from .group_truth import dividing_items, group_permutation_test
from .performance import group_performance
from .specification import EvaluationSpecification

__all__ = [
    "EvaluationSpecification",
    "crowdtruth",
    "disagreement_rate",
    "dividing_items",
    "group_agreement",
    "group_performance",
    "group_permutation_test",
    "group_summary",
    "recode",
]
