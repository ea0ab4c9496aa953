"""Judges: whether a language model may stand in for people, and the worth of a score that it gave.

- `annotator_test`: the alternative annotator test, exact and as a posterior; `_win_rates` draws it.
- `rate`: rates of systems from verdicts on all items and people's votes on some; `model` is its PyMC model, `_panel`
  makes the regression, `prior` its prior, `_sampler` draws from it.
- `estimators`: the closed formulas: prediction-powered inference, the bound on savings.
- `independence`: correlation of judges' errors, and the number of independent judges a panel is worth.
- `tables`: these results as one table, differences of systems, and verdicts as predictions.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
