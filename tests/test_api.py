"""The public surface: documented, typed, called alike, and loaded when it is used."""

import ast
import inspect
import itertools
import pkgutil
import re
from importlib import import_module
from pathlib import Path
from typing import get_args

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
    for option in ("seed", "draws", "chains", "reliability", "engine"):
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


# How a result is drawn and kept comes last and in this order; what the model is comes before it.
ORDER = [
    "draws",
    "chains",
    "tune",
    "thin",
    "seed",
    "engine",
    "sampler",
    "top_labels",
    "max_bytes",
    "client",
    "to",
    "progress",
]
# A check refits or evaluates the model for every draw: it takes fewer of them.
CHECKS = (
    "independence_check",
    "integrated_log_likelihood",
    "prior_predictive",
    "prior_sensitivity",
    "with_log_likelihood",
)
DEFAULTS = {"draws": 1000, "chains": 4, "seed": None, "ci_prob": 0.95, "top_labels": None, "client": None, "to": None}


def public_functions():
    """Return every function that a package exports, by the name of its first package and its own."""
    found = {}
    for name in PACKAGES:
        package = import_module(name)
        for exported in getattr(package, "__all__", ()):
            thing = getattr(package, exported)
            if inspect.isfunction(thing):
                found.setdefault(thing, f"{name.removeprefix('bayesagree.')}.{exported}")
    return {name: function for function, name in found.items()}


@pytest.mark.parametrize(("name", "function"), public_functions().items())
def test_shared_parameters_have_one_order_and_one_default(name, function):
    parameters = inspect.signature(function).parameters
    shared = [parameter for parameter in parameters if parameter in ORDER]
    assert shared == sorted(shared, key=ORDER.index)
    defaults = {p: parameters[p].default for p in DEFAULTS if p in parameters}
    given = {p: d for p, d in defaults.items() if d is not inspect.Parameter.empty}
    expected = DEFAULTS | ({"draws": 250} if function.__name__ in CHECKS else {})
    assert given == {p: expected[p] for p in given}
    assert all(parameters[p].kind is inspect.Parameter.KEYWORD_ONLY for p in given)


def test_ties_have_one_vocabulary():
    """In `comparisons` a tie is an outcome, and ``ties=`` says whose rate it has."""
    rules = {"split", "full", "first", "random", "redrawn", "exclude"}
    for name, function in public_functions().items():
        kind = inspect.signature(function).parameters.get("ties")
        if kind is not None and not function.__module__.startswith("bayesagree.comparisons"):
            assert set(get_args(getattr(kind.annotation, "__value__", kind.annotation))) <= rules, name


def test_no_two_parameters_change_places():
    before = {}
    for name, function in public_functions().items():
        options = [p.name for p in inspect.signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY]
        # Generators name what they simulate in the order of their own papers.
        if name.split(".")[0] not in ("datasets", "plots"):
            before |= {pair: name for pair in itertools.combinations(options, 2)}
    assert {pair: (name, before[pair[::-1]]) for pair, name in before.items() if pair[::-1] in before} == {}


POSTERIORS = ("common_agreement", "group_posterior", *REGISTERED)
MODELS = {name: f"{name}_model" for name in POSTERIORS if name != "group_posterior"}


@pytest.mark.parametrize("name", POSTERIORS)
def test_posteriors_are_called_alike(name):
    parameters = inspect.signature(getattr(bayesagree, name)).parameters
    defaults = {option: parameters[option].default for option in ("draws", "chains", "seed")}
    assert defaults == {"draws": 1000, "chains": 4, "seed": None}
    assert parameters["engine"].kind is inspect.Parameter.KEYWORD_ONLY
    first = next(iter(parameters.values()))
    assert first.name in ("labels", "rankings", "ratings")


OWN_PARTS = {
    "common_agreement": {"phi", "mean", "precision", "collapsed"},
    "dirichlet": {"plausibility"},
    "dawid_skene": {"prevalence", "confusion"},
    "informed_dirichlet": {"log_mean"},
    "informed_normal": {"mean"},
    "plackett_luce": {"worth"},
    "normal_inverse_gamma": {"mean", "variance"},
}
"""Parts of a model that a user puts in place of ours."""


@pytest.mark.parametrize("name", MODELS)
def test_models_take_the_prior_of_their_posterior(name):
    """What changes the posterior changes the PyMC model: all but how it is drawn and kept."""
    drawing = {*ORDER, "keep_item_means", "candidates", "restarts", "confusion", "ci_prob"}
    drawing |= {"tolerance", "max_iterations", "folder"}  # of EM
    if name == "dawid_skene":
        drawing.add("predictions")  # for engine="em" alone
    posterior = inspect.signature(getattr(bayesagree, name)).parameters
    model = inspect.signature(getattr(bayesagree, MODELS[name])).parameters
    only_in_model = OWN_PARTS.get(name, set())
    assert set(posterior) - drawing == set(model) - only_in_model
    # Averages are of two models; the PyMC model is one of them.
    apart = only_in_model | ({"likelihood"} if name == "common_agreement" else set())
    apart |= {"variant"} if name == "dawid_skene" else set()
    assert all(model[option].default == posterior[option].default for option in set(model) - apart)
