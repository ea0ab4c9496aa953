"""Every public function with odd data and odd arguments: a sentence or an answer, no traceback of a library below.

Odd data: one item, one annotator, one label, no annotation, unanimity, huge counts, items without votes. Odd arguments:
None, zero, negative, NaN, infinite, huge, text, an empty list, an object, in place of each argument with a default.
"""

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
from test_api import public_functions

import bayesagree as ba
from bayesagree._inference.arguments import _kinds_of
from bayesagree.annotations import Annotators

QUIET = {"draws": 8, "chains": 2, "seed": 1, "replicates": 2, "tune": 4, "bootstrap": 8, "samples": 8, "sweeps": 4}
"""Small sizes, so that thousands of calls take minutes."""
AWAY = ("assert_better", "plots.", "datasets.", "simulate.", "read_", "io.", "_model", "report.write", "write_")
"""Figures and files have tests of their own, _model builds PyMC models, assert_better raises AssertionError by rule."""
ODD = [
    None, 0, -1, 1, 1.5, float("nan"), float("inf"), 10**12, "nonsense", "", [], {}, object(), ["a", None], True,
    np.array([0.2, 0.8]), np.ones((1, 2, 2)), np.empty((0, 2)), np.array([["a", "b"]]),
]  # fmt: skip


def labels_of(rows, **options):
    return ba.Labels.from_matrix(rows, **options)


def worlds():
    label_sets = {
        "usual": labels_of([["a", "b", "a"], ["b", "b", None], ["c", "a", "c"], ["a", "a", "a"], ["b", "c", "b"]] * 4),
        "one item": labels_of([["a", "b", "a"]]),
        "one annotator": labels_of([["a"], ["b"], ["a"]]),
        "one annotation": labels_of([["a"]], labels=["a", "b"]),
        "one label": labels_of([["a", "a"], ["a", "a"]]),
        "unanimous": labels_of([["a"] * 3, ["b"] * 3]),
        "huge counts": ba.Labels.from_counts([[10**9, 1], [3, 10**9]], labels=["a", "b"]),
        "no votes on an item": ba.Labels.from_counts([[0, 0], [3, 1]], labels=["a", "b"]),
    }
    for name, labels in label_sets.items():
        yield name, labels
    rating_sets = {
        "usual ratings": np.random.default_rng(1).integers(1, 6, (12, 3)),
        "one rating": [[3]],
        "one rated item": [[1, 5, 3]],
        "one rater": [[1], [5], [3]],
        "equal ratings": [[3] * 4, [3] * 4],
        "ratings at an end": [[5] * 4, [5] * 4],
    }
    for name, rows in rating_sets.items():
        yield name, ba.Ratings.from_matrix(np.asarray(rows, float), scale=(1, 5), step=1)
    blocks = {
        "usual rankings": [[[[0], [1, 2]], [[1]]], [[[2], [0]], [[2]]], [[[0]], [[0], [1]]]] * 3,
        "one ranking": [[[[0], [1]]]],
        "all labels tied": [[[[0, 1, 2]]]],
    }
    for name, cases in blocks.items():
        yield name, ba.Rankings.from_blocks(cases, labels=3)


WORLDS = dict(worlds())


def predictions_for(given):
    rng = np.random.default_rng(2)
    items = given.items.tolist()
    if isinstance(given, ba.Ratings):
        values = {m: dict(zip(items, rng.uniform(1, 5, len(items)).tolist())) for m in "AB"}
        return ba.Predictions.from_labels({m: pd.Series(v) for m, v in values.items()})
    labels = given.categories.tolist()
    scores = {m: pd.DataFrame(rng.dirichlet(np.ones(len(labels)), len(items)), items, labels) for m in "AB"}
    return ba.Predictions.from_scores(scores, labels=labels)


def quietly(function, **given):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)
        return function(**given)


class World:
    """Arguments that fit one set of annotations."""

    def __init__(self, name):
        self.given = WORLDS[name]
        self.models = predictions_for(self.given)
        who = self.given.annotators.tolist()
        self.people = Annotators.from_table(
            pd.DataFrame({"annotator": who, "age": ["old" if k % 2 else "young" for k in range(len(who))]})
        ) if who else None  # fmt: skip
        self.trees = []
        for make in (
            lambda: ba.evaluate(self.given, self.models, draws=8, chains=2, seed=1),
            lambda: ba.dirichlet(self.given, draws=8, chains=2, seed=1),
            lambda: ba.dawid_skene(self.given, draws=8, chains=2, seed=1),
            lambda: ba.common_agreement(self.given, seed=1),
            lambda: ba.group_posterior(self.given, self.models, self.people, by="age", draws=8, chains=2, seed=1),
            lambda: ba.normal_inverse_gamma(self.given, draws=8, chains=2, seed=1),
            lambda: ba.plackett_luce(self.given, draws=8, chains=2, seed=1),
            lambda: ba.corrected_rate(self.given, self.given, positive="a", draws=8, chains=2, seed=1),
        ):
            try:
                self.trees.append(quietly(make))
            except (ba.InputError, TypeError):
                continue

    def value(self, parameter, kinds):
        """Give what fits a parameter, as a list of candidates; none where nothing does."""
        name = parameter.name
        items = self.given.items.tolist()
        labels = getattr(self.given, "categories", np.array(["a"])).tolist()
        known = {
            "n": [1, 2], "metric": ["top_1_accuracy"], "positive": labels[:1], "gold": [dict(zip(items, labels))],
            "votes": [3], "items": [[5, 10]], "annotators": [[2, 3]], "n_labels": [20], "raw_rate": [0.4],
            "specificity": [0.9], "sensitivity": [0.8], "n_judges": [3], "correlation": [0.2], "new": ["A"],
            "old": ["B"], "rate": [0.4], "n_items": [20], "n_negative": [5], "n_positive": [6], "icc": [0.5],
            "width": [0.2], "reliability": [0.5], "target": [0.9], "level": [1.0], "risk": [dict.fromkeys(labels, 1.0)],
            "name": ["dirichlet"], "plausibility": ["dirichlet"], "label": labels[:1], "item": items[:1],
            "scores": [np.array([[0.2, 0.8], [0.5, 0.5]])], "truth": [np.array([0.2, 0.8])],
            "scores_a": [np.array([0.1, 0.5, 0.7])], "scores_b": [np.array([0.2, 0.3, 0.9])],
            "terms": [np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]])], "similarity": [["age"]],
            "sums": [np.array([1.0, 2.0, 0.0])], "option": [None], "aggregation": ["prirn"],
            "groups": [getattr(self, "groups", None)], "variances": [], "labels_": [],
            "unlabelled": [np.array([0.0, 1.0])], "verdicts": [np.array([0.0, 1.0, 1.0])],
            "r_xy": [0.5], "r_xz": [0.4], "r_yz": [0.3],
        }  # fmt: skip
        if name == "annotators" and kinds and self.people is not None:
            return [self.people]
        if kinds:
            pool = [self.given, self.models, self.people, *self.trees]
            return [thing for thing in pool if isinstance(thing, kinds)]
        return known.get(name, [])


