"""Compiled kernels of the Gibbs samplers against plain numpy."""

import itertools

import numpy as np
import pytest
from _errors_of_draws import assert_share
from arviz_stats.base.array import array_stats
from scipy import special

from bayesagree.datasets.simulate import crowd_labels
from bayesagree.plausibility.dawid_skene._cells import annotation_cells
from bayesagree.plausibility.dawid_skene._confusion import ConfusionRows
from bayesagree.plausibility.dawid_skene._gibbs import RowSampler, Start
from bayesagree.plausibility.dawid_skene._gibbs_kernels import count_truth, draw_rows
from bayesagree.plausibility.dawid_skene._population_kernels import (
    concentration_density,
    draw_concentration,
    draw_names,
    draw_tables,
    name_gains,
    row_factors,
    row_sizes,
)
from bayesagree.plausibility.dawid_skene.prior import DawidSkenePrior


def _cells(random_seed: int = 1):
    labels = crowd_labels(n_items=30, n_annotators=5, n_labels=3, random_seed=random_seed).labels
    triple = (labels.item_index, labels.annotator_index, labels.label_index)
    return annotation_cells(*triple, n_items=30, n_annotators=5, n_labels=3), triple


def _rows(cells, learnt: bool = False):
    return ConfusionRows(cells, DawidSkenePrior(), 3, 5, learnt=learnt).rows


def log_rows(cells, truth, rows, i, candidate) -> float:
    """Log density of all annotations with item i's truth replaced, every row integrated out."""
    changed = truth.copy()
    changed[i] = candidate
    cell = cells.cell[cells.cell_start.repeat(cells.sizes) + within(cells) * 3 + changed.repeat(cells.sizes)]
    counts = np.zeros((5, 3, 3))
    row = cells.row_of_cell()[cell]
    np.add.at(counts, (cells.row_annotator[row], cells.row_label[row], cells.cell_label[cell]), 1)
    prior = rows.kappa[:, None] * rows.phi
    value = special.gammaln(prior.sum(axis=1)) - special.gammaln(prior.sum(axis=1) + counts.sum(axis=2))
    return float(value.sum() + (special.gammaln(prior + counts) - special.gammaln(prior)).sum())


def within(cells):
    """Position of each annotation in its item, shape (annotation,)."""
    return np.arange(cells.item_start[-1]) - cells.item_start[:-1].repeat(cells.sizes)


@pytest.mark.parametrize("n", [6, 4000])
def test_true_labels_have_their_probabilities_with_the_confusion_integrated_out(n):
    """The last item has n annotations by five annotators who repeat themselves: products that underflow."""
    rng = np.random.default_rng(12)
    item = np.r_[np.repeat(np.arange(29), 4), np.full(n, 29)]
    annotator = np.r_[np.tile(np.arange(4), 29), np.arange(n) % 5]
    label = np.r_[rng.choice(3, 116, p=[0.6, 0.3, 0.1]), rng.choice(3, n, p=[0.4, 0.3, 0.3])]
    cells = annotation_cells(item, annotator, label, n_items=30, n_annotators=5, n_labels=3)
    confusion = ConfusionRows(cells, DawidSkenePrior(), 3, 5, learnt=True)
    sampler = RowSampler(Start(cells, 1.0, np.full(90, 1 / 3), 3, rng), confusion)
    for _ in range(5):
        sampler.sweep(rng)
        density = [log_rows(cells, sampler.truth, confusion.rows, 29, c) for c in range(3)]
        expected = special.softmax(np.log(sampler.prevalence) + density)
        np.testing.assert_allclose(sampler.expected[-3:], expected, atol=1e-9)
    kept = sampler.weights.copy(), sampler.count.copy()
    count_truth(cells, sampler.truth, sampler.weights, sampler.count)
    np.testing.assert_array_equal(kept[0], sampler.weights)
    np.testing.assert_array_equal(kept[1], sampler.count)


def test_draw_rows_has_dirichlet_means_with_unseen_labels_as_one_share():
    cells, (item, annotator, label) = _cells()
    seen = annotator != 2
    cells = annotation_cells(
        item[seen], annotator[seen], np.minimum(label[seen], 1), n_items=30, n_annotators=5, n_labels=3
    )
    prior, rows = DawidSkenePrior().confusion(3), _rows(cells)
    rng = np.random.default_rng(4)
    weights = rng.integers(0, 5, cells.cell_label.size).astype(float)
    draws = np.empty((2000, weights.size))
    for s in range(2000):
        draw_rows(rng, cells, weights, rows, draws[s])
    row = cells.row_of_cell()
    shape = prior[cells.row_label[row], cells.cell_label] + weights
    total = prior.sum(axis=1)[cells.row_label[row]] + np.bincount(row, weights)[row]
    mean, values = shape / total, draws
    z = (values.mean(axis=0) - mean) / np.sqrt(mean * (1 - mean) / (total + 1) / 2000)
    assert np.abs(z).max() < 4.5


