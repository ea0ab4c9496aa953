"""`bayesagree doctor`: what it finds, and that it says what is wrong."""

from importlib.metadata import PackageNotFoundError, version

import pytest

from bayesagree.cli import doctor


@pytest.fixture(autouse=True)
def healthy(monkeypatch):
    monkeypatch.delenv("BAYESAGREE_DATA", raising=False)


def test_a_healthy_installation(document):
    found = document("doctor")
    assert found["problems"] == []
    assert found["notes"][-1] == "No problem found."
    system = {row["what"]: row["value"] for row in found["system"]}
    assert system["version"] == version("bayesagree")
    assert 1 <= system["threads"] <= system["processors"]
    dependencies = {row["package"]: row["version"] for row in found["dependencies"]}
    assert dependencies["numpy"] == version("numpy")
    assert {"pymc", "arviz", "numba", "scikit-learn"} <= dependencies.keys()
    assert "jinja2" not in dependencies


def test_a_data_folder_that_is_not_there_is_a_problem(run, monkeypatch):
    monkeypatch.setenv("BAYESAGREE_DATA", "no-such-folder")
    code, out, _ = run("doctor")
    assert code == 1
    assert "BAYESAGREE_DATA names 'no-such-folder', which is no folder" in " ".join(out.split())


def test_a_cache_that_cannot_be_written_is_a_problem(run, monkeypatch):
    def refuse(**options):
        raise RuntimeError("cannot cache function: no locator available")

    monkeypatch.setattr("numba.njit", refuse)
    code, out, _ = run("doctor")
    assert code == 1
    assert "set NUMBA_CACHE_DIR" in " ".join(out.split())


def test_a_missing_dependency_is_a_problem(run, monkeypatch):
    def without_pymc(name):
        if name == "pymc":
            raise PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(doctor, "version", without_pymc)
    code, out, _ = run("doctor")
    assert code == 1
    assert "missing packages: pymc" in out
