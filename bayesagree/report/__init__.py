"""The report: one self-contained HTML page for readers without Bayesian training (extra ``report``).

- `data`: every number of the page; `scores` and `beside` compute its parts.
- `comparisons`: the same of comparisons of models, with a page of its own.
- `kinds`: what depends on the kind of annotations.
- `settings`: how those numbers are computed, and the aligned annotations and models that all parts read.
- `page`: the page itself, from `views` (its sections), `figures` (SVG) and the templates, with the
  methods and their references.
- `panel` (its first screen), `wording`: its sentences, and the papers that they cite.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
