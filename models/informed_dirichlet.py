"""Informed Dirichlet: plausibilities from few votes and the predictions of a model.

Story.   A model gives item i probabilities P_i over K labels. They tell, by a regression that votes teach, what
         the truth of such items looks like:
             eta_ik = a z_ik + a' q_ik + a'' [k is the model's top label] + b_k,   m_i = .999 softmax(eta_i) + .001 / K
         with z the log probability and q the probability, each centred within items and of mean square one. An item is
         open, lambda_i ~ Dirichlet(s_i m_i), or clear of label k, lambda_i ~ Dirichlet(S ((1 - blur) e_k + blur m_i)):
             log Pr(clear of k) / Pr(open) = odds_i + log m_ik + c_k,
             log s_i = s + s' h_i,  odds_i = o + o' h_i,  h_i = 3 (entropy(m_i) / log K - .4).
         Votes n_i ~ Multinomial(lambda_i); plausibilities and kind of the item are summed out.
Priors.  a, a', a'' ~ N(0, 1);  b_k ~ N(0, 1.5^2);  c_k ~ N(0, 1);  s ~ N(1, 1);  o ~ N(-6, 2^2);  s', o' ~ N(0, 1);
         log S ~ N(2.5, 1);  logit blur ~ N(-3, 1).
Data.    Counts of two labels for 120 items, three votes each, and one model's probabilities.
Paper.   Minka, "Estimating a Dirichlet distribution" (2000), for the likelihood; empirical Bayes with covariates.
Wrong    when the model was trained on these votes; when voters are no random sample of the readers meant; and with few
         votes an item, where the shape of the truth between its first moments is the family's word, not the votes'.
"""

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from _reference import write_draws

SEED = 20261123
N_ITEMS, N_VOTES = 120, 3


def data() -> dict:
    rng = np.random.default_rng(7)
    truth = rng.beta(0.6, 0.9, N_ITEMS)
    first = rng.binomial(N_VOTES, truth)
    score = np.log(truth + 0.02) - np.log(1.02 - truth) + rng.normal(0, 1.2, N_ITEMS)
    probability = np.round(1 / (1 + np.exp(-score)), 4)
    return {
        "counts": np.stack([first, N_VOTES - first], axis=1).tolist(),
        "probability": np.round(np.stack([probability, 1 - probability], axis=1), 4).tolist(),
    }


def standardised(x: np.ndarray) -> np.ndarray:
    centred = x - x.mean(axis=1, keepdims=True)
    return centred / np.sqrt((centred**2).mean())


def model(data: dict) -> pm.Model:
    n, p = np.array(data["counts"]), np.array(data["probability"])
    n_labels = n.shape[1]
    z, q = standardised(np.log(np.maximum(p, 1e-6))), standardised(p)
    top = np.eye(n_labels)[p.argmax(axis=1)]
    with pm.Model(coords={"category": range(n_labels), "item": range(len(n))}) as informed:
        a: Any = pm.Normal("slope", 0, 1, shape=3)
        b: Any = pm.Normal("level", 0, 1.5, dims="category")
        c: Any = pm.Normal("clarity", 0, 1, dims="category")
        s: Any = pm.Normal("open_concentration", 1, 1)
        s_slope: Any = pm.Normal("open_concentration_slope", 0, 1)
        o: Any = pm.Normal("clear_odds", -6, 2)
        o_slope: Any = pm.Normal("clear_odds_slope", 0, 1)
        log_clear: Any = pm.Normal("clear_concentration", 2.5, 1)
        logit_blur: Any = pm.Normal("blur", -3, 1)
        t: Any = pt
        m = 0.999 * t.special.softmax(a[0] * z + a[1] * q + a[2] * top + b, axis=1) + 0.001 / n_labels
        h = 3 * (-(m * t.log(m)).sum(axis=1) / np.log(n_labels) - 0.4)
        blur = t.sigmoid(logit_blur)
        shapes = [t.exp(s + s_slope * h)[:, None] * m]
        log_weight = [t.zeros_like(h)]
        for k in range(n_labels):
            shapes.append(t.exp(log_clear) * ((1 - blur) * np.eye(n_labels)[k] + blur * m))
            log_weight.append(o + o_slope * h + t.log(m[:, k]) + c[k])
        weight = t.stack(log_weight, axis=1)
        posterior = weight + t.stack([log_votes(shape, n) for shape in shapes], axis=1)
        pm.Potential("log_p_votes", (t.logsumexp(posterior, axis=1) - t.logsumexp(weight, axis=1)).sum())
        mean = t.stack([(shape + n) / (shape + n).sum(axis=1, keepdims=True) for shape in shapes], axis=1)
        share = t.special.softmax(posterior, axis=1)
        pm.Deterministic("plausibility", (share[:, :, None] * mean).sum(axis=1), dims=("item", "category"))
    return informed


def log_votes(shape: Any, n: np.ndarray) -> Any:
    """Log probability of votes in one order, lambda ~ Dirichlet(shape) summed out."""
    t: Any = pt
    total = shape.sum(axis=1)
    each = (t.gammaln(shape + n) - t.gammaln(shape)).sum(axis=1)
    return t.gammaln(total) - t.gammaln(total + n.sum(axis=1)) + each


def main() -> None:
    given = data()
    with model(given):
        tree = pm.sample(800, tune=700, chains=4, random_seed=SEED, target_accept=0.9, progressbar=False)
    names = ["slope", "level", "clarity", "open_concentration", "clear_odds", "plausibility"]
    write_draws(__file__, data=given, tree=tree, names=names, seed=SEED, source="marginal likelihood; NUTS")


if __name__ == "__main__":
    main()
