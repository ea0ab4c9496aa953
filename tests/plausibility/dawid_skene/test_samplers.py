"""Steps of the Gibbs samplers against their conditional distributions, written out plainly."""

import itertools

import numpy as np
import pytest
from arviz_stats.base.array import array_stats
from scipy import special

from bayesagree.datasets.simulate import crowd_labels
from bayesagree.plausibility._side_by_side import choose, slice_step
from bayesagree.plausibility.dawid_skene._annotators import Accuracies, Counts, Rows, concentration
from bayesagree.plausibility.dawid_skene._crowd import Crowd
from bayesagree.plausibility.dawid_skene._gibbs import Mixed, OneTruth, OneTruthOfRows
from bayesagree.plausibility.dawid_skene.prior import DawidSkenePrior

PRIOR = DawidSkenePrior()


def crowd(n_labels: int = 3, known: dict[int, int] | None = None) -> Crowd:
    labels = crowd_labels(n_items=30, n_annotators=5, n_labels=n_labels, random_seed=1).labels
    codes = labels.item_index, labels.annotator_index, labels.label_index
    gold = np.full(30, -1)
    gold[list(known or {})] = list((known or {}).values())
    return Crowd.of(codes, (30, 5, n_labels), gold)


def dense(of: Crowd, counts: np.ndarray) -> np.ndarray:
    """Counts of one chain as (annotator, category, observed category)."""
    out, seen = np.zeros((of.n_annotators, of.n_labels, of.n_labels)), np.flatnonzero(~of.rest)
    out[of.annotator[seen], :, of.label[seen]] = counts[:, 0, seen].T
    return out


def test_matrix_counts_annotations_by_item_and_pair():
    of = crowd()
    plain = np.zeros((30, of.label.size))
    for item, pair in zip(of.item, of.pair):
        plain[item, pair] += 1
    np.testing.assert_array_equal(of.matrix.toarray(), plain)
    assert of.rest.sum() == 5
    values = np.random.default_rng(1).random((3, 2, of.label.size))
    np.testing.assert_allclose(of.items_of_pairs(values), values @ plain.T)
    values = np.random.default_rng(1).random((3, 2, 30))
    np.testing.assert_allclose(of.pairs_of_items(values), values @ plain)


@pytest.mark.parametrize("n", [6, 4000])
def test_true_labels_have_their_probabilities_with_the_confusion_integrated_out(n):
    """The last item has n annotations by five annotators who repeat themselves: products that underflow."""
    rng = np.random.default_rng(12)
    item, who = np.r_[np.repeat(np.arange(29), 4), np.full(n, 29)], np.r_[np.tile(np.arange(4), 29), np.arange(n) % 5]
    label = np.r_[rng.choice(3, 116, p=[0.6, 0.3, 0.1]), rng.choice(3, n, p=[0.4, 0.3, 0.3])]
    of = Crowd.of((item, who, label), (30, 5, 3), np.where(np.arange(30) == 3, 1, -1))
    sampler = OneTruthOfRows(of, Rows(of, PRIOR, 1, learnt=True), PRIOR, rng)
    for _ in range(5):
        sampler.sweep(rng)
        kept, density = sampler.counts.copy(), []
        prior = (sampler.annotators.kappa[..., None] * sampler.annotators.phi)[:, 0]
        for k in range(3):
            counts = np.zeros((5, 3, 3))
            np.add.at(counts, (who, np.where(item == 29, k, sampler.truth[0, item]), label), 1)
            value = special.gammaln(prior.sum(axis=1)) - special.gammaln((prior + counts).sum(axis=2))
            density.append(value.sum() + (special.gammaln(prior + counts) - special.gammaln(prior)).sum())
        expected = special.softmax(np.log(sampler.prevalence[:, 0]) + density)
        np.testing.assert_allclose(sampler.expected[:, 0, 29], expected, atol=1e-9)
        assert sampler.truth[0, 3] == 1
        sampler.count()
        np.testing.assert_array_equal(kept, sampler.counts)


