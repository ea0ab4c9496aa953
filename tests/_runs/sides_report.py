# ruff: noqa: E501
"""Runs of `bayesagree.report` that take the side of a condition which no other run takes: pages without a section.

Also the limits of these sections, just at them and just beyond.
"""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

import bayesagree as ba
from _runs.recipe import FEW, add, later, within
from _runs.reports import cut, games, page
from _runs.subjective import spec
from _runs.world import (
    AGES,
    COUNTS,
    GAMES,
    GAPPY,
    GOLD,
    GROUPS,
    HARD,
    LABELS,
    LEVELS,
    MANY,
    MANY_SOFT,
    NUMBERS,
    OFFERED,
    RANKED,
    RANKED_SOFT,
    SOFT,
    TWICE,
    TWO,
    _games,
)  # fmt: skip
from bayesagree import report as rp
from bayesagree.report import annotators, data, figures, models, views
from bayesagree.report.kinds import kind_of
from bayesagree.report.settings import Case

SIMPLE = {"plausibility": "dirichlet"}
COUNTED = later(lambda: ba.Predictions.from_labels({"A": [*"xyzxy"], "B": [*"xyxxz"]}, labels=[*"xyz"]), "COUNTED")
add("report of groups alone", page, LABELS)(groups=GROUPS, gold=GOLD)
for given in ({"groups": GROUPS}, {"annotators": AGES, "specification": spec}):
    add("report of rankings", page, RANKED, settings={"plausibility": "prirn"}, **given)(**{})
add("report without annotators", page, LABELS)(specification=spec)
run = add("report by a loss", page, LABELS, SOFT)
for metrics in (("brier",), ("average_overlap_2", "accuracy"), ("accuracy", "log_loss")):
    run(settings=SIMPLE | {"metrics": metrics, "reliability": (1.0, 0.4)})
add("report of numbers", page, LEVELS, NUMBERS)(settings={"threshold": 3.0})


def limited(module: Any, limit: dict[str, Any], *given: Any, **options: Any) -> Any:
    """Give a page while a limit of a module is another."""
    return within(module, limit, lambda: page(*given, **options))


size = 14 * 3 * 12 * 2 * 8
for most in (size, size - 1):
    chains = {"plausibility": "dawid_skene", "allow_unmixed": True}
    add(f"report of a long sampler {most}", limited, data, {"MAX_BYTES": most}, LABELS, HARD)(settings=chains)


def section(function: Any, annotations: Any, predictions: Any, *given: Any, **settings: Any) -> Any:
    """Compute what one section shows."""
    chosen = rp.ReportSettings(**({"draws": 12, "chains": 2, "seed": 3, "plausibility": "dirichlet"} | settings))
    return function(Case.of(annotations, predictions, chosen), *given)


def bounded(module: Any, limit: dict[str, int], *given: Any, **settings: Any) -> Any:
    """Compute what one section shows while a limit of a module is another."""
    return within(module, limit, lambda: section(*given, **settings))


given = {"settings": SIMPLE, "groups": GROUPS}
add("report of many labels", limited, annotators, {"MOST_LABELS": 48}, LABELS, HARD)(**given)
for most in (49, 48):
    add(
        f"section on groups {most}",
        bounded,
        annotators,
        {"MOST_LABELS": most},
        annotators.group_results,
        LABELS,
        HARD,
        GROUPS,
    )()


def _stricter(shift: float) -> Any:
    rng = np.random.default_rng(17)
    values = rng.normal(4, 1.3, (13, 1)) + rng.normal(0, 0.6, (13, 4)) + shift * np.array([-1, -0.4, 0.3, 1.1])
    return ba.Ratings.from_matrix(np.clip(values.round(), 1, 7), annotators=[*"wxyz"], scale=(1, 7), step=1)


rated = {"threshold": 4.0, "plausibility": "normal_inverse_gamma"}
strict = later(lambda: _stricter(1.4), "strict")
add("report of levels", page, strict)(settings=rated)
for shift in (0.1, 0.6):
    add("section on levels", section, annotators.level_results, later(lambda s=shift: _stricter(s), f"{shift}"), None)(
        **rated
    )
for name, most in (("MOST_ANNOTATORS", 4), ("MOST_ANNOTATORS", 3), ("MOST_RATINGS", 52), ("MOST_RATINGS", 51)):
    add(f"section on levels {name}={most}", bounded, annotators, {name: most}, annotators.level_results, strict, None)(
        **rated
    )

# Whether models may replace people is not asked of numbers, of models with gaps, or of annotators who share little.
below = {"threshold": 3.0, "plausibility": "normal_inverse_gamma"}
for name, (given, predicted, how) in {
    "gaps": (LABELS, GAPPY, {"missing": "wrong"}), "numbers": (LEVELS, NUMBERS, below), "hard": (LABELS, HARD, {}),
    "repeats": (TWICE, HARD, {}), "counts": (COUNTS, COUNTED, {}),
    "sets": (OFFERED, RANKED_SOFT, {"plausibility": "plackett_luce"}),
}.items():  # fmt: skip
    for least in (3, 15):
        add(f"section on replacement {name} {least}", bounded, models, {"MIN_ITEMS": least}, models.replacement_results, given,
            predicted)(**how)  # fmt: skip
twice = later(
    lambda: ba.Labels.from_long(
        pd.concat([TWO().to_long(), TWO().to_long().iloc[::3]]), labels=["no", "yes"], duplicates="keep"
    ),
    "twice",
)
alone = later(
    lambda: ba.Labels.from_matrix([["yes"], ["yes"], ["yes"]], items=["t00", "t01", "t02"], labels=["no", "yes"]),
    "alone",
)


