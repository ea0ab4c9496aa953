"""Common agreement Phi: ratings on a bounded scale share one precision, every item has its own mean.

Story
    An item has a mean mu_i on [0, 1]; annotator j judges it x_ij ~ Beta(mu_i p, (1 - mu_i) p). All items share
    p, told as
    Phi = 1 - 2^(1 - p / 2): 1 when judgments concentrate, 0 as if uniformly at random, -1 in two camps. On a scale of M
    levels only the bin [m / M, (m + 1) / M) of the judgment is seen. `inflated`: an answer may also be an outright end,
    no judgment; its odds against a judgment are w_low / (1 - w_low) (1 - mu_i) / mu_i for the low end, and mirrored.
Priors
    Phi ~ U(-1, 1). Item means: flat, mu_i ~ U(0, 1) (the paper), or hierarchical, mu_i ~ Beta(m t, (1 - m) t) with
    m ~ U(0, 1) and s = (1 + t)^(-1/2) ~ U(0, 1). Roots of w_low and w_high ~ U(0, 1).
Data
    Interval ratings, several an item: `continuous` inside (0, 1), or `binned` on 5 levels (the first 80 items), or
    `inflated`: 40 of them with a third of the answers below the middle, and a tenth above, put on the end.
Route
    NUTS. Bin probabilities are power series of the incomplete beta function, item means are sampled: independent of the
    quadrature of the package.
Paper
    Checco, Roitero, Maddalena, Mizzaro, Demartini, "Let's agree to disagree", HCOMP 2017, sections 4.2-4.5, equation 1;
    the hierarchical prior, the bins and the outright ends are this project's (compare the ordered Beta regression of
    Kubinec, Political Analysis 31, 2023, doi:10.1017/pan.2022.20).
Wrong when
    Items differ in Phi, item means pile up at two ends (hierarchical), fewer than five ratings per item (flat),
    two levels.

Writes common_agreement_{flat,hierarchical}_{continuous,binned}.json and common_agreement_hierarchical_inflated.json.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from _reference import write_draws

ITEMS, RATINGS, LEVELS = {"continuous": 200, "binned": 80, "inflated": 40}, 4, 5
TERMS = 60
SEED = 20170817
VARIANTS = [(mean, scale) for scale in ("continuous", "binned") for mean in ("flat", "hierarchical")]
VARIANTS.append(("hierarchical", "inflated"))


def data(scale: str) -> dict[str, list[list[float]]]:
    """Simulate items x 4 ratings with Phi = 0.5 and mu ~ Beta(2, 2), rounded so that JSON keeps them exactly."""
    rng = np.random.default_rng(SEED)
    mu = rng.beta(2, 2, (ITEMS["continuous"], 1))
    x = np.clip(np.round(rng.beta(4 * mu, 4 * (1 - mu), (mu.size, RATINGS)), 4), 0.0001, 0.9999)[: ITEMS[scale]]
    if scale == "inflated":
        u = rng.random(x.shape)
        x = np.where((u < 1 / 3) & (x < 0.5), 0.0001, np.where((u < 1 / 10) & (x > 0.5), 0.9999, x))
    return {"ratings": (x if scale == "continuous" else np.floor(x * LEVELS)).tolist()}


def model(data: dict[str, list[list[float]]], item_mean: str, scale: str) -> pm.Model:
    """Write the model down as its story goes."""
    ratings = np.array(data["ratings"])
    with pm.Model(coords={"item": np.arange(len(ratings)), "annotator": np.arange(RATINGS)}) as graph:
        phi = pm.Uniform("phi", -1, 1)
        p = 2 * (1 - pm.math.log(1 - phi) / np.log(2))
        if item_mean == "flat":
            mu = pm.Uniform("mu", 0, 1, dims="item")
        else:
            m, s = pm.Uniform("m", 0, 1), pm.Uniform("s", 0, 1)
            t = 1 / s**2 - 1
            mu = pm.Beta("mu", m * t, (1 - m) * t, dims="item")
        if scale == "continuous":
            pm.Beta("x", mu[:, None] * p, (1 - mu[:, None]) * p, observed=ratings, dims=("item", "annotator"))
        else:
            levels, cells = ratings.astype(int), bins(mu * p, (1 - mu) * p)
            if scale == "inflated":
                cells = outright(cells, mu)
            pm.Categorical("x", p=cells[:, None, :], observed=levels, dims=("item", "annotator"))
    return graph


def bins(a: Any, b: Any) -> Any:
    """Return the probabilities of the five bins of Beta(a, b), from both ends to the middle, shape (item, level)."""
    ends = below(0.2, a, b), below(0.2, b, a)
    two = below(0.4, a, b), below(0.4, b, a)
    cells: Any = pt.stack([ends[0], two[0] - ends[0], 1 - two[0] - two[1], two[1] - ends[1], ends[1]], axis=1)
    return pt.maximum(cells, 1e-15)


def outright(cells: Any, mu: Any) -> Any:
    """Mix the probabilities of the bins with outright ends, shape (item, level)."""
    shares: list[Any] = [
        pm.Deterministic(f"w_{e}", pm.Uniform(f"root_{e}", 0, 1) ** 2) for e in ("low", "high")
    ]
    w_low, w_high = shares
    nothing: Any = pt.zeros_like(mu)
    low, high = w_low / (1 - w_low) * (1 - mu) / mu, w_high / (1 - w_high) * mu / (1 - mu)
    added: Any = pt.stack([low, *[nothing] * (LEVELS - 2), high], axis=1)
    return (cells + added) / (1 + low + high)[:, None]


def below(x: float, a: Any, b: Any) -> Any:
    """Return Pr(X < x) for X ~ Beta(a, b) from the power series x^a / B(a, b) sum_n (1 - b)_n / n! x^n / (a + n)."""
    n = np.arange(TERMS)
    one: Any = pt.ones_like(b)
    factors = pt.concatenate([one[:, None], (n[1:] - b[:, None]) / n[1:]], axis=1)
    products: Any = pt.cumprod(factors, axis=1)
    series: Any = pt.sum(products * x**n / (a[:, None] + n), axis=1)
    return pt.exp(a * np.log(x) - log_beta(a, b)) * series


def log_beta(a: Any, b: Any) -> Any:
    """Return the logarithm of the beta function."""
    gammaln: Any = pt.gammaln
    return gammaln(a) + gammaln(b) - gammaln(a + b)


def main() -> None:
    """Sample the variants named on the command line (all by default) and write their reference posteriors."""
    for item_mean, scale in VARIANTS:
        name = f"common_agreement_{item_mean}_{scale}"
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        observed = data(scale)
        with model(observed, item_mean, scale):
            tree = pm.sample(
                1500, tune=1000, chains=4, cores=2, nuts_sampler="pymc", target_accept=0.9, random_seed=SEED,
                progressbar=False,
            )  # fmt: skip
        names = ["phi"] if item_mean == "flat" else ["phi", "m", "s"]
        names += ["w_low", "w_high"] if scale == "inflated" else []
        write_draws(
            str(Path(__file__).with_name(name)), data=observed, tree=tree, names=names, random_seed=SEED,
            source="Checco et al. 2017, equation 1",
        )  # fmt: skip


if __name__ == "__main__":
    main()
