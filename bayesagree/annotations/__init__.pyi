from .annotators import Annotators
from .comparisons import Comparisons
from .groups import Groups
from .labels import Labels
from .predictions import Predictions
from .rankings import Annotations, Rankings
from .ratings import Ratings

__all__ = ["Annotations", "Annotators", "Comparisons", "Groups", "Labels", "Predictions", "Rankings", "Ratings"]
