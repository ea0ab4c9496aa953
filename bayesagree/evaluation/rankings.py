"""From differential diagnoses to scores: a whole evaluation against rankings, under two aggregation models.

The probabilistic inverse rank normalisation (`prirn`) and Plackett-Luce (`plackett_luce`) read the same rankings
differently, and each has a reliability that nobody knows. The study computes certainty, risk and scores for all of
them and says what holds under every choice and what does not.

Source: Stutz et al., "Evaluating AI systems under uncertain ground truth", section 3 and appendices C, D.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree._inference.results import require_from, result_tree
from bayesagree._inference.streams import Seed, map_blocks
from bayesagree.agreement.leave_one_out import annotator_agreement
from bayesagree.annotations import Rankings
from bayesagree.annotations.predictions import Predictions
from bayesagree.draws.top_labels import share_of_most_frequent_set, truth_draws
from bayesagree.errors import InputError
from bayesagree.metrics._scorer import Scorer, over_draws
from bayesagree.metrics.registry import Metric
from bayesagree.plausibility.certainty import expected_risk, risk_certainty
from bayesagree.plausibility.plackett_luce._sampler import Unranked
from bayesagree.plausibility.plackett_luce.likelihood import plackett_luce_ml
from bayesagree.plausibility.plackett_luce.posterior import plackett_luce
from bayesagree.plausibility.prirn import irn, prirn

# Labels of each draw that the study needs.
DEPTH = 3

# The scores of the paper's figure 6.
SCORES = ("top_3_accuracy", "set_2_accuracy", "set_3_accuracy", "average_overlap_3")

# Relative difference below which two plausibilities of a point estimate are the same.
TIE = 1e-5

# Items below this certainty are called open.
OPEN = 0.99

# A smaller rise of the certainty from one reliability to the next is none.
RISE = 0.02


def ranking_study(
    rankings: Rankings,
    predictions: Predictions,
    *,
    risk: Mapping[Any, float] | None = None,
    prirn_reliability: Sequence[float] = (2, 5, 10, 20, 50),
    plackett_luce_reliability: Sequence[int] = (1, 2, 3, 5),
    unranked: Unranked = "lumped",
    draws: int = 1000,
    chains: int = 4,
    seed: Seed = None,
    progress: Callable[[], None] | None = None,
) -> xr.DataTree:
    """Compute certainty, risk and scores under both aggregation models, at several reliabilities each.

    Parameters
    ----------
    rankings
        Partial rankings with ties.
    predictions
        Models, on the same items and labels.
    risk
        Level of each label; without it there is no group ``risk``.
    prirn_reliability, plackett_luce_reliability
        Reliabilities of `prirn`, and whole ones of `plackett_luce`; they are not on one scale.
    unranked
        As in `plackett_luce`; ``"lumped"`` is the paper's.
    draws, chains, seed
        As in `plackett_luce`; the same for every setting.
    progress
        Called after every setting.

    Returns
    -------
    DataTree
        Dim ``setting`` numbers the pairs (aggregation, reliability), both of which are coordinates. ``posterior``: the
        scores of `SCORES` (chain, draw, setting, model). ``certainty``: ``top_1``, ``top_2``, ``top_3`` (setting,
        item). ``risk``: ``certainty``, ``expected`` (setting, item).
        ``point``: the scores against the IRN estimate (model). ``annotation``: ``agreement``, ``n_rankings``,
        ``n_named``, ``tied_prirn``, ``tied_plackett_luce`` (item), ``n_blocks``, ``n_ranked``, ``largest_block``
        (ranking). An item is tied where several labels share the top of the point estimate (`irn`,
        `plackett_luce_ml`): its certainty never comes near one, however large the reliability.

    Examples
    --------
    >>> from bayesagree.datasets.simulate import noisy_models, rankings
    >>> simulated = rankings(n_items=20, seed=1).rankings
    >>> tree = ranking_study(simulated, noisy_models(simulated, seed=1), draws=500, seed=1)
    >>> dict(tree["certainty"].sizes)
    {'setting': 9, 'item': 20}
    """
    settings = [("prirn", r) for r in prirn_reliability] + [("plackett_luce", r) for r in plackett_luce_reliability]
    if not settings:
        raise InputError("there is no setting: give a reliability of PrIRN or of Plackett-Luce")
    common: dict[str, Any] = {"top_labels": DEPTH, "draws": draws, "chains": chains, "seed": seed}
    estimate, metrics, point = irn(rankings), [Metric.named(name) for name in SCORES], {}
    for metric in metrics:
        score = over_draws(metric.record.pattern, estimate, predictions, metric.k, None)
        point[metric.name] = (("model",), score.values.ravel())

    def row(setting: tuple[str, float]) -> dict[str, dict[str, NDArray[Any]]]:
        aggregation, reliability = setting
        if aggregation == "prirn":
            tree = prirn(rankings, reliability=reliability, **common)
        else:
            tree = plackett_luce(rankings, reliability=int(reliability), unranked=unranked, **common)
        return _setting(tree, predictions, metrics, risk)

    rows = []
    for found in map_blocks(row, settings):
        rows.append(found)
        if progress is not None:
            progress()
    names = {
        "posterior": ("chain", "draw", "setting", "model"),
        "certainty": ("setting", "item"),
        "risk": ("setting", "item"),
    }
    groups: dict[str, dict[str, tuple[tuple[str, ...], Any]]] = {
        group: {
            v: (dims, np.stack([row[group][v] for row in rows], axis=dims.index("setting"))) for v in rows[0][group]
        }
        for group, dims in names.items()
        if rows[0][group]
    }
    groups["point"] = point
    groups["annotation"] = _annotation_statistics(rankings) | {
        "tied_prirn": (("item",), _tied(estimate)),
        "tied_plackett_luce": (("item",), _tied(_maximum(rankings))),
    }
    coords = {"item": rankings.items, "model": predictions.models, "setting": np.arange(len(settings))}
    made = {"study": "rankings", "unranked": unranked, "draws": draws, "chains": chains}
    result = result_tree(groups, coords, model="ranking_study", engine="gibbs", seed=seed, settings=made)
    along = {
        "aggregation": ("setting", np.array([a for a, _ in settings])),
        "reliability": ("setting", np.array([float(r) for _, r in settings])),
    }
    for group in groups:
        if "setting" in result[group].sizes:
            result[group] = xr.DataTree(result[group].to_dataset().assign_coords(along))
    return result


def certainty_correlation(tree: xr.DataTree) -> xr.DataArray:
    """Correlate the annotation certainty of the items between all settings, dims (setting, other_setting)."""
    require_from("ranking_study", tree, "certainty/top_1")
    certainty = tree["certainty"].to_dataset()["top_1"].transpose("setting", "item")
    return xr.DataArray(
        np.corrcoef(certainty.values),
        dims=("setting", "other_setting"),
        coords={"aggregation": certainty["aggregation"], "reliability": certainty["reliability"]},
        name="correlation",
    )


def saturated_items(tree: xr.DataTree, aggregation: str) -> NDArray[np.bool_]:
    """Return the ambiguous items whose certainty rises less than `RISE` between the highest reliabilities (figure 14).

    A larger reliability does not resolve such items. Which they are depends on the reliabilities chosen; the items
    that no reliability resolves are ``tied_prirn`` and ``tied_plackett_luce`` of `ranking_study`.
    """
    require_from("ranking_study", tree, "certainty/top_1")
    certainty = tree["certainty"].to_dataset()
    at = np.flatnonzero(certainty["aggregation"].values == aggregation)
    if at.size < 2:
        raise InputError(f"{at.size} reliabilities of {aggregation!r}; two or more are needed to see a rise")
    last_two = at[certainty["reliability"].values[at].argsort()[-2:]]
    low, high = certainty["top_1"].transpose("setting", "item").values[last_two]
    return (high - low < RISE) & (high < OPEN)


def model_ranks(tree: xr.DataTree, metric: str) -> xr.DataArray:
    """Rank the models by their expected score in each setting, 1 for the best, dims (setting, model)."""
    require_from("ranking_study", tree, "certainty/top_1", f"posterior/{metric}")
    mean = tree["posterior"].to_dataset()[metric].mean(("chain", "draw")).transpose("setting", "model")
    rank = (-mean.values).argsort(axis=1, kind="stable").argsort(axis=1) + 1
    return mean.copy(data=rank).rename("rank")


def _setting(
    tree: xr.DataTree, predictions: Predictions, metrics: Sequence[Metric], risk: Mapping[Any, float] | None
) -> dict[str, dict[str, NDArray[Any]]]:
    """Compute everything that one posterior contributes, in one pass over its draws."""
    draws, shares = truth_draws(tree, DEPTH), []
    scorer = Scorer(predictions.aligned(draws.items, draws.labels), metrics)
    sums = np.zeros((scorer.n_components, scorer.n_models, draws.chains * draws.draws))
    for block in draws.blocks:
        best = [block.top_label[:, :, :k] for k in range(1, DEPTH + 1)]
        shares.append([share_of_most_frequent_set(top, draws.labels.size) for top in best])
        sums += scorer.sums(block)
    certainty = {f"top_{k + 1}": share for k, share in enumerate(np.concatenate(shares, axis=1))}
    risks: dict[str, NDArray[Any]] = {}
    if risk is not None:
        risks = {"certainty": risk_certainty(tree, risk).values, "expected": expected_risk(tree, risk).values}
    scores = scorer.finish(sums, draws.items.size).swapaxes(1, 2).reshape(len(metrics), draws.chains, draws.draws, -1)
    return {"posterior": dict(zip(SCORES, scores)), "certainty": certainty, "risk": risks}


def _maximum(rankings: Rankings) -> xr.DataArray:
    """Return `plackett_luce_ml`; that the posterior mode stands in for some items does not matter for ties."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".* have no maximum")
        return plackett_luce_ml(rankings)


