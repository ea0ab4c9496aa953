"""Log density of Phi and of the shares of outright ends, item means integrated out; its mode and steps around it.

Coordinates are (log p, a_low, a_high): the roots of the shares, uniform on (0, 1), are the sines of the angles a, on
whose scale a share is known equally well near 0, in the middle and near 1.
"""

from typing import Any

import numpy as np
import scipy as sp

from bayesagree._numerics.types import Floats
from bayesagree.agreement._exact.hyper_grid import Box, HierarchicalMeans, hyper_box
from bayesagree.agreement._exact.item_means import ItemMeans
from bayesagree.agreement._exact.likelihood import Ends
from bayesagree.agreement._exact.posterior import SEARCH, log_posterior
from bayesagree.errors import ConvergenceError

# Steps of the inner quadrature are 1.6 times as long as at first: the log density then errs below 1e-3.
LEVEL = -2
# Points from which the box of (m, s) is predicted by regression: twice its coefficients, and the latest so many.
FEWEST_POINTS, LATEST_POINTS = 8, 100
# Shares closer to 1 make no difference to any data that fit in memory.
LARGEST_ANGLE = float(np.arcsin(1 - 5e-7))
# Least and largest coordinates, shape (3, 2); Phi below -0.9999 has 3e-5 of its prior.
LIMITS = np.array([SEARCH, (0.0, LARGEST_ANGLE), (0.0, LARGEST_ANGLE)])
# The mode is searched from Phi near 0 and a tenth of outright ends on each side, and from agreement and many: there
# may be two modes, and a ridge between them.
STARTS = np.array([[1.0, 0.35, 0.35], [1.5, 0.7, 0.5]])


class LogDensity:
    """Log density of (y, u_low, u_high) and the ratings at coordinates (y, arcsin u), Phi and the roots being uniform.

    Attributes
    ----------
    at, values
        Coordinates and log densities so far.
    """

    def __init__(self, means: ItemMeans) -> None:
        self.means = means
        self.at: list[Floats] = []
        self.values: list[float] = []
        self.boxes: list[Floats] = []

    def __call__(self, at: Floats) -> float:
        """Return the log density at one place, shape (3,), or at the nearest inside `LIMITS`."""
        at = np.clip(at, *LIMITS.T)
        low, high = np.sin(at[1:]) ** 2
        value = self._value(at, (float(low), float(high)))
        self.at.append(at)
        self.values.append(value)
        return value

    def _value(self, at: Floats, ends: Ends) -> float:
        y = float(at[0])
        if not isinstance(self.means, HierarchicalMeans):
            return log_posterior(self.means.with_ends(ends), y, LEVEL)
        found = {} if (guess := self._guess(at)) is None else {y: guess}
        try:
            value = log_posterior(self.means.with_ends(ends, found=found), y, LEVEL)
        except ConvergenceError:  # between two boxes that nearly fit: from all of (m, s), with finer steps
            found.clear()
            value = log_posterior(self.means.with_ends(ends, found=found), y, 0)
        self.boxes.append(np.ravel(list(found.values())[-1]))
        return value

    def _guess(self, at: Floats) -> Box | None:
        """Return the box of (m, s) that its regression on the latest places predicts, at first that of the nearest."""
        if not self.at:
            return None
        x = np.array(self.at[-LATEST_POINTS:]) - at
        boxes = np.array(self.boxes[-LATEST_POINTS:])
        spread = np.maximum(np.abs(x).mean(axis=0), 1e-9)
        distance = np.sum((x / spread) ** 2, axis=1)
        if len(x) < FEWEST_POINTS:
            m_low, m_high, s_low, s_high = boxes[np.argmin(distance)]
        else:
            weight = 1 / (0.1 + distance)[:, None]
            design = np.column_stack([np.ones(len(x)), x / spread])
            m_low, m_high, s_low, s_high = np.linalg.lstsq(weight * design, weight * boxes, rcond=None)[0][0]
        return hyper_box((m_low, m_high), (s_low, s_high))


def look_around(density: LogDensity) -> None:
    """Evaluate the log density on the way to its modes, and on each axis one or two deviations from the highest."""

    def mirrored(at: Floats) -> float:
        """Return minus the log density, which is even in the angles."""
        return -density(np.append(at[0], np.abs(at[1:])))

    for start in STARTS:
        simplex = start + np.vstack([np.zeros(3), np.diag([0.5, -0.2, -0.2])])
        options = {"initial_simplex": simplex, "xatol": 0.03, "fatol": 0.2, "maxfev": 60}
        sp.optimize.minimize(mirrored, start, method="Nelder-Mead", options=options)
    best = int(np.argmax(density.values))
    mode, top = density.at[best], density.values[best]
    for axis in range(3):
        for side, limit in zip((-1, 1), LIMITS[axis]):
            _step_aside(density, mode, top, axis, side, abs(float(limit - mode[axis])))


def _step_aside(density: LogDensity, mode: Floats, top: float, axis: int, side: int, limit: float) -> None:
    """Evaluate the log density along one axis until it has fallen by between 1.5 and 9, or at the limit."""
    step = min(0.15, limit)
    for _ in range(5 if limit > 1e-3 else 0):
        moved = mode.copy()
        moved[axis] += side * step
        drop = top - density(moved)
        ratio: Any = np.sqrt(4 / max(drop, 0.1))
        if drop < 1.5 and step < limit:
            step = min(step * float(np.clip(ratio, 1.3, 4)), limit)
        elif drop > 9:
            step *= float(np.clip(ratio, 0.1, 0.7))
        else:
            return
