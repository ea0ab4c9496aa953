"""Polychoric intraclass correlation: agreement that no monotone change of the scale alters, and binning hardly.

Answers are cuts of latent ones, which are standard normal in margin; two latent answers about one item have the
correlation rho, the share of the latent variance that lies between items. The thresholds follow from the shares of the
answers and rho from the table of pairs (Olsson's two steps), by Fisher scoring: the derivative of Phi2(h, k; rho) by
rho is the bivariate normal density (Plackett), whose integral from 0 gives Phi2 itself.
"""

import math
from collections.abc import Iterator

import numpy as np
import scipy as sp

from bayesagree._numerics.types import Floats
from bayesagree.agreement._formulas import CELLS

# Neighbouring values are joined to at most so many classes of about equal size, which alters neither rho nor its
# invariance and costs a few hundredths of the precision; of few items to the root of their number, since thresholds
# estimated from one item or two each make intervals short: of 10 items at rho .85 nine classes hold .90, four .97.
MOST_CLASSES = 9
# rho stays so far from -1 and 1, where the rule below loses its digits; 1 where no two answers differ.
LARGEST_RHO = 0.995
# Least probability of a class or a pair of classes, and least information.
LEAST_PROBABILITY = 1e-12
# Nodes of the integral for rho up to a value, as Genz chooses them: errors below 1e-9.
LEGENDRE = tuple((most, np.polynomial.legendre.leggauss(n)) for most, n in ((0.3, 6), (0.75, 12), (1.0, 20)))
# Steps of Fisher scoring at most, the step that ends it, and the longest, which keeps the first ones inside.
MOST_STEPS, LAST_STEP, LONGEST_STEP = 50, 1e-6, 0.2


def joined(share: Floats, n_items: float) -> Floats:
    """Return which class each value belongs to, shape (value, class) of 0 and 1, from the shares of the values."""
    used, most = share > 0, min(MOST_CLASSES, math.ceil(math.sqrt(n_items)))
    middle = np.cumsum(share) - share / 2
    code = np.zeros(share.size, np.int64)
    _, code[used] = np.unique(np.floor(most * middle[used]), return_inverse=True)
    return np.eye(code.max() + 1)[np.maximum.accumulate(code)]  # a value that no item has joins those below it


def polychoric(W: Floats, C: Floats) -> Floats:
    """Return rho of every replicate, from the weights of the patterns and their counts of classes."""
    v = C.shape[1]
    table = np.zeros((len(W), v, v))
    for some in _blocks(len(C), v**2):
        table += (W[:, some] @ _pairs(C[some])).reshape(table.shape)
    total = table.sum(axis=(1, 2), keepdims=True)
    if v < 2 or not total.all() or (table.sum(axis=2) > 0).sum() < 2 * len(W):
        return np.full(len(W), np.nan)
    table /= total
    below = np.clip(np.cumsum(table.sum(axis=2), axis=1)[:, :-1], LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
    cuts = sp.special.ndtri(below)
    # From the value at the mean weights, near which all replicates are.
    rho = np.zeros(1) if len(W) == 1 else polychoric(W.mean(axis=0, keepdims=True), C).repeat(len(W))
    rho = np.clip(rho, -LARGEST_RHO, LARGEST_RHO)
    for _ in range(MOST_STEPS):
        cell, slope = _cells(cuts, below, rho)
        score, information = np.sum(table * slope / cell, axis=(1, 2)), np.sum(slope**2 / cell, axis=(1, 2))
        step = score / np.maximum(information, LEAST_PROBABILITY)  # none where a replicate has nearly one class
        new = np.clip(rho + np.clip(step, -LONGEST_STEP, LONGEST_STEP), -LARGEST_RHO, LARGEST_RHO)
        rho, moved = new, np.abs(new - rho).max()
        if moved < LAST_STEP:
            break
    return np.where(np.trace(table, axis1=1, axis2=2) > 1 - 1e-12, 1.0, rho)


def _pairs(C: Floats) -> Floats:
    """Return the table of ordered pairs of answers of each pattern, an answer counting once, shape (P, V * V)."""
    n = C.sum(axis=1)[:, None, None]
    pairs = C[:, :, None] * C[:, None, :] - C[:, :, None] * np.eye(C.shape[1])
    return (pairs / np.maximum(n - 1, 1)).reshape(len(C), -1)


def _blocks(size: int, cells: int) -> Iterator[slice]:
    """Yield the patterns in parts whose tables fit into memory."""
    step = max(1, CELLS // cells)
    return (slice(start, start + step) for start in range(0, size, step))


def _cells(cuts: Floats, below: Floats, rho: Floats) -> tuple[Floats, Floats]:
    """Return the probability of each pair of classes and its derivative by rho, shape (replicate, class, class)."""
    first, second = np.triu_indices(cuts.shape[1])  # of a symmetric table
    h, k, angle = cuts[:, first], cuts[:, second], np.arcsin(rho)[:, None]
    squares, product = (h**2 + k**2) / 2, h * k

    def density(at: Floats) -> Floats:
        """Return 2 pi times the bivariate normal density of the correlation sin(at), by the angle."""
        return np.exp((product * np.sin(at) - squares) / np.cos(at) ** 2)

    inside = below[:, first] * below[:, second]
    for node, weight in zip(*next(rule for most, rule in LEGENDRE if np.abs(rho).max() <= most)):
        inside += weight * angle / (4 * np.pi) * density(angle * (1 + node) / 2)
    corner = np.zeros((rho.size, cuts.shape[1] + 2, cuts.shape[1] + 2))
    slope = np.zeros_like(corner)
    corner[:, first + 1, second + 1] = corner[:, second + 1, first + 1] = inside
    corner[:, -1, 1:-1] = corner[:, 1:-1, -1] = below
    corner[:, -1, -1] = 1
    slope[:, first + 1, second + 1] = slope[:, second + 1, first + 1] = density(angle) / (2 * np.pi * np.cos(angle))
    cell, by_rho = (np.diff(np.diff(values, axis=1), axis=2) for values in (corner, slope))
    return np.maximum(cell, LEAST_PROBABILITY), by_rho
