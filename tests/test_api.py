"""The public surface: documented, typed, and free of what a function must not do."""

import inspect

import pytest

import bayesagree

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
    assert len(set(bayesagree.__all__)) == len(bayesagree.__all__)
    assert all(hasattr(bayesagree, name) for name in bayesagree.__all__)
