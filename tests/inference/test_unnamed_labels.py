"""The labels that nobody named, where all plausibilities are kept: their order is drawn, never that of their names."""

from typing import Any

import numpy as np
import pytest

import bayesagree as ba
from bayesagree import plots
from bayesagree.inference.results import result_tree
from bayesagree.inference.top_labels import of_items, plausibility_draws, truth_draws

ONE_NAMED = ba.Rankings.from_blocks([[[["a"]]]], labels=list("abcdefgh"))
MIXED = ba.Rankings.from_blocks([[[["a"], ["b", "c"]], [["b"]]], [[["c"]]], [[["h"], ["a"]]]], labels=list("abcdefgh"))


def both_routes(rankings: ba.Rankings, draws: int, **options: Any) -> list[Any]:
    """Return a posterior with all plausibilities, and one that kept its best labels."""
    return [
        ba.plackett_luce(rankings, unranked="lumped", draws=draws, random_seed=1, top_labels=top, **options)
        for top in (None, 3)
    ]


@pytest.mark.parametrize(("k", "expected"), [(2, 1 / 7), (3, 1 / 21)])
def test_certainty_of_sets_with_unnamed_labels(k: int, expected: float) -> None:
    """Of seven unnamed labels one or two join label a, which is in nearly every set: in label order that was .985."""
    full, kept = (float(ba.annotation_certainty(tree, k=k)[0]) for tree in both_routes(ONE_NAMED, 8000))
    assert 0.95 * expected < full < expected + 5 * np.sqrt(expected / 32_000)
    assert full == pytest.approx(kept, abs=5 * np.sqrt(2 * expected / 32_000))


@pytest.mark.parametrize("metric", ["set_3_accuracy", "overlap_3", "average_overlap_3", "top_2_accuracy"])
def test_metrics_of_sets_do_not_depend_on_how_draws_were_kept(metric: str) -> None:
    scores = np.random.default_rng(3).random((3, 8))
    predictions = ba.Predictions.from_scores(
        {"last": np.tile(np.arange(8.0), (3, 1)), "any": scores}, labels="abcdefgh"
    )
    draws = 4000
    full, kept = (ba.metrics.per_item(tree, predictions, metric=metric).values for tree in both_routes(MIXED, draws))
    np.testing.assert_allclose(full, kept, atol=5 * np.sqrt(0.5 / (4 * draws)))


def test_order_of_unnamed_labels_is_the_same_in_every_call() -> None:
    full, _ = both_routes(MIXED, 300)
    first, second = (next(truth_draws(full, 3).blocks).top_label for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_named_labels_keep_their_places() -> None:
    full, _ = both_routes(MIXED, 300)
    (block,) = truth_draws(full, 8).blocks
    shares = plausibility_draws(full).values.reshape(-1, 3, 8).swapaxes(0, 1)
    in_order = np.take_along_axis(shares, block.top_label.astype(int), axis=2)
    assert (np.diff(in_order, axis=2) <= 0).all()


def with_pseudo_label(items: int = 70, samples: int = 400) -> Any:
    """Return draws of labels a and b of even items and of b and d of odd ones, last the mass of all others."""
    named = np.tile([[1, 1, 0, 0, 0, 1], [0, 1, 0, 1, 0, 1]], (items // 2, 1))
    values = np.random.default_rng(5).dirichlet(np.ones(6), size=(2, samples, items)) * named
    values /= values.sum(axis=-1, keepdims=True)
    groups: Any = {
        "posterior": {"plausibility": (("chain", "draw", "item", "category"), values)},
        "constant_data": {"named": (("item", "category"), named), "unnamed_shape": ((), 0.5)},
    }
    coords = {"item": np.arange(items), "category": [*"abcde", "unranked"]}
    return result_tree(groups, coords, model="m", engine="e", random_seed=3, settings={})


def test_the_mass_of_the_pseudo_label_is_spread_over_the_labels_that_an_item_does_not_name() -> None:
    """As a Dirichlet distribution of their shape: shares of three labels have means 1/3 and variances 2/9 / 2.5."""
    tree = with_pseudo_label()
    before, after = tree["posterior"]["plausibility"].values, plausibility_draws(tree)
    assert after["category"].values.tolist() == list("abcde")
    even, odd = after.values[:, :, ::2], after.values[:, :, 1::2]
    np.testing.assert_array_equal(even[..., [0, 1]], before[:, :, ::2][..., [0, 1]])
    np.testing.assert_array_equal(odd[..., [1, 3]], before[:, :, 1::2][..., [1, 3]])
    np.testing.assert_allclose(after.values.sum(axis=-1), 1, rtol=1e-12)
    for shares, mass in (
        (even[..., [2, 3, 4]], before[:, :, ::2, -1:]),
        (odd[..., [0, 2, 4]], before[:, :, 1::2, -1:]),
    ):
        part = (shares / mass).reshape(-1, 3)
        sd = np.sqrt(2 / 9 / 2.5)
        np.testing.assert_allclose(part.mean(axis=0), 1 / 3, atol=4.5 * sd / np.sqrt(len(part)))
        np.testing.assert_allclose(part.var(axis=0), sd**2, rtol=0.05)
    assert np.unique(after.values[0, 0, ::2, 2]).size == 35  # every item has draws of its own


def test_some_items_are_split_as_all_are() -> None:
    tree = with_pseudo_label(samples=3)
    whole = plausibility_draws(tree)
    np.testing.assert_array_equal(plausibility_draws(tree, slice(65, 69)), whole[:, :, 65:69])
    blocks = truth_draws(tree, 2, plausibility=True).blocks
    streamed = np.concatenate([block.plausibility for block in blocks])
    np.testing.assert_array_equal(streamed, whole.values.reshape(6, 70, 5).swapaxes(0, 1))
    kept = of_items(tree, [68, 3])
    np.testing.assert_array_equal(kept["posterior"]["plausibility"], whole[:, :, [68, 3]])


@pytest.mark.nuts
@pytest.mark.parametrize("unranked", ["exact", "lumped"])
def test_a_trace_of_ones_own_feeds_certainty_metrics_and_plots(unranked: Any) -> None:
    """A trace of `plackett_luce_model`: names, plausibilities, and the certainty of the fast engine's."""
    import pymc as pm

    with ba.plausibility.PlackettLuce(unranked=unranked, shape=0.5).model(MIXED):
        trace = pm.sample(1000, chains=2, cores=1, random_seed=1, progressbar=False, quiet=True)
    ours = ba.plackett_luce(MIXED, unranked=unranked, shape=0.5, draws=2000, random_seed=1)
    posterior = trace["posterior"].to_dataset()
    assert posterior["slot"].values[:4].tolist() == ["0: a", "0: b", "0: c", "0: unranked"]
    assert posterior["category"].values.tolist() == [*"abcdefgh", "unranked"]
    for k in (1, 2):
        theirs, expected = (ba.annotation_certainty(tree, k=k).values for tree in (trace, ours))
        np.testing.assert_allclose(theirs, expected, atol=0.06)
    predictions = ba.Predictions.from_scores({"A": np.tile(np.arange(8.0), (3, 1))}, labels=list("abcdefgh"))
    scores = [float(ba.score(tree, predictions, "overlap_3").mean()) for tree in (trace, ours)]
    assert scores[0] == pytest.approx(scores[1], abs=0.03)
    assert plots.plot_plausibility(trace, 0).axes
    entropy = [ba.certainty.plausibility_entropy(tree).values for tree in (trace, ours)]
    np.testing.assert_allclose(*entropy, atol=0.06)
