"""Results of a ranking study as tables, and a look at one item.

Functions
---------
annotation_summary, setting_table, nearest_settings, unsettled_items, model_scores
    Tables of a result of `ranking_study`.
item_view
    One item under both aggregation models (Stutz et al. 2023, figures 1, 5 and 15).
"""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from bayesagree._inference.results import settings_of
from bayesagree.annotations import Rankings
from bayesagree.errors import InputError
from bayesagree.evaluation.rankings import OPEN, RISE, SCORES, certainty_correlation, model_ranks, saturated_items
from bayesagree.plausibility.certainty import label_certainty
from bayesagree.plausibility.plackett_luce.posterior import plackett_luce
from bayesagree.plausibility.prirn import irn, prirn


class ItemView(NamedTuple):
    """One item of a ranking study.

    Attributes
    ----------
    item, certainty
        Its name and its mean certainty over the settings.
    rankings
        Its rankings as nested lists: blocks of labels, best first.
    labels
        Columns label, irn, prirn_top and plackett_luce_top: the probability to be the top label under each model.
    """

    item: Any
    certainty: float
    rankings: list[list[list[Any]]]
    labels: pd.DataFrame


def setting_names(tree: xr.DataTree) -> list[str]:
    """Names of the settings: aggregation model and reliability."""
    certainty = tree["certainty"].to_dataset()
    return [f"{a} {r:g}" for a, r in zip(certainty["aggregation"].values, certainty["reliability"].values)]


def annotation_summary(tree: xr.DataTree) -> dict[str, float]:
    """Sizes of the annotations: items, rankings, labels and ties."""
    found = tree["annotation"].to_dataset()
    return {
        "n_items": found.sizes["item"],
        "n_rankings": found.sizes["ranking"],
        "rankings_per_item": float(found["n_rankings"].mean()),
        "labels_per_item": float(found["n_named"].mean()),
        "labels_per_ranking": float(found["n_ranked"].mean()),
        "blocks_per_ranking": float(found["n_blocks"].mean()),
        "share_with_ties": float((found["largest_block"] > 1).mean()),
        "largest_block": int(found["largest_block"].max()),
    }


def setting_table(tree: xr.DataTree) -> pd.DataFrame:
    """Mean certainty of the top sets, share of open items, risk and correlation with agreement, one row a setting."""
    certainty = tree["certainty"].to_dataset()
    table = {f"top_{k}": certainty[f"top_{k}"].transpose("setting", "item").values for k in (1, 2, 3)}
    columns: dict[str, Any] = {"setting": setting_names(tree)}
    columns |= {name: values.mean(axis=1) for name, values in table.items()}
    columns[f"share_below_{OPEN}"] = (table["top_1"] < OPEN).mean(axis=1)
    if "risk" in tree:
        risk = tree["risk"].to_dataset().mean("item")
        columns |= {"risk_certainty": risk["certainty"].values, "expected_risk": risk["expected"].values}
    agreement = tree["annotation"].to_dataset()["agreement"].values
    known = np.isfinite(agreement)
    columns["correlation_with_agreement"] = [_correlation(row[known], agreement[known]) for row in table["top_1"]]
    return pd.DataFrame(columns)


def nearest_settings(tree: xr.DataTree) -> pd.DataFrame:
    """PrIRN setting whose certainty correlates best with that of each Plackett-Luce setting."""
    correlation, names = certainty_correlation(tree).values, setting_names(tree)
    kinds = tree["certainty"].to_dataset()["aggregation"].values
    candidates = np.flatnonzero(kinds == "prirn")
    rows = []
    for i in np.flatnonzero(kinds == "plackett_luce") if candidates.size else []:
        best = max(candidates, key=lambda j: (correlation[i, j], names[j]))
        rows.append({"setting": names[i], "prirn": names[best], "correlation": float(correlation[i, best])})
    return pd.DataFrame(rows, columns=["setting", "prirn", "correlation"])


