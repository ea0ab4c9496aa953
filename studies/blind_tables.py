"""Tables 2 to 9 and figure 2 of Jung and Lease (2012), from one experiment."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesagree.annotations.gold import Gold
from bayesagree.annotations.predictions import Predictions
from bayesagree.blind.pseudo_gold import majority
from bayesagree.blind.systems import Systems
from bayesagree.errors import InputError
from bayesagree.inference.streams import Seed
from bayesagree.metrics.hard_labels import hard_label_scores
from studies.blind_experiment import SCORE_AND_COMBINE

FAMILIES = {"round_robin": "score & combine", "sampling": "score & combine", "direct": "direct"}
"""Method to its family in the paper; every other method is of combine & score."""

SHORT = {"accuracy": "ACC", "precision": "PRE", "recall": "REC", "specificity": "SPE"}


def blind_table(tree: xr.DataTree, number: int) -> pd.DataFrame:
    """Return one of the tables 2 to 9 of the paper, for the systems of an experiment.

    Parameters
    ----------
    tree
        Result of `blind_experiment`; all tables but 2 need gold.
    number
        2 overlap of the systems; 3 or 4 actual scores and ranks, with their mean and sd (the paper's two golds are two
        experiments here); 5 ranks of the methods; 6 correlations with stars; 7 quality of pseudo-gold; 8 its
        correlation with the quality of the evaluation; 9 predicted ranks of the best three systems and the worst.

    Returns
    -------
    DataFrame
        Stars of table 6: * differs from the baseline at 95 %, ** at 99 %. Swap rates are in per cent, as printed.

    Raises
    ------
    InputError
        Another number, or a table that asks for gold.

    References
    ----------
    H. J. Jung, M. Lease, "Evaluating classifiers without expert labels", 2012.

    Examples
    --------
    >>> from studies.systems import simulated_systems
    >>> from studies.blind_experiment import blind_experiment
    >>> systems = simulated_systems(n_items=200, accuracies=(0.6, 0.7, 0.8, 0.9), random_seed=1)
    >>> gold = dict(enumerate(systems.truth.tolist()))
    >>> tree = blind_experiment(systems.predictions, gold=gold, methods=["majority", "em"], draws=20, random_seed=1)
    >>> blind_table(tree, 4).loc["mean", ("accuracy", "score")].round(2).item()
    0.75
    """
    if number not in _TABLES:
        raise InputError(
            f"there is no table {number!r}; the experiment has tables {', '.join(map(str, _TABLES))}"
        )
    if number != 2 and "actual" not in tree.children:
        raise InputError(f"table {number} judges by gold; run blind_experiment with gold=")
    return _TABLES[number](tree)


def overlap_summary(tree: xr.DataTree) -> pd.Series:
    """Return mean, sd, max and min of the overlap between different systems, as under table 2."""
    values = tree["systems"].to_dataset()["overlap"].values
    pairs = values[np.tril_indices(len(values), -1)]
    return pd.Series({"mean": pairs.mean(), "sd": pairs.std(ddof=1), "max": pairs.max(), "min": pairs.min()})


def vote_quality(
    predictions: Predictions,
    gold: Gold,
    *,
    thresholds: Sequence[float] = tuple(np.linspace(0, 1.1, 12).round(1)),
    metrics: Sequence[str] = tuple(SHORT),
    positive: Any = None,
    random_seed: Seed = None,
) -> xr.DataArray:
    """Return how well the vote of the systems matches the gold, by the share of votes that makes it positive.

    Parameters
    ----------
    predictions
        Labels of the systems, of two kinds.
    gold
        Item to true label.
    thresholds
        Shares of votes: at 0 every item is positive, above 1 none.
    metrics
        Scores of the vote.
    positive
        The positive label, by default the last.
    random_seed
        For ties at 1/2.

    Returns
    -------
    DataArray
        Dims (metric, threshold); NaN where a score does not exist, such as precision of a vote that names nothing.

    References
    ----------
    Jung and Lease (2012), figure 2 and equation 1.

    Examples
    --------
    >>> from studies.systems import simulated_systems
    >>> systems = simulated_systems(n_items=200, accuracies=(0.6, 0.7, 0.8), random_seed=1)
    >>> found = vote_quality(systems.predictions, dict(enumerate(systems.truth.tolist())), thresholds=(0, 0.5, 1.1))
    >>> found.sel(metric="recall").round(2).values.tolist()
    [1.0, 0.78, 0.0]
    """
    systems = Systems.of(predictions, None, positive, random_seed)
    rows = np.empty((len(metrics), len(thresholds)))
    for t, threshold in enumerate(thresholds):
        codes = majority(systems, threshold=threshold, random_seed=random_seed)[0]
        voted = pd.Series(systems.labels[codes], systems.items).where(codes >= 0, None)
        vote = Predictions.from_labels({"vote": voted}, labels=systems.labels.tolist())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # what does not exist is NaN in the result
            for m, metric in enumerate(metrics):
                rows[m, t] = hard_label_scores(vote, gold, metric=metric, positive=positive).item()  # type: ignore[arg-type]
    return xr.DataArray(rows, {"metric": list(metrics), "threshold": list(thresholds)}, ("metric", "threshold"))


def _overlap(tree: xr.DataTree) -> pd.DataFrame:
    overlap = tree["systems"].to_dataset()["overlap"]
    table = pd.DataFrame(overlap.values, overlap["model"].values, overlap["other_model"].values)
    return table.where(np.tril(np.ones(table.shape, bool), -1))


def _actual(tree: xr.DataTree) -> pd.DataFrame:
    actual = tree["actual"].to_dataset()
    table = pd.DataFrame(
        {
            (str(m), v): actual[v].sel(metric=m).to_series()
            for m in actual["metric"].values
            for v in ("score", "rank")
        }
    )
    scores = table.xs("score", axis=1, level=1, drop_level=False)
    summary = pd.DataFrame({"mean": scores.mean(), "sd": scores.std(ddof=1)}).T
    return pd.concat([table, summary.reindex(columns=table.columns)])


def _by_measure(tree: xr.DataTree, cell: Callable[[xr.Dataset], Any]) -> pd.DataFrame:
    found = tree["methods"].to_dataset()
    methods = found["estimator"].values.tolist()
    columns = {
        (str(measure), str(metric)): [
            cell(found.sel(estimator=m, measure=measure, metric=metric)) for m in methods
        ]
        for measure in found["measure"].values
        for metric in found["metric"].values
    }
    families = [FAMILIES.get(m, "combine & score") for m in methods]
    return pd.DataFrame(columns, pd.MultiIndex.from_arrays([families, methods], names=["family", "method"]))


def _method_ranks(tree: xr.DataTree) -> pd.DataFrame:
    return _by_measure(tree, lambda cell: float(cell["method_rank"]))


def _correlations(tree: xr.DataTree) -> pd.DataFrame:
    def cell(found: xr.Dataset) -> str:
        value, p_value = float(found["correlation"]), float(found["p_value"])
        if np.isnan(value):
            return "-"
        stars = "**" if p_value < 0.01 else "*" if p_value < 0.05 else ""
        return (f"{100 * value:.1f}" if found["measure"].item() == "swap_rate" else f"{value:.2f}") + stars

    return _by_measure(tree, cell)


def _quality(tree: xr.DataTree) -> pd.DataFrame:
    quality = _wide(tree["methods"].to_dataset()["quality"])
    return quality.drop(index=[name for name in quality.index if name in (*SCORE_AND_COMBINE, "direct")])


def _quality_correlation(tree: xr.DataTree) -> pd.DataFrame:
    return _wide(tree["methods"].to_dataset()["quality_correlation"])


def _wide(data: xr.DataArray) -> pd.DataFrame:
    """Return an array of two dimensions as a table, its first dimension in rows."""
    rows, columns = (data.indexes[str(dim)] for dim in data.dims)
    return pd.DataFrame(data.values, rows, columns)


def _outliers(tree: xr.DataTree) -> pd.DataFrame:
    outliers = tree["outliers"].to_dataset()
    table = _wide(outliers["predicted_rank"].stack(row=("metric", "place")).transpose("row", "estimator"))
    for column in ("actual_rank", "system"):
        table.insert(0, column, outliers[column].stack(row=("metric", "place")).values)
    return table


_TABLES: dict[int, Callable[[xr.DataTree], pd.DataFrame]] = {
    2: _overlap,
    3: _actual,
    4: _actual,
    5: _method_ranks,
    6: _correlations,
    7: _quality,
    8: _quality_correlation,
    9: _outliers,
}
