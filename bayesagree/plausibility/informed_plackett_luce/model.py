"""The informed posterior of rankings as a PyMC model."""

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesagree.plausibility.informed_plackett_luce._problem import NAMES, InformedRankings, Tilt
from bayesagree.plausibility.plackett_luce.model import races_model

if TYPE_CHECKING:
    import pymc as pm


def informed_model(problem: InformedRankings) -> "pm.Model":
    """Build `informed_plackett_luce` in PyMC: the model of rankings alone, and what the predictions add to it.

    The sum over labels that neither readers nor models name is never the best label.
    """
    import pymc as pm
    import pytensor.tensor as pt

    said, n_labels = problem.said, problem.alone.n_labels
    (alike, times, _), here = said.kinds(n_labels), said.label < n_labels
    with races_model(problem.annotations, problem.alone) as model:
        model.add_coord("parameter", NAMES)
        theta: Any = pm.Normal("parameters", *problem.layout.prior, dims="parameter")
        plausibility: Any = model["plausibility"]
        share = plausibility[np.arange(len(here))[:, None], said.label]
        tilt = Tilt.of(theta[:, None], said, n_labels, pt)
        top: Any = pt.argmax(plausibility[:, :n_labels], axis=1)
        is_best: Any = pt.eq(top[:, None], said.label)
        log: Any = pt.log(pt.where(here, share, 1.0))
        added: Any = (tilt.readers[:, :, 0] * log + tilt.best[:, :, 0] * is_best).sum()
        constant: Any = Tilt.of(theta[:, None], alike, n_labels, pt).log_constant(problem.shape, n_labels, pt)
        pm.Potential("predictions", added - (times * constant[:, 0]).sum())
    return model
