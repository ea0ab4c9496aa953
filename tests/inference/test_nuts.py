"""What `pymc.sample` is asked for: nothing printed, the user's numbers, seeds that follow from one."""

import numpy as np
import pymc as pm
import pytest
import xarray as xr

from bayesagree._inference.nuts import OURS, sample_nuts
from bayesagree.errors import InputError


@pytest.fixture
def asked(monkeypatch):
    """Arguments of `pymc.sample`, which draws nothing here: a model takes seconds to compile."""
    calls = []

    def sample(draws, **options):
        calls.append({"draws": draws, "model": pm.modelcontext(None)} | options)
        drawn = xr.Dataset({"x": (("chain", "draw"), np.zeros((1, 1)))})
        drawn.attrs = {"inference_library": "pymc", "inference_library_version": "0"}
        return xr.DataTree.from_dict({"posterior": drawn})

    monkeypatch.setattr(pm, "sample", sample)
    return calls


def test_arguments_of_the_sampler(asked, monkeypatch):
    monkeypatch.setattr("bayesagree._inference.nuts.n_threads", lambda: 2)
    model = pm.Model()
    tree = sample_nuts(model, draws=7, chains=3, seed=5, recorded=["x"])
    sample_nuts(model, draws=7, chains=3, seed=5, tune=11, sampler={"target_accept": 0.9, "cores": 1, "quiet": False})
    assert tree.attrs["sampler"] == "pymc 0"
    first, other = asked
    assert first["model"] is model
    assert {name: first[name] for name in ("draws", "chains", "progressbar", "quiet", "nuts_sampler", "var_names")} == {
        "draws": 7, "chains": 3, "progressbar": False, "quiet": True, "nuts_sampler": "pymc", "var_names": ["x"],
    }  # fmt: skip
    assert first["cores"] == 2
    assert "tune" not in first
    assert (other["tune"], other["target_accept"], other["cores"], other["quiet"]) == (11, 0.9, 1, False)
    assert first["random_seed"] == other["random_seed"]
    assert len(set(first["random_seed"])) == 3


@pytest.mark.parametrize("name", OURS)
def test_arguments_of_our_own_are_refused(name, asked):
    with pytest.raises(InputError, match=f"{name} is an argument of its own"):
        sample_nuts(pm.Model(), draws=1, chains=1, seed=1, sampler={name: 1})
    assert asked == []
