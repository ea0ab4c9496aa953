from .annotators import Annotators as Annotators
from .comparisons import Comparisons as Comparisons
from .groups import Groups
from .labels import Labels as Labels
from .predictions import Predictions as Predictions
from .rankings import Annotations
from .rankings import Rankings as Rankings
from .ratings import Ratings as Ratings
from .sets import chosen_labels

__all__ = ["Annotations", "Groups", "chosen_labels"]
