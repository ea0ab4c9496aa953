"""One record per metric: everything that other modules know about it.

`score`, `evaluate`, the metric functions, the report and the documentation read these records (`records`) and nothing
else. The name of a metric, with a number where its pattern has a place
for one, is then accepted by ``metrics=`` of `evaluate` and by `score`; a function of the user's is a metric too
(`Metric.of`).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module

from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError
from bayesagree.metrics.records import METRICS, MetricRecord, UserMetric

__all__ = ["METRICS", "Metric", "MetricRecord"]


AnyMetric = str | Callable[..., float] | UserMetric


@dataclass(frozen=True)
class Metric:
    """A requested metric.

    Attributes
    ----------
    record
        Its facts.
    number
        The number in its name: k, beta, bins; None where its pattern has no place for one.
    label
        The label taken as positive, as text, in names such as ``recall[yes]``; None for the others.
    """

    record: MetricRecord
    number: float | None = None
    label: str | None = None

    @classmethod
    def named(cls, name: str) -> "Metric":
        """Read a name such as ``accuracy``, ``f1_macro``, ``recall[yes]`` or ``mymodule:function``.

        A name without its number has the default of its record: k = 3, ten bins. ``top_1_accuracy`` is ``accuracy``.

        Raises
        ------
        InputError
            A name of no metric; the message names the nearest one and lists the patterns.
        """
        found = cls.found(name)
        if found is None:
            near = _nearest(name)
            hint = f"; did you mean {near!r}?" if near else "."
            known = ", ".join(pattern.replace("{}", "K").replace("{label}", "LABEL") for pattern in METRICS)
            raise InputError(
                f"metric {name!r} is not known{hint} Use {known} with a number for K, or pass a function"
            )
        return found

    @classmethod
    def found(cls, name: str) -> "Metric | None":
        """Return the metric of a name; None where there is none."""
        if ":" in name and "[" not in name:
            module, _, function = name.partition(":")
            try:
                return cls.of(getattr(import_module(module), function))
            except (ImportError, AttributeError, ValueError) as error:
                way_out = "write module:function of a module that can be imported"
                raise InputError(f"metric {name!r}: {error}; {way_out}") from None
        stem, _, rest = name.partition("[")
        label = rest.removesuffix("]") if rest.endswith("]") else None
        for pattern, record in METRICS.items():
            if (label is not None) != record.of_label:
                continue
            stem_pattern = pattern.removesuffix("[{label}]")
            found = re.fullmatch(stem_pattern.replace("{}", f"({record.digits})"), stem)
            if found:
                number = record.number(found[1]) if found.groups() else None
                if record is METRICS["top_{}_accuracy"] and number == 1:
                    return cls(METRICS["accuracy"])
                return cls(record, number, label)
            if record.default is not None and stem == stem_pattern.replace("_{}", ""):
                return cls(record, record.default, label)
        return None

    @classmethod
    def of(cls, metric: "AnyMetric | Metric") -> "Metric":
        """Return the metric that a name or a function stands for."""
        if isinstance(metric, Metric):
            return metric
        if isinstance(metric, str):
            return cls.named(metric)
        return cls((metric if isinstance(metric, UserMetric) else UserMetric(metric)).record())

    @property
    def name(self) -> str:
        """The name with its number and label."""
        return self._filled(self.record.pattern.replace("{}", "{k}"))

    @property
    def title(self) -> str:
        """The name for readers of a report."""
        return self._filled(self.record.title.replace("{}", "{k}"))

    @property
    def meaning(self) -> str:
        """The definition in words."""
        return self._filled(self.record.meaning)

    def _filled(self, text: str) -> str:
        number = "" if self.number is None else f"{self.number:g}"
        return text.replace("{k}", number).replace("{label}", self.label or "")

    @property
    def attrs(self) -> dict[str, float]:
        """Direction of the scores, and their best value where it is neither end of the range."""
        best = self.record.best
        if best is not None and self.number is not None:
            best = self.number / 100
        return {"higher_is_better": int(self.record.higher_is_better)} | (
            {} if best is None else {"best": best}
        )

    @property
    def numbered(self) -> tuple[float, ...]:
        """The number, as the last argument of functions that take one."""
        return () if self.number is None else (self.number,)

    @property
    def k(self) -> int:
        """The number of best labels that are compared; 1 for metrics that compare one."""
        return int(self.number or 1) if self.record.against == "order" else 1

    @property
    def depth(self) -> int:
        """Number of the best labels of a draw that count."""
        return 1 if self.record.one_true_label else self.k


def default_metrics(predictions: Predictions | None) -> tuple[str, ...]:
    """Return the metric of predictions where the user names none: of labels, and of numbers."""
    return ("accuracy",) if predictions is None or predictions.numbers is None else ("mae",)


def full_name(name: str) -> str:
    """Return a name with its number and label, such as ``average_overlap_3`` of ``average_overlap``; others stay."""
    found = Metric.found(name)
    return name if found is None else found.name


def _nearest(name: str) -> str | None:
    """Return the name that a text abbreviates, by the start of it or of a word in it or by initials, or the nearest."""
    name, known = name.replace("-", "_").removesuffix("_score"), _spellings(name)
    words = [other for other in known if any(part.startswith(name) for part in (other, *other.split("_")))]
    initials = [other for other in known if "".join(word[0] for word in other.split("_")).startswith(name)]
    return next(iter(sorted(words, key=len) or initials or get_close_matches(name, known, 1)), None)


def _spellings(name: str) -> list[str]:
    """Return the names of all metrics, with the number and label of a misspelt one where they have a place for them."""
    number = re.search(r"\d+", name)
    label = re.search(r"\[(.*)\]", name)
    return [
        pattern.replace("{}", number[0] if number else f"{record.default or 1:g}").replace(
            "{label}", label[1] if label else "LABEL"
        )
        for pattern, record in METRICS.items()
    ]
