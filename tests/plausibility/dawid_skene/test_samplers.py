"""Steps of the Gibbs samplers against their conditional distributions, written out plainly."""

import itertools

import numpy as np
import pytest
from scipy import special

from bayesagree.datasets.simulate import crowd_labels
from bayesagree.plausibility._side_by_side import Counts, slice_step
from bayesagree.plausibility.dawid_skene._crowd import VARIANTS, Crowd
from bayesagree.plausibility.dawid_skene._labels import LabelSampler, draw_shared
from bayesagree.plausibility.dawid_skene.prior import DawidSkenePrior

PRIOR = DawidSkenePrior()


def crowd(n_labels: int = 3, known: dict[int, int] | None = None) -> Crowd:
    labels = crowd_labels(n_items=30, n_annotators=5, n_labels=n_labels, random_seed=1).labels
    codes = labels.item_index, labels.annotator_index, labels.label_index
    gold = np.full(30, -1)
    gold[list(known or {})] = list((known or {}).values())
    return Crowd.of(codes, (30, 5, n_labels), gold)


def log_density(sampler: LabelSampler, choice: np.ndarray) -> float:
    """Plain log density of what annotators say given latent labels of one chain, and of a learnt mean."""
    of, prior = sampler.crowd, sampler.shape[0]
    kind, n = sampler.variant.annotator, sampler.crowd.n_labels
    counts = np.zeros((of.n_annotators, *prior.shape))
    value = 0.0
    for j, latent, said in zip(of.annotator, choice, of.label):
        row = 0 if kind == "accuracy" else latent
        counts[j, row, said if kind == "matrix" else int(said != latent)] += 1
        value -= np.log(n - 1) * (kind != "matrix" and said != latent)
    value += (special.gammaln(prior + counts) - special.gammaln(prior)).sum()
    value += (special.gammaln(prior.sum(axis=1)) - special.gammaln((prior + counts).sum(axis=2))).sum()
    return value + (((sampler.rows.base - 1) * np.log(sampler.phi[0])).sum() if sampler.variant.learnt else 0.0)


@pytest.mark.parametrize(("variant", "n"), [(v, 6) for v in VARIANTS if not v.startswith("mixed")] + [("full", 4000)])
def test_true_labels_have_their_probabilities_with_the_confusion_integrated_out(variant, n):
    """The last item has n annotations by five annotators who repeat themselves: products that underflow."""
    rng = np.random.default_rng(12)
    item, who = np.r_[np.repeat(np.arange(29), 4), np.full(n, 29)], np.r_[np.tile(np.arange(4), 29), np.arange(n) % 5]
    label = np.r_[rng.choice(3, 116, p=[0.6, 0.3, 0.1]), rng.choice(3, n, p=[0.4, 0.3, 0.3])]
    of = Crowd.of((item, who, label), (30, 5, 3), np.where(np.arange(30) == 3, 1, -1))
    sampler = LabelSampler(VARIANTS[variant], of, PRIOR, 1, rng)
    for _ in range(4):
        sampler.sweep(rng)
        kept = sampler.counts.copy()
        density = [log_density(sampler, np.where(of.item == 29, k, sampler.choice[0])) for k in range(3)]
        expected = special.softmax(np.log(sampler.prevalence[0]) + density)
        np.testing.assert_allclose(sampler.expected[0, 29], expected, atol=1e-9)
        assert (sampler.choice[0, of.item == 3] == 1).all()
        sampler.count()
        np.testing.assert_array_equal(kept, sampler.counts)


@pytest.mark.parametrize("variant", VARIANTS)
def test_new_names_are_taken_with_the_density_of_the_annotations(variant, monkeypatch):
    """The gain of exchanging two names, and that latent labels, prevalence and population move together."""
    of, rng = crowd(2 if variant.endswith("coin") else 3), np.random.default_rng(9)
    sampler = LabelSampler(VARIANTS[variant], of, PRIOR, 1, rng)
    for _ in range(3):
        sampler.sweep(rng)
    before, choice, prevalence = log_density(sampler, sampler.choice[0]), sampler.choice.copy(), sampler.prevalence[0]
    gains, plain = [], LabelSampler.log_density
    prevalence = prevalence.copy()

    def always(self):
        gains.append(plain(self))
        return np.full(1, 1e3 * (self is not sampler))

    monkeypatch.setattr(LabelSampler, "log_density", always)
    sampler.exchange_names(rng)
    moved = np.flatnonzero(prevalence != sampler.prevalence[0])
    assert moved.size == 2
    np.testing.assert_array_equal(sampler.prevalence[0, moved], prevalence[moved[::-1]])
    name = np.arange(of.n_labels)
    name[moved] = moved[::-1]
    np.testing.assert_array_equal(sampler.choice, name[choice])
    gain = log_density(sampler, sampler.choice[0]) - before
    assert gains[0][0] - gains[1][0] == pytest.approx(gain, abs=1e-8)


def test_rows_are_dirichlet():
    of, rng = crowd(), np.random.default_rng(3)
    sampler = LabelSampler(VARIANTS["full"], of, PRIOR, 2000, rng)
    sampler.choice[:] = sampler.choice[0]
    sampler.count()
    shape = sampler.counts[0] + PRIOR.confusion(3)
    total = shape.sum(axis=2, keepdims=True)
    expected = shape / total
    z = (sampler.confusion(rng).mean(axis=0) - expected) / np.sqrt(expected * (1 - expected) / (total + 1) / 2000)
    assert np.abs(z).max() < 4.5
    right = np.diagonal(expected, axis1=1, axis2=2)
    error = np.sqrt(right * (1 - right) / (total[..., 0] + 1) / 2000)
    assert np.abs((sampler.right(rng).mean(axis=0) - right) / error).max() < 4.5


