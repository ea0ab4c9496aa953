"""Normal-inverse-gamma plausibilities from ratings.

Story.  Every item i has a mean rating m_i and a variance v_i; each of its annotators gives Normal(m_i, v_i).
Prior.  v_i ~ InverseGamma(a0, b0), m_i | v_i ~ Normal(m0, v_i / k0).
Data.   Ratings on a bounded scale.
Paper.  Stutz et al., "Evaluating AI systems under uncertain ground truth", section 2.2.
Exact.  Here by brute force: the two-dimensional posterior of each item on a fine grid of (m, log v). Conjugacy only
        says where the grid has to lie.
Wrong   when ratings pile up at the ends of the scale or in two camps: a normal distribution has neither ends nor camps.
"""

import numpy as np
from _reference import write_exact
from numpy.typing import NDArray
from scipy.stats import norm

PRIOR = {"mean": 0.1, "strength": 0.5, "shape": 1.5, "scale": 0.8}
RELIABILITY = 2.5
THRESHOLD = 0.5


def data() -> list[list[float]]:
    """Return the ratings of three items."""
    return [[1.2, -0.3, 0.7, 2.0], [0.4], [-1.0, -1.2, -0.8, -1.1, -0.9]]


def exact(ratings: list[list[float]]) -> dict[str, list[float]]:
    """Return posterior means of m and v, and Pr(m < threshold), by integration on a grid."""
    rows = [_one_item(np.array(x)) for x in ratings]
    return {name: [float(row[n]) for row in rows] for n, name in enumerate(("mean", "variance", "prob_below"))}


def _one_item(x: NDArray[np.float64]) -> tuple[float, float, float]:
    """Integrate over m = centre + sqrt(v) t, so that the grid follows the posterior's width at every variance."""
    log_v = np.linspace(-9, 16, 2501)[:, None]
    v, t = np.exp(log_v), np.linspace(-12, 12, 2401)[None, :]
    weight = PRIOR["strength"] + RELIABILITY * x.size
    centre = (PRIOR["strength"] * PRIOR["mean"] + RELIABILITY * x.sum()) / weight
    m = centre + np.sqrt(v / weight) * t
    log_density = -(PRIOR["shape"] + 1) * log_v - PRIOR["scale"] / v + log_v  # inverse gamma, times dv/dlog v
    log_density = log_density - 0.5 * log_v - PRIOR["strength"] * (m - PRIOR["mean"]) ** 2 / (2 * v)
    for value in x:
        log_density = log_density - RELIABILITY * (0.5 * log_v + (value - m) ** 2 / (2 * v))
    log_density = log_density + 0.5 * log_v  # dm/dt
    density = np.exp(log_density - log_density.max())
    density /= density.sum()
    # Given v, t is standard normal, so Pr(m < c | v) needs no grid.
    below = norm.cdf((THRESHOLD - centre) / np.sqrt(v / weight))
    return (density * m).sum(), (density * v).sum(), (density.sum(axis=1, keepdims=True) * below).sum()


def main() -> None:
    """Write the reference posterior."""
    ratings = data()
    write_exact(
        __file__,
        data={"ratings": ratings, "prior": PRIOR, "reliability": RELIABILITY, "threshold": THRESHOLD},
        posterior=exact(ratings),
        source="Stutz et al., section 2.2; two-dimensional integration",
    )


if __name__ == "__main__":
    main()
