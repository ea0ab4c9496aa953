"""Prediction sets with a stated coverage, when the truth of the calibration items is ambiguous.

- `scores`: how well each label conforms to a prediction: probability, APS, margin.
- `calibration`: `conformalize`, sets that cover the labels of annotators, without Monte-Carlo noise.
- `sets`: `ConformalSets`, which predict sets and p-values.
- `coverage`: coverage and size of sets, by group; sets of items that did not calibrate them; the widest sets.
- `_truth`: expected plausibilities and draws of any truth.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
