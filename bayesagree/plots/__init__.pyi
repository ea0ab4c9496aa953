from .agreement import plot_item_fits
from .certainty import plot_certainty
from .checks import plot_set_size
from .planning import plot_designs
from .plausibility import plot_plausibility, plot_simplex
from .scores import plot_rank_probability, plot_score_draws, plot_scores
from .subjective import plot_groups

__all__ = [
    "plot_certainty",
    "plot_designs",
    "plot_groups",
    "plot_item_fits",
    "plot_plausibility",
    "plot_rank_probability",
    "plot_score_draws",
    "plot_scores",
    "plot_set_size",
    "plot_simplex",
]
