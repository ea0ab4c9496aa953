"""Two worker processes, or a run that is killed and goes on: the draws are those of one process, to the last bit."""

import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import xarray as xr
from _paths import ROOT

from bayesagree import (
    InputError,
    Labels,
    Predictions,
    Ratings,
    annotation_certainty,
    dawid_skene,
    dirichlet,
    evaluate,
    normal_inverse_gamma,
    plackett_luce,
    prirn,
)
from bayesagree._inference.streams import map_blocks
from bayesagree.datasets import load
from bayesagree.datasets.simulate import labelled_test_set, noisy_models
from bayesagree.io.files import read_result, write_result
from bayesagree.metrics import top_k_accuracy
from studies.auc_simulation import auc_study

pytestmark = [pytest.mark.filterwarnings("ignore:.*items have not converged"), pytest.mark.cluster]
FEW = {"draws": 20, "chains": 2, "seed": 3}


@pytest.fixture(scope="module")
def client():
    from distributed import Client, LocalCluster

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with LocalCluster(**options) as cluster, Client(cluster) as connected:
        yield connected


@pytest.fixture(scope="module")
def ddx(public_data):
    dataset = load("derm-ddx")
    return dataset.annotations, noisy_models(dataset.annotations, n_models=2, seed=1)


@pytest.fixture(scope="module")
def pictures(public_data):
    """Give the labels of the first 300 pictures of CIFAR-10H, as counts and by annotator."""
    labels = load("cifar10h").annotations
    kept = labels.item_index < 300
    index = {name: getattr(labels, name)[kept] for name in ("item_index", "label_index", "count")}
    if labels.annotators.size:
        used, who = np.unique(labels.annotator_index[kept], return_inverse=True)
        index |= {"annotators": labels.annotators[used], "annotator_index": who.astype(np.int32)}
    return replace(labels, items=labels.items[:300], **index)


@pytest.fixture(scope="module")
def crowd():
    return labelled_test_set(n_items=700, seed=3)


# The same draws


@pytest.mark.parametrize("plausibility", ["prirn", "plackett_luce"])
def test_derm_ddx(client, ddx, plausibility):
    metrics = ("top_1_accuracy", "average_overlap_3")
    here, there = (
        evaluate(*ddx, plausibility=plausibility, metrics=metrics, reliability=(1, 2), client=c, **FEW)
        for c in (None, client)
    )
    assert there.identical(here)


def test_cifar10h(client, pictures):
    models = noisy_models(pictures, n_models=2, seed=1)
    for options in ({}, {"items": "bootstrap"}):
        here, there = (evaluate(pictures, models, client=c, **options, **FEW) for c in (None, client))
        assert there.identical(here)
    assert dirichlet(pictures, client=client, **FEW).identical(dirichlet(pictures, **FEW))


@pytest.mark.parametrize("options", [{"engine": "em", "restarts": 3, "seed": 1}, {"tune": 20, **FEW}])
def test_dawid_skene(client, crowd, options):
    assert dawid_skene(crowd.labels, client=client, **options).identical(dawid_skene(crowd.labels, **options))


def test_plausibilities_and_certainty(client, ddx):
    for posterior in (prirn, plackett_luce):
        here, there = (posterior(ddx[0], top_labels=2, client=c, **FEW) for c in (None, client))
        assert there.identical(here)
        for k in (1, 2):
            assert annotation_certainty(here, k=k, client=client).identical(annotation_certainty(here, k=k))
    ratings = Ratings.from_matrix(np.random.default_rng(1).integers(1, 6, (150, 4)), scale=(1, 5), step=1)
    here, there = (normal_inverse_gamma(ratings, client=c, **FEW) for c in (None, client))
    assert there.identical(here)


def test_simulation_study(client):
    grid = {
        "cases": ["good"],
        "labels_per_item": [3],
        "labels_per_annotator": [5],
        "runs": 12,
        "n_items": 80,
        "seed": 0,
    }
    assert auc_study(**grid, n_models=6, client=client).identical(auc_study(**grid, n_models=6))


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
        evaluate(labels, models, client=client, seed=1, progress=_refuse)
    with pytest.raises(InputError, match=r"client='tcp://here' is not a Dask client: install the extra scale"):
        evaluate(labels, models, client="tcp://here", seed=1)
    with pytest.raises(InputError, match="not for engine='nuts'"):
        dirichlet(labels, engine="nuts", client=client)