def _tied(estimate: xr.DataArray) -> NDArray[np.bool_]:
    """Return whether several labels share the largest plausibility of an item, up to the accuracy of the maximum."""
    values = estimate.transpose("item", "category").values
    return (values >= (1 - TIE) * values.max(axis=1, keepdims=True)).sum(axis=1) > 1


def _annotation_statistics(rankings: Rankings) -> dict[str, tuple[tuple[str, ...], Any]]:
    """Count what the annotators gave (figure 12), and how far they agree (figure 13)."""
    ranking = np.repeat(np.arange(rankings.n_annotations), np.diff(rankings.start))
    block = np.stack([ranking, rankings.block])
    blocks, sizes = np.unique(block, axis=1, return_counts=True)
    largest = np.zeros(rankings.n_annotations, dtype=np.int64)
    np.maximum.at(largest, blocks[0], sizes)
    n_items = rankings.items.size
    named = np.unique(np.stack([rankings.item_index[ranking], rankings.label_index]), axis=1)[0]
    return {
        "agreement": (("item",), annotator_agreement(rankings).values),
        "n_rankings": (("item",), np.bincount(rankings.item_index, minlength=n_items)),
        "n_named": (("item",), np.bincount(named, minlength=n_items)),
        "n_blocks": (("ranking",), np.bincount(blocks[0], minlength=rankings.n_annotations)),
        "n_ranked": (("ranking",), np.diff(rankings.start)),
        "largest_block": (("ranking",), largest),
    }
