"""The report: one self-contained HTML page for readers without Bayesian training (extra ``report``).

- `data`: every number of the page; `scores` and `beside` compute its parts.
- `kinds`: what depends on the kind of annotations.
- `settings`: how those numbers are computed, and the aligned annotations and models that all parts read.
- `tables`: those numbers as tables of text; `figures`: drawings in their rows.
- `templates`: the words. `panel` is the first screen, `sections` is what folds below it, `methods` what was done.
- `page`: the templates, filled in. `wording`: numbers and names as a reader sees them, papers.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