def test_true_labels_have_their_probabilities_given_accuracies():
    of, rng = crowd(known={3: 1}), np.random.default_rng(2)
    coins = Accuracies(of, PRIOR, 2, one_coin=False)
    sampler = OneTruth(of, coins, PRIOR, rng)
    for _ in range(5):
        sampler.sweep(rng)
    expected = np.log(sampler.prevalence)[..., None].repeat(30, axis=2)
    for item, pair in zip(of.item, of.pair):
        right = coins.accuracy[..., of.annotator[pair]]
        expected[..., item] += np.log(np.where(np.arange(3)[:, None] == of.label[pair], right, (1 - right) / 2))
    expected = special.softmax(expected, axis=0)
    expected[..., 3] = np.array([0, 1, 0])[:, None]
    np.testing.assert_allclose(sampler.expected, expected, atol=1e-12)


def test_rows_are_dirichlet_with_the_labels_never_given_as_one_share():
    of, rng = crowd(), np.random.default_rng(3)
    rows = Rows(of, PRIOR, 2000)
    counts = np.repeat(rng.integers(0, 5, (3, 1, of.label.size)) * ~of.rest, 2000, axis=1).astype(float)
    drawn = np.exp(rows.draw(rng, counts))
    shape = dense(of, counts) + PRIOR.confusion(3)
    expected = shape / shape.sum(axis=2, keepdims=True)
    found, total = rows.matrices(rng).mean(axis=0), shape.sum(axis=2, keepdims=True)
    z = (found - expected) / np.sqrt(expected * (1 - expected) / (total + 1) / 2000)
    assert np.abs(z).max() < 4.5
    np.testing.assert_allclose(of.by_annotator(drawn), 1)
    z = (rows.right(rng).mean(axis=0) - np.diagonal(expected, axis1=1, axis2=2)) * np.sqrt(2000 * (total[..., 0] + 1))
    assert np.abs(z).max() < 4.5


@pytest.mark.parametrize("kind", ["full", "learnt", "class_conditional", "one_coin"])
def test_new_names_gain_what_the_density_of_the_annotations_does(kind):
    of, rng = crowd(2 if kind == "one_coin" else 3), np.random.default_rng(9)
    n = of.n_labels
    counts = (rng.integers(0, 6, (n, 1, of.label.size)) * ~of.rest).astype(float)
    number = dense(of, counts)
    if kind in ("full", "learnt"):
        model = Rows(of, PRIOR, 1, learnt=kind == "learnt")
        model.phi = rng.dirichlet(np.ones(n), (n, 1)) if kind == "learnt" else model.phi
    else:
        model = Accuracies(of, PRIOR, 1, one_coin=kind == "one_coin")

    def log_density(name) -> float:
        """Log density of the annotations, and of phi, if true label k is called name[k]."""
        called = list(name)
        if kind == "learnt":
            return float(((PRIOR.confusion(n)[called] - 1) * np.log(model.phi[:, 0])).sum())
        if kind == "full":
            return float(special.gammaln(PRIOR.confusion(n)[called] + number).sum())
        right, total = number[:, np.arange(n), called], number.sum(axis=2)
        if kind == "one_coin":
            right, total = right.sum(axis=1), total.sum(axis=1)
        value = special.betaln(4.8 + right, 3.2 + total - right) - (total - right) * np.log(n - 1)
        return float(value.sum())

    gain = model.gains(counts)[:, 0]
    for name in itertools.permutations(range(n)):
        found = sum(gain[k, name[k]] - gain[k, k] for k in range(n))
        assert found == pytest.approx(log_density(name) - log_density(range(n)), abs=1e-9)


def test_new_draws_have_antoniak_means():
    rng = np.random.default_rng(6)
    n, shape = rng.integers(0, 40, (50, 3)), np.array([0.3, 1.0, 4.0])
    given = Counts.of(np.tile(np.arange(3), 50), n.ravel(), 3)
    draws = np.array([given.new(rng, shape) for _ in range(4000)])
    expected = (shape * (special.digamma(shape + n) - special.digamma(shape))).sum(axis=0)
    assert np.abs((draws.mean(axis=0) - expected) / (draws.std(axis=0) / np.sqrt(4000))).max() < 4.5


