from ._kinds import Annotations
from .annotators import Annotators
from .labels import Labels
from .rankings import Rankings
from .ratings import Ratings

__all__ = [
    "Annotations",
    "Annotators",
    "Labels",
    "Rankings",
    "Ratings",
]
