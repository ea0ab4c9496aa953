"""Every public posterior has a PyMC twin, a plain twin in models/, equality tests, a calibration and a notebook.

The table below is the list; a new function that returns a posterior fails here until it stands in it.
"""

import ast
import inspect
import json
import re
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pytest
import xarray as xr

import bayesagree
from bayesagree.plausibility.registry import POSTERIORS as REGISTERED

ROOT = Path(__file__).parents[1]
MODELS = ROOT / "models"
SCRIPTS = sorted(p for p in MODELS.glob("*.py") if not p.name.startswith("_"))


class Twins(NamedTuple):
    """What stands beside a posterior.

    Attributes
    ----------
    pymc
        Function that builds its PyMC model.
    plain
        Scripts in models/.
    equal_to_pymc, equal_to_plain
        Tests that compare the draws: file::test.
    calibration
        Test in tests/calibration.
    """

    pymc: str
    plain: tuple[str, ...]
    equal_to_pymc: str
    equal_to_plain: str
    calibration: str


POSTERIORS = {
    "common_agreement": Twins(
        "bayesagree.agreement.phi.common_agreement_model", ("common_agreement",),
        "agreement/test_model.py::engine=\"nuts\"",
        "agreement/test_phi.py::common_agreement_{item_mean}_{scale}.json",
        "test_phi.py::test_interval_covers_the_truth_in_a_few_cells",
    ),
    "dirichlet": Twins(
        "bayesagree.plausibility.dirichlet.posterior.dirichlet_model", ("dirichlet",),
        "plausibility/dirichlet/test_dirichlet.py::engine=\"nuts\"",
        "plausibility/dirichlet/test_dirichlet.py::dirichlet.json",
        "test_conjugate_posteriors.py::test_dirichlet",
    ),
    "informed_dirichlet": Twins(
        "bayesagree.plausibility.informed.model.informed_dirichlet_model", ("informed_dirichlet", "informed_ordered"),
        "plausibility/informed/test_twins.py::engine=\"nuts\"",
        "plausibility/informed/test_twins.py::informed_dirichlet.json",
        "test_informed.py::test_ranks_of_the_truth_are_uniform",
    ),
    "informed_normal": Twins(
        "bayesagree.plausibility.informed_normal.model.informed_normal_model", ("informed_normal",),
        "plausibility/test_informed_normal.py::engine=\"nuts\"",
        "plausibility/test_informed_normal.py::informed_normal.json",
        "test_informed_normal.py::test_ranks_of_the_truth_are_uniform",
    ),
    "prirn": Twins(
        "bayesagree.plausibility.prirn.model.prirn_model", ("prirn",),
        "plausibility/dirichlet/test_prirn.py::engine=\"nuts\"", "plausibility/dirichlet/test_prirn.py::prirn.json",
        "test_conjugate_posteriors.py::test_prirn_draws_have_their_dirichlet_distribution",
    ),
    "normal_inverse_gamma": Twins(
        "bayesagree.plausibility.normal_inverse_gamma.posterior.normal_inverse_gamma_model", ("normal_inverse_gamma",),
        "plausibility/test_normal_inverse_gamma.py::engine=\"nuts\"",
        "plausibility/test_normal_inverse_gamma.py::normal_inverse_gamma.json",
        "test_conjugate_posteriors.py::test_normal_inverse_gamma",
    ),
    "plackett_luce": Twins(
        "bayesagree.plausibility.plackett_luce.posterior.plackett_luce_model", ("plackett_luce",),
        "plausibility/plackett_luce/test_pymc.py::engine=\"nuts\"",
        "plausibility/plackett_luce/test_plackett_luce.py::plackett_luce.json",
        "test_plackett_luce.py::test_ranks_of_the_truth_are_uniform",
    ),
    "dawid_skene": Twins(
        "bayesagree.plausibility.dawid_skene.model.dawid_skene_model", ("dawid_skene", "mixed_membership"),
        "plausibility/dawid_skene/test_dawid_skene.py::engine=\"nuts\"",
        "plausibility/dawid_skene/test_dawid_skene.py::dawid_skene",
        "test_dawid_skene.py::test_ranks_of_the_truth_are_uniform",
    ),
    "group_dirichlet": Twins(
        "bayesagree.plausibility.group_dirichlet.model.group_dirichlet_model", ("group_dirichlet",),
        "plausibility/group_dirichlet/test_group_dirichlet.py::test_pymc_has_the_same_posterior",
        "plausibility/group_dirichlet/test_group_dirichlet.py::group_dirichlet.json",
        "test_group_dirichlet.py::test_ranks_of_the_truth_are_uniform",
    ),
    "corrected_rate": Twins(
        "bayesagree.judges.model.corrected_rate_model", ("corrected_rate",),
        "judges/test_rate.py::engine=\"nuts\"", "judges/test_rate.py::corrected_rate.json",
        "test_corrected_rate.py::test_intervals_hold_the_rates",
    ),
    "davidson": Twins(
        "bayesagree.comparisons.model.davidson_model", ("davidson",),
        "comparisons/test_davidson.py::engine in (\"hmc\", \"nuts\")", "comparisons/test_davidson.py::davidson.json",
        "test_davidson.py::test_ranks_of_the_truth_are_uniform",
    ),
    "group_posterior": Twins(
        "bayesagree.subjective.group_model.group_performance_model",
        ("group_performance",),
        "subjective/test_group_model.py::\"nuts\"", "subjective/test_group_model.py::group_performance.json",
        "test_group_model.py::test_group_means_are_covered",
    ),
}  # fmt: skip

