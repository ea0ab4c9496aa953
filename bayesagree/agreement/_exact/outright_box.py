"""Where the posterior of Phi with outright ends lies: its log density, mode, and the region that holds the shares."""

from typing import Any, NamedTuple

import numpy as np
import scipy as sp

from bayesagree.agreement._exact.hyper_grid import Box as HyperBox
from bayesagree.agreement._exact.hyper_grid import HierarchicalMeans, hyper_box
from bayesagree.agreement._exact.item_means import ItemMeans
from bayesagree.agreement._exact.likelihood import Ends
from bayesagree.agreement._exact.patterns import Floats
from bayesagree.agreement._exact.posterior import SEARCH, log_posterior
from bayesagree.errors import ConvergenceError

LEVEL = -2
"""Steps of the inner quadrature are 1.6 times as long as at first: the log density then errs below 1e-3."""
FEWEST, RECENT = 8, 100
"""Points from which the box of (m, s) is predicted by regression: twice its coefficients, and the latest so many."""
STEP = 1.5
"""Steps along y in conditional standard deviations."""
DROP, EDGE, LEAST_EDGE, MOST_EDGE = 13.0, 10.0, 8.0, 13.0
"""The table ends along y, and the box in the shares, where the density has fallen by exp(-13) and about exp(-10)."""
STEPS, MOST_STEPS, FARTHEST = 14, 40, 40.0
"""Steps along y at the mode of the roots at most, those to a side elsewhere, and their reach: a posterior as wide as
its prior spans 17."""
MOST_SHARE, MOST_ROOT = 1 - 1e-6, 1 - 5e-7
"""Shares closer to 1 make no difference to any data that fit in memory."""


class Box(NamedTuple):
    """Mode of (y, u), conditional centres of y, and sides of the region that holds the roots of the shares.

    Attributes
    ----------
    mode
        Mode of (y, u_low, u_high), shape (3,).
    slope
        Moves of the conditional mode of y with each root, shape (2,).
    step
        Step along y.
    sides
        Lower and upper end of each root, shape (2, 2).
    """

    mode: Floats
    slope: Floats
    step: float
    sides: Floats

    def centre(self, roots: Floats) -> Floats:
        """Return where y is tabulated from at given roots, shape (...)."""
        return self.mode[0] + (roots - self.mode[1:]) @ self.slope


class LogDensity:
    """Log density of (y, u_low, u_high) and the ratings, Phi and both roots being uniform."""

    def __init__(self, means: ItemMeans) -> None:
        self.means = means
        self.at: list[Floats] = []
        self.boxes: list[Floats] = []

    def __call__(self, at: Floats) -> float:
        """Return the log density at one point, shape (3,)."""
        ends = float(min(at[1] ** 2, MOST_SHARE)), float(min(at[2] ** 2, MOST_SHARE))
        y = float(np.clip(at[0], *SEARCH))
        return self._inside(at, y, ends) - abs(float(at[0]) - y)  # beyond, the prior goes on to fall at least so fast

    def _inside(self, at: Floats, y: float, ends: Ends) -> float:
        if not isinstance(self.means, HierarchicalMeans):
            return log_posterior(self.means.with_ends(ends), y, LEVEL)
        found = {} if (guess := self._guess(at)) is None else {y: guess}
        try:
            value = log_posterior(self.means.with_ends(ends, found=found), y, LEVEL)
        except ConvergenceError:  # between two boxes that nearly fit: from all of (m, s), with finer steps
            found.clear()
            value = log_posterior(self.means.with_ends(ends, found=found), y, 0)
        self.at.append(np.array(at))
        self.boxes.append(np.ravel(list(found.values())[-1]))
        return value

    def _guess(self, at: Floats) -> HyperBox | None:
        """Return the box of (m, s) that its regression on the latest points predicts, at first that of the nearest."""
        if not self.at:
            return None
        x = np.array(self.at[-RECENT:]) - at
        boxes = np.array(self.boxes[-RECENT:])
        spread = np.maximum(np.abs(x).mean(axis=0), 1e-9)
        distance = np.sum((x / spread) ** 2, axis=1)
        if len(x) < FEWEST:
            m_low, m_high, s_low, s_high = boxes[np.argmin(distance)]
        else:
            weight = 1 / (0.1 + distance)[:, None]
            design = np.column_stack([np.ones(len(x)), x / spread])
            m_low, m_high, s_low, s_high = np.linalg.lstsq(weight * design, weight * boxes, rcond=None)[0][0]
        return hyper_box((m_low, m_high), (s_low, s_high))