def test_counts_take_the_memory_of_the_places_that_have_draws():
    found = Counts.of(np.array([7, 1_999_999, 7]), np.array([500_000, 2, 1]), 2_000_000)
    assert found.times.sum() == 500_003
    assert set(found.at.tolist()) == {7, 1_999_999}
    assert found.times[found.r == 1].tolist() == [1, 1]


def test_concentrations_have_their_density_on_a_grid_and_new_draws_their_means():
    rng, chains = np.random.default_rng(7), 2000
    n, share = rng.integers(0, 12, (30, 3)), np.array([0.2, 0.7, 0.1])
    u = np.linspace(-6, 8, 3000)
    a = np.exp(u)[:, None, None] * share
    density = (special.gammaln(a + n) - special.gammaln(a)).sum(axis=(1, 2)) - 0.5 * ((u - np.log(8)) / 0.5) ** 2
    density += (special.gammaln(np.exp(u)[:, None]) - special.gammaln(np.exp(u)[:, None] + n.sum(axis=1))).sum(axis=1)
    mass = special.softmax(density)
    counts, x = np.tile(n[:, None].astype(float), (chains, 1, 1, 1)), np.full((chains, 1), 8.0)
    for _ in range(20):
        new = draw_shared(rng, counts, x, np.tile(share, (chains, 1, 1)), 8.0, 0.5)
    draws, error = np.log(x[:, 0]), np.sqrt(mass @ u**2 - (mass @ u) ** 2)
    assert abs(draws.mean() - mass @ u) < 4.5 * error / np.sqrt(chains)
    assert draws.std() == pytest.approx(error, rel=4.5 / np.sqrt(2 * chains))
    shape = x[:, :, None] * share
    means = (shape * (special.digamma(shape + n) - special.digamma(shape))).sum(axis=1)
    apart = new[:, 0] - means
    assert np.abs(apart.mean(axis=0) / (apart.std(axis=0) / np.sqrt(chains))).max() < 4.5


@pytest.mark.parametrize("variant", VARIANTS)
def test_chances_of_the_right_label_are_the_diagonals_of_confusion(variant):
    rng, n = np.random.default_rng(13), 400
    sampler = LabelSampler(VARIANTS[variant], crowd(), PRIOR, 1, rng)
    sampler.sweep(rng)
    right = np.stack([sampler.right(rng)[0] for _ in range(n)])
    diagonal = np.stack([np.diagonal(sampler.confusion(rng)[0], axis1=1, axis2=2) for _ in range(n)])
    error = np.sqrt((right.var(axis=0) + diagonal.var(axis=0)) / n)
    assert np.abs((right.mean(axis=0) - diagonal.mean(axis=0)) / error).max() < 4.5
    np.testing.assert_allclose(right.std(axis=0), diagonal.std(axis=0), rtol=4.5 / np.sqrt(n))


def test_slices_have_their_distribution():
    rng, at = np.random.default_rng(1), np.zeros(4000)
    for _ in range(30):
        at = slice_step(rng, lambda x: -0.5 * x**2, at, 1.5)
    assert abs(at.mean()) < 4.5 / np.sqrt(4000)
    assert abs(at.var() - 1) < 4.5 * np.sqrt(2 / 4000)


@pytest.mark.parametrize("known", [{}, {0: 1, 5: 2}])
@pytest.mark.parametrize("variant", ["mixed_membership", "hierarchical"])
def test_counts_stay_those_of_the_latent_labels(variant, known):
    of, rng = crowd(known=known), np.random.default_rng(4)
    held = np.zeros((3, of.item.size), bool)
    held[1, ::4] = True
    sampler = LabelSampler(VARIANTS[variant], of, PRIOR, 3, rng, held)
    for _ in range(20):
        sampler.sweep(rng)
    kept = sampler.counts.copy(), sampler.n.copy()
    sampler.count()
    np.testing.assert_array_equal(kept[0], sampler.counts)
    np.testing.assert_array_equal(kept[1], sampler.n)
    assert (sampler.choice[held] == -1).all()
    assert (sampler.choice[~held] >= 0).all()


def test_latent_labels_of_one_item_have_their_joint_distribution(monkeypatch):
    """All 27 readings of three annotations of one item, with alpha and the prevalence held still."""
    said = np.array([0, 1, 1])
    of = Crowd.of((np.zeros(3, int), np.arange(3), said), (1, 3, 3))
    rng, chains, share, alpha = np.random.default_rng(5), 4000, np.array([0.5, 0.3, 0.2]), 0.4
    for step in ("draw_prevalence", "exchange_names", "draw_population"):
        monkeypatch.setattr(LabelSampler, step, lambda self, rng: None)
    sampler = LabelSampler(VARIANTS["mixed_membership"], of, PRIOR, chains, rng)
    sampler.alpha, sampler.prevalence = np.full(chains, alpha), np.tile(share, (chains, 1))
    sampler.phi = np.tile(np.random.default_rng(2).dirichlet([1, 1, 1], 3), (chains, 1, 1))
    for _ in range(40):
        sampler.sweep(rng)
    found = np.bincount(sampler.choice @ [9, 3, 1], minlength=27) / chains
    weight = []
    for reading in itertools.product(range(3), repeat=3):
        urn, p = alpha * share, 1.0
        for t, c in enumerate(reading):
            p *= urn[c] / urn.sum() * sampler.phi[0, c, said[t]]  # of three annotators, of whom nothing else is known
            urn[c] += 1
        weight.append(p)
    expected = np.array(weight) / sum(weight)
    assert np.abs((found - expected) / np.sqrt(expected * (1 - expected) / chains)).max() < 4.5
