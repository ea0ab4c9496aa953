"""Values of every kind that annotations of public functions name, each beside values that are not."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from bayesagree._inference.kinds import Numbers, fits, words_of

EXAMPLES = [
    (int, [3, np.int64(3), np.array(3)], [3.5, True, "3", None, np.array([3])], "a whole number"),
    (float, [3, 3.5, np.float32(3.5), np.array(3.5)], [True, "3", float("nan"), [3.5]], "a number"),
    (bool, [True, np.bool_(True)], [1, "yes", None], "True or False"),
    (str, ["x", ""], [b"x", 1, ["x"]], "a text"),
    (Literal["a", 2], ["a", 2, np.str_("a")], ["b", 3, None], "one of 'a', 2"),
    (int | None, [None, 3], ["x", 2.5], "a whole number or None"),
    (Sequence[float], [[1, 2.5], (), np.array([1.0])], [["x"], {"a": 1.0}, 3.5, "x"], "a sequence, each a number"),
    (Sequence[str], [["x"], "x"], [[1], 3], "a sequence, each a text"),
    (Sequence[Any], [["x", 1], "x"], [3, {"a": 1}], "a sequence"),
    (tuple[int, str], [(1, "x"), [1, "x"]], [(1,), ("x", 1), (1, "x", 2), "1x"], "(a whole number, a text)"),
    (tuple[int, ...], [(1, 2), ()], [(1, "x")], "a sequence, each a whole number"),
    (Mapping[str, float], [{"a": 1.5}, {}], [{"a": "x"}, {"a": 1.0, "b": None}, [1.5]], "Mapping"),
    (Mapping[str, Any], [{"a": "x"}], [["a"]], "Mapping"),
    (ArrayLike, [[1, "x"], 3.5, np.zeros(2)], ["x", {"a": 1}, None], "an array"),
    (Numbers, [[1, 2.5], 3.5], [["x"], "x", {"a": 1}], "numbers"),
    (NDArray[np.float64], [np.zeros(2), np.arange(2)], [[1.0], np.array(["x"])], "an array"),
    (Callable[[int], int], [], [], "a function"),
]


@pytest.mark.parametrize(("kind", "right", "wrong", "words"), EXAMPLES)
def test_values_of_a_kind(kind, right, wrong, words):
    assert [value for value in right if not fits(kind, value)] == []
    assert [value for value in wrong if fits(kind, value)] == []
    assert words_of(kind) == words