def unsettled_items(tree: xr.DataTree) -> pd.DataFrame:
    """Ambiguous items by aggregation model: those whose certainty has stopped to rise, and those that stay tied.

    Returns
    -------
    DataFrame
        Columns aggregation, ``from`` and ``to`` (the two largest reliabilities), ``rise`` (a smaller one is none),
        ``flat`` and ``tied`` (numbers of items).
    """
    certainty = tree["certainty"].to_dataset()
    kinds, rows = certainty["aggregation"].values, []
    for kind in np.unique(kinds):
        levels = np.sort(certainty["reliability"].values[kinds == kind])
        if levels.size > 1:
            flat = int(saturated_items(tree, kind).sum())
            tied = int(tree["annotation"].to_dataset()[f"tied_{kind}"].sum())
            ends = {"from": float(levels[-2]), "to": float(levels[-1]), "rise": RISE}
            rows.append({"aggregation": str(kind)} | ends | {"flat": flat, "tied": tied})
    return pd.DataFrame(rows, columns=["aggregation", "from", "to", "rise", "flat", "tied"])


def model_scores(tree: xr.DataTree) -> pd.DataFrame:
    """Mean score of every model (columns) by metric and setting.

    The column ``order_differs`` says whether the models stand in another order than in the first setting.
    """
    posterior = tree["posterior"].to_dataset()
    models, parts = [str(m) for m in posterior["model"].values], []
    for metric in SCORES:
        mean = posterior[metric].mean(("chain", "draw")).transpose("setting", "model").values
        ranks = model_ranks(tree, metric).values
        part = pd.DataFrame(mean, columns=models)
        part.insert(0, "metric", metric)
        part.insert(1, "setting", setting_names(tree))
        parts.append(part.assign(order_differs=(ranks != ranks[0]).any(axis=1)))
    return pd.concat(parts, ignore_index=True)


def item_view(rankings: Rankings, tree: xr.DataTree, name: str | None = None) -> ItemView:
    """Rankings of one item, and the probability of each label to be the top one at middle reliabilities.

    Parameters
    ----------
    rankings, tree
        Annotations and their `ranking_study`.
    name
        The item, by default the least certain one.

    Raises
    ------
    InputError
        An item that is not there.
    """
    certainty = tree["certainty"].to_dataset()["top_1"].mean("setting").values
    at = int(certainty.argmin()) if name is None else _position(rankings, name)
    given = rankings.of_item(at)
    one = Rankings.from_blocks([given], labels=rankings.categories.tolist())
    unranked = settings_of(tree)["unranked"]
    worth = int(middle_reliability(tree, "plackett_luce"))
    top = {
        "prirn_top": prirn(one, reliability=middle_reliability(tree, "prirn"), top_labels=1, seed=1),
        "plackett_luce_top": plackett_luce(one, reliability=worth, unranked=unranked, top_labels=1, seed=1),
    }
    point = irn(one).values[0]
    shown = np.flatnonzero(point)[np.argsort(-point[np.flatnonzero(point)], kind="stable")]
    columns: dict[str, NDArray[Any]] = {"label": rankings.categories[shown].astype(str), "irn": point[shown]}
    columns |= {kind: label_certainty(draws).values[0, shown] for kind, draws in top.items()}
    return ItemView(rankings.items.tolist()[at], float(certainty[at]), given, pd.DataFrame(columns))


def middle_reliability(tree: xr.DataTree, aggregation: str) -> float:
    """Middle one of the reliabilities of an aggregation model, 1 where the study has none."""
    certainty = tree["certainty"].to_dataset()
    levels = np.sort(certainty["reliability"].values[certainty["aggregation"].values == aggregation])
    return float(levels[levels.size // 2]) if levels.size else 1.0


def _correlation(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    return float(np.corrcoef(a, b)[0, 1]) if len(a) > 1 and np.ptp(a) > 0 and np.ptp(b) > 0 else float("nan")


def _position(rankings: Rankings, name: str) -> int:
    found = np.flatnonzero(rankings.items.astype(str) == name)
    if found.size == 0:
        raise InputError(f"item {name!r}: there is no such item in the rankings")
    return int(found[0])
