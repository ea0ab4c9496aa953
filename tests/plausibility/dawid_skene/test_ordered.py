"""The ordered variant: an oracle by importance sampling, its PyMC model, and what must hold of any data."""

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import kstest, truncnorm

from bayesagree import Labels, dawid_skene
from bayesagree.plausibility.dawid_skene._crowd import Crowd
from bayesagree.plausibility.dawid_skene._ordered import OrderedSampler, interval_chance, truncated_normal
from bayesagree.plausibility.dawid_skene._variants import candidates
from bayesagree.plausibility.dawid_skene.model import dawid_skene_model
from bayesagree.plausibility.dawid_skene.prior import DawidSkenePrior

VOTES = Labels.from_matrix([[0, 1], [2, 2], [1, 0]], labels=[0, 1, 2], ordered=True)


CASES = {"plain": {}, "gold": {"gold": {0: 1, 1: 2}}}
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(24)


def from_prior(n, people, labels, rng):
    """Draw n times all that the model does not know beside the latent truths."""
    mu = rng.normal(1, 1, 4 * n + 20)
    mu = mu[mu > 0][:n]
    a, b = 0.25 / rng.standard_gamma(2, (2, n))
    alpha = np.sqrt(a)[:, None] * rng.standard_normal((n, people))
    beta = mu[:, None] + np.sqrt(b)[:, None] * rng.standard_normal((n, people))
    stretch = np.sqrt(rng.standard_gamma(5, (n, people)) / 5)
    tau = np.sort(1.5 * rng.standard_normal((n, labels - 1)), axis=1)
    return mu, alpha, beta, stretch, tau


def chance_of(tau, at, stretch):
    """Return the probability of each label, shape (draw, ..., label)."""
    shape = (len(at), *[1] * (at.ndim - 1), -1)
    below = ndtr((tau.reshape(shape) - at[..., None]) * np.reshape(stretch, shape))
    edge = np.zeros_like(below[..., :1])
    return np.diff(np.concatenate([edge, below, edge + 1], axis=-1), axis=-1)


@pytest.fixture(scope="module", params=CASES)
def gibbs(request):
    options = CASES[request.param]
    how = {"draws": 80, "chains": 50, "tune": 120, "thin": 2, "random_seed": 1}  # many chains: few steps of Python
    return options, dawid_skene(VOTES, variant="ordered", **how, **options)


def test_oracle_of_three_items_and_two_annotators(gibbs):
    """Latent truths by quadrature with 24 nodes each, all else by importance sampling from the prior."""
    options, tree = gibbs
    rng, n = np.random.default_rng(1), 10_000
    mu, alpha, beta, stretch, tau = from_prior(n, 2, 3, rng)
    u = np.broadcast_to(NODES, (n, 3, NODES.size))
    typical, ones = chance_of(tau, mu[:, None, None] * u, np.ones(n)), np.ones((n, 3, NODES.size))
    node = ones * WEIGHTS / WEIGHTS.sum()
    for item, annotator, label in zip(VOTES.item_index, VOTES.annotator_index, VOTES.label_index):
        at = alpha[:, annotator, None] + beta[:, annotator, None] * u[:, item]
        node[:, item] *= chance_of(tau, at, stretch[:, annotator])[..., label]
    for item, label in options.get("gold", {}).items():
        node[:, item] *= typical[:, item, :, label]
    of_item = node.sum(axis=2)
    weight = of_item.prod(axis=1) / of_item.prod(axis=1).sum()
    enough = 1 / np.square(weight).sum()
    node /= np.maximum(of_item, 1e-300)[..., None]
    expected = {
        "latent_truth": (node * u).sum(axis=2), "threshold": tau, "discrimination": beta * stretch,
        "severity": -alpha * stretch, "stretch": stretch, "plausibility": (node[..., None] * typical).sum(axis=2),
    }  # fmt: skip
    assert enough > 300
    for name, values in expected.items():
        exact = np.tensordot(weight, values, 1)
        drawn = tree["posterior"][name]
        # Three hundred effective draws of the chains at least, of 4,000.
        error = np.sqrt(np.tensordot(weight**2, (values - exact) ** 2, 1) + drawn.var(("chain", "draw")).values / 300)
        assert (np.abs(drawn.mean(("chain", "draw")).values - exact) < 4.5 * error).all(), name


