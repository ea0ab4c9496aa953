"""Verdicts of judges as predictions for the items that people answered, and differences of systems as one table."""

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesagree._inference.arguments import checked
from bayesagree._inference.results import require_from
from bayesagree.annotations import Annotations, Rankings, Ratings
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, shorten
from bayesagree.judges._panel import verdict_codes


@checked
def verdict_predictions(verdicts: Annotations, people: Annotations) -> Predictions:
    """Return what each judge answered on the items of people.

    Parameters
    ----------
    verdicts
        Answers of the judges, who are its annotators: labels, of which the first of an item counts; ratings, of which
        the mean counts; or rankings, in which labels that a judge did not name come after all others.
    people
        Answers of people of the same kind.

    Returns
    -------
    Predictions
        One model for each judge, as `alternative_annotator_test` takes them.

    Raises
    ------
    InputError
        A judge who ranked nothing for an item.

    Examples
    --------
    >>> from bayesagree import Labels
    >>> judges = Labels.from_matrix([["a", "b"], ["b", "b"]], annotators=["gpt", "llama"])
    >>> people = Labels.from_matrix([["b", "b"]], items=[1], labels=["a", "b"])
    >>> verdict_predictions(judges, people).hard_labels().tolist()
    [[1], [1]]
    """
    items = people.items.tolist()
    if isinstance(verdicts, Rankings):
        ranked = verdicts.to_long().groupby("annotator")
        scores: dict[str, Any] = {str(judge): _scores(part, people, judge) for judge, part in ranked}
        return Predictions.from_scores(scores)
    if isinstance(verdicts, Ratings):
        means: Any = verdicts.to_long().pivot_table(index="item", columns="annotator", values="rating").reindex(items)
        return Predictions.from_labels({str(judge): means[judge] for judge in means.columns})
    rows = pd.Index(verdicts.items).get_indexer(pd.Index(people.items))
    codes, names = verdict_codes(verdicts)[rows], [*verdicts.categories, None]
    predicted = {str(judge): [names[code] for code in codes[:, j]] for j, judge in enumerate(verdicts.annotators)}
    return Predictions.from_labels(predicted, items=items, labels=verdicts.categories.tolist())


def _scores(part: pd.DataFrame, people: Annotations, judge: Any) -> pd.DataFrame:
    """Return a judge's ranks as scores, the best highest and labels without a rank below all, one row per item."""
    wide = part.pivot(index="item", columns="label", values="rank")
    missing = [item for item in people.items.tolist() if item not in wide.index]
    if missing:
        raise InputError(
            f"judge {judge!r} ranked nothing of {shorten(missing)}; leave these items out of people's table"
        )
    ranks = wide.reindex(people.items.tolist(), columns=people.categories.tolist())
    return -ranks.fillna(ranks.max(axis=None) + 1)


@checked
def system_pairs(tree: xr.DataTree) -> pd.DataFrame:
    """Return the difference of each two systems: system, other_system, difference, lower, upper, prob_better.

    Parameters
    ----------
    tree
        From `corrected_rate`.

    Examples
    --------
    >>> from bayesagree import Labels, corrected_rate
    >>> verdicts = Labels.from_matrix([[1], [0]] * 40, annotators=["gpt"])
    >>> people = Labels.from_matrix([[1, 1], [0, 1]] * 20, items=range(40))
    >>> result = corrected_rate(verdicts, people, positive=1, system=["A", "B"] * 40, draws=50, chains=1, seed=1)
    >>> system_pairs(result)[["system", "other_system"]].values.tolist()
    [['A', 'B']]
    """
    require_from("corrected_rate", tree, "derived/saving")
    found = tree["derived"].to_dataset()
    columns = ["difference", "difference_lower", "difference_upper", "prob_better"]
    names = found["system"].values
    first, second = np.triu_indices(names.size, 1)
    pairs = {"system": names[first], "other_system": names[second]}
    values = {name.removeprefix("difference_"): found[name].values[first, second] for name in columns}
    return pd.DataFrame(pairs | values)
