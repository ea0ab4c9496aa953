from .annotators import Annotators
from .comparisons import Comparisons
from .labels import Labels
from .predictions import Predictions
from .rankings import Annotations, Rankings
from .ratings import Ratings

__all__ = ["Annotations", "Annotators", "Comparisons", "Labels", "Predictions", "Rankings", "Ratings"]
