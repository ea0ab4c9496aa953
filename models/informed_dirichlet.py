"""Informed Dirichlet: plausibilities from few votes and the predictions of a model.

Story.   A model gives item i probabilities P_i over K labels. They tell, by a regression that votes teach, what
         the truth of such items looks like:
             e_ik = a z_ik + a' q_ik + a'' 2 log K [k is the model's top label] + b log share_k,
             m_i = .999 softmax(e_i) + .001 / K,   w_i = .999 softmax(sharpness e_i) + .001 / K
         with z the log probability and q the probability, each centred within items and of mean square one, and
         share_k = (votes for k + 1) / (all votes + K). An item is of one of three kinds:
             open,         lambda_i ~ Dirichlet(s_i m_i);
             best known,   lambda_i ~ density Dirichlet(A / K, ..., A / K) K w_i,argmax(lambda_i);
             clear of k,   lambda_i ~ Dirichlet(S ((1 - blur) e_k + blur m_i));
             log Pr(best known) / Pr(open) = r,
             log Pr(clear of k) / Pr(not clear) = o_i + log m_ik,
             log s_i = s + s' h_i,  o_i = o + o' h_i,  h_i = 3 (entropy(m_i) / log K - .4).
         Votes n_i ~ Multinomial(lambda_i); plausibilities and kind of the item are summed out.
Priors.  a, a', a'' ~ N(0, .5^2);  b ~ N(1, .5^2);  s ~ N(1, 1);  o ~ N(-3, 2^2);  s', o' ~ N(0, 1);
         log S ~ N(2.5, 1);  logit blur ~ N(-.5, 1);  log A ~ N(1, 1);  log sharpness ~ N(1, .3^2);  r ~ N(-2, 4^2).
Data.    Counts of two labels for 120 items, three votes each, and one model's probabilities.
Paper.   Minka, "Estimating a Dirichlet distribution" (2000), for the likelihood; empirical Bayes with covariates.
Exact.   Importance sampling of the 13 parameters from two t distributions, begun at two modes, few items of known
         best label and most of them, and refitted to their own draws. Given the parameters an item is a mixture of
         Dirichlet distributions, one of which is cut in two halves, in closed form.
Wrong    when the model was trained on these votes; when voters are no random sample of the readers meant; and with few
         votes per item, where the shape of the truth between its first moments is the family's word, not the votes'.
"""

import numpy as np
from _reference import summary, write_exact
from scipy.optimize import minimize
from scipy.special import betainc, expit, gammaln, logsumexp, softmax

SEED = 20261123
N_ITEMS, N_VOTES = 120, 3
N_SAMPLES, BATCH, FREEDOM, ROUNDS = 60_000, 1000, 6, 8
NAMES = (
    "open_concentration",
    "open_concentration_slope",
    "clear_odds",
    "clear_odds_slope",
    "clear_concentration",
    "blur",
    "best_concentration",
    "best_sharpness",
    "best_odds",
)
MEAN = np.array([0] * 3 + [1, 1, 0, -3, 0, 2.5, -0.5, 1, 1, -2])
SD = np.array([0.5] * 4 + [1, 1, 2, 1, 1, 1, 1, 0.3, 4])
MODES = (-4.0, 2.0)


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
    share = (n.sum(axis=0) + 1) / (n.sum() + 2)
    hit = 2 * np.log(2) * np.eye(2)[p.argmax(axis=1)]
    columns = [standardised(np.log(np.maximum(p, 1e-6))), standardised(p), hit, np.log(share)]
    said = sum(theta[:, j, None, None] * x for j, x in enumerate(columns))
    s, s_slope, o, o_slope, log_clear, logit_blur, log_a, sharpness, r = (
        theta[:, j, None] for j in range(4, 13)
    )
    m = 0.999 * softmax(said, axis=2) + 0.001 / 2
    w = 0.999 * softmax(np.exp(sharpness)[:, :, None] * said, axis=2) + 0.001 / 2
    h = 3 * (-(m * np.log(m)).sum(axis=2) / np.log(2) - 0.4)
    clear, blur = np.exp(log_clear)[:, :, None], expit(logit_blur)[:, :, None]
    a = np.broadcast_to(np.exp(log_a)[:, :, None] / 2, m.shape)
    given = a + n
    first = betainc(given[:, :, 1], given[:, :, 0], 0.5)
    best = np.stack([first, 1 - first], axis=2)
    # Of lambda_0 ~ Beta(x, y): E lambda_0 [lambda_0 > 1/2] = x / (x + y) Pr(Beta(x + 1, y) > 1/2).
    above = given[:, :, 0] / given.sum(axis=2) * betainc(given[:, :, 1], given[:, :, 0] + 1, 0.5)
    below = given[:, :, 0] / given.sum(axis=2) - above
    known = (w * best).sum(axis=2)
    mean_first = (w[:, :, 0] * above + w[:, :, 1] * below) / known
    log_weight = [-np.logaddexp(0, r) + 0 * h, r - np.logaddexp(0, r) + 0 * h]
    log_probability = [
        log_votes(np.exp(s + s_slope * h)[:, :, None] * m, n),
        log_votes(a, n) + np.log(2 * known),
    ]
    shape = np.exp(s + s_slope * h)[:, :, None] * m + n
    means = [shape / shape.sum(axis=2, keepdims=True), np.stack([mean_first, 1 - mean_first], axis=2)]
    for k in range(2):
        shape = clear * ((1 - blur) * np.eye(2)[k] + blur * m)
        log_weight.append(o + o_slope * h + np.log(m[:, :, k]))
        log_probability.append(log_votes(shape, n))
        means.append((shape + n) / (shape + n).sum(axis=2, keepdims=True))
    weight = np.stack(log_weight)
    posterior = weight + np.stack(log_probability)
    log_likelihood = np.logaddexp.reduce(posterior, axis=0) - np.logaddexp.reduce(weight, axis=0)
    return log_likelihood.sum(axis=1), (softmax(posterior, axis=0)[..., None] * np.stack(means)).sum(axis=0)


