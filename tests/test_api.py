"""The public surface: documented, typed, called alike, and loaded when it is used."""

import ast
import inspect
import pkgutil
import re
from importlib import import_module
from pathlib import Path

import pytest

import bayesagree
from bayesagree.plausibility.registry import POSTERIORS as REGISTERED

ROOT = Path(bayesagree.__file__).parent
PACKAGES = ["bayesagree", *(m.name for m in pkgutil.walk_packages(bayesagree.__path__, "bayesagree.") if m.ispkg)]
FUNCTIONS = [name for name in bayesagree.__all__ if inspect.isfunction(getattr(bayesagree, name))]


@pytest.mark.parametrize("name", bayesagree.__all__)
def test_documented(name):
    doc = inspect.getdoc(getattr(bayesagree, name)) or ""
    assert doc.splitlines()[0].endswith(".")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_typed_and_seeded_by_keyword(name):
    function = getattr(bayesagree, name)
    signature = inspect.signature(function)
    assert signature.return_annotation is not inspect.Signature.empty
    for parameter in signature.parameters.values():
        assert parameter.annotation is not inspect.Parameter.empty, parameter
    for option in ("random_seed", "draws", "chains", "reliability", "engine"):
        if option in signature.parameters:
            assert signature.parameters[option].kind is inspect.Parameter.KEYWORD_ONLY


def test_all_names_exist_once():
    stub = ast.parse((ROOT / "__init__.pyi").read_text())
    listed = next(ast.literal_eval(node.value) for node in stub.body if isinstance(node, ast.Assign))
    assert len(set(listed)) == len(listed)
    assert sorted(listed) == sorted(bayesagree.__all__)
    assert all(hasattr(bayesagree, name) for name in bayesagree.__all__)


@pytest.mark.parametrize("name", PACKAGES)
def test_packages_load_what_their_stub_lists(name):
    package = import_module(name)
    assert all(hasattr(package, exported) for exported in getattr(package, "__all__", ()))


@pytest.mark.parametrize("name", PACKAGES)
def test_no_export_hides_a_module(name):
    package = import_module(name)
    modules = {module.name for module in pkgutil.iter_modules(package.__path__)}
    shadows = {exported for exported in modules & set(dir(package)) if not inspect.ismodule(getattr(package, exported))}
    assert shadows == set()


@pytest.mark.parametrize("name", PACKAGES)
def test_packages_open_with_their_modules(name):
    package = import_module(name)
    modules = {module.name for module in pkgutil.iter_modules(package.__path__)}
    lines = re.findall(r"^- (.*(?:\n  .*)*)", package.__doc__, re.MULTILINE)
    if name not in ("bayesagree.plots", "bayesagree.cli"):  # these list their figures and commands
        assert modules - set(re.findall(r"`(\w+)`", "\n".join(lines))) == set()


POSTERIORS = ("common_agreement", "group_posterior", *REGISTERED)


@pytest.mark.parametrize("name", POSTERIORS)
def test_posteriors_are_called_alike(name):
    parameters = inspect.signature(getattr(bayesagree, name)).parameters
    defaults = {option: parameters[option].default for option in ("draws", "chains", "random_seed")}
    assert defaults == {"draws": 1000, "chains": 4, "random_seed": None}
    first = next(iter(parameters.values()))
    assert first.name in ("labels", "rankings", "ratings")
