"""Votes for some of the items, and scores that a proxy of all items powers."""

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr
from scipy.special import softmax

from bayesagree import InputError, Predictions, dirichlet, score
from bayesagree.datasets.simulate import labelled_test_set
from bayesagree.metrics.registry import Metric
from bayesagree.metrics.votes_alone import unbiased_terms

VOTED, ITEMS = 150, 600


@pytest.fixture(scope="module")
def test_set():
    given = labelled_test_set(n_items=ITEMS, per_item=3, n_labels=3, spread=0.5, noise=(0.8, 1.2, 2.0), random_seed=4)
    probability = softmax(given.predictions.scores, axis=2)
    return replace(given, predictions=Predictions.from_scores(dict(zip("ABC", probability))))


@pytest.fixture(scope="module")
def voted(test_set):
    return test_set.labels.select(test_set.labels.item_index < VOTED)


@pytest.fixture(scope="module")
def proxy(test_set):
    models = test_set.predictions
    coords = {"item": models.items, "category": models.categories}
    return xr.DataArray(models.scores.mean(axis=0), coords, ("item", "category"))


def on_voted(predictions):
    scores = dict(zip(predictions.models, predictions.scores[:, :VOTED]))
    return Predictions.from_scores(scores, items=predictions.items[:VOTED], labels=predictions.categories)


def test_score_and_error_are_those_of_the_closed_form(test_set, voted, proxy):
    powered = score(voted, test_set.predictions, "agreement", proxy=proxy, random_seed=2)
    shares = voted.counts() / voted.counts().sum(axis=1, keepdims=True)
    said = test_set.predictions.hard_labels()
    for j in range(3):
        gold = shares[np.arange(VOTED), said[j, :VOTED]]
        guess = proxy.values[np.arange(ITEMS), said[j]]
        near, far = guess[:VOTED], guess[VOTED:]
        weight = np.cov(gold, near)[0, 1] / ((1 + VOTED / far.size) * guess.var(ddof=1))
        mean = gold.mean() + weight * (far.mean() - near.mean())
        sd = np.sqrt((gold - weight * near).var() / VOTED + weight**2 * far.var() / far.size)
        drawn = powered.isel(model=j).values
        assert abs(drawn.mean() - mean) < 4 * sd / np.sqrt(4000)
        assert drawn.std() == pytest.approx(sd, rel=0.05)
        assert sd < gold.std() / np.sqrt(VOTED)


@pytest.mark.long
def test_any_proxy_leaves_the_score_right_on_average(test_set):
    """A proxy that always errs, over 200 draws of which items have votes, against the score of all items' votes."""
    rng = np.random.default_rng(3)
    labels, predictions = test_set.labels, test_set.predictions
    wrong = xr.DataArray(
        predictions.scores[0][:, [1, 2, 0]],
        dims=("item", "category"),
        coords={"item": predictions.items, "category": predictions.categories},
    )
    truth = unbiased_terms(Metric.named("agreement"), labels, predictions).mean(axis=1)
    found, sd = [], []
    for _ in range(200):
        chosen = np.isin(labels.item_index, rng.permutation(ITEMS)[:VOTED])
        drawn = score(labels.select(chosen), predictions, "agreement", proxy=wrong, random_seed=rng)
        found.append(drawn.mean(("chain", "draw")).values)
        sd.append(drawn.std(("chain", "draw")).values)
    error = np.std(found, axis=0) / np.sqrt(len(found))
    np.testing.assert_array_less(np.abs(np.mean(found, axis=0) - truth), 4 * error)
    # Items are a sample of a larger population: draws are wider than samples of these 600 vary, never narrower.
    np.testing.assert_array_less(np.std(found, axis=0), 1.15 * np.mean(sd, axis=0))


@pytest.mark.parametrize("metric", ["cross_entropy", "soft_brier"])
def test_metrics_of_probabilities_are_powered(test_set, voted, proxy, metric):
    powered = score(voted, test_set.predictions, metric, proxy=proxy, random_seed=1)
    alone = score(voted, on_voted(test_set.predictions), metric, random_seed=1)
    whole = unbiased_terms(Metric.named(metric), test_set.labels, test_set.predictions).mean(axis=1)
    sd = powered.std(("chain", "draw"))
    np.testing.assert_array_less(np.abs(powered.mean(("chain", "draw")) - whole), 4 * sd)
    assert float(sd.mean()) < float(alone.std(("chain", "draw")).mean())


def test_slices_without_items_to_add_keep_their_votes(test_set, voted, proxy):
    part = np.where(np.arange(ITEMS) < VOTED, "voted", "others")
    with pytest.warns(UserWarning, match="agreement does not exist"):
        by = score(voted, test_set.predictions, "agreement", proxy=proxy, by=part, random_seed=1)
    terms = unbiased_terms(Metric.named("agreement"), voted, on_voted(test_set.predictions)).mean(axis=1)
    inside = by.sel(slice="voted", side="slice").mean(("chain", "draw"))
    np.testing.assert_allclose(inside, terms, atol=0.005)
    assert np.isnan(by.sel(slice="others", side="slice")).all()


def test_a_proxy_that_cannot_be_meant_is_refused(test_set, voted, proxy):
    predictions = test_set.predictions
    with pytest.raises(InputError, match="items of the point estimate are not the same set"):
        score(voted, predictions, "agreement", proxy=proxy.isel(item=slice(10)))
    with pytest.raises(InputError, match="goes with Labels"):
        score(dirichlet(voted, draws=10, random_seed=1), on_voted(predictions), "agreement", proxy=proxy)
    with pytest.raises(InputError, match="point estimate has dims"):
        score(voted, predictions, "agreement", proxy=proxy.rename(item="case"))