def log_votes(shape: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Log probability of votes in one order, lambda ~ Dirichlet(shape) summed out."""
    total = shape.sum(axis=2)
    each = (gammaln(shape + n) - gammaln(shape)).sum(axis=2)
    return gammaln(total) - gammaln(total + n.sum(axis=1)) + each


def log_posterior(theta: np.ndarray, data: dict) -> np.ndarray:
    return items(theta, data)[0] - 0.5 * (((theta - MEAN) / SD) ** 2).sum(axis=1)


def exact(data: dict) -> dict:
    """Return mean and sd of parameters and items, with the standard errors of the means."""
    rng, size = np.random.default_rng(SEED), MEAN.size
    centres, roots, share = [], [], np.full(len(MODES), 1 / len(MODES))
    for odds in MODES:

        def loss(z: np.ndarray, odds: float = odds) -> float:
            return -log_posterior((MEAN + SD * np.append(z, (odds - MEAN[-1]) / SD[-1]))[None], data)[0]

        found = minimize(loss, np.zeros(size - 1), method="BFGS")
        centres.append(np.append(found.x, (odds - MEAN[-1]) / SD[-1]))
        root = np.eye(size)
        root[:-1, :-1] = np.linalg.cholesky(np.asarray(found.hess_inv))
        roots.append(root)
    theta, weight, parts = np.empty((0, size)), np.empty(0), []
    for last in [False] * ROUNDS + [True]:
        n = N_SAMPLES if last else N_SAMPLES // 5
        which = rng.choice(len(MODES), n, p=share)
        z = rng.standard_normal((n, size)) / np.sqrt(rng.chisquare(FREEDOM, (n, 1)) / FREEDOM)
        z = np.stack(centres)[which] + np.einsum("npq,nq->np", np.stack(roots)[which], z)
        theta = MEAN + SD * z
        log_t = np.stack(
            [
                -0.5
                * (FREEDOM + size)
                * np.log1p(np.square(np.linalg.solve(r, (z - c).T)).sum(axis=0) / FREEDOM)
                - np.linalg.slogdet(r)[1]
                + np.log(p)
                for c, r, p in zip(centres, roots, share)
            ]
        )
        parts = np.array_split(theta, n // BATCH)
        log_weight = np.concatenate([log_posterior(part, data) for part in parts]) - logsumexp(log_t, axis=0)
        weight = softmax(log_weight)
        print(f"effective samples: {1 / (weight**2).sum():.0f} of {n}")
        if not last:
            # Of rounds whose weights are uneven a power of the weights refits the proposal.
            power = 1.0
            while 1 / (softmax(power * log_weight) ** 2).sum() < n / 20:
                power *= 0.9
            each = softmax(log_t, axis=0) * softmax(power * log_weight)
            share = 0.9 * each.sum(axis=1) + 0.1 / len(MODES)
            centres = [w @ z / w.sum() for w in each]
            roots = [
                np.linalg.cholesky((w * (z - c).T) @ (z - c) / w.sum() + 1e-4 * np.eye(size))
                for w, c in zip(each, centres)
            ]
            share /= share.sum()
    plausibility = np.concatenate([items(part, data)[1].astype(np.float32) for part in parts])
    values = {"slope": theta[:, :4]}
    values |= {name: theta[:, 4 + j] for j, name in enumerate(NAMES)} | {"plausibility": plausibility}
    return {name: summary(value, weight) for name, value in values.items()}


def main() -> None:
    """Write the reference posterior."""
    given = data()
    write_exact(__file__, data=given, posterior=exact(given), source="marginal likelihood; importance sampling")


if __name__ == "__main__":
    main()
