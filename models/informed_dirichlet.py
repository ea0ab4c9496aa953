"""Informed Dirichlet: plausibilities from few votes and the predictions of a model.

Story.   A model gives item i probabilities P_i over K labels. They tell, by a regression that votes teach, what
         the truth of such items looks like:
             e_ik = a z_ik + a' q_ik + a'' [k is the model's top label] + b_k,
             eta_ik = e_ik + sum_l softmax(e_i)_l confusion_lk,   m_i = .999 softmax(eta_i) + .001 / K
         with z the log probability and q the probability, each centred within items and of mean square one. An item is
         open, lambda_i ~ Dirichlet(s_i m_i), or clear of label k, lambda_i ~ Dirichlet(S ((1 - blur) e_k + blur m_i)):
             log Pr(clear of k) / Pr(open) = odds_i + log m_ik + c_k,
             log s_i = s + s' h_i,  odds_i = o + o' h_i,  h_i = 3 (entropy(m_i) / log K - .4).
         Votes n_i ~ Multinomial(lambda_i); plausibilities and kind of the item are summed out.
Priors.  a, a', a'', confusion_lk ~ N(0, .5^2);  b_k ~ N(0, 1.5^2);  c_k ~ N(0, 1);  s ~ N(1, 1);
         o ~ N(-6, 2^2);  s', o' ~ N(0, 1);  log S ~ N(2.5, 1);  logit blur ~ N(-3, 1).
Data.    Counts of two labels for 120 items, three votes each, and one model's probabilities.
Paper.   Minka, "Estimating a Dirichlet distribution" (2000), for the likelihood; empirical Bayes with covariates.
Exact.   Importance sampling of the 17 parameters from a t distribution around their mode; given these an item is a
         mixture of Dirichlet distributions in closed form.
Wrong    when the model was trained on these votes; when voters are no random sample of the readers meant; and with few
         votes per item, where the shape of the truth between its first moments is the family's word, not the votes'.
"""

import numpy as np
from _reference import summary, write_exact
from scipy.optimize import minimize
from scipy.special import expit, gammaln, logsumexp, softmax

SEED = 20261123
N_ITEMS, N_VOTES = 120, 3
N_SAMPLES, BATCH, FREEDOM = 40_000, 1000, 8
NAMES = (
    "open_concentration",
    "open_concentration_slope",
    "clear_odds",
    "clear_odds_slope",
    "clear_concentration",
    "blur",
)
MEAN = np.array([0] * 11 + [1, 0, -6, 0, 2.5, -3])
SD = np.array([0.5, 0.5, 0.5, 1.5, 1.5, 1, 1, 0.5, 0.5, 0.5, 0.5, 1, 1, 2, 1, 1, 1])


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


def items(theta: np.ndarray, data: dict) -> tuple[np.ndarray, np.ndarray]:
    """Log likelihood of the votes (sample,) and mean plausibilities given them (sample, item, label)."""
    n, p = np.array(data["counts"]), np.array(data["probability"])
    columns = [standardised(np.log(np.maximum(p, 1e-6))), standardised(p), np.eye(2)[p.argmax(axis=1)]]
    eta = sum(theta[:, j, None, None] * x for j, x in enumerate(columns)) + theta[:, None, 3:5]
    eta = eta + softmax(eta, axis=2) @ theta[:, 7:11].reshape(-1, 2, 2)
    m = 0.999 * softmax(eta, axis=2) + 0.001 / 2
    h = 3 * (-(m * np.log(m)).sum(axis=2) / np.log(2) - 0.4)
    s, s_slope, o, o_slope, log_clear, logit_blur = (theta[:, j, None] for j in range(11, 17))
    clear, blur = np.exp(log_clear)[:, :, None], expit(logit_blur)[:, :, None]
    shapes, log_weight = [np.exp(s + s_slope * h)[:, :, None] * m], [np.zeros_like(h)]
    for k in range(2):
        shapes.append(clear * ((1 - blur) * np.eye(2)[k] + blur * m))
        log_weight.append(o + o_slope * h + np.log(m[:, :, k]) + theta[:, 5 + k, None])
    weight = np.stack(log_weight)
    posterior = weight + np.stack([log_votes(shape, n) for shape in shapes])
    mean = np.stack([(shape + n) / (shape + n).sum(axis=2, keepdims=True) for shape in shapes])
    share = softmax(posterior, axis=0)
    log_likelihood = logsumexp(posterior, axis=0) - logsumexp(weight, axis=0)
    return log_likelihood.sum(axis=1), (share[:, :, :, None] * mean).sum(axis=0)


def log_votes(shape: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Log probability of votes in one order, lambda ~ Dirichlet(shape) summed out."""
    total = shape.sum(axis=2)
    each = (gammaln(shape + n) - gammaln(shape)).sum(axis=2)
    return gammaln(total) - gammaln(total + n.sum(axis=1)) + each


def log_posterior(theta: np.ndarray, data: dict) -> np.ndarray:
    return items(theta, data)[0] - 0.5 * (((theta - MEAN) / SD) ** 2).sum(axis=1)


def exact(data: dict) -> dict:
    """Return mean and sd of parameters and items, with the standard errors of the means."""
    found = minimize(lambda t: -log_posterior((MEAN + SD * t)[None], data)[0], np.zeros(MEAN.size), method="BFGS")
    root = np.linalg.cholesky(np.asarray(found.hess_inv))
    rng = np.random.default_rng(SEED)
    normal = rng.standard_normal((N_SAMPLES, MEAN.size)) / np.sqrt(rng.chisquare(FREEDOM, (N_SAMPLES, 1)) / FREEDOM)
    theta = MEAN + SD * (found.x + normal @ root.T)
    log_proposal = -0.5 * (FREEDOM + MEAN.size) * np.log1p((normal**2).sum(axis=1) / FREEDOM)
    parts = np.array_split(theta, N_SAMPLES // BATCH)
    log_weight = np.concatenate([log_posterior(part, data) for part in parts]) - log_proposal
    weight = np.exp(log_weight - logsumexp(log_weight))
    plausibility = np.concatenate([items(part, data)[1].astype(np.float32) for part in parts])
    values = {"slope": theta[:, :3], "level": theta[:, 3:5], "clarity": theta[:, 5:7]}
    values |= {"confusion": theta[:, 7:11]}
    values |= {name: theta[:, 11 + j] for j, name in enumerate(NAMES)} | {"plausibility": plausibility}
    print(f"effective samples: {1 / (weight**2).sum():.0f} of {N_SAMPLES}")
    return {name: summary(value, weight) for name, value in values.items()}


def main() -> None:
    """Write the reference posterior."""
    given = data()
    write_exact(__file__, data=given, posterior=exact(given), source="marginal likelihood; importance sampling")


if __name__ == "__main__":
    main()
