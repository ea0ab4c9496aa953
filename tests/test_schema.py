"""Groups, variables and dims of every result, against a stored list: a change of them is a change of the interface.

Written anew by ``BAYESAGREE_WRITE_GOLDEN=1 uv run pytest tests/test_schema.py``.
"""

import json
import os

import pytest
import xarray as xr
from _paths import ROOT
from _results import results

GOLDEN = ROOT / "tests" / "golden" / "schema.json"
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
RESULTS = results()
KNOWN_GROUPS = {
    "posterior", "posterior_parameters", "diagnostics", "sample_stats", "constant_data", "derived", "agreement",
    "density", "certainty", "variance", "slices", "annotations_only", "raw", "checks",
}  # fmt: skip


def schema(tree: xr.DataTree) -> dict[str, dict[str, list[str]]]:
    """Return the dims of each variable of each group."""
    return {
        name: {str(variable): list(map(str, values.dims)) for variable, values in sorted(node.data_vars.items())}
        for name, node in sorted(tree.children.items())
    }


@pytest.mark.parametrize("name", RESULTS)
def test_groups_variables_and_dims(name: str) -> None:
    tree = RESULTS[name]()
    found = schema(tree)
    known = json.loads(GOLDEN.read_text()) if GOLDEN.exists() else {}
    if os.environ.get("BAYESAGREE_WRITE_GOLDEN"):
        GOLDEN.write_text(json.dumps(dict(sorted((known | {name: found}).items())), indent=1) + "\n")
        return
    assert found == known[name]
    for group in ("posterior", "sample_stats"):
        assert all(dims[:2] == ["chain", "draw"] for dims in found.get(group, {}).values())
    assert {"model", "inference", "sampler", "seed", "settings"} <= set(tree.attrs)
    first_numbers = next(k for k, line in enumerate(repr(tree).splitlines()) if "Data variables" in line)
    # Five attributes, of which the settings are one line, four titles, at most two lines of sizes, and the names.
    assert first_numbers <= 12 + len(tree["posterior"].coords)


def test_the_list_is_of_these_results() -> None:
    assert sorted(json.loads(GOLDEN.read_text())) == sorted(RESULTS)