def test_draw_tables_has_antoniak_means():
    cells, _ = _cells()
    prior = DawidSkenePrior().confusion(3)
    rng = np.random.default_rng(6)
    weights = rng.integers(0, 6, cells.cell_label.size).astype(float)
    weights[:20] = rng.integers(30, 300, 20)
    row = cells.row_of_cell()
    a = prior[cells.row_label[row], cells.cell_label]
    expected = np.zeros((3, 3))
    np.add.at(
        expected, (cells.row_label[row], cells.cell_label), a * (special.digamma(a + weights) - special.digamma(a))
    )
    sizes = [row_sizes(cells, weights, np.flatnonzero(cells.row_label == k), 3) for k in range(3)]
    draws = np.array([[draw_tables(rng, sizes[k], prior[k]) for k in range(3)] for _ in range(4000)])
    z = (draws.mean(axis=0) - expected) / (draws.std(axis=0) / np.sqrt(4000) + 1e-12)
    assert np.abs(z).max() < 4.5


@pytest.mark.parametrize("learnt", [False, True])
def test_new_names_gain_what_the_density_of_the_annotations_does(learnt):
    cells, _ = _cells()
    rng, rows = np.random.default_rng(9), _rows(cells, learnt)
    rows.phi[:] = rng.dirichlet(np.ones(3), 3) if learnt else rows.phi
    weights = rng.integers(0, 6, cells.cell_label.size).astype(float)
    counts = np.zeros((5, 3, 3))
    row = cells.row_of_cell()
    counts[cells.row_annotator[row], cells.row_label[row], cells.cell_label] = weights

    def log_density(name) -> float:
        if learnt:
            return float(sum(((rows.base[name[k]] - 1) * np.log(rows.phi[k])).sum() for k in range(3)))
        shape = rows.base[list(name)] + counts
        return float(special.gammaln(shape).sum() - special.gammaln(rows.base[list(name)]).sum() * 5)

    gain = name_gains(cells, rows, weights)
    for name in itertools.permutations(range(3)):
        found = sum(gain[k, name[k]] - gain[k, k] for k in range(3))
        assert found == pytest.approx(log_density(name) - log_density((0, 1, 2)), abs=1e-9)


@pytest.mark.parametrize("n_labels", [2, 4])
def test_names_are_drawn_by_the_crowds_prior(n_labels):
    rng = np.random.default_rng(3)
    phi, gain, draws = rng.dirichlet(np.full(n_labels, 3.0), n_labels), 1.3, 8_000
    log_phi, drawn = np.log(phi), {}
    for _ in range(draws):
        name = tuple(draw_names(rng, gain * log_phi).tolist())
        # Steps start from the present names: go on from those drawn.
        log_phi = log_phi[np.argsort(name)]
        key = tuple(np.argsort(log_phi[:, 0]).tolist())
        drawn[key] = drawn.get(key, 0) + 1
    rows, places = np.log(phi), list(itertools.permutations(range(n_labels)))
    chance = np.exp([gain * sum(rows[place[n], n] for n in range(n_labels)) for place in places])
    keys = [tuple(np.argsort(rows[list(place), 0]).tolist()) for place in places]
    share = np.array([drawn.get(key, 0) for key in keys]) / draws
    # Neighbouring draws are dependent: they count for a third of their number.
    assert_share(share, chance / chance.sum(), draws // 3)


def test_draw_concentration_has_the_density_on_a_grid():
    cells, _ = _cells()
    rng = np.random.default_rng(7)
    weights = rng.integers(0, 6, cells.cell_label.size).astype(float)
    weights[:30] = rng.integers(30, 100, 30)
    rows = np.flatnonzero(cells.row_label == 1)
    phi = np.array([0.2, 0.7, 0.1])
    factors = row_factors(row_sizes(cells, weights, rows, 3), phi)
    log_density = np.array([concentration_density(u, *factors, 2.0, 1.0) for u in np.linspace(-6, 8, 3000)])
    plain = -0.5 * (np.linspace(-6, 8, 3000) - 2.0) ** 2
    x = np.exp(np.linspace(-6, 8, 3000))
    for r in rows:
        own = cells.row_cell[cells.row_start[r] : cells.row_start[r + 1]]
        a, n = x[:, None] * phi[cells.cell_label[own]], weights[own]
        plain += special.gammaln(x) - special.gammaln(x + n.sum())
        plain += (special.gammaln(a + n) - special.gammaln(a)).sum(axis=1)
    np.testing.assert_allclose(log_density, plain, rtol=1e-8, atol=1e-8)
    mass = special.softmax(plain)
    mean = (mass * np.log(x)).sum()
    draws, value = np.empty(3000), 8.0
    for s in range(3000):
        value = draw_concentration(rng, value, *factors, 2.0, 1.0)
        draws[s] = np.log(value)
    error = array_stats.mcse(draws[None], chain_axis=0, draw_axis=1, method="mean")
    assert abs(draws.mean() - mean) < 4.5 * float(error)
