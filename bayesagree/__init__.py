"""Evaluation of models, when the people who labelled their test set do not agree.

Names and sub-packages load when they are first used; `__init__.pyi` lists them in the order in which data flow.

- `annotations`: annotations of people and predictions of models; `io` reads them from files.
- `datasets`, `simulate`: public data sets, and simulated ones with known truth.
- `agreement`: how far annotators agree.
- `inference`: how draws are made, kept and judged.
- `plausibility`: posteriors of the truth of each item, and their calibration against gold.
- `certainty`: how much the annotations leave open.
- `metrics`, `evaluation`: scores of models, with intervals and comparisons.
- `conformal`: prediction sets that cover an ambiguous truth.
- `predictive`: checks of a posterior.
- `blind`: models judged without expert labels.
- `subjective`: groups of annotators, qualities of annotators.
- `planning`: how many items and annotators, and which item next.
- `judges`: what the verdicts of language models are worth, beside votes of people.
- `findings`: what is wrong with a test set, ranked.
- `comparisons`: which of two models wins, by people who differ.
- `plots`, `report`, `cli`: figures, an HTML page, the command line.
- `integrations`: Inspect AI and MLflow (extras).
- `errors`: the errors that input can raise.
- `_types`: names of array types.
"""

import sys
from os.path import dirname, isfile

if sys.version_info < (3, 12):  # noqa: UP036 - a checkout has no installer that would say so
    raise ImportError(
        f"bayesagree needs Python 3.12 or newer, and this is {sys.version.split()[0]}; try: uv run python"
    )

import lazy_loader as lazy

__getattr__, __dir__, _names = lazy.attach_stub(__name__, __file__)
# A star import brings functions and classes, no sub-package: `io` would hide Python's own. `certainty` and `simulate`
# are modules of `plausibility` and `datasets`, where no file of this folder shows them.
__all__ = [  # pyright: ignore[reportUnsupportedDunderAll]
    name
    for name in _names
    if name not in ("certainty", "simulate")
    and not any(map(isfile, (f"{dirname(__file__)}/{name}{end}" for end in (".py", "/__init__.py"))))
]
