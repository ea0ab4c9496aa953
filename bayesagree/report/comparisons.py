"""All numbers of a report of comparisons, written by `bayesagree.report.page`."""

import warnings
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import pandas as pd
import xarray as xr

from bayesagree.agreement.coefficients import agreement_table
from bayesagree.annotations import Comparisons, Labels
from bayesagree.comparisons.posterior import davidson
from bayesagree.comparisons.tables import effect_table, preference_table
from bayesagree.findings.table import audit
from bayesagree.planning._pairs import Pairs
from bayesagree.report.beside import diagnostics, people_of
from bayesagree.report.settings import ReportSource

# Pairs that are listed for the next comparison.
NEXT = 5


@dataclass(frozen=True, eq=False)
class ComparisonReport:
    """All numbers of a report of comparisons.

    Attributes
    ----------
    comparisons, result, source
        Who won against whom, the result of `davidson`, and where the comparisons are from.
    annotations, agreement, findings
        What annotators say of each pair, and rows as `agreement_table` and `audit` give them.
    models
        Rows as `preference_table` gives them, as win rates.
    effects
        Rows as `effect_table` gives them.
    pairs, worth
        Pairs for the next comparison, and what more comparisons of the two best models show.
    people, diagnostics, warnings, version
        As in `ReportData`.
    """

    comparisons: Comparisons
    result: xr.DataTree
    source: ReportSource
    annotations: Labels
    agreement: pd.DataFrame
    findings: pd.DataFrame
    models: pd.DataFrame
    effects: pd.DataFrame
    pairs: pd.DataFrame
    worth: pd.DataFrame
    people: dict[str, pd.DataFrame]
    diagnostics: dict[str, float]
    warnings: tuple[str, ...] = ()
    version: str = field(default_factory=lambda: version("bayesagree"))


def comparison_report(
    comparisons: Comparisons, *, source: ReportSource | None = None, random_seed: int = 1, **settings: Any
) -> ComparisonReport:
    """Compute everything that the report of comparisons shows, with the settings of `davidson`."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        result = davidson(comparisons, random_seed=random_seed, **settings)
    pairs = Pairs.of_result(comparisons, result)
    # An annotator who compared a pair twice, such as in both orders, counts once.
    annotations = comparisons.to_labels("first" if comparisons.annotators.size else "error")
    return ComparisonReport(
        comparisons=comparisons,
        result=result,
        source=source or ReportSource("comparisons"),
        annotations=annotations,
        agreement=agreement_table(annotations, random_seed=random_seed),
        findings=audit(comparisons, random_seed=random_seed),
        models=preference_table(result, scale="win_rate"),
        effects=effect_table(result),
        pairs=pairs.next_pairs(NEXT, "decision", random_seed),
        worth=pairs.value_of_comparisons(),
        people=people_of(annotations, random_seed),
        diagnostics=diagnostics(result),
        warnings=tuple(dict.fromkeys(str(w.message) for w in caught)),
    )
