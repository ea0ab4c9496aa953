"""Same seed, same digits: no compiled function depends on which other function had it compiled.

numba compiles a callee with the ``fastmath`` and the ``error_model`` of its first caller unless the callee sets its
own, and keeps that version in its cache: draws then depend on the order of calls in the process that filled it.
"""

import importlib
import pkgutil

import pytest
from numba.core.registry import CPUDispatcher

import bayesagree


def compiled_functions():
    for module in pkgutil.walk_packages(bayesagree.__path__, "bayesagree."):
        if not module.name.startswith("bayesagree.integrations") and not module.name.endswith("__main__"):
            yield from (f for f in vars(importlib.import_module(module.name)).values() if isinstance(f, CPUDispatcher))


def names_in(code):
    return {
        *code.co_names,
        *(name for inner in code.co_consts if hasattr(inner, "co_names") for name in names_in(inner)),
    }


def undecided(function):
    """Yield what each callee of a function would take from it: the callee, and the option."""
    for name in sorted(names_in(function.py_func.__code__)):
        callee = function.py_func.__globals__.get(name)
        if isinstance(callee, CPUDispatcher) and callee.targetoptions.get("inline") != "always":
            for option in {"fastmath", "error_model"} & function.targetoptions.keys() - callee.targetoptions.keys():
                yield name, option


def test_callees_of_functions_with_options_set_their_own():
    functions = {id(f): f for f in compiled_functions()}.values()
    assert functions
    assert {f.py_func.__name__: found for f in functions if (found := list(undecided(f)))} == {}


def test_a_callee_without_its_own_options_is_found():
    import numba

    callee = numba.njit(lambda x: x * x + 1.0)
    scope = {"callee": callee, "numba": numba}
    exec("caller = numba.njit(fastmath={'contract'})(lambda x: callee(x))", scope)
    assert list(undecided(scope["caller"])) == [("callee", "fastmath")]
    assert pytest.approx(5.0) == scope["caller"](2.0)
