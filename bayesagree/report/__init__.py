"""The report: one self-contained HTML page for readers without Bayesian training (extra ``report``).

- `data`: every number of the page; `scores` and `beside` compute its parts, `comparisons` those of comparisons.
- `kinds`: what depends on the kind of annotations.
- `settings`: how those numbers are computed, and the aligned annotations and models that all parts read.
- `panel`: the first screen: the answer, the findings of the audit, what to do next.
- `views`: the sections below it; `comparison_views`: both, of comparisons; `figures`: drawings in their rows.
- `methods`: what was done, with references.
- `page`: the template, filled in. `wording`: numbers and names as a reader sees them, papers.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