def posterior_box(density: LogDensity) -> Box:
    """Return the mode and the region around it that holds the posterior of the shares."""
    mode, top = _mode(density)
    steps = np.array([_informative_step(density, mode, top, i) for i in range(3)])
    hessian = _hessian(density, mode, steps)
    slope = -hessian[0, 1:] / hessian[0, 0]
    sides = np.array([[_edge(density, mode, top, hessian, i, side) for side in (-1, 1)] for i in (1, 2)])
    step = STEP / float(np.sqrt(hessian[0, 0]))
    reach = sum(_reach(density, mode, top, side * step) for side in (-1, 1))
    return Box(mode, slope, max(step, reach / STEPS), sides)


def _reach(density: LogDensity, mode: Floats, top: float, step: float) -> float:
    """Return how far from the mode y is when the density has died, in strides that double."""
    away = 2 * step
    while top - density(mode + np.array([away, 0, 0])) < DROP and abs(away) < FARTHEST:
        away *= 1.5
    return abs(away)


def _mode(density: LogDensity) -> tuple[Floats, float]:
    """Return the mode of (y, u) and its log density."""
    start = np.array([1.0, 0.35, 0.35])
    simplex = start + np.vstack([np.zeros(3), np.diag([0.5, -0.2, -0.2])])
    options = {"initial_simplex": simplex, "xatol": 0.03, "fatol": 0.1, "maxfev": 120}
    found: Any = sp.optimize.minimize(lambda x: -density(x), start, method="Nelder-Mead", options=options)
    return np.append(found.x[0], np.minimum(np.abs(found.x[1:]), MOST_ROOT)), -float(found.fun)


def _informative_step(density: LogDensity, mode: Floats, top: float, axis: int) -> float:
    """Return a step at which the density has fallen by about a standard deviation's half."""
    step = 0.2 if axis == 0 else min(max(0.2 * mode[axis], 0.02), 0.5 * (1 - mode[axis]))
    for _ in range(8):
        moved = mode.copy()
        moved[axis] += step
        drop = top - density(moved)
        if 0.2 < drop < 3 or (axis and moved[axis] > 0.9 and drop < 3):
            return step
        step *= float(np.clip(np.sqrt(0.7 / max(drop, 1e-3)), 0.15, 5))
        if axis:
            step = min(step, 0.95 * (1 - mode[axis]))
    return step


def _hessian(density: LogDensity, mode: Floats, steps: Floats) -> Floats:
    """Return minus the second differences of the log density, which is even in the roots."""

    def at(*moves: tuple[int, float]) -> float:
        x = mode.copy()
        for axis, times in moves:
            x[axis] += times * steps[axis]
        return density(x)

    middle = at()
    result, ahead = np.empty((3, 3)), np.empty(3)
    for i in range(3):
        ahead[i], behind = at((i, 1)), at((i, -1))
        result[i, i] = max((2 * middle - ahead[i] - behind) / steps[i] ** 2, 1e-3 / steps[i] ** 2)
    for i in range(3):
        for j in range(i):
            both = at((i, 1), (j, 1))
            result[i, j] = result[j, i] = (ahead[i] + ahead[j] - both - middle) / (steps[i] * steps[j])
    scale = np.sqrt(np.diag(result))
    correlated = result / np.outer(scale, scale)
    # Differences need not be positive definite: as much of the correlations as leaves them so.
    while np.linalg.eigvalsh(correlated)[0] < 0.01:
        correlated = 0.9 * correlated + 0.1 * np.eye(3)
    return correlated * np.outer(scale, scale)


def _edge(density: LogDensity, mode: Floats, top: float, hessian: Floats, axis: int, side: int) -> float:
    """Return where the profile of the density along one root has fallen by about `EDGE`, inside [0, 1]."""
    others = [i for i in range(3) if i != axis]
    shift = -np.linalg.solve(hessian[np.ix_(others, others)], hessian[others, axis])
    curvature = hessian[axis, axis] + hessian[axis, others] @ shift
    limit = mode[axis] if side < 0 else MOST_ROOT - mode[axis]
    away = min(np.sqrt(2 * EDGE / max(curvature, 1e-12)), limit)
    for _ in range(6):
        moved = mode.copy()
        moved[axis] += side * away
        moved[others] += side * away * shift
        moved[1:] = np.clip(moved[1:], 0, MOST_ROOT)
        drop = top - density(moved)
        if drop > MOST_EDGE or (drop < LEAST_EDGE and away < limit):
            away = min(away * float(np.clip(np.sqrt(EDGE / max(drop, 1e-2)), 0.4, 2.5)), limit)
        else:
            break
    return float(np.clip(mode[axis] + side * away, 0, MOST_ROOT))
