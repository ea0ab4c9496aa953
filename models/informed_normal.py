"""Item means of ratings, regressed on predicted numbers.

Story.  Every item i has a mean m_i, scattered by t around a line in the prediction z_i; its ratings scatter by s.
Prior.  b_0 ~ Normal(1/2, 1/4), b_1 ~ Normal(0, 1), s and t ~ HalfNormal(1/2), in units of the range of the scale.
Data.   Ratings on a scale from 0 to 1 and one standardised prediction for each item.
Paper.  Gelman et al., Bayesian Data Analysis (2013), chapter 15.
Exact.  Here by brute force: the four parameters on a grid, the item means integrated as normal variables.
Levels. Where annotators are known, a rating is Normal(m_i + c_a, s_a^2): levels c_a ~ Normal(0, d^2), scatters
        s_a^2 ~ InverseGamma(2, 2 s^2), d ~ HalfNormal(1/4); item means are with the average level; in plain PyMC.
Wrong   where annotators who rate high have seen other items than those who rate low, and nobody both.
"""

from pathlib import Path

import numpy as np
from _reference import write_draws, write_exact

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


def ratings_of_three() -> dict:
    """Return ratings of 15 items by three annotators, one of whom rates high and one without care, and predictions."""
    rng = np.random.default_rng(20261127)
    truth = rng.uniform(0.3, 0.7, 15)
    given = truth[:, None] + [0.15, -0.05, 0.0] + rng.normal(0, [0.04, 0.06, 0.2], (15, 3))
    missing = np.arange(15)[:, None] % 3 == np.arange(3)
    rating = np.where(missing, np.nan, np.round(given, 3))
    prediction = np.round(truth + rng.normal(0, 0.1, 15), 3)
    return {
        "ratings": [[None if np.isnan(v) else v for v in row] for row in rating],
        "predictions": prediction.tolist(),
    }


def sample_levels(given: dict) -> None:
    """Sample the posterior with levels of annotators and write it."""
    import pymc as pm

    rating = np.array(given["ratings"], float)
    item, who = np.nonzero(~np.isnan(rating))
    z = np.array(given["predictions"])
    z = (z - z.mean()) / z.std()
    with pm.Model(coords={"item": range(15), "annotator": range(3)}):
        s, t, d = (
            pm.HalfNormal("sd_rating", 0.5),
            pm.HalfNormal("sd_item", 0.5),
            pm.HalfNormal("sd_shift", 0.25),
        )
        b = pm.Normal("coefficient", [0.5, 0.0], [0.5, 1.0])
        level = d * pm.Normal("level", dims="annotator")
        variance = pm.InverseGamma("variance", 2.0, 2 * s**2, dims="annotator")
        m = b[0] + b[1] * z + t * pm.Normal("own", dims="item")
        pm.Deterministic("mean", m + level.mean(), dims="item")
        pm.Deterministic("shift", level - level.mean(), dims="annotator")
        pm.Normal("x", m[item] + level[who], variance[who] ** 0.5, observed=rating[item, who])
        tree = pm.sample(
            4000, tune=2000, chains=4, cores=2, random_seed=27, target_accept=0.995, progressbar=False
        )
    names = ["mean", "shift", "sd_item", "sd_shift"]
    script = str(Path(__file__).with_name("informed_normal_levels.py"))
    write_draws(script, data=given, tree=tree, names=names, random_seed=27, source="plain PyMC")


def main() -> None:
    """Write the reference posteriors."""
    sample_levels(ratings_of_three())
    ratings = data()
    given = {"ratings": ratings, "predictions": PREDICTIONS}
    write_exact(__file__, data=given, posterior=exact(ratings, 90), source="four-dimensional integration")


if __name__ == "__main__":
    main()