def _refuse(n_items):
    raise InputError("kill=yes")


# Runs that were killed

KILLED_RUN = """
import os, signal, sys
from bayesagree import evaluate, plackett_luce
from bayesagree._inference.storage import Store
from bayesagree.datasets.simulate import labelled_test_set
from inference.test_cluster import ARGUMENTS, rankings_of

seen = []
def kill(*_):
    seen.append(1)
    if len(seen) == 7:
        os.kill(os.getpid(), signal.SIGKILL)

crowd = labelled_test_set(n_items=700, seed=3)
if sys.argv[1] == "evaluate":
    evaluate(crowd.labels, crowd.predictions, to=sys.argv[2], progress=kill, **ARGUMENTS)
else:
    done = Store.done
    Store.done = lambda self, blocks: (done(self, blocks), kill())
    plackett_luce(rankings_of(crowd.labels), to=sys.argv[2], top_labels=2, draws=20, chains=2, seed=5)
"""
ARGUMENTS = {"reliability": (0.5, 2), "items": "bootstrap", "metrics": ("top_1_accuracy", "overlap_2"), **FEW}


def rankings_of(labels):
    """Read every item's labels as rankings of one label."""
    from bayesagree import Rankings

    cases = [
        [[[labels.categories[k]]] for k in labels.label_index[labels.item_index == i]] for i in range(labels.items.size)
    ]
    return Rankings.from_blocks(cases, labels=labels.categories.tolist())


def killed(what, path):
    here = str(ROOT / "tests")
    code = f"import sys; sys.path.insert(0, {here!r})\n{KILLED_RUN}"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code, what, str(path)], check=False)
    assert done.returncode == -signal.SIGKILL
    return path.with_name(path.name + ".run")


@pytest.mark.parametrize("name", ["scores.zarr", "scores.nc"])
def test_an_evaluation_goes_on_after_a_kill(crowd, tmp_path, name):
    path, done = tmp_path / name, []
    state = killed("evaluate", path)
    assert state.exists()
    tree = evaluate(crowd.labels, crowd.predictions, to=path, progress=done.append, **ARGUMENTS)
    assert done[0] >= 64, "it starts with what is done"
    assert sum(done) == 2 * 700
    alone = evaluate(crowd.labels, crowd.predictions, **ARGUMENTS)
    for group in ("posterior", "variance", "certainty"):
        assert tree[group].to_dataset().identical(alone[group].to_dataset())
    assert [p.name for p in tmp_path.iterdir()] == [name]
    again = evaluate(crowd.labels, crowd.predictions, to=path, progress=done.append, **ARGUMENTS)
    assert sum(done) == 2 * 700, "a finished result is read"
    assert again.identical(read_result(path))
    assert again["posterior"].to_dataset().equals(alone["posterior"].to_dataset())


def test_draws_go_on_after_a_kill(crowd, tmp_path):
    path = tmp_path / "draws.zarr"
    state = killed("draws", path)
    assert 0 < np.load(state)["blocks"] < 11
    rankings = rankings_of(crowd.labels)
    options = {"top_labels": 2, "draws": 20, "chains": 2, "seed": 5}
    tree, alone = plackett_luce(rankings, to=path, **options), plackett_luce(rankings, **options)
    assert not state.exists()
    for stored in (tree, plackett_luce(rankings, to=path, **options), read_result(path)):
        for group in ("posterior", "diagnostics", "constant_data"):
            assert stored[group].to_dataset().equals(alone[group].to_dataset())
    assert annotation_certainty(tree).identical(annotation_certainty(alone))


def test_draws_on_disk_with_a_cluster(client, crowd, tmp_path):
    path = tmp_path / "draws.zarr"
    tree, alone = dirichlet(crowd.labels, to=path, client=client, **FEW), dirichlet(crowd.labels, **FEW)
    assert tree["posterior"].to_dataset().equals(alone["posterior"].to_dataset())
    assert annotation_certainty(tree, client=client).identical(annotation_certainty(alone))
    ratings = Ratings.from_matrix(np.random.default_rng(1).integers(1, 6, (150, 4)), scale=(1, 5), step=1)
    tree = normal_inverse_gamma(ratings, to=tmp_path / "ratings.zarr", client=client, **FEW)
    assert tree["posterior"].to_dataset().equals(normal_inverse_gamma(ratings, **FEW)["posterior"].to_dataset())


