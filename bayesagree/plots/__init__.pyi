from .agreement import plot_item_fits
from .certainty import plot_certainty
from .checks import plot_reliability_curve, plot_set_size
from .planning import plot_designs, plot_value_of_votes
from .plausibility import plot_plausibility, plot_simplex
from .scores import plot_rank_probability, plot_score_draws, plot_scores
from .subjective import (
    plot_annotator_quality,
    plot_disagreement_by_quality,
    plot_group_heatmap,
    plot_group_intervals,
    plot_shares,
)

__all__ = [
    "plot_annotator_quality",
    "plot_certainty",
    "plot_designs",
    "plot_disagreement_by_quality",
    "plot_group_heatmap",
    "plot_group_intervals",
    "plot_item_fits",
    "plot_plausibility",
    "plot_rank_probability",
    "plot_reliability_curve",
    "plot_score_draws",
    "plot_scores",
    "plot_set_size",
    "plot_shares",
    "plot_simplex",
    "plot_value_of_votes",
]
