"""Prices of what a hot path cannot do without, each in a loop that does nothing else, in nanoseconds on one thread."""

import math
import time
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numba
import numpy as np
from timing import Spread, timed

RUNS = 5


class Prices(NamedTuple):
    """Nanoseconds of one operation, or of one byte, on one thread."""

    normal: float
    exponential: float
    uniform: float
    log: float
    exp: float
    byte: float

    def gammas(self, shape: np.ndarray) -> float:
        """Price the logarithm of a gamma variable of each shape: those below 1 take another exponential."""
        each = self.normal + self.exponential + self.log
        return float(shape.size * each + (shape < 1).sum() * self.exponential)


def nanoseconds(work: Callable[[], object], units: float) -> Spread:
    """Return the processor time of each unit of some work, in a few runs after one that compiles."""
    work()
    return timed(work, RUNS, time.process_time).per(units / 1e9)


def price(work: Callable[[], object], units: float) -> float:
    return nanoseconds(work, units).median


def generator(random_seed: int = 1) -> np.random.Generator:
    return np.random.Generator(np.random.SFC64(random_seed))


@cache
def loop_of(operation: Callable[[Any, int], float]) -> Callable[[Any, int], float]:
    one = numba.njit(operation)

    @numba.njit
    def loop(rng, n):
        total = 0.0
        for k in range(n):
            total += one(rng, k)
        return total

    return loop


def price_of(operation: Callable[[Any, int], float], n: int) -> float:
    """Return the price of one operation in a compiled loop that adds up what it returns."""
    rng = generator()
    return price(lambda: loop_of(operation)(rng, n), n)


OPERATIONS: dict[str, Callable[[Any, int], float]] = {
    "normal": lambda rng, k: rng.standard_normal(),
    "exponential": lambda rng, k: rng.standard_exponential(),
    "uniform": lambda rng, k: rng.random(),
    "log": lambda rng, k: math.log(1.0 + k),
    "exp": lambda rng, k: math.exp(-1e-6 * k),
}


def prices(small: int = 1) -> Prices:
    source, target, n = np.ones(2**25 // small), np.ones(2**25 // small), 10**6
    operations = {name: price_of(operation, n) for name, operation in OPERATIONS.items()}
    return Prices(**operations, byte=price(lambda: np.copyto(target, source), 16 * source.size))


def random_read(n: int) -> float:
    """Return the price of reading one of n numbers in random order: far apart, it is the wait for memory."""
    source, order, target = np.ones(n), generator().permutation(n), np.empty(n)
    return price(lambda: np.take(source, order, out=target, mode="clip"), n)


@numba.njit
def _add_up(values, order):
    total = 0.0
    for place in order:
        total += values[place]
    return total


@numba.njit
def _add_to(values, order):
    for place in order:
        values[place] += 1.0


def read_in(order: np.ndarray, of: int = 1) -> float:
    """Return the price of reading a number at each place of an order, one of so many that lie side by side."""
    values = np.ones((order.max() + 1, of))[:, 0]
    return price(lambda: _add_up(values, order), order.size)


def add_in(order: np.ndarray) -> float:
    """Return the price of adding to a number at each place of an order."""
    values = np.ones(order.max() + 1)
    return price(lambda: _add_to(values, order), order.size)
