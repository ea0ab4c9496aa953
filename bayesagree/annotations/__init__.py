"""The three kinds of annotation: `Labels`, `Ratings` and `Rankings`.

All three are frozen and long inside: one row is one annotation, so that ten million annotations by a hundred
thousand annotators fit. They are checked once, at the door; everything behind the door can rely on them. Rows are
sorted by item, then annotator, so that the order of the input never changes a result.

=========  ==========================================  ===============================================
kind       one annotation is                           notation of the papers
=========  ==========================================  ===============================================
Labels     one label of a closed list                  n_ik, the number of annotators of i who chose k
Ratings    one number on a bounded scale               x_ij in [low, high]
Rankings   blocks of labels, best first, ties inside   B_1 > B_2 > ...
=========  ==========================================  ===============================================
"""

from bayesagree.annotations.labels import Labels
from bayesagree.annotations.rankings import Rankings
from bayesagree.annotations.ratings import Ratings

__all__ = ["Annotations", "Labels", "Rankings", "Ratings"]

type Annotations = Labels | Ratings | Rankings
