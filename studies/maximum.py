"""Estimates of Phi at a maximum (Checco et al. 2017, section 4.4), beside the package's posterior."""

from typing import Any

import numpy as np
import scipy as sp

from bayesagree.agreement._phi.likelihood import compressed
from bayesagree.agreement._phi.posterior import HALF_LOG_2, log_density, phi_of
from bayesagree.agreement._phi.problem import Problem, prepare
from bayesagree.annotations import Ratings


def maximum_likelihood(ratings: Ratings, **options: Any) -> float:
    """Return the maximum-likelihood estimate of Phi, every item mean at its own maximum.

    With known truths (``item_mean={item: truth}``) it is the maximum of the joint posterior density of Phi and the item
    means, the paper's estimate. 1 where unanimous items make the likelihood grow without bound, -1 where it grows
    towards two camps.

    Examples
    --------
    >>> maximum_likelihood(Ratings.from_matrix([[2, 2, 2]] * 5, scale=(1, 5), step=1))
    1.0
    """
    problem = prepare(ratings, **options)
    known = problem.means.truth.size > 0
    means, like = problem.means, problem.like if known else compressed(problem.like)

    def loss(y: float) -> float:
        precision = float(np.exp(y))
        at = means.lattice(like, precision)
        table = like.statistics @ like.terms(precision, at.logit)
        if known:
            away = (sp.special.expit(at.logit) - np.append(np.nan, means.truth)[:, None]) / means.sd
            table -= 0.5 * np.nan_to_num(away[like.group]) ** 2
        best = np.clip(np.argmax(table, axis=1), 1, at.logit.size - 2)
        before, top, after = (table[np.arange(best.size), best + k] for k in (-1, 0, 1))
        bend = np.maximum(2 * top - before - after, 1e-300)
        parabola = np.where(top >= np.maximum(before, after), (after - before) ** 2 / (8 * bend), 0.0)
        return -float(like.weight @ (np.maximum(top, np.maximum(before, after)) + np.minimum(parabola, bend)))

    y = np.linspace(np.log(0.01), np.log(400), 15)
    best = int(np.argmin([loss(v) for v in y]))
    if best in (0, y.size - 1):
        return 1.0 if best else -1.0
    found: Any = sp.optimize.minimize_scalar(
        loss, bounds=(y[best - 1], y[best + 1]), method="bounded", options={"xatol": 1e-4}
    )
    return float(phi_of(np.exp(found.x)))


def posterior_mode(problem: Problem) -> float:
    """Return the mode of Phi's posterior density under flat or known item means.

    Examples
    --------
    >>> ratings = Ratings.from_matrix([[0.2, 0.4], [0.5, 0.9]], scale=(0, 1))
    >>> 0 < posterior_mode(prepare(ratings, item_mean="flat")) < 1
    True
    """
    density = log_density(problem, False)

    def loss(y: float) -> float:  # the density of log p is that of Phi by its derivative
        return -float(density(np.array([[y]]))[0] + HALF_LOG_2 * np.exp(y) - y)

    y = np.linspace(-2, 4, 25)
    best = float(y[np.argmin([loss(v) for v in y])])
    found: Any = sp.optimize.minimize_scalar(loss, bounds=(best - 0.25, best + 0.25), method="bounded")
    return float(phi_of(np.exp(found.x)))
