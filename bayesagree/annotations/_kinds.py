"""The union of the three containers of annotations."""

from bayesagree.annotations.labels import Labels
from bayesagree.annotations.rankings import Rankings
from bayesagree.annotations.ratings import Ratings

type Annotations = Labels | Ratings | Rankings
