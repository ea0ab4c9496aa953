"""Times of repeated runs: their median, which ratios compare, and how far they lie apart."""

import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import NamedTuple


class Spread(NamedTuple):
    """Least, median and largest of repeated times."""

    least: float
    median: float
    most: float

    @classmethod
    def of(cls, times: Sequence[float]) -> "Spread":
        """Return what lies in a list of times."""
        return cls(min(times), median(times), max(times))

    def per(self, n: float) -> "Spread":
        """Return the times of one of n units."""
        return Spread(*(t / n for t in self))

    def __str__(self) -> str:
        """Return a cell of a table; a single run has no spread."""
        if self.least == self.most:
            return f"{self.median:.3g}"
        return f"{self.median:.3g} ({self.least:.3g} to {self.most:.3g})"


def timed(work: Callable[[], object], runs: int = 3, clock: Callable[[], float] = time.perf_counter) -> Spread:
    """Run so many times."""
    times = []
    for _ in range(runs):
        start = clock()
        work()
        times.append(clock() - start)
    return Spread.of(times)