@pytest.mark.parametrize("top_labels", [None, 2])
def test_draws_as_dask_arrays(client, crowd, tmp_path, top_labels):
    alone = dirichlet(crowd.labels, top_labels=top_labels, **FEW)
    dirichlet(crowd.labels, to=tmp_path / "draws.zarr", top_labels=top_labels, **FEW)
    tree = xr.open_datatree(tmp_path / "draws.zarr", engine="zarr", consolidated=False, chunks={})
    for where in (None, client):
        assert annotation_certainty(tree, k=2, client=where).identical(annotation_certainty(alone, k=2))
    assert top_k_accuracy(tree, crowd.predictions).equals(top_k_accuracy(alone, crowd.predictions))


def test_draws_on_disk_may_be_larger_than_the_memory_allowed(crowd, tmp_path):
    tree = dirichlet(crowd.labels, to=tmp_path / "draws.zarr", max_bytes=30_000, **FEW)
    assert tree["posterior"]["plausibility"].nbytes > 30_000


def test_a_file_belongs_to_one_run(crowd, tmp_path):
    path = tmp_path / "scores.nc"
    evaluate(crowd.labels, crowd.predictions, to=path, **FEW)
    other = replace(crowd.predictions, models=np.array(["X", "Y", "Z"]))
    for arguments, message in (
        ((crowd.predictions, FEW | {"seed": 4}), "seed was 3 and is 4"),
        ((crowd.predictions, FEW | {"draws": 21}), "draws was 20 and is 21"),
        ((other, FEW), "predictions was"),
    ):
        with pytest.raises(InputError, match=f"belongs to another run.*{message}"):
            evaluate(crowd.labels, arguments[0], to=path, **arguments[1])
    draws = tmp_path / "draws.zarr"
    dirichlet(crowd.labels, to=draws, **FEW)
    with pytest.raises(InputError, match=r"belongs to another run.*reliability was 1.0 and is 2"):
        dirichlet(crowd.labels, to=draws, reliability=2, **FEW)
    (tmp_path / "mine.nc").write_text("something else")
    with pytest.raises(InputError, match="not a whole result"):
        evaluate(crowd.labels, crowd.predictions, to=tmp_path / "mine.nc", **FEW)
    (tmp_path / "folder.zarr").mkdir()
    with pytest.raises(InputError, match="exists and is not a result"):
        dirichlet(crowd.labels, to=tmp_path / "folder.zarr", **FEW)
    write_result(evaluate(crowd.labels, crowd.predictions, **FEW), tmp_path / "theirs.zarr")
    with pytest.raises(InputError, match="exists and is of no such run"):
        evaluate(crowd.labels, crowd.predictions, to=tmp_path / "theirs.zarr", **FEW)
    with pytest.raises(InputError, match="results are written as"):
        evaluate(crowd.labels, crowd.predictions, to=tmp_path / "scores.txt", **FEW)


def test_a_state_without_its_store_starts_anew(crowd, tmp_path):
    path = tmp_path / "draws.zarr"
    killed("draws", path)
    shutil.rmtree(path)
    rankings, options = rankings_of(crowd.labels), {"top_labels": 2, "draws": 20, "chains": 2, "seed": 5}
    tree = plackett_luce(rankings, to=path, **options)
    assert tree["posterior"].to_dataset().equals(plackett_luce(rankings, **options)["posterior"].to_dataset())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"to": "draws.nc", "seed": 1}, "name one"),
        ({"to": "draws.zarr"}, "seed=None: a run kept on disk needs a whole number"),
        ({"to": "draws.zarr", "seed": 1, "engine": "nuts"}, "not for engine='nuts'"),
    ],
)
def test_what_cannot_be_kept(crowd, tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=message):
        dirichlet(crowd.labels, **options)


def test_without_zarr_the_extra_is_named(crowd, tmp_path, monkeypatch):
    monkeypatch.setattr("bayesagree._inference.storage.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"needs zarr: install the extra scale \(pip install 'bayesagree\[scale\]'\)"):
        dirichlet(crowd.labels, to=tmp_path / "draws.zarr", seed=1)


def test_warnings_of_workers_are_given_here(client):
    with pytest.warns(UserWarning, match="of a worker"):
        assert list(map_blocks(partial(_noted, "of a worker"), [1, 2], client)) == [1, 2]


def _noted(message, block):
    from bayesagree.errors import warn

    warn(message)
    return block
