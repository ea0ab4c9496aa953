from .agreement import plot_bland_altman, plot_item_fits
from .blind import plot_method_correlation, plot_quality_correlation
from .certainty import plot_certainty, plot_certainty_by_agreement, plot_risk
from .checks import plot_error_correlation, plot_reliability_curve, plot_set_size
from .planning import plot_cost_frontier, plot_designs, plot_value_of_votes
from .plausibility import plot_plausibility, plot_rating_item, plot_simplex
from .scores import plot_rank_probability, plot_score_draws, plot_scores
from .subjective import (
    plot_annotator_quality,
    plot_disagreement_by_quality,
    plot_group_heatmap,
    plot_group_intervals,
    plot_group_truth,
    plot_shares,
)

__all__ = [
    "plot_annotator_quality",
    "plot_bland_altman",
    "plot_certainty",
    "plot_certainty_by_agreement",
    "plot_cost_frontier",
    "plot_designs",
    "plot_disagreement_by_quality",
    "plot_error_correlation",
    "plot_group_heatmap",
    "plot_group_intervals",
    "plot_group_truth",
    "plot_item_fits",
    "plot_method_correlation",
    "plot_plausibility",
    "plot_quality_correlation",
    "plot_rank_probability",
    "plot_rating_item",
    "plot_reliability_curve",
    "plot_risk",
    "plot_score_draws",
    "plot_scores",
    "plot_set_size",
    "plot_shares",
    "plot_simplex",
    "plot_value_of_votes",
]
