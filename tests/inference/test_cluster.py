"""Two worker processes, also dying ones: the draws are those of one process, to the last bit."""

import os
import signal
from functools import partial

import numpy as np
import pytest

from bayesagree import (
    InputError,
    Labels,
    Predictions,
    Ratings,
    annotation_certainty,
    dirichlet,
    evaluate,
    normal_inverse_gamma,
    plackett_luce,
    prirn,
)
from bayesagree.datasets import load
from bayesagree.datasets.simulate import labelled_test_set
from bayesagree.inference.streams import map_blocks
from studies.systems import noisy_models

pytestmark = pytest.mark.cluster
FEW = {"draws": 20, "chains": 2, "random_seed": 3}


@pytest.fixture(scope="module")
def client():
    from distributed import Client, LocalCluster

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with LocalCluster(**options) as cluster, Client(cluster) as connected:
        yield connected


@pytest.fixture(scope="module")
def ddx(public_data):
    dataset = load("derm-ddx")
    return dataset.annotations, noisy_models(dataset.annotations, n_models=2, random_seed=1)


@pytest.fixture(scope="module")
def pictures(public_data):
    """Give the labels of the first 300 pictures of CIFAR-10H."""
    labels = load("cifar10h").annotations
    return labels.select(labels.item_index < 300)


@pytest.fixture(scope="module")
def crowd():
    return labelled_test_set(n_items=700, random_seed=3)


@pytest.mark.parametrize("plausibility", ["prirn", "plackett_luce"])
def test_derm_ddx(client, ddx, plausibility):
    metrics = ("accuracy", "average_overlap_3")
    here, there = (
        evaluate(*ddx, plausibility=plausibility, metrics=metrics, reliability=(1, 2), client=c, **FEW)
        for c in (None, client)
    )
    assert there.identical(here)


def test_cifar10h(client, pictures):
    models = noisy_models(pictures, n_models=2, random_seed=1)
    for options in ({}, {"items": "bootstrap"}):
        here, there = (evaluate(pictures, models, client=c, **options, **FEW) for c in (None, client))
        assert there.identical(here)
    assert dirichlet(pictures, client=client, **FEW).identical(dirichlet(pictures, **FEW))


def test_plausibilities_and_certainty(client, ddx):
    for posterior in (prirn, plackett_luce):
        here, there = (posterior(ddx[0], top_labels=2, client=c, **FEW) for c in (None, client))
        assert there.identical(here)
        for k in (1, 2):
            assert annotation_certainty(here, k=k, client=client).identical(annotation_certainty(here, k=k))
    ratings = Ratings.from_matrix(np.random.default_rng(1).integers(1, 6, (150, 4)), scale=(1, 5), step=1)
    here, there = (normal_inverse_gamma(ratings, client=c, **FEW) for c in (None, client))
    assert there.identical(here)


@pytest.mark.parametrize("deaths", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_workers_die_in_the_middle(client, ddx, deaths):
    """Also all of them: what they were sent is sent again."""
    before, seen = sorted(client.run(os.getpid).values()), []

    def kill(n_items):
        seen.append(n_items)
        if len(seen) == 5:
            for pid in before[:deaths]:
                os.kill(pid, signal.SIGKILL)

    options = {"plausibility": "plackett_luce", **FEW}
    there = evaluate(*ddx, client=client, progress=kill, **options)
    assert there.identical(evaluate(*ddx, **options))
    client.wait_for_workers(2, timeout=120)
    assert not set(before[:deaths]) & set(client.run(os.getpid).values())


def test_errors_of_the_worker_arrive(client):
    labels = Labels.from_counts(np.ones((200, 2), int))
    models = Predictions.from_labels({"A": [0] * 200}, labels=[0, 1])
    with pytest.raises(InputError, match="kill=yes"):
        evaluate(labels, models, client=client, random_seed=1, progress=_refuse)
    with pytest.raises(InputError, match=r"client='tcp://here' is not a Dask client: install the extra scale"):
        evaluate(labels, models, client="tcp://here", random_seed=1)


def test_draws_as_dask_arrays(client, crowd):
    """A result whose arrays are read when they are used, as `xarray.open_datatree(..., chunks={})` gives them."""
    alone = dirichlet(crowd.labels, **FEW)
    tree = alone.chunk({"item": 64})
    for where in (None, client):
        assert annotation_certainty(tree, k=2, client=where).identical(annotation_certainty(alone, k=2))


def _refuse(n_items):
    raise InputError("kill=yes")


def test_warnings_of_workers_are_given_here(client):
    with pytest.warns(UserWarning, match="of a worker"):
        assert list(map_blocks(partial(_noted, "of a worker"), [1, 2], client)) == [1, 2]


def _noted(message, block):
    from bayesagree.errors import warn

    warn(message)
    return block