def test_concentrations_have_their_density_on_a_grid():
    rng = np.random.default_rng(7)
    n, share = rng.integers(0, 12, (30, 3)), np.array([[0.2, 0.7, 0.1]])
    given = Counts.of(np.tile(np.arange(3), 30), n.ravel(), 3)
    sizes = Counts.of(np.zeros(30, np.int64), n.sum(axis=1), 1)
    u = np.linspace(-6, 8, 3000)
    a = np.exp(u)[:, None, None] * share
    density = (special.gammaln(a + n) - special.gammaln(a)).sum(axis=(1, 2)) - 0.5 * (u - np.log(8)) ** 2
    density += (special.gammaln(np.exp(u)[:, None]) - special.gammaln(np.exp(u)[:, None] + n.sum(axis=1))).sum(axis=1)
    mass = special.softmax(density)
    draws, value = np.empty(3000), np.array([8.0])
    for s in range(3000):
        value = concentration(rng, value, share, given, sizes, (8.0, 1.0))
        draws[s] = np.log(value[0])
    error = float(array_stats.mcse(draws[None], chain_axis=0, draw_axis=1, method="mean"))
    assert abs(draws.mean() - mass @ u) < 4.5 * error


def test_slices_and_choices_have_their_distributions():
    rng, at = np.random.default_rng(1), np.zeros(4000)
    for _ in range(30):
        at = slice_step(rng, lambda x: -0.5 * x**2, at, 1.5)
    assert abs(at.mean()) < 4.5 / np.sqrt(4000)
    assert abs(at.var() - 1) < 4.5 * np.sqrt(2 / 4000)
    weight = np.array([1.0, 0.0, 3.0])[:, None] * np.ones(8000)
    share = np.bincount(choose(rng, weight), minlength=3) / 8000
    assert share[1] == 0
    assert abs(share[0] - 0.25) < 4.5 * np.sqrt(0.25 * 0.75 / 8000)


@pytest.mark.parametrize("known", [{}, {0: 1, 5: 2}])
def test_counts_of_mixed_membership_stay_those_of_the_latent_labels(known):
    of, rng = crowd(known=known), np.random.default_rng(4)
    held = np.zeros((3, of.item.size), bool)
    held[1, ::4] = True
    sampler = Mixed(of, Rows(of, PRIOR, 3, learnt=True), PRIOR, rng, held)
    for _ in range(20):
        sampler.sweep(rng)
    kept = sampler.of_pair.copy(), sampler.of_item.copy()
    sampler.count()
    np.testing.assert_array_equal(kept[0], sampler.of_pair)
    np.testing.assert_array_equal(kept[1], sampler.of_item)
    assert (sampler.choice[held] == -1).all()
    assert (sampler.choice[~held] >= 0).all()


def test_latent_labels_of_one_item_have_their_joint_distribution():
    """All 27 readings of three annotations of one item, with the confusion, alpha and the prevalence held still."""
    of = Crowd.of((np.zeros(3, int), np.arange(3), np.array([0, 1, 1])), (1, 3, 3))
    rng, chains = np.random.default_rng(5), 4000
    sampler = Mixed(of, Rows(of, PRIOR, chains), PRIOR, rng)
    share, alpha = np.array([0.5, 0.3, 0.2]), 0.4
    chance = np.random.default_rng(2).dirichlet([1, 1, 1], 3).T  # of the label given, (category, annotation)
    log_chance = np.zeros((3, chains, of.label.size))
    log_chance[..., of.pair] = np.log(chance)[:, None]
    sampler.draw_prevalence = lambda rng: None
    sampler.annotators.draw = lambda rng, counts: log_chance
    sampler.draw_shared = lambda rng, labels: None
    sampler.alpha, sampler.prevalence = np.full(chains, alpha), np.repeat(share[:, None], chains, axis=1)
    for _ in range(40):
        sampler.sweep(rng)
    found = np.bincount(sampler.choice.astype(int) @ [9, 3, 1], minlength=27) / chains
    weight = []
    for reading in itertools.product(range(3), repeat=3):
        urn, p = alpha * share, 1.0
        for t, c in enumerate(reading):
            p *= urn[c] / urn.sum() * chance[c, t]
            urn[c] += 1
        weight.append(p)
    expected = np.array(weight) / sum(weight)
    assert np.abs((found - expected) / np.sqrt(expected * (1 - expected) / chains)).max() < 4.5
