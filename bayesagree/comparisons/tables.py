"""Results of comparisons as tables: a leaderboard, and what is known of places, ties and annotators."""

from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr

from bayesagree._types import Floats
from bayesagree.comparisons._cells import outcome_probabilities
from bayesagree.errors import one_of
from bayesagree.inference.intervals import column_hdi
from bayesagree.inference.results import require_from
from bayesagree.inference.tiers import rank_probabilities, standing

Scale = Literal["strength", "win_rate", "arena"]


def preference_table(result: xr.DataTree, *, scale: Scale = "strength", ci_prob: float = 0.95) -> pd.DataFrame:
    """List models by strength, with intervals of strength and place.

    Parameters
    ----------
    result
        Result of `davidson`.
    scale
        ``"strength"``: log odds against the average model; ``"win_rate"``: share of wins against another model, a tie
        counting one half; ``"arena"``: points, of which 400 are odds of ten to one, with a mean of 1000.
    ci_prob
        Probability of the highest density intervals, of the places and of the tiers.

    Returns
    -------
    DataFrame
        Columns model, mean, lower, upper, ``rank_lower``, ``rank_upper`` and ``tier`` (of the strengths on every scale,
        which hold for all models together, as in `compare`), ``prob_best``, ``prob_better`` (than the model in the next
        row, NaN for the last one), comparisons, component.

    Raises
    ------
    InputError
        An unknown scale, a result without it.

    Examples
    --------
    >>> from bayesagree import Comparisons, davidson
    >>> table = pd.DataFrame({"left": list("AABBC") * 6, "right": list("BCCAA") * 6, "winner": list("AABAA") * 6})
    >>> found = preference_table(davidson(Comparisons.from_long(table), draws=200, chains=2, random_seed=1))
    >>> found[["model", "rank_lower", "comparisons"]].values.tolist()
    [['A', 1, 24], ['B', 1, 18], ['C', 1, 18]]
    """
    require_from("davidson", result, "posterior/strength")
    posterior = result["posterior"].to_dataset()
    draws = _flat(posterior[one_of(scale, "scale", ("strength", "win_rate", "arena"))])
    lower, upper = column_hdi(draws, ci_prob)
    table = pd.DataFrame(
        {"model": posterior["model"].values, "mean": draws.mean(axis=0), "lower": lower, "upper": upper}
    )
    # A strength, its share of wins and its points have one place in each draw, so that one scale places the models.
    stand = standing(_flat(posterior["strength"]), prob=ci_prob)
    table = table.assign(**stand._asdict(), prob_best=rank_probabilities(draws)[:, 0])
    order = np.argsort(-table["mean"].to_numpy(), kind="stable")
    ahead = (draws[:, order[:-1]] > draws[:, order[1:]]).mean(axis=0)
    links = result["components"].to_dataset()
    table = table.assign(comparisons=links["comparisons"].values, component=links["component"].values)
    table = table.iloc[order].reset_index(drop=True)
    table.insert(8, "prob_better", np.append(ahead, np.nan))
    return table


def effect_table(result: xr.DataTree, *, ci_prob: float = 0.95) -> pd.DataFrame:
    """Tabulate the effects of ties, places and annotators on comparisons of two equal models.

    Returns
    -------
    DataFrame
        Columns effect, annotator (None: the average one), mean, lower, upper. Effects: ``tie_probability``, of two
        equal models; ``first_wins``, the share that the first place wins of those that do not tie, 0.5 where the place
        does not matter; ``discrimination``, of an annotator relative to the others: the smaller, the less the verdicts
        follow the strengths.

    Examples
    --------
    >>> from bayesagree import Comparisons, davidson
    >>> table = pd.DataFrame({"left": list("AABBC") * 6, "right": list("BCCAA") * 6, "winner": list("AttBA") * 6})
    >>> games = Comparisons.from_long(table.replace("t", "tie"))
    >>> tree = davidson(games, order="common", draws=200, chains=2, random_seed=1)
    >>> effect_table(tree)["effect"].tolist()
    ['tie_probability', 'first_wins']
    """
    require_from("davidson", result, "posterior/strength")
    posterior, parts = result["posterior"].to_dataset(), []
    for of_each in (False, True):
        tie, order = (posterior.get(name if of_each else f"average_{name}") for name in ("tie", "order"))
        effects = {
            "tie_probability": None if tie is None else 1 / (1 + 2 * np.exp(-tie)),
            "first_wins": None if order is None else _first_wins(order, tie),
            "discrimination": posterior.get("discrimination"),
        }
        for name, values in effects.items():
            if values is not None and ("annotator" in values.dims) == of_each:
                who = values["annotator"].values if of_each else [None]
                parts.append(_rows(_flat(values), [name] * len(who), who, ci_prob))
    columns = ["effect", "annotator", "mean", "lower", "upper"]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)


def _first_wins(order: xr.DataArray, tie: xr.DataArray | None) -> xr.DataArray:
    """Return the share of the first place among comparisons of equal models that do not tie."""
    odds: Any = 0.0 if tie is None else np.exp(tie)
    distance, odds = order + 0 * odds, odds + 0 * order
    first, second, _ = outcome_probabilities(distance.values, odds.transpose(*distance.dims).values)
    return distance.copy(data=first / (first + second))


def _flat(values: xr.DataArray) -> Floats:
    """Return draws (sample, entry)."""
    return values.values.reshape(values.sizes["chain"] * values.sizes["draw"], -1)


def _rows(values: Floats, effect: object, who: object, ci_prob: float) -> pd.DataFrame:
    lower, upper = column_hdi(values, ci_prob)
    frame = {"effect": effect, "annotator": who, "mean": values.mean(axis=0), "lower": lower, "upper": upper}
    return pd.DataFrame(frame).astype({"annotator": object})
