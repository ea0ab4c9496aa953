"""`bayesagree doctor`: what it finds, and that it says what is wrong."""

import json
import sys
from functools import partial
from importlib.metadata import PackageNotFoundError, version

import pytest

from bayesagree.cli import doctor


@pytest.fixture
def run(run):
    return partial(run, "doctor")


@pytest.fixture
def healthy(monkeypatch, tmp_path):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "new" / "cache"))
    monkeypatch.delenv("BAYESAGREE_DATA", raising=False)


def test_a_healthy_installation(run, healthy, tmp_path):
    code, out, _ = run("--json")
    found = json.loads(out)
    assert code == 0
    assert found["problems"] == []
    assert found["version"] == version("bayesagree")
    assert found["dependencies"]["numpy"] == version("numpy")
    assert {"pymc", "arviz", "numba", "scikit-learn"} <= found["dependencies"].keys()
    assert "jinja2" not in found["dependencies"]
    assert set(found["extras"]) == {"plot", "report", "scale", "nutpie", "data"}
    assert 1 <= found["threads"]["used"] <= found["threads"]["processors"]
    assert found["cache"] == {"folder": str(tmp_path / "new" / "cache"), "writable": True, "compiled_functions": 0}
    assert found["data"] == {"folder": None, "exists": False, "sets": [], "known": found["data"]["known"]}


def test_the_table_ends_with_the_verdict(run, healthy):
    code, out, _ = run()
    assert code == 0
    assert out.rstrip().endswith("No problem found.")


def test_data_sets_that_are_there_are_named(run, healthy, monkeypatch, tmp_path):
    (tmp_path / "cifar10h").mkdir()
    monkeypatch.setenv("BAYESAGREE_DATA", str(tmp_path))
    assert json.loads(run("--json")[1])["data"]["sets"] == ["cifar10h"]


def test_a_data_folder_that_is_not_there_is_a_problem(run, healthy, monkeypatch):
    monkeypatch.setenv("BAYESAGREE_DATA", "no-such-folder")
    code, _, err = run()
    assert code == 1
    assert "BAYESAGREE_DATA names 'no-such-folder', which is no folder" in " ".join(err.split())


def test_a_cache_that_cannot_be_written_is_a_problem(run, healthy, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file" / "cache"))
    code, out, _ = run("--json")
    assert code == 1
    assert "set NUMBA_CACHE_DIR" in json.loads(out)["problems"][0]


def test_a_missing_dependency_is_a_problem(run, healthy, monkeypatch):
    def without_pymc(name):
        if name == "pymc":
            raise PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(sys.modules[doctor.__module__], "version", without_pymc)
    code, _, err = run()
    assert code == 1
    assert "missing packages: pymc" in err


def test_where_compiled_code_is_kept_by_default(healthy, monkeypatch):
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    module = sys.modules[doctor.__module__]
    assert module._cache()["folder"].endswith("bayesagree")
    monkeypatch.setattr(module.os, "access", lambda path, mode: False)
    assert module._cache()["folder"].endswith("numba")
    assert not module._cache()["writable"]
