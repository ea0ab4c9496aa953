from .annotators import Annotators
from .comparisons import Comparisons
from .groups import Groups
from .labels import Labels
from .predictions import Predictions
from .rankings import Annotations, Rankings
from .ratings import Ratings
from .sets import chosen_labels, label_sets, repeated_labels
from .spans import document_of

__all__ = [
    "Annotations",
    "Annotators",
    "Comparisons",
    "Groups",
    "Labels",
    "Predictions",
    "Rankings",
    "Ratings",
    "chosen_labels",
    "document_of",
    "label_sets",
    "repeated_labels",
]
