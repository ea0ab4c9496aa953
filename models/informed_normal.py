"""Item means of ratings, regressed on predicted numbers.

Story.  Every item i has a mean m_i, scattered by t around a line in the prediction z_i; its ratings scatter by s.
Prior.  b_0 ~ Normal(1/2, 1/4), b_1 ~ Normal(0, 1), s and t ~ HalfNormal(1/2), in units of the range of the scale.
Data.   Ratings on a scale from 0 to 1 and one standardised prediction for each item.
Paper.  Gelman et al., Bayesian Data Analysis (2013), chapter 15.
Exact.  Here by brute force: the four parameters on a grid, the item means integrated as normal variables.
Wrong   where few annotators rate all items, whose common shift no prediction shows.
"""

import numpy as np
from _reference import write_exact

PREDICTIONS = [0.1, 0.5, 0.9, 0.4]


def data() -> list[list[float]]:
    """Return the ratings of four items, the last one not rated."""
    return [[0.15, 0.3], [0.5, 0.65, 0.4], [0.95], []]


def exact(ratings: list[list[float]], cells: int = 40) -> dict[str, list[float]]:
    """Return posterior means of the item means, of s and of t."""
    z = np.array(PREDICTIONS)
    z = (z - z.mean()) / z.std()
    axes = [_middles(0.001, 1.2, cells), _middles(0, 2, cells), _middles(-1, 2, cells), _middles(-2, 2, cells)]
    s, t, intercept, slope = (axis.ravel() for axis in np.meshgrid(*axes, indexing="ij"))
    log_p = -2 * (s**2 + t**2) - 2 * (intercept - 0.5) ** 2 - slope**2 / 2
    expected = []
    for x, of_item in zip(map(np.array, ratings), z):
        line, n = intercept + slope * of_item, x.size
        # Ratings of one item: variance s^2 + t^2, covariance t^2.
        whole = s**2 + n * t**2
        around = sum((v - line) ** 2 for v in x) if n else 0.0
        total = sum(v - line for v in x) if n else 0.0
        log_p = log_p - (n - 1) * np.log(s) - np.log(whole) / 2 if n else log_p
        log_p = log_p - (around - t**2 * total**2 / whole) / (2 * s**2)
        expected.append(line + t**2 * total / whole)
    p = np.exp(log_p - log_p.max())
    p /= p.sum()
    return {"mean": [float(p @ m) for m in expected], "sd_rating": [float(p @ s)], "sd_item": [float(p @ t)]}


def _middles(low: float, high: float, cells: int) -> np.ndarray:
    return low + (np.arange(cells) + 0.5) * (high - low) / cells


def main() -> None:
    """Write the reference posterior."""
    ratings = data()
    given = {"ratings": ratings, "predictions": PREDICTIONS}
    write_exact(__file__, data=given, posterior=exact(ratings, 90), source="four-dimensional integration")


if __name__ == "__main__":
    main()
