"""Raters who give one label whatever the item: named, left out, and no harm to the others' items."""

import numpy as np
import pytest

from bayesagree import Labels, dawid_skene
from bayesagree.plausibility.dawid_skene._crowd import Crowd
from bayesagree.plausibility.dawid_skene._ordered import constant_annotators


def ratings(always: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return truths and ratings of 150 items by eight raters, two of whom always give one label."""
    u = rng.standard_normal(150)
    said = 0.4 * rng.standard_normal(8) + u[:, None] + 0.7 * rng.standard_normal((150, 8))
    given = np.searchsorted([-1.5, -0.5, 0.5, 1.5], said)
    given[:, :2] = always
    return np.searchsorted([-1.5, -0.5, 0.5, 1.5], u), given


def test_they_are_told_from_raters_of_items_that_are_alike():
    _, given = ratings(3, np.random.default_rng(1))
    item, who = (code.ravel() for code in np.indices(given.shape))
    known = constant_annotators(Crowd.of((item, who, given.ravel()), (150, 8, 5)))
    assert known.tolist() == [3, 3, *[-1] * 6]
    agreed = np.zeros(10, int)  # all say the same of all five items
    alike = Crowd.of((np.repeat(np.arange(5), 2), np.tile([0, 1], 5), agreed), (5, 2, 3))
    assert constant_annotators(alike).tolist() == [-1, -1]


def test_items_are_nearer_to_the_truth_than_medians():
    truth, given = ratings(3, np.random.default_rng([8, 0]))
    labels = Labels.from_matrix(given, labels=range(5), ordered=True)
    how = {"variant": "ordered", "draws": 99, "chains": 2, "random_seed": 1}
    with pytest.warns(UserWarning, match=r"0 \(always 3\)', '1 \(always 3\)"):
        tree = dawid_skene(labels, **how)
    best = tree["derived"]["label_probability"].values.argmax(axis=1)
    assert np.abs(best - truth).mean() < np.abs(np.median(given, axis=1) - truth).mean() - 0.05
    posterior = tree["posterior"].to_dataset()
    assert np.isnan(posterior["severity"].sel(annotator=[0, 1])).all()
    np.testing.assert_allclose(posterior["confusion"].sel(annotator=0, observed_category=3), 1)
