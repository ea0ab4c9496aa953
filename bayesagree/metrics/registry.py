"""One record per rank metric: everything that other modules know about it.

`evaluate`, the metric functions and the report read these records and nothing else, so that a new metric is a function
of two lists in `_rank_kernels` and one record here. Its name, with a number for K, is then accepted by ``metrics=`` of
`evaluate` and ``metric=`` of `per_item`.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from bayesagree.errors import InputError
from bayesagree.metrics import _rank_kernels

DEFAULT_K = 3

STUTZ = "D. Stutz et al., Evaluating AI systems under uncertain ground truth, arXiv:2307.02191, section 2.4."
FAGIN = "R. Fagin, R. Kumar, D. Sivakumar, Comparing top k lists, SIAM J. Discrete Math. 17, 2003, "
FAGIN += "doi:10.1137/S0895480102412856"


@dataclass(frozen=True)
class MetricRecord:
    """Facts about one rank metric.

    Attributes
    ----------
    pattern
        Its name, with ``{}`` for k.
    title
        Its name for readers of a report, with ``{}`` for k.
    meaning
        Its definition in words, with ``{k}``.
    kernel
        Its code in `_rank_kernels`.
    reference
        The paper that defines it.
    one_true_label
        Whether only the most plausible label of a draw counts, and not its k best. Labels that tie on top of a point
        estimate then share the item.
    largest_distance
        Of two lists of k of n labels, for metrics that are one minus a distance over its largest value.
    bounds, higher_is_better
        Range and direction.
    """

    pattern: str
    title: str
    meaning: str
    kernel: int
    reference: str
    one_true_label: bool = False
    largest_distance: Callable[[int, int], float] = lambda k, n_labels: 1.0
    bounds: tuple[float, float] = (0.0, 1.0)
    higher_is_better: bool = True


def _kendall_distance(k: int, n_labels: int) -> float:
    """Return the largest distance: the lists share as few labels as they can, in reversed order."""
    shared = max(0, 2 * k - n_labels)
    alone = k - shared
    return max(alone**2 + alone * (alone - 1) / 2 + shared * (shared - 1) / 2 + 2 * shared * alone, 1.0)


def _footrule_distance(k: int, n_labels: int) -> float:
    alone = min(k, n_labels - k)
    places = [*range(1, k + 1), *[k + 1] * alone]
    return max(float(sum(abs(a - b) for a, b in zip(places, reversed(places)))), 1.0)


_RECORDS = (
    MetricRecord(
        pattern="top_{}_accuracy",
        title="top-{} accuracy",
        meaning="share of items whose most plausible label is among the {k} best labels of the model",
        kernel=_rank_kernels.TOP,
        reference=STUTZ,
        one_true_label=True,
    ),
    MetricRecord(
        pattern="set_{}_accuracy",
        title="set {} accuracy",
        meaning="share of items whose {k} most plausible labels are exactly the {k} best labels of the model",
        kernel=_rank_kernels.SET,
        reference=STUTZ,
    ),
    MetricRecord(
        pattern="overlap_{}",
        title="overlap {}",
        meaning="mean share of the {k} most plausible labels that are among the {k} best labels of the model",
        kernel=_rank_kernels.OVERLAP,
        reference=STUTZ,
    ),
    MetricRecord(
        pattern="average_overlap_{}",
        title="average overlap {}",
        meaning="mean overlap of the best 1, 2, ... {k} labels of the model with the most plausible ones",
        kernel=_rank_kernels.AVERAGE_OVERLAP,
        reference=STUTZ,
    ),
    MetricRecord(
        pattern="kendall_tau_{}",
        title="kendall tau {}",
        meaning="how far the order of the {k} best labels agrees (Kendall), 1 for the same order",
        kernel=_rank_kernels.KENDALL,
        reference=f"{FAGIN}, section 3.1, penalty 1/2.",
        largest_distance=_kendall_distance,
    ),
    MetricRecord(
        pattern="spearman_footrule_{}",
        title="spearman footrule {}",
        meaning="how near the {k} best labels are to their places (Spearman), 1 for the same places",
        kernel=_rank_kernels.FOOTRULE,
        reference=f"{FAGIN}, section 3.2, location k + 1.",
        largest_distance=_footrule_distance,
    ),
)

METRICS = {record.pattern: record for record in _RECORDS}
"""Every rank metric by its pattern."""


@dataclass(frozen=True)
class RankMetric:
    """A rank metric with its k."""

    record: MetricRecord
    k: int

    @classmethod
    def named(cls, name: str) -> Self:
        """Read a name such as ``top_1_accuracy`` or ``average_overlap_3``; a name without its K has k = 3.

        Raises
        ------
        InputError
            A name of no metric; the message lists the patterns.
        """
        for pattern, record in METRICS.items():
            if found := re.fullmatch(pattern.replace("{}", r"([1-9]\d*)"), name):
                return cls(record, int(found[1]))
            if name == pattern.replace("_{}", ""):
                return cls(record, DEFAULT_K)
        known = ", ".join(pattern.format("K") for pattern in METRICS)
        raise InputError(f"metric {name!r} is not known; use {known} with a number for K")

    @property
    def name(self) -> str:
        """The name with its k."""
        return self.record.pattern.format(self.k)

    @property
    def depth(self) -> int:
        """Number of the best labels of a draw that count."""
        return 1 if self.record.one_true_label else self.k
