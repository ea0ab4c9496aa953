"""Wrong kinds of objects and misspelt names of arguments: every public function names the right ones."""

import inspect
import re
import warnings
from types import NoneType

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from test_api import public_functions

import bayesagree as ba
from bayesagree._inference.arguments import SYNONYMS, _brief, _kinds_of
from bayesagree.annotations import Annotators
from bayesagree.annotations.predictions import Predictions

VOTES = ba.Labels.from_matrix([["a", "b"], ["a", "a"]], annotators=["x", "y"])
RATED = ba.Ratings.from_matrix([[1, 2], [3, 4]], scale=(1, 5))
RANKED = ba.Rankings.from_blocks([[[["a"], ["b"]]]], labels=["a", "b"])
MODELS = Predictions.from_labels({"M": ["a", "b"]}, labels=["a", "b"])
PEOPLE = Annotators.from_table(pd.DataFrame({"annotator": ["x", "y"], "age": [1, 2]}))
THINGS = [
    VOTES, RATED, RANKED, MODELS, PEOPLE, np.ones((2, 2)), pd.DataFrame({"item": [1]}), xr.DataTree(), xr.Dataset(),
    xr.DataArray([1.0]), [["a", "b"]], "votes.csv", None, 3,
]  # fmt: skip


def checked_parameters():
    return [
        pytest.param(function, parameter, kinds, id=f"{name}({parameter})")
        for name, function in public_functions().items()
        for parameter, kinds in _kinds_of(inspect.unwrap(function), inspect.signature(function)).items()
    ]


def blank(kind):
    if kind is NoneType or inspect.isabstract(kind):
        return None if kind is NoneType else {}
    return kind.__new__(kind)


@pytest.mark.parametrize(("function", "parameter", "kinds"), checked_parameters())
def test_wrong_kinds_are_refused_with_the_expected_one(function, parameter, kinds):
    signature = inspect.signature(function)
    others = _kinds_of(inspect.unwrap(function), signature)
    required = [p.name for p in signature.parameters.values() if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
    given = {p: blank(others[p][0]) if p in others else 1 for p in required}
    for thing in THINGS:
        if isinstance(thing, kinds):
            continue
        with pytest.raises(ba.InputError, match=rf"^{function.__name__}\({parameter}=\.\.\.\): expected .*, got "):
            function(**given | {parameter: thing})


def test_every_function_of_annotations_is_checked():
    first = {
        function.__name__: next(iter(inspect.signature(function).parameters), "")
        for function in (getattr(ba, name) for name in ba.__all__) if inspect.isfunction(function)
    }  # fmt: skip
    known = {p.values[0].__name__ for p in checked_parameters()}
    roles = {"labels", "ratings", "rankings", "annotations", "truth", "tree", "predictions", "verdicts"}
    of_arrays = {"concordance", "prediction_powered_mean", "agreement_table", "krippendorff_alpha"}
    assert {name for name, role in first.items() if role in roles} - known - of_arrays == set()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ba.normal_inverse_gamma(RATED, threshold=3), "threshold= is an argument of annotation_certainty"),
        (lambda: ba.common_agreement(RATED, random_state=3), "no argument random_state=; did you mean seed=?"),
        (lambda: ba.dirichlet(VOTES, draw=3), "no argument draw=; did you mean draws=?"),
        (lambda: ba.dirichlet(VOTES, 3), "dirichlet(): too many positional arguments; it takes labels, reliability"),
        (
            lambda: ba.Ratings.from_long(pd.DataFrame(), label="score", scale=(1, 5)),
            "Ratings.from_long() has no argument label=; did you mean rating=?",
        ),
        (lambda: ba.Ratings.from_matrix([[1, 2]]), "'scale'; it takes array, scale, step, items"),
        (lambda: ba.Labels.from_long(pd.DataFrame(), worker="w"), "did you mean annotator=?"),
    ],
)
def test_names_that_nearly_fit(call, message):
    with pytest.raises(TypeError, match=re.escape(message)):
        call()


CONTAINERS = (ba.Labels, ba.Ratings, ba.Rankings, ba.Annotators, ba.Predictions, ba.LabelPatterns, ba.io.RatingPatterns)
CALLED = public_functions() | {
    f"{one.__name__}.{name}": getattr(one, name)
    for one in CONTAINERS for name, method in vars(one).items()
    if isinstance(method, classmethod) and not name.startswith("_")
}  # fmt: skip


@pytest.mark.parametrize("name", CALLED)
def test_a_misspelt_argument_is_named_beside_the_nearest(name):
    call = CALLED[name]
    for parameter in inspect.signature(call).parameters.values():
        argument = parameter.name
        if len(argument) > 2 and parameter.kind is not parameter.VAR_KEYWORD:
            wrong = argument[:1] + "q" + argument[2:]
            with pytest.raises(TypeError) as raised:
                call(**{wrong: 1})
            assert str(raised.value) == f"{call.__qualname__}() has no argument {wrong}=; did you mean {argument}=?"


@pytest.mark.parametrize(
    ("value", "text"), [(np.array(3.5), "3.5"), (np.float32(3.5), "3.5"), ("x" * 99, "'" + "x" * 79), (None, "None")]
)
def test_a_value_is_shown_as_it_is_written(value, text):
    assert _brief(value) == text
    for several in (np.array([3.5]), [3.5], np.zeros((2, 2))):
        assert "3.5" not in _brief(several)


def test_synonyms_are_no_arguments_of_ours_where_they_are_said():
    taken = {p for f in public_functions().values() for p in inspect.signature(f).parameters}
    assert set(SYNONYMS.values()) - taken == set()


GOLD = pd.Series({0: "a", 1: "a"})
SHARES = xr.DataArray(
    [[0.5, 0.5], [1.0, 0.0]], coords={"item": [0, 1], "category": ["a", "b"]}, dims=("item", "category")
)


@pytest.mark.parametrize(
    "use",
    [
        lambda gold: ba.dawid_skene(VOTES, gold=gold, draws=5, tune=5, chains=2, seed=1),
        lambda gold: ba.calibrate(ba.dirichlet(VOTES, draws=5, seed=1), gold, seed=1),
        lambda gold: ba.metrics.hard_label_scores(MODELS, gold),
        lambda gold: ba.plausibility.calibration_scores(
            ba.dirichlet(VOTES, draws=5, seed=1)["posterior"]["plausibility"].mean(("chain", "draw")), gold
        ),
    ],
    ids=["dawid_skene", "calibrate", "hard_label_scores", "calibration_scores"],
)
def test_gold_is_a_series_or_a_mapping(use):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one, other = use(GOLD), use(GOLD.to_dict())
    assert one.identical(other) if hasattr(one, "identical") else one == other
