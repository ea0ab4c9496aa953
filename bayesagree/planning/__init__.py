"""How many annotators and items a study needs, and which item to label next.

- `designs`: `plan`, the interval and the decision that each number of items and annotators would give.
- `next_items`: `annotate_next`, the items whose next label tells most; `value_of_votes`, what more votes add to the
  choice between two models.
- `_outlook`: what one more answer is expected to tell; `_items`: of votes on items; `_pairs`: of comparisons of models.
- `_worlds`: what may be true after a pilot, and studies drawn from it.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
