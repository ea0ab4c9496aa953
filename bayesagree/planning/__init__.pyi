from .closed_forms import best_annotators_per_item, items_for_icc, raters_for_reliability, two_stage_variance
from .designs import plan
from .next_items import annotate_next, value_of_votes

__all__ = [
    "annotate_next",
    "best_annotators_per_item",
    "items_for_icc",
    "plan",
    "raters_for_reliability",
    "two_stage_variance",
    "value_of_votes",
]
