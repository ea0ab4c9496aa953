"""Equality of containers, field by field."""

import numpy as np


def same(one: object, other: object) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(vars(one).values(), vars(other).values()))
