"""ArviZ summarises, extracts and keeps every posterior."""

from pathlib import Path

import arviz as az
import pytest
from _results import results

pytestmark = [
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]
RESULTS = results()


@pytest.mark.parametrize("name", RESULTS)
def test_summary_extract_and_netcdf(name: str, tmp_path: Path) -> None:
    tree = RESULTS[name]()
    posterior = tree["posterior"].to_dataset()
    for group in {"posterior", "sample_stats"} & set(tree.children):
        assert all(values.dims[:2] == ("chain", "draw") for values in tree[group].data_vars.values())
    assert {"model", "inference", "sampler", "seed", "settings"} <= set(tree.attrs)
    table = az.summary(tree)
    assert len(table) == sum(values.isel(chain=0, draw=0).size for values in posterior.values())
    drawn = az.extract(tree)
    assert drawn.sizes["sample"] == posterior.sizes["chain"] * posterior.sizes["draw"]
    tree.to_netcdf(tmp_path / "tree.nc")
    read = az.from_netcdf(tmp_path / "tree.nc")
    assert read["posterior"].to_dataset().equals(posterior)
    assert read.attrs["model"] == tree.attrs["model"]
