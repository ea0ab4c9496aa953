"""Informed Dirichlet for labels with an order: neighbouring labels are likely together.

Story.   A model puts item i at x_i, its label among K, standardised over items. The item lies at u_i, and its truth
         scatters around the shares of that place, whose neighbouring labels differ by a common step:
             u_i ~ N(w x_i, 1),  m(u) = softmax_k(level_k + step u (k - (K - 1) / 2)),  lambda_i ~ Dirichlet(S m(u_i)).
         Votes n_i ~ Multinomial(lambda_i); plausibilities and places of the items are summed out.
Priors.  w ~ N(0, 1);  level_k ~ N(0, 1.5^2);  log step ~ N(0, 1);  log S ~ N(3.5, 1).
Data.    Counts of four labels for 40 items, three votes each, and one model's labels.
Paper.   Agresti, Analysis of Ordinal Categorical Data (2010), section 4.1: adjacent-category logits.
Exact.   Importance sampling of the seven parameters from a t distribution around their mode; given these an item is a
         mixture, over 20 places of a Gauss-Hermite rule, of Dirichlet distributions in closed form.
Wrong    when the model was trained on these votes, and where many truths lie at both ends of the scale but not between.
"""

import numpy as np
from _reference import summary, write_exact
from scipy.optimize import minimize
from scipy.special import gammaln, logsumexp, softmax

SEED, N_ITEMS, N_VOTES, N_LABELS = 20261124, 40, 3, 4
N_SAMPLES, BATCH, FREEDOM = 10_000, 100, 8
MEAN = np.array([0.0] * (N_LABELS + 2) + [3.5])
SD = np.array([1.0] + [1.5] * N_LABELS + [1.0, 1.0])
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(20)


def data() -> dict:
    rng = np.random.default_rng(7)
    u = rng.normal(size=N_ITEMS)
    votes = np.searchsorted([-0.9, 0.0, 0.9], u[:, None] + 0.6 * rng.normal(size=(N_ITEMS, N_VOTES)))
    label = np.searchsorted([-0.9, 0.0, 0.9], u + 0.5 * rng.normal(size=N_ITEMS))
    return {"counts": [np.bincount(v, minlength=N_LABELS).tolist() for v in votes], "label": label.tolist()}


def items(theta: np.ndarray, data: dict) -> tuple[np.ndarray, np.ndarray]:
    """Log likelihood of the votes (sample,) and mean plausibilities given them (sample, item, label)."""
    n, x = np.array(data["counts"]), np.array(data["label"], dtype=float)
    x = (x - x.mean()) / x.std()
    u = theta[:, :1, None] * x[:, None] + NODES  # sample, item, place
    place = np.arange(N_LABELS) - (N_LABELS - 1) / 2
    log_share = theta[:, None, None, 1:-2] + np.exp(theta[:, -2])[:, None, None, None] * u[..., None] * place
    shape = np.exp(theta[:, -1])[:, None, None, None] * softmax(log_share, axis=3)
    total, votes = shape.sum(axis=3), n[:, None, :]
    log_votes = (
        gammaln(total) - gammaln(total + N_VOTES) + (gammaln(shape + votes) - gammaln(shape)).sum(axis=3)
    )
    joint = log_votes + np.log(WEIGHTS / WEIGHTS.sum())
    mean = (shape + votes) / (total + N_VOTES)[..., None]
    return np.logaddexp.reduce(joint, axis=2).sum(axis=1), (softmax(joint, axis=2)[..., None] * mean).sum(
        axis=2
    )


def log_posterior(theta: np.ndarray, data: dict) -> np.ndarray:
    return items(theta, data)[0] - 0.5 * (((theta - MEAN) / SD) ** 2).sum(axis=1)


def exact(data: dict) -> dict:
    """Return mean and sd of parameters and items, with the standard errors of the means."""
    found = minimize(
        lambda t: -log_posterior((MEAN + SD * t)[None], data)[0], np.zeros(MEAN.size), method="BFGS"
    )
    step, d = 1e-2 * np.eye(MEAN.size), MEAN.size
    ends = np.array([[found.x + a + b for b in (*step, *-step)] for a in (*step, *-step)]).reshape(-1, d)
    height = log_posterior(MEAN + SD * ends, data).reshape(2, d, 2, d)
    curvature = -(height[0, :, 0] - height[0, :, 1] - height[1, :, 0] + height[1, :, 1]) / 4e-4
    root = np.linalg.cholesky(np.linalg.inv((curvature + curvature.T) / 2))
    rng = np.random.default_rng(SEED)
    normal = rng.standard_normal((N_SAMPLES, MEAN.size)) / np.sqrt(
        rng.chisquare(FREEDOM, (N_SAMPLES, 1)) / FREEDOM
    )
    theta = MEAN + SD * (found.x + normal @ root.T)
    log_proposal = -0.5 * (FREEDOM + MEAN.size) * np.log1p((normal**2).sum(axis=1) / FREEDOM)
    parts = [items(part, data) for part in np.array_split(theta, N_SAMPLES // BATCH)]
    log_prior = -0.5 * (((theta - MEAN) / SD) ** 2).sum(axis=1)
    log_weight = np.concatenate([log_likelihood for log_likelihood, _ in parts]) + log_prior - log_proposal
    weight = np.exp(log_weight - logsumexp(log_weight))
    print(f"effective samples: {1 / (weight**2).sum():.0f} of {N_SAMPLES}")
    values = {"parameters": theta, "plausibility": np.concatenate([mean for _, mean in parts])}
    return {name: summary(value, weight) for name, value in values.items()}


def main() -> None:
    """Write the reference posterior."""
    given = data()
    write_exact(__file__, data=given, posterior=exact(given), source="marginal likelihood; importance sampling")


if __name__ == "__main__":
    main()
