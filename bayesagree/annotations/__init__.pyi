from .annotators import Annotators
from .labels import Labels
from .predictions import Predictions
from .rankings import Annotations, Rankings
from .ratings import Ratings

__all__ = ["Annotations", "Annotators", "Labels", "Predictions", "Rankings", "Ratings"]
