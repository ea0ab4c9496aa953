"""EM block by block from disk against EM in memory."""

import numpy as np
import pandas as pd
import pytest

from bayesagree.annotations import Labels
from bayesagree.datasets.simulate import crowd_labels
from bayesagree.errors import InputError, SizeError
from bayesagree.plausibility.dawid_skene import em_batches
from bayesagree.plausibility.dawid_skene.em import dawid_skene_em
from bayesagree.plausibility.dawid_skene.em_batches import label_probability
from bayesagree.plausibility.dawid_skene.posterior import dawid_skene
from bayesagree.plausibility.dawid_skene.prior import DawidSkenePrior


@pytest.fixture(scope="module")
def crowd():
    return crowd_labels(n_items=400, n_annotators=12, n_labels=3, labels_per_item=4, seed=3).labels


def fit_of(batches, **options):
    """Return the estimate of batches, the variables of one draw with the climb."""
    return dawid_skene(iter(batches), engine="em", **options)


def variables(tree):
    return tree["posterior"].to_dataset().isel(chain=0, draw=0)


def climb_of(tree):
    return tree["diagnostics"]["log_likelihood"].values


def cut(labels, n_batches):
    """Return the items in batches, each with the names of its own annotators."""
    table = labels.to_long()
    names = labels.categories.tolist()
    items = np.array_split(labels.items, n_batches)
    return [Labels.from_long(table[table["item"].isin(own)], labels=names) for own in items]


@pytest.mark.long
@pytest.mark.parametrize(
    ("n_batches", "prior"),
    [(7, None), (7, DawidSkenePrior()), (1, DawidSkenePrior()), pytest.param(1, None, marks=pytest.mark.slow)],
)
def test_the_climb_is_that_in_memory(crowd, monkeypatch, prior, n_batches):
    monkeypatch.setattr(em_batches, "ANNOTATIONS", 97)
    fit = fit_of(cut(crowd, n_batches), prior=prior, tolerance=1e-12)
    n_labels = crowd.categories.size
    oracle = dawid_skene_em(
        crowd.item_index, crowd.annotator_index, crowd.label_index, n_items=400, n_annotators=12, n_labels=n_labels,
        prior_confusion=None if prior is None else prior.confusion(n_labels),
        prior_prevalence=0.0 if prior is None else prior.prevalence, tolerance=1e-12,
    )  # fmt: skip
    np.testing.assert_allclose(climb_of(fit), oracle.log_likelihood, rtol=1e-10)
    found = variables(fit).sel(annotator=crowd.annotators)
    np.testing.assert_allclose(found["prevalence"], oracle.prevalence, rtol=1e-8)
    if prior is None:  # the oracle leaves labels that an annotator never gave at 0
        np.testing.assert_allclose(found["confusion"], oracle.confusion(12), rtol=1e-6, atol=1e-9)
    assert (
        fit["constant_data"]["n_labels_given"].sel(annotator=crowd.annotators).values.tolist()
        == np.bincount(crowd.annotator_index).tolist()
    )
    parts = np.concatenate([label_probability(fit, own).values for own in cut(crowd, 5)])
    np.testing.assert_allclose(parts, oracle.label_probability, rtol=1e-5, atol=1e-9)


@pytest.mark.filterwarnings("ignore:EM did not converge")
def test_blocks_change_nothing(crowd, monkeypatch):
    fits = []
    for size in (1, 50, 10**6):
        monkeypatch.setattr(em_batches, "ANNOTATIONS", size)
        fits.append(fit_of(cut(crowd, 3), max_iterations=5, tolerance=-1.0))
    for fit in fits[1:]:
        np.testing.assert_allclose(climb_of(fit), climb_of(fits[0]), rtol=1e-12)


def test_the_likelihood_never_falls(crowd):
    history = climb_of(fit_of(cut(crowd, 3), prior=DawidSkenePrior()))
    assert (np.diff(history) > -1e-9 * abs(history[-1])).all()


def test_items_without_labels_get_the_prevalence_and_count_for_nothing(crowd):
    table = crowd.to_long()
    empty = table.iloc[:1].assign(item=10**6, label=None)
    names = crowd.categories.tolist()
    more = Labels.from_long(pd.concat([table, empty], ignore_index=True), labels=names)
    one, other = fit_of([crowd], tolerance=1e-12), fit_of([more], tolerance=1e-12)
    np.testing.assert_allclose(variables(one)["prevalence"], variables(other)["prevalence"], rtol=1e-10)
    np.testing.assert_allclose(
        label_probability(other, more).sel(item=10**6), variables(other)["prevalence"], rtol=1e-10
    )


def test_nothing_is_left_on_disk(crowd, tmp_path):
    fit_of(cut(crowd, 2), folder=tmp_path, max_iterations=500)
    assert list(tmp_path.iterdir()) == []


def test_no_convergence_is_a_warning(crowd):
    with pytest.warns(UserWarning, match="did not converge in 2 iterations"):
        fit_of([crowd], max_iterations=2)


def test_refusals(crowd):
    with pytest.raises(InputError, match="no annotation"):
        fit_of([])
    with pytest.raises(InputError, match="batch 0: its annotators are unknown"):
        fit_of([Labels.from_counts([[1, 2]])])
    other = Labels.from_matrix([["x", "y"]])
    with pytest.raises(InputError, match="batch 1: the labels are 'x', 'y'"):
        fit_of([crowd, other])
    with pytest.raises(InputError, match="variant= needs all labels in memory"):
        fit_of([crowd], variant="one_coin")
    with pytest.raises(InputError, match="engine= needs all labels in memory"):
        dawid_skene(iter([crowd]))
    with pytest.raises(SizeError):
        fit_of([crowd], max_bytes=100)
    fit = fit_of([crowd])
    with pytest.raises(InputError, match="those of the fit"):
        label_probability(fit, other)
    names = crowd.categories.tolist()
    stranger = Labels.from_matrix([[names[0]]], annotators=["nobody"], labels=names)
    with pytest.raises(InputError, match="annotator 'nobody' is not among the 12"):
        label_probability(fit, stranger)


def test_labels_that_the_fit_excludes_are_named():
    fit = fit_of([Labels.from_matrix([["a", "a"], ["b", "a"]], labels=["a", "b"])])
    with pytest.raises(InputError, match="item 'new': no label can be true under the fit"):
        label_probability(fit, Labels.from_matrix([[None, "b"]], items=["new"], labels=["a", "b"]))


def test_batches_and_memory_have_one_result(crowd):
    memory, batches = dawid_skene(crowd, engine="em"), fit_of(cut(crowd, 3))
    assert set(batches["posterior"].data_vars) == set(memory["posterior"].data_vars) - {"plausibility"}
    one, other = (label_probability(fit, crowd).values for fit in (memory, batches))
    np.testing.assert_allclose(one, other, atol=1e-6)
    np.testing.assert_allclose(one, memory["derived"]["label_probability"], atol=1e-9)


@pytest.mark.cluster
@pytest.mark.filterwarnings("ignore:EM did not converge")
def test_workers_climb_alike(crowd):
    from distributed import Client, LocalCluster

    here = fit_of(cut(crowd, 3), max_iterations=20, tolerance=-1.0)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        there = fit_of(cut(crowd, 3), max_iterations=20, tolerance=-1.0, client=client)
    assert there.identical(here)
