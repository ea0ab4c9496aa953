"""The compiled likelihood of the informed prior against its definition, and its gradient against differences."""

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp, softmax

from bayesagree.plausibility.informed import _draw_kernels, _kernels
from bayesagree.plausibility.informed._block_kernels import blocks_of, score_functions
from bayesagree.plausibility.informed._kernels import ENTROPY_CENTRE, ENTROPY_SCALE, FLOOR
from bayesagree.plausibility.informed.covariates import is_probability


def problem(random_seed=1, n_items=9, n_dense=4, n_models=2, n_labels=3, largest=4, confusions=True):
    rng = np.random.default_rng(random_seed)
    counts = rng.integers(0, largest, (n_items, n_labels))
    counts[2] = 0
    item, label = np.nonzero(counts)
    dense = rng.normal(size=(n_items, n_dense, n_labels)).astype(np.float32)
    hit = rng.integers(-1, n_labels, (n_items, n_models)).astype(np.int32)
    start = np.searchsorted(item, np.arange(n_items + 1))
    theta = 0.5 * rng.normal(size=n_dense + n_models + 2 * n_labels + confusions * n_labels**2 + 6)
    return theta, dense, hit, start, label.astype(np.int32), counts[item, label], counts


def components(theta, dense, hit):
    """Log weights (item, component) and shapes (item, component, label), from the equations of the module."""
    n_labels, first = dense.shape[2], dense.shape[1] + hit.shape[1]
    columns = np.concatenate([dense, hit[:, :, None] == np.arange(n_labels)], axis=1)
    eta = np.einsum("f,ifk->ik", theta[:first], columns) + theta[first : first + n_labels]
    confusion = theta[first + 2 * n_labels : -6]
    if confusion.size:
        eta += softmax(eta, axis=1) @ confusion.reshape(n_labels, n_labels)
    mean = (1 - FLOOR) * softmax(eta, axis=1) + FLOOR / n_labels
    h = ENTROPY_SCALE * (-(mean * np.log(mean)).sum(axis=1) / np.log(n_labels) - ENTROPY_CENTRE)
    clarity, t = theta[first + n_labels : first + 2 * n_labels], theta[-6:]
    log_weight = np.c_[np.zeros(h.size), (t[2] + t[3] * h)[:, None] + np.log(mean) + clarity]
    blur = 1 / (1 + np.exp(-t[5]))
    clear = np.exp(t[4]) * ((1 - blur) * np.eye(n_labels) + blur * mean[:, None, :])
    shapes = np.concatenate([(np.exp(t[0] + t[1] * h)[:, None] * mean)[:, None, :], clear], axis=1)
    return log_weight - logsumexp(log_weight, axis=1, keepdims=True), shapes


def log_votes(shape, counts):
    """Dirichlet-multinomial log probability of votes in one order."""
    total = shape.sum(axis=-1)
    each = gammaln(shape + counts) - gammaln(shape)
    return gammaln(total) - gammaln(total + counts.sum(axis=-1)) + each.sum(axis=-1)


@pytest.mark.parametrize(("largest", "confusions"), [(4, True), (60, True), (4, False)])
def test_likelihood_is_that_of_the_mixture(largest, confusions):
    theta, *data, counts = problem(largest=largest, confusions=confusions)
    found = np.empty(len(counts))
    _kernels.log_likelihood(theta, *data, found)
    log_weight, shapes = components(theta, *data[:2])
    np.testing.assert_allclose(
        found, logsumexp(log_weight + log_votes(shapes, counts[:, None, :]), axis=1), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize(
    ("n_labels", "confusions", "n_items", "largest"),
    [(1, True, 9, 4), (2, True, 9, 4), (5, True, 9, 4), (5, False, 70, 30), (120, False, 40, 2)],
)
def test_gradient_is_that_of_the_likelihood(n_labels, confusions, n_items, largest):
    theta, *data, counts = problem(n_items=n_items, n_labels=n_labels, confusions=confusions, largest=largest)

    def value(at):
        out = np.empty(len(counts))
        _kernels.log_likelihood(at, *data, out)
        return out

    blocks = blocks_of(*data)
    n_blocks, n_items = blocks.votes.shape
    slopes, summed = np.empty((n_blocks, theta.size, n_items)), np.empty(theta.size)
    found = score_functions(theta, *blocks, summed, slopes)
    # Blocks hold the items in the order of their number of votes; items without votes fill the last block up.
    order = np.argsort(counts.sum(axis=1), kind="stable")
    by_item = np.moveaxis(slopes, 1, 2).reshape(n_blocks * n_items, -1)
    step = 1e-5
    numerical = np.array([value(theta + step * e) - value(theta - step * e) for e in np.eye(theta.size)]).T / (2 * step)
    assert found == pytest.approx(value(theta).sum(), rel=1e-12)
    np.testing.assert_allclose(by_item[: order.size], numerical[order], atol=1e-7)
    np.testing.assert_allclose(by_item[order.size :], 0, atol=1e-14)
    np.testing.assert_allclose(summed, by_item.sum(axis=0), rtol=1e-9, atol=1e-12)
    again = np.empty(theta.size)
    assert score_functions(theta, *blocks, again, np.empty((1, theta.size, n_items))) == found
    np.testing.assert_array_equal(again, summed)


@pytest.mark.parametrize("depth", [1, 3])
def test_draws_are_those_of_the_mixture(depth):
    theta, *data, counts = problem(random_seed=5)
    n = 20_000
    log_weight, shapes = components(theta, *data[:2])
    posterior = softmax(log_weight + log_votes(shapes, counts[:, None, :]), axis=1)
    shapes = shapes + counts[:, None, :]
    mean = (posterior[:, :, None] * shapes / shapes.sum(axis=2, keepdims=True)).sum(axis=1)
    drawn = np.empty((len(counts), n, 3))
    _draw_kernels.plausibility_draws(np.random.default_rng(1), theta[None], *data, drawn)
    np.testing.assert_allclose(drawn.sum(axis=2), 1, rtol=1e-12)
    np.testing.assert_allclose(drawn.mean(axis=1), mean, atol=5 * 0.5 / np.sqrt(n))
    top = np.empty((len(counts), n, depth), np.int16)
    _draw_kernels.top_label_draws(np.random.default_rng(2), theta[None], *data, top)
    ranked = np.argsort(-drawn, axis=2)[:, :, :depth]
    for r in range(depth):
        for k in range(3):
            # Two independent estimates of one probability, each with standard error at most 1 / (2 sqrt(n)).
            difference = (top[:, :, r] == k).mean(axis=1) - (ranked[:, :, r] == k).mean(axis=1)
            assert np.abs(difference).max() < 5 / np.sqrt(2 * n)


def test_scores_are_probabilities_where_every_row_is():
    rows = np.array([[0.2, 0.8], [0.5, 0.5], [0.3, 0.7]])
    assert is_probability(rows)
    assert is_probability(rows + np.array([0.0005, 0.0]))
    for place, value in (((1, 0), 0.6), ((2, 1), 0.69), ((0, 0), -0.2)):
        changed = rows.copy()
        changed[place] = value
        assert not is_probability(changed)
    assert not is_probability(np.array([[-0.2, 1.2], [0.5, 0.5]]))