OTHER_TREES = {
    "auc_posterior": "draws of a statistic given dirichlet or bootstrap weights; plain twin auc_plausible_truth",
    "blind_posterior": "scores against draws of dawid_skene or bootstrap weights",
    "evaluate": "scores against draws of a posterior",
    "calibrate": "draws of a posterior, re-weighted",
    "pool_with_votes": "draws of a posterior, joined with votes",
    "effective_judges": "correlations over a weighted sample of items, truths drawn from gold or a posterior",
    "read_result": "reads a posterior",
}
"""Functions that return a tree and have no model of their own, with the reason."""

EACH = pytest.mark.parametrize("name", POSTERIORS)


def test_every_posterior_is_listed():
    public = {n: getattr(bayesagree, n) for n in bayesagree.__all__}
    trees = {
        n for n, f in public.items() if inspect.isfunction(f) and inspect.signature(f).return_annotation is xr.DataTree
    }
    assert trees - set(POSTERIORS) - set(OTHER_TREES) == set()
    assert set(POSTERIORS) <= trees
    assert set(REGISTERED) <= set(POSTERIORS)


@EACH
def test_pymc_twin(name):
    module, function = POSTERIORS[name].pymc.rsplit(".", 1)
    builder = getattr(import_module(module), function)
    assert "pm.Model" in str(inspect.signature(builder).return_annotation)
    # The model of a divided truth of groups sums out what the function draws.
    assert "engine" in inspect.signature(getattr(bayesagree, name)).parameters or name == "group_dirichlet"


@EACH
def test_plain_twin(name):
    for stem in POSTERIORS[name].plain:
        tree = ast.parse((MODELS / f"{stem}.py").read_text())
        functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert {"data", "main"} <= functions
        assert functions & {"model", "exact"}
        references = list(MODELS.glob(f"{stem}*.json"))
        assert references
        assert all(json.loads(path.read_text())["posterior"] for path in references)


@EACH
def test_draws_are_compared_with_both_twins(name):
    for place in (POSTERIORS[name].equal_to_pymc, POSTERIORS[name].equal_to_plain):
        file, what = place.split("::")
        assert what in (ROOT / "tests" / file).read_text()


@EACH
def test_calibration(name):
    file, test = POSTERIORS[name].calibration.split("::")
    assert f"def {test}(" in (ROOT / "tests" / "calibration" / file).read_text()


@EACH
def test_notebook_shows_it(name):
    sources = "".join(path.read_text() for path in (ROOT / "notebooks").glob("*.ipynb"))
    assert re.search(rf"\b{name}\(", sources)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda p: p.stem)
def test_models_are_independent_and_indexed(script):
    tree = ast.parse(script.read_text())
    imported = {
        name
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [str(node.module)]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert not [name for name in imported if name.startswith("bayesagree")]
    assert ast.get_docstring(tree)
    index = (MODELS / "README.md").read_text()
    assert f"| `{script.stem}` |" in index
    assert "```mermaid\n" in index.split(f"\n## {script.stem}\n")[1].split("\n## ")[0]


@pytest.mark.parametrize("path", sorted(MODELS.glob("*.json")), ids=lambda p: p.stem)
def test_reference_posteriors_passed_their_checks(path):
    record = json.loads(path.read_text())
    assert record["name"] == path.stem
    assert record["route"] in ("exact", "nuts")
    assert all(record.get("checks_made", {}).values()), record.get("checks")
