"""What must differ does: streams of random numbers, seeds, and the identities of runs."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from bayesagree._inference import checkpoint
from bayesagree._inference.checkpoint import Checkpoint, fingerprint
from bayesagree._inference.storage import Store, Variable
from bayesagree._inference.streams import PURPOSES, block_generator, seed_sequence, stream_apart
from bayesagree.errors import InputError


def test_no_two_streams_of_a_seed_coincide():
    root = seed_sequence(7)
    apart = [np.random.Generator(np.random.SFC64(stream_apart(7, purpose))) for purpose in PURPOSES]
    blocks = [block_generator(root, k) for k in range(100)]
    children = [block_generator(stream_apart(7, purpose), 0) for purpose in PURPOSES]
    first = [rng.integers(2**63) for rng in [*apart, *blocks, *children]]
    assert len(set(first)) == len(first)
    again = np.random.Generator(np.random.SFC64(stream_apart(root, PURPOSES[0])))
    assert again.integers(2**63) == first[0]


def test_a_generator_is_a_seed_and_moves_on():
    words = np.random.default_rng(3).integers(0, 2**32, 8)
    rng = np.random.default_rng(3)
    one, two, other = seed_sequence(rng), seed_sequence(rng), seed_sequence(np.random.default_rng(4))
    assert one.entropy == words[:4].tolist()
    assert two.entropy == words[4:].tolist()
    assert other.entropy != one.entropy


@dataclass
class Data:
    values: Any
    names: Any = ("a",)


def test_fingerprints_tell_data_apart():
    six = np.arange(6, dtype=np.int64)
    ones = np.ones(2, np.float32)
    data = [
        Data(six), Data(six.reshape(2, 3)), Data(six.reshape(3, 2)), Data(six + 1), Data(six.astype(np.int32)),
        Data(ones), Data(ones.view(np.int32)), Data(six, ("b",)), Data(np.array(["a", "b"])),
        Data(np.array(["a", "c"], object)), Data(np.array(["a", "b"], object)), Data([0, 1, 2, 3, 4, 5]),
        Data(np.empty((0, 3))), Data(np.empty((3, 0))),
    ]  # fmt: skip
    assert len({fingerprint(one) for one in data}) == len(data)
    assert fingerprint(Data(six)) == fingerprint(Data(six.copy()))
    assert fingerprint(Data(six.reshape(2, 3).T)) == fingerprint(Data(np.ascontiguousarray(six.reshape(2, 3).T)))


def test_a_run_is_that_of_its_data_settings_seed_and_version(tmp_path, monkeypatch):
    settings = {"draws": 5, "reliability": (0.1, 1.0), "annotations": Data(np.arange(3))}

    def identity(seed=1, **other):
        return Checkpoint(tmp_path / "r.nc", settings | other, seed).identity

    changed = [{"draws": 6}, {"reliability": (0.1,)}, {"annotations": Data(np.arange(4))}, {"more": 1}, {"seed": 2}]
    found = [identity(), *(identity(**one) for one in changed)]
    monkeypatch.setattr(checkpoint, "version", lambda _: "99")
    assert len({*found, identity()}) == len(found) + 1
    Checkpoint(tmp_path / "r.nc", settings, 1).save({"blocks": 1}, now=True)
    monkeypatch.undo()
    with pytest.raises(InputError, match="version was '99' and is"):
        Checkpoint(tmp_path / "r.nc", settings, 1).load()


def test_a_store_that_was_cut_short_while_it_was_created_begins_anew(tmp_path):
    variables = {"x": Variable(("draw", "item"), (2, 130), np.float64)}
    store = Store.at(tmp_path / "r.zarr", 1, model="m")
    assert store.begin(variables) == 0
    store.checkpoint.save({"blocks": 2, "created": True}, now=True)
    assert Store.at(tmp_path / "r.zarr", 1, model="m").begin(variables) == 2
    store.checkpoint.save({"blocks": 2, "created": False}, now=True)
    assert Store.at(tmp_path / "r.zarr", 1, model="m").begin(variables) == 0


def test_runs_on_disk_need_a_whole_number(tmp_path):
    with pytest.raises(InputError, match="needs a whole number"):
        Checkpoint(tmp_path / "r.nc", {}, None)


def test_a_state_is_due_again_soon_after_a_quick_one(tmp_path):
    """A state takes milliseconds: at a twentieth of the time, another is due in less than a second."""
    one = Checkpoint(tmp_path / "r.nc", {}, 1)
    one.save({"blocks": 1})
    assert not one.due
    end = time.monotonic() + 10
    while not one.due and time.monotonic() < end:
        time.sleep(0.01)
    one.save({"blocks": 2})
    assert one.load()["blocks"] == 2
