"""Rates of systems from verdicts of a judge on all items and votes of people on some.

Story.  A judge gives every item a verdict v_i, 0 or 1. Three people vote on some items. An item of system s is called
        positive by a share lambda_i of people, whose mean depends on the system and the verdict.
Prior.  On the probit scale, with verdicts standardised to z_i and x_s the mean verdict of a system, standardised:
        m_i = a + c z_i + d x_s + b_s + u_s z_i, a, c, d ~ N(0, 1), b_s ~ N(0, t_1^2), u_s ~ N(0, t_2^2),
        t_1 ~ HalfNormal(1), t_2 ~ HalfNormal(0.5).
Data.   Votes: latent opinions of two people on an item correlate by rho ~ U(0, 1) beyond m_i, so that E lambda_i =
        Phi(m_i). The rate of s is the mean of Phi(m_i) over its items.
Paper.  None for the whole: multilevel regression and poststratification, Gelman and Little (1997), with the probit
        data of Albert and Chib (1993) and the group means of Mundlak (1978).
Wrong   when the items for people were chosen by what the regression does not know (length, topic, date), or when people
        err: then the rate is of what people say, not of what is true.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from _reference import write_draws

SEED = 20


def data() -> dict[str, list[int]]:
    """Return verdicts and systems of 120 items, and votes of three people on the first 60."""
    rng = np.random.default_rng(7)
    system = np.arange(120) % 3
    share = rng.beta(1.5 * np.array([0.5, 0.65, 0.8])[system], 1.5 * np.array([0.5, 0.35, 0.2])[system])
    verdict = (rng.random(120) < 0.15 + 0.7 * share).astype(int)
    positive = rng.binomial(3, share[:60])
    return {"system": system.tolist(), "verdict": verdict.tolist(), "positive": positive.tolist()}


def model(data: Mapping[str, Any]) -> pm.Model:
    """Return the model; `rate` is averaged over the items, each counting once."""
    system, verdict, positive = (np.array(data[k]) for k in ("system", "verdict", "positive"))
    z = (verdict - verdict.mean()) / verdict.std()
    x = np.array([z[system == s].mean() for s in range(3)])
    x = (x - x.mean()) / x.std()
    n = positive.size
    with pm.Model() as graph:
        a, c, d = (pm.Normal(name) for name in ("intercept", "slope", "of_mean_verdict"))
        t = pm.HalfNormal("scale", np.array([1.0, 0.5]))
        raw = pm.Normal("raw", shape=(2, 3))
        b, u = t[0] * raw[0], t[1] * raw[1]
        m = a + c * z + d * x[system] + b[system] + u[system] * z
        rho = pm.Uniform("vote_correlation")
        effect = pm.Normal("effect", shape=n)
        share = pm.math.invprobit((m[:n] + pt.sqrt(rho) * effect) / pt.sqrt(1 - rho))
        pm.Binomial("votes", 3, pt.clip(share, 1e-12, 1 - 1e-12), observed=positive)
        expected = pm.math.invprobit(m)
        pm.Deterministic("rate", pt.stack([expected[system == s].mean() for s in range(3)]))
    return graph


def main() -> None:
    """Sample by NUTS and write the reference posterior."""
    known = data()
    with model(known):
        tree = pm.sample(4000, tune=2000, chains=4, random_seed=SEED, target_accept=0.995, progressbar=False)
    names = ["rate", "intercept", "slope", "vote_correlation", "scale"]
    write_draws(__file__, data=known, tree=tree, names=names, random_seed=SEED, source="PyMC NUTS")


if __name__ == "__main__":
    main()