def test_responses_lie_between_the_thresholds_of_their_labels_and_teach_the_latent_truths(monkeypatch):
    """Annotators with sds of a half and of two: truncated normal responses, and truths by regression on them."""
    rng, chains, seen = np.random.default_rng(3), 3000, []
    sampler = OrderedSampler(Crowd.of_labels(VOTES), DawidSkenePrior(), chains, rng)
    sampler.precision[:, :2], sampler.alpha[:, :2], sampler.beta[:, :2] = [4.0, 0.25], [0.3, -0.2], [0.8, 1.5]
    monkeypatch.setattr(OrderedSampler, "draw_people", lambda self, rng, response: seen.append(response))
    monkeypatch.setattr(OrderedSampler, "move_together", lambda self, rng: None)
    before, who, item = sampler.u.copy(), sampler.annotator, sampler.item
    sampler.sweep(rng)
    (response,), ends = seen, np.pad(sampler.tau, ((0, 0), (1, 1)), constant_values=((0, 0), (-np.inf, np.inf)))
    alpha, beta, sd = np.array([0.3, -0.2]), np.array([0.8, 1.5]), np.array([0.5, 2.0])
    for row, label in enumerate(sampler.label):
        low, high = ends[:, label], ends[:, label + 1]
        assert ((response[:, row] >= low) & (response[:, row] <= high)).all()
        at, own = alpha[who[row]] + beta[who[row]] * before[:, item[row]], sd[who[row]]
        first, last, here = (ndtr((end - at) / own) for end in (low, high, response[:, row]))
        assert kstest((here - first) / (last - first), "uniform").pvalue > 1e-4
    for i in range(3):
        rows = np.flatnonzero(item == i)
        slope, weight = beta[who[rows]], sd[who[rows]] ** -2
        total = 1 + (weight * slope**2).sum()
        centre = (response[:, rows] - alpha[who[rows]]) @ (weight * slope) / total
        z = (sampler.u[:, i] - centre) * np.sqrt(total)
        assert abs(z.mean()) < 4.5 / np.sqrt(chains)
        assert z.var() == pytest.approx(1, abs=4.5 * np.sqrt(2 / chains))


# The error of the fewer draws in CI is larger; every night has the others.
@pytest.mark.nuts
@pytest.mark.parametrize(("draws", "tune"), [(600, 600), pytest.param(1500, 1000, marks=pytest.mark.slow)])
def test_pymc_is_the_same_posterior(gibbs, draws, tune):
    import pymc as pm

    options, tree = gibbs
    with dawid_skene_model(VOTES, variant="ordered", **options):
        nuts = pm.sample(draws, tune=tune, chains=2, cores=1, random_seed=1, progressbar=False, target_accept=0.95)
    names = ("plausibility", "latent_truth", "threshold", "severity", "stretch", "discrimination")
    for name in names:
        one, other = (of["posterior"][name].stack(s=("chain", "draw")).values for of in (tree, nuts))
        error = np.sqrt(other.var(axis=-1) / (700 / 1500 * draws) + one.var(axis=-1) / 1000)
        assert (np.abs(one.mean(axis=-1) - other.mean(axis=-1)) < 4.5 * error).all(), name


def test_confusion_is_that_of_labels_drawn_for_random_items():
    rng = np.random.default_rng(3)
    votes = Labels.from_matrix(rng.integers(0, 3, (30, 4)), labels=range(3), ordered=True)
    sampler = OrderedSampler(Crowd.of_labels(votes), DawidSkenePrior(), 1, rng)
    for _ in range(20):
        sampler.sweep(rng)
    u, noise = rng.standard_normal((3, 400_000))[0], rng.standard_normal((2, 400_000))
    typical = np.searchsorted(sampler.tau[0], sampler.mu[0] * u + noise[0])
    at = sampler.alpha[0, 1] + sampler.beta[0, 1] * u + noise[1] / np.sqrt(sampler.precision[0, 1])
    said = np.searchsorted(sampler.tau[0], at)
    found = sampler.confusion(rng)[0, 1]
    np.testing.assert_allclose(found.sum(axis=1), 1)
    for k in range(3):
        share = np.bincount(said[typical == k], minlength=3) / (typical == k).sum()
        error = np.sqrt(found[k] * (1 - found[k]) / (typical == k).sum())
        assert (np.abs(share - found[k]) < 4.5 * error + 1e-3).all()


