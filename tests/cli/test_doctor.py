"""`bayesagree doctor`: what it finds, and that it says what is wrong."""

import json
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
    assert found["system"][0]["version"] == version("bayesagree")
    dependencies = {row["package"]: row["version"] for row in found["dependencies"]}
    assert dependencies["numpy"] == version("numpy")
    assert {"pymc", "arviz", "numba", "scikit-learn"} <= dependencies.keys()
    assert "jinja2" not in dependencies
    assert {row["extra"] for row in found["extras"]} == {"plot", "report", "scale", "nutpie", "data"}
    [threads], [data] = found["threads"], found["data"]
    assert 1 <= threads["used"] <= threads["processors"]
    assert found["cache"] == [{"folder": str(tmp_path / "new" / "cache"), "writable": True, "compiled_functions": 0}]
    assert data == {"folder": None, "exists": False, "sets": [], "known": data["known"]}


def test_the_table_ends_with_the_verdict(run, healthy):
    code, out, _ = run()
    assert code == 0
    assert out.rstrip().endswith("No problem found.")


def test_data_sets_that_are_there_are_named(run, healthy, monkeypatch, tmp_path):
    (tmp_path / "cifar10h").mkdir()
    monkeypatch.setenv("BAYESAGREE_DATA", str(tmp_path))
    assert json.loads(run("--json")[1])["data"][0]["sets"] == ["cifar10h"]


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
    assert "set NUMBA_CACHE_DIR" in json.loads(out)["problems"][0]["problem"]


def test_a_missing_dependency_is_a_problem(run, healthy, monkeypatch):
    def without_pymc(name):
        if name == "pymc":
            raise PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(doctor, "version", without_pymc)
    code, _, err = run()
    assert code == 1
    assert "missing packages: pymc" in err


def test_where_compiled_code_is_kept_by_default(healthy, monkeypatch, tmp_path):
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    found = doctor._cache()
    assert found["folder"].endswith("bayesagree")
    assert found["writable"]
    monkeypatch.setattr(doctor, "_chosen_by_numba", lambda: tmp_path / "numba" / "cli_1")
    assert doctor._cache() == {"folder": str(tmp_path / "numba"), "writable": True, "compiled_functions": 0}
    monkeypatch.setattr(doctor, "_chosen_by_numba", lambda: None)
    assert not doctor._cache()["writable"]


def test_without_a_writable_folder_numba_finds_none(monkeypatch):
    def refuse(**options):
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr("numba.njit", refuse)
    assert doctor._chosen_by_numba() is None