def calls(name, function, world):
    """Give the arguments of calls that fit the signature: required ones from the world, small sizes."""
    signature = inspect.signature(function)
    kinds = _kinds_of(inspect.unwrap(function), signature)
    options = {key: value for key, value in QUIET.items() if key in signature.parameters}
    given = [options]
    for parameter in signature.parameters.values():
        if parameter.default is not parameter.empty or parameter.kind in (
            parameter.VAR_KEYWORD,
            parameter.VAR_POSITIONAL,
        ):
            if parameter.name == "predictions":
                given = [one | {"predictions": world.models} for one in given]
            if parameter.name == "by" and "annotators" in signature.parameters:
                given = [one | {"by": "age"} for one in given]
            continue
        candidates = world.value(parameter, kinds.get(parameter.name, ()))
        given = [one | {parameter.name: value} for one in given for value in candidates]
    return given


FUNCTIONS = {name: f for name, f in public_functions().items() if not any(word in name for word in AWAY)}


@pytest.fixture(scope="module")
def world():
    made = {}

    def of(name):
        if name not in made:
            made[name] = World(name)
        return made[name]

    return of


def problem(function, given):
    """Give what a call ends in, if it is neither an answer nor a sentence of this package."""
    try:
        quietly(function, **given)
    except (ba.InputError, ba.errors.SizeError, ba.errors.ConvergenceError):
        return None
    except Exception as error:  # noqa: BLE001  whatever it is
        return f"{type(error).__name__}: {str(error)[:150]}"
    return None


@pytest.mark.slow
@pytest.mark.parametrize("kind", WORLDS)
def test_odd_data(world, kind):
    problems, n = {}, 0
    for name, function in FUNCTIONS.items():
        for given in calls(name, function, world(kind)):
            n += 1
            if found := problem(function, given):
                problems[name] = found
    assert n > 30
    assert not problems, f"{len(problems)} of {n} calls: {problems}"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["usual", "usual ratings", "usual rankings"])
def test_odd_arguments(world, kind):
    problems, n = {}, 0
    for name, function in FUNCTIONS.items():
        base = [given for given in calls(name, function, world(kind)) if works(function, given)][:1]
        for given in base:
            for parameter in inspect.signature(function).parameters.values():
                if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
                    continue
                for odd in ODD:
                    if too_large(parameter.name, odd):
                        continue
                    n += 1
                    if found := problem(function, given | {parameter.name: odd}):
                        problems[f"{name}({parameter.name}={odd!r:.20})"] = found
    assert not problems, f"{len(problems)} of {n} calls:\n" + "\n".join(f"{k}: {v}" for k, v in problems.items())


def test_values_of_another_kind_are_refused_before_anything_is_computed():
    """An object, NaN and a text in place of a number: refused by every function, with the name of the argument."""
    wrong = {
        float: [object(), float("nan"), "nonsense", []],
        int: [object(), 1.5, "nonsense", True],
        bool: [object(), 7],
    }
    n = 0
    for function in public_functions().values():
        signature = inspect.signature(function)
        kinds = _kinds_of(inspect.unwrap(function), signature)
        required = [p for p in signature.parameters.values() if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
        if any(p.name not in kinds for p in required):
            continue
        first = {p.name: kinds[p.name][0] for p in required}
        given = {n: {} if inspect.isabstract(kind) else kind.__new__(kind) for n, kind in first.items()}
        for parameter in signature.parameters.values():
            for odd in wrong.get(parameter.annotation, []):
                with pytest.raises(ba.InputError, match=f"^{parameter.name}=.* is not .*, in "):
                    function(**given | {parameter.name: odd})
                n += 1
    assert n > 500


def works(function, given):
    try:
        quietly(function, **given)
    except Exception:  # noqa: BLE001
        return False
    return True


def too_large(name, odd):
    """Sizes that would be taken as requested and run for years."""
    return isinstance(odd, int) and odd == 10**12 and name not in ("k", "seed", "min_items")