def _of_two(items: Any) -> Any:
    found = {m: np.linspace(a, b, len(items)) ** 2 for m, a, b in (("A", 0.1, 0.9), ("B", 0.7, 0.4))}
    return ba.Predictions.from_scores(
        {m: pd.DataFrame({"no": 1 - p, "yes": p}, items) for m, p in found.items()}, labels=["no", "yes"]
    )


add("report of two labels", page, TWO, later(lambda: _of_two(TWO().items)), settings=SIMPLE)()
for given in (TWO, twice, alone):
    add(
        f"section on areas {given.name}", section, models.area_results, given, later(lambda g=given: _of_two(g().items))
    )()


def _scaled(factor: float, shift: float) -> Any:
    scores = {m: pd.DataFrame(s * factor + shift, MANY_SOFT().items, [*"xyz"]) for m, s in _named_scores()}
    return ba.Predictions.from_scores(scores, labels=[*"xyz"])


def _named_scores() -> Any:
    return zip(MANY_SOFT().models, MANY_SOFT().scores)


for factor, shift in ((1.0, 0.0), (1.0009, 0.0), (1.0011, 0.0), (1.3, -0.1), (0.9, 0.1 / 3)):
    add(
        "section on sets",
        section,
        models.set_results,
        MANY,
        later(lambda f=factor, s=shift: _scaled(f, s), f"{factor}"),
    )()
for least in (40, 41):
    add(f"section on sets {least}", bounded, models, {"FEWEST": least}, models.set_results, MANY, MANY_SOFT)()

# Gold of items that nobody labelled, on which no vote can agree with it.
bare = later(lambda: LABELS().select(LABELS().item_index % 4 != 1), "bare")
for known in ({"t01": "x", "t05": "y"}, {"t01": "x", "t04": "z"}):
    add("report of gold", page, bare, HARD, settings={"plausibility": "informed_dirichlet"})(gold=known)
unrated = later(lambda: ba.Ratings.from_matrix([[2, np.nan, 1.5], [np.nan] * 3, [3, 2, 1]], scale=(1, 3)), "unrated")
add("lines of ratings", lambda: [kind_of(unrated()).lines(unrated(), i) for i in range(unrated().items.size)])()
add("diagnostics of some", lambda: [
    views.diagnostics(SimpleNamespace(diagnostics=d)) for d in ({"r_hat": 1.0234}, {"ess": 81.6}, {"r_hat": 1.2, "ess": 7.4}, {})
])()  # fmt: skip


def drawn(*marks: tuple[float, float, float], limits: tuple[float, float] = (-np.inf, np.inf)) -> list[str]:
    """Draw marks, the second of another kind, in a group with a name and one without."""
    made = [figures.Mark(*mark, f"mark {k}", "other" if k == 1 else "reference") for k, mark in enumerate(marks)]
    groups = [figures.MarkGroup("", tuple(made[:2])), figures.MarkGroup("a name", tuple(made[2:]))]
    return cut(figures.interval_plot(groups, title="T", axis="a", limits=limits))


nan = float("nan")
run = add("interval_plot", drawn)
add("interval_plot", drawn, (0.3, 0.1, 0.6), (0.4, nan, nan), (nan, nan, nan))()
add("interval_plot", drawn, (nan, nan, nan))()
add("interval_plot", drawn, (0.3, 0.3, 0.3))()
for low, high in ((0.0, 1.0), (0.2, 0.7), (-3.0, 40.0), (0.0, 5.0), (0.0, 3.0), (0.0, 6.0001), (12.0, 900.0)):
    add("interval_plot", drawn, (low, low, high), (high, low, high), limits=(0, 1000))()
    add("round values", figures._round_values, low, high)()

fit = later(lambda: ba.davidson(GAMES(), draws=30, chains=2, seed=1), "fit")
fewer = later(lambda: ba.Comparisons.from_long(_games().query("left != 'D' and right != 'D'")), "fewer")
for given in (fit, later(lambda: ba.dirichlet(LABELS(), **FEW))):
    add("comparison_report of another result", rp.comparison_report, fewer, given)()
won = later(lambda: ba.Comparisons.from_long(_games().query("winner != 'tie'"), annotator="annotator"), "won")
for order in ("common", None):
    for ties, given in (("common", GAMES), (None, won)):
        add("report games", games, given)(order=order, ties=ties)
even = later(lambda: ba.Comparisons.from_long(
    pd.DataFrame({"left": [*"ABAB"] * 6, "right": [*"BABA"] * 6, "winner": [*"ABBA"] * 6})), "even")  # fmt: skip
add("report games", games, even)()
add("report games", games, even)(order="common")
apart = later(lambda: ba.Comparisons.from_long(
    pd.DataFrame({"left": [*"ACAC"] * 6, "right": [*"BDBD"] * 6, "winner": [*"ACBC"] * 6})), "apart")  # fmt: skip
add("report games", games, apart)(order=None)


def separating(number: int | None) -> Any:
    """Give the sentence on further comparisons for a number of them."""
    from bayesagree.report.comparisons import _worth

    return _worth(SimpleNamespace(worth=SimpleNamespace(attrs={"separating": number})))  # type: ignore[arg-type]


add("further comparisons", lambda: [separating(n) for n in (None, 7, 12345)])()
