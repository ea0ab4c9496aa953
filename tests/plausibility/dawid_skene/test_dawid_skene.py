"""The Dawid-Skene family: published means, PyMC twins, results that feed the rest."""

import json

import numpy as np
import pandas as pd
import pytest
from _paths import ROOT
from arviz_stats.base.array import array_stats

from bayesagree.annotations import Labels
from bayesagree.errors import InputError, SizeError
from bayesagree.plausibility.dawid_skene.posterior import dawid_skene
from bayesagree.plausibility.dawid_skene.prior import DawidSkenePrior

TESTS = ROOT / "tests"
GOLDEN = json.loads((TESTS / "golden" / "dawid_skene.json").read_text())


def reference(name: str) -> dict:
    return json.loads((TESTS.parent / "models" / f"{name}.json").read_text())


def anesthesia() -> Labels:
    raters = (1, 1, 1, 2, 3, 4, 5)
    rows = [
        (patient, raters[t], int(grade))
        for patient, grades in enumerate(GOLDEN["anesthesia"]["patients"])
        for t, grade in enumerate(grades)
    ]
    return Labels.from_long(pd.DataFrame(rows, columns=["item", "annotator", "label"]), duplicates="keep")


def labels_of(record: dict) -> Labels:
    matrix = np.array(record["data"]["labels"], dtype=float)
    matrix[matrix < 0] = np.nan
    return Labels.from_matrix(matrix)


def mean_and_error(draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return posterior means and their Monte-Carlo errors, shape (parameter,)."""
    flat = draws.astype(np.float64).reshape(*draws.shape[:2], -1)
    return flat.mean(axis=(0, 1)), array_stats.mcse(flat, chain_axis=0, draw_axis=1, method="mean")


def agree(draws: np.ndarray, mean: np.ndarray, error: np.ndarray, name: str) -> None:
    """Require agreement within Monte-Carlo error: 4.5 standard errors for a hundred correlated parameters."""
    ours, our_error = mean_and_error(draws)
    z = (ours - np.ravel(mean)) / np.hypot(our_error, np.ravel(error))
    assert np.abs(z).max() < 4.5, f"{name}: z = {z}"


@pytest.mark.long
def test_anesthesia_agrees_with_the_published_posterior_means():
    golden = GOLDEN["anesthesia_posterior"]
    tree = dawid_skene(anesthesia(), variant="full", draws=2000, confusion=False, random_seed=4)
    mean = tree["posterior"]["prevalence"].mean(("chain", "draw"))
    np.testing.assert_allclose(mean, golden["prevalence"], atol=golden["tolerance"])


def test_full_gibbs_equals_the_reference_posterior():
    record = reference("dawid_skene")
    tree = dawid_skene(labels_of(record), variant="full", draws=1000, random_seed=2)
    posterior = tree["posterior"].to_dataset()
    for name, variable in (("prevalence",) * 2, ("confusion",) * 2, ("label_probability", "plausibility")):
        expected = record["posterior"][name]
        agree(posterior[variable].values, expected["mean"], expected["mcse_mean"], name)


@pytest.mark.long
def test_mixed_membership_gibbs_equals_the_reference_posterior():
    record = reference("mixed_membership")
    prior = DawidSkenePrior(ambiguity=2.0, ambiguity_sd=0.4, concentration=8.0, concentration_sd=0.5)
    options = {"variant": "mixed_membership", "prior": prior, "draws": 1000, "tune": 500, "thin": 2, "random_seed": 2}
    tree = dawid_skene(labels_of(record), **options)
    posterior = tree["posterior"].to_dataset()
    for name in ("prevalence", "ambiguity", "concentration", "crowd_confusion", "confusion", "plausibility"):
        expected = record["posterior"][name]
        agree(posterior[name].values, expected["mean"], expected["mcse_mean"], name)


def test_counts_and_single_labels_are_refused():
    with pytest.raises(InputError, match="who gave which label"):
        dawid_skene(Labels.from_counts([[1, 2]]))
    with pytest.raises(InputError, match="only the label"):
        dawid_skene(Labels.from_matrix([["a", "a"]]))
    with pytest.raises(InputError, match="accuracy"):
        DawidSkenePrior(accuracy=1.2)


def test_results_that_do_not_fit_are_refused_before_drawing(monkeypatch):
    monkeypatch.setattr("bayesagree.inference.results.MAX_BYTES", 500_000)
    with pytest.raises(SizeError, match="top_labels=L"):
        dawid_skene(anesthesia(), draws=10_000)
    with pytest.raises(SizeError, match="confusion=False"):
        dawid_skene(anesthesia(), top_labels=1)
