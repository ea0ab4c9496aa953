"""Every example in a docstring runs as it is printed; every public name has one."""

import doctest
import importlib
import pkgutil
import re
from importlib.util import find_spec

import pytest

import bayesagree
import studies

STUDIES = [m.name for m in pkgutil.iter_modules(studies.__path__, "studies.")]
INSTALLED = {"inspect": find_spec("inspect_ai"), "mlflow": find_spec("mlflow")}
MODULES = sorted(m.name for m in pkgutil.walk_packages(bayesagree.__path__, "bayesagree.")) + STUDIES
MODULES = [name for name in MODULES if INSTALLED.get(name.removeprefix("bayesagree.integrations."), True)]
ERRORS = {"ConvergenceError", "InputError", "SizeError"}


@pytest.mark.docs
@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    module = importlib.import_module(name)
    names = {n: getattr(bayesagree, n) for n in bayesagree.__all__} | vars(module)
    failed = []
    for case in doctest.DocTestFinder().find(module, extraglobs=names):
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
        report = []
        runner.run(case, out=report.append)
        if runner.failures:
            failed.append("".join(report))
    assert failed == []


def test_every_public_name_is_shown_in_an_example():
    modules = [importlib.import_module(name) for name in MODULES]
    cases = [case for module in modules for case in doctest.DocTestFinder().find(module)]
    shown = "".join(example.source for case in cases for example in case.examples)
    unseen = [n for n in bayesagree.__all__ if n not in ERRORS and not re.search(rf"\b{n}\b", shown)]
    assert unseen == []