def test_moves_of_all_at_once_leave_the_prior_as_it_is():
    """Ten thousand draws of the prior, which the labels cannot tell from what the moves make of them."""
    rng, n = np.random.default_rng(4), 10_000
    votes = Labels.from_matrix([[0, 1], [2, 3], [1, 1]], labels=range(4), ordered=True)
    sampler = OrderedSampler(Crowd.of_labels(votes), DawidSkenePrior(), n, rng)
    sampler.spread = 0.25 / rng.standard_gamma(2.0, (2, n))
    sampler.beta[:, 2] = truncnorm(-1, np.inf, loc=1).rvs(n, random_state=5)
    scale = np.sqrt(sampler.spread)[..., None] * rng.standard_normal((2, n, 2))
    sampler.alpha[:, :2], sampler.beta[:, :2] = scale[0], sampler.mu + scale[1]
    sampler.precision[:, :2] = rng.standard_gamma(5.0, (n, 2)) / 5
    sampler.tau = np.sort(1.5 * rng.standard_normal((n, 3)), axis=1)
    sampler.u = rng.standard_normal((n, 3))

    def moments():
        tau, alpha, beta = sampler.tau, sampler.alpha[:, :2], sampler.beta
        return np.stack([
            np.log(tau[:, 2] - tau[:, 0]), tau.mean(axis=1), alpha.mean(axis=1), np.log(np.abs(alpha)).sum(axis=1),
            np.log(sampler.precision[:, :2]).sum(axis=1), beta[:, 2], beta[:, 0], np.log(sampler.u**2).sum(axis=1),
        ])  # fmt: skip

    before = moments()
    for _ in range(3):
        sampler.move_together(rng)
    after = moments()
    assert (np.abs(after - before) > 1e-3).mean(axis=1).min() > 0.5
    error = np.sqrt((before.var(axis=1) + after.var(axis=1)) / n)
    assert (np.abs(after.mean(axis=1) - before.mean(axis=1)) < 4.5 * error).all()


def test_plausibilities_are_cut_from_one_normal_distribution():
    """Along the items in order of their latent truth every cumulated share falls: no label jumps over another."""
    rng = np.random.default_rng(2)
    votes = Labels.from_matrix(rng.integers(0, 5, (30, 4)), labels=range(5), ordered=True)
    posterior = dawid_skene(votes, variant="ordered", draws=50, tune=60, random_seed=1)["posterior"].to_dataset()
    shares, latent = (posterior[name].values.reshape(200, 30, -1) for name in ("plausibility", "latent_truth"))
    np.testing.assert_allclose(shares.sum(axis=-1), 1)
    order = np.argsort(latent, axis=1)
    at_most = np.take_along_axis(np.cumsum(shares, axis=-1), order, axis=1)
    assert (np.diff(at_most, axis=1) <= 1e-12).all()


def test_auto_offers_it_for_a_stated_order_alone():
    assert "ordered" in candidates(3, None, ordered=True)
    assert "ordered" not in candidates(3, None, ordered=False)


@pytest.mark.parametrize(
    ("low", "high"), [(-1.0, 2.0), (-0.1, 0.3), (2.0, np.inf), (-np.inf, -3.0), (4.0, 4.2), (-9, -8)]
)
def test_truncated_normal_has_its_mean(low, high):
    from scipy.stats import truncnorm

    rng = np.random.default_rng(6)
    drawn = truncated_normal(rng, np.full(4000, float(low)), np.full(4000, float(high)))
    exact = truncnorm(low, high)
    assert ((drawn >= low) & (drawn <= high)).all()
    assert abs(drawn.mean() - exact.mean()) < 4.5 * exact.std() / np.sqrt(4000)
    mass = ndtr(-low) - ndtr(-high) if low > 0 else ndtr(high) - ndtr(low)
    assert interval_chance(np.float64(low), np.float64(high)) == pytest.approx(float(mass), rel=1e-9)


def test_labels_that_are_held_out_tell_nothing_of_their_items():
    """Eight raters agree on every item; those of every second item are not seen."""
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 3, 60)
    labels = Labels.from_matrix(np.tile(truth[:, None], 8), labels=[0, 1, 2], ordered=True)
    crowd = Crowd.of_labels(labels)
    held = np.tile(crowd.item % 2 == 0, (2, 1))
    sampler = OrderedSampler(crowd, DawidSkenePrior(), 2, rng, held)
    total = 0.0
    for _ in range(60):
        sampler.draw(rng, 1)
        total = total + sampler.expected[:, np.arange(60), truth].mean(axis=0) / 60
    assert total[1::2].min() > 0.8
    assert total[::2].mean() < 0.5  # three labels, each as likely


def test_the_model_starts_with_a_threshold_between_each_two_labels():
    labels = Labels.from_matrix([[0, 1], [2, 3], [1, 1], [3, 2]], labels=[0, 1, 2, 3], ordered=True)
    model = dawid_skene_model(labels, variant="ordered")
    start = model.initial_point()
    assert [value.size for name, value in start.items() if name.startswith("threshold")] == [3]
