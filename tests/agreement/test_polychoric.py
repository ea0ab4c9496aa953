"""Polychoric intraclass correlation: its probabilities, its maximum, what leaves it alone, and its interval."""

import numpy as np
import pytest
from scipy import optimize, special, stats

from bayesagree import Labels, Ratings, agreement_table
from bayesagree._numerics.intervals import hdi
from bayesagree.agreement._polychoric import MOST_CLASSES, _cells, joined, polychoric

UNEVEN = np.array([-1.0, 0.2, 0.6])


def latent(rho: float, shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    """Return standard normal answers, shape (item, annotator), of which two of one item have the correlation rho."""
    return np.sqrt(rho) * rng.normal(size=(shape[0], 1)) + np.sqrt(1 - rho) * rng.normal(size=shape)


def counts_of(code: np.ndarray, n: int) -> np.ndarray:
    return np.stack([(code == k).sum(axis=1) for k in range(n)], axis=1).astype(float)


def estimate(code: np.ndarray) -> float:
    counts = counts_of(code, code.max() + 1)
    classes = joined(counts.sum(axis=0) / counts.sum(), len(counts))
    return float(polychoric(np.ones((1, len(counts))), counts @ classes)[0])


@pytest.mark.parametrize("rho", [-0.6, 0.0, 0.4, 0.9, 0.99])
def test_cells_are_differences_of_the_bivariate_normal_distribution(rho):
    cell, slope = _cells(UNEVEN[None], special.ndtr(UNEVEN)[None], np.array([rho]))
    edges = np.array([-9, *UNEVEN, 9])
    normal = stats.multivariate_normal(cov=[[1, rho], [rho, 1]])
    corner = np.array([[normal.cdf([h, k]) for k in edges] for h in edges])
    np.testing.assert_allclose(cell[0], np.diff(np.diff(corner, axis=0), axis=1), atol=1e-7)
    if abs(rho) < 0.99:
        near = [_cells(UNEVEN[None], special.ndtr(UNEVEN)[None], np.array([rho + e]))[0][0] for e in (-1e-5, 1e-5)]
        np.testing.assert_allclose(slope[0], (near[1] - near[0]) / 2e-5, atol=1e-5)


def test_it_is_the_maximum_of_the_likelihood_of_pairs():
    code = np.searchsorted(UNEVEN, latent(0.6, (60, 2), np.random.default_rng(1)))
    table = counts_of(code, 4)
    cuts = special.ndtri(np.cumsum(table.sum(axis=0))[:-1] / table.sum())
    edges = np.array([-9, *cuts, 9])

    def cost(rho):
        normal = stats.multivariate_normal(cov=[[1, rho], [rho, 1]])
        corner = np.array([[normal.cdf([h, k]) for k in edges] for h in edges])
        cell = np.diff(np.diff(corner, axis=0), axis=1)
        return -(np.log(cell[code[:, 0], code[:, 1]]) + np.log(cell[code[:, 1], code[:, 0]])).sum()

    assert estimate(code) == pytest.approx(
        optimize.minimize_scalar(cost, bounds=(0, 0.95), method="bounded").x, abs=1e-4
    )


def test_no_monotone_change_of_the_scale_alters_it():
    code = np.searchsorted(UNEVEN, latent(0.6, (40, 3), np.random.default_rng(2)))
    one, other = (
        agreement_table(Labels.from_matrix(value[code]), level="ordinal", seed=1).set_index("coefficient")
        for value in (np.array([1, 2, 3, 4]), np.array([1, 10, 11, 5000]))
    )
    ends = ["estimate", "lower", "upper"]
    assert one.loc["icc_polychoric", ends].tolist() == other.loc["icc_polychoric", ends].tolist()


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_binning_hardly_alters_it(rho):
    """Normal latent answers on 2 to 101 levels, and continuous: the same value within four and a half errors."""
    z = latent(rho, (4000, 4), np.random.default_rng(3))
    for levels in (2, 3, 5, 11, 101):
        cuts = special.ndtri(np.linspace(0, 1, levels + 1)[1:-1] ** 1.5)
        # The error of the least precise, two levels of unequal size, is .02.
        assert estimate(np.searchsorted(cuts, z)) == pytest.approx(rho, abs=4.5 * 0.02)


def test_values_are_joined_to_classes_of_about_equal_size():
    share = np.random.default_rng(4).dirichlet(np.ones(200))
    classes = joined(share, 10_000)
    assert classes.shape == (200, MOST_CLASSES)
    assert (np.diff(classes.argmax(axis=1)) >= 0).all()
    assert (share @ classes).max() < 0.15
    assert joined(np.array([0.5, 0.0, 0.5]), 2).shape == (3, 2)


@pytest.mark.parametrize(("n_items", "n_classes"), [(9, 3), (10, 4), (16, 4), (64, 8), (65, 9), (1000, 9)])
def test_few_items_have_at_most_the_root_of_their_number_of_classes(n_items, n_classes):
    assert joined(np.full(200, 1 / 200), n_items).shape == (200, n_classes)


@pytest.mark.parametrize(
    ("answers", "value"), [([[0, 0], [1, 1]], 1.0), ([[1, 1], [1, 1]], np.nan), ([[0], [1]], np.nan)]
)
def test_edges(answers, value):
    table = agreement_table(Labels.from_matrix(answers), seed=1).set_index("coefficient")
    assert table.loc["icc_polychoric", "estimate"] == pytest.approx(value, nan_ok=True)
    assert bool(table.loc["icc_polychoric", "note"]) == np.isnan(value)


def test_replicates_with_nearly_all_weight_on_one_item_have_a_value():
    counts = np.array([[3.0, 0.0], [0.0, 3.0], [1.0, 2.0]])
    found = polychoric(np.array([[1.0, 1e-300, 1e-300], [1e-17, 1.0, 1e-14], [1.0, 1.0, 1.0]]), counts)
    assert (np.abs(found) <= 1).all()


def test_continuous_ratings_have_it():
    x = special.ndtr(latent(0.7, (60, 4), np.random.default_rng(5)))
    row = agreement_table(Ratings.from_matrix(x, scale=(0, 1)), seed=1).set_index("coefficient").loc["icc_polychoric"]
    assert row["lower"] < 0.7 < row["upper"]


@pytest.mark.long
def test_its_interval_holds_the_latent_value():
    """200 crowds of 100 items and four annotators: .95 within four and a half errors of a share."""
    held = []
    for seed in range(200):
        rng = np.random.default_rng([6, seed])
        counts = counts_of(np.searchsorted(UNEVEN, latent(0.6, (100, 4), rng)), 4)
        lower, upper = hdi(polychoric(100 * rng.dirichlet(np.ones(100), 500), counts), 0.95)
        held.append(lower < 0.6 < upper)
    assert abs(np.mean(held) - 0.95) < 4.5 * np.sqrt(0.95 * 0.05 / 200)
