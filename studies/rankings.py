"""From differential diagnoses to scores: a whole evaluation against rankings, under two aggregation models.

The probabilistic inverse rank normalisation (`prirn`) and Plackett-Luce (`plackett_luce`) read the same rankings
differently, and each has a reliability that nobody knows. The study computes certainty, risk and scores for all of
them and says what holds under every choice and what does not.

Source: Stutz et al., "Evaluating AI systems under uncertain ground truth", section 3 and appendices C, D.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from typer import Option

from bayesagree.agreement.leave_one_out import annotator_agreement
from bayesagree.annotations import Rankings
from bayesagree.annotations.predictions import Predictions
from bayesagree.cli import _options, _output
from bayesagree.datasets import load
from bayesagree.errors import InputError, one_of
from bayesagree.inference.results import result_tree, settings_of
from bayesagree.inference.streams import Seed, map_blocks
from bayesagree.inference.top_labels import truth_draws
from bayesagree.io.files import write_result
from bayesagree.io.tables import read_table
from bayesagree.metrics._scorer import ItemSums, Scorer
from bayesagree.metrics.posterior_scores import score
from bayesagree.metrics.registry import Metric
from bayesagree.plausibility.certainty import (
    expected_risk,
    label_certainty,
    risk_certainty,
    share_of_most_frequent_set,
)
from bayesagree.plausibility.plackett_luce._sampler import Unranked
from bayesagree.plausibility.plackett_luce.posterior import plackett_luce
from bayesagree.plausibility.prirn.inverse_ranks import irn
from bayesagree.plausibility.prirn.posterior import prirn
from studies._command import Figures, run, save_figures
from studies.plackett_luce_ml import plackett_luce_ml
from studies.systems import noisy_models

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
    random_seed: Seed = None,
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
    draws, chains, random_seed
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
    >>> from bayesagree.datasets.simulate import rankings
    >>> from studies.systems import noisy_models
    >>> simulated = rankings(n_items=20, random_seed=1).rankings
    >>> tree = ranking_study(simulated, noisy_models(simulated, random_seed=1), draws=500, random_seed=1)
    >>> dict(tree["certainty"].sizes)
    {'setting': 9, 'item': 20}
    """
    settings = [("prirn", r) for r in prirn_reliability] + [
        ("plackett_luce", r) for r in plackett_luce_reliability
    ]
    if not settings:
        raise InputError("there is no setting: give a reliability of PrIRN or of Plackett-Luce")
    common: dict[str, Any] = {"top_labels": DEPTH, "draws": draws, "chains": chains, "random_seed": random_seed}
    estimate, metrics, point = irn(rankings), [Metric.named(name) for name in SCORES], {}
    for metric in metrics:
        point[metric.name] = (("model",), score(estimate, predictions, metric.name).values.ravel())

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
            v: (dims, np.stack([row[group][v] for row in rows], axis=dims.index("setting")))
            for v in rows[0][group]
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
    result = result_tree(
        groups, coords, model="ranking_study", engine="gibbs", random_seed=random_seed, settings=made
    )
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
    certainty = tree["certainty"].to_dataset()
    at = np.flatnonzero(certainty["aggregation"].values == aggregation)
    if at.size < 2:
        raise InputError(f"{at.size} reliabilities of {aggregation!r}; two or more are needed to see a rise")
    last_two = at[certainty["reliability"].values[at].argsort()[-2:]]
    low, high = certainty["top_1"].transpose("setting", "item").values[last_two]
    return (high - low < RISE) & (high < OPEN)


def model_ranks(tree: xr.DataTree, metric: str) -> xr.DataArray:
    """Rank the models by their expected score in each setting, 1 for the best, dims (setting, model)."""
    mean = tree["posterior"].to_dataset()[metric].mean(("chain", "draw")).transpose("setting", "model")
    rank = (-mean.values).argsort(axis=1, kind="stable").argsort(axis=1) + 1
    return mean.copy(data=rank).rename("rank")


def _setting(
    tree: xr.DataTree, predictions: Predictions, metrics: Sequence[Metric], risk: Mapping[Any, float] | None
) -> dict[str, dict[str, NDArray[Any]]]:
    """Compute everything that one posterior contributes, in one pass over its draws."""
    draws, shares = truth_draws(tree, DEPTH), []
    scorer = Scorer(predictions.aligned(draws.items, draws.labels), metrics)
    sums = ItemSums(scorer, draws.chains * draws.draws)
    for block in draws.blocks:
        best = [block.top_label[:, :, :k] for k in range(1, DEPTH + 1)]
        shares.append([share_of_most_frequent_set(top) for top in best])
        sums.add(scorer(block))
    certainty = {f"top_{k + 1}": share for k, share in enumerate(np.concatenate(shares, axis=1))}
    risks: dict[str, NDArray[Any]] = {}
    if risk is not None:
        risks = {"certainty": risk_certainty(tree, risk).values, "expected": expected_risk(tree, risk).values}
    scores = sums.scores().swapaxes(1, 2).reshape(len(metrics), draws.chains, draws.draws, -1)
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
    columns["correlation_with_agreement"] = [
        _correlation(row[known], agreement[known]) for row in table["top_1"]
    ]
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
        "prirn_top": prirn(one, reliability=middle_reliability(tree, "prirn"), top_labels=1, random_seed=1),
        "plackett_luce_top": plackett_luce(
            one, reliability=worth, unranked=unranked, top_labels=1, random_seed=1
        ),
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


def plot_ranking_study(result: xr.DataTree) -> NDArray[Any]:
    """Draw certainty and all scores of a ranking study across reliabilities, one row for each aggregation.

    Dotted lines are the scores against the point estimate; bands are one standard deviation over the draws
    (Stutz et al. 2023, figure 6, for every metric at once).

    Parameters
    ----------
    result
        Result of `ranking_study`.

    Returns
    -------
    array of Axes

    """
    certainty, posterior = result["certainty"].to_dataset(), result["posterior"].to_dataset()
    point, metrics = result["point"].to_dataset(), [str(name) for name in posterior.data_vars]
    kinds = list(dict.fromkeys(certainty["aggregation"].values.tolist()))
    panels = _panels(len(kinds), 1 + len(metrics), sharex="row")
    for row, kind in zip(panels, kinds):
        at = np.flatnonzero(certainty["aggregation"].values == kind)
        level = certainty["reliability"].values[at]
        for k in (1, 2, 3):
            mean = certainty[f"top_{k}"].mean("item").transpose("setting").values[at]
            row[0].plot(level, mean, label=f"top {k}", marker="osD"[k - 1])
        row[0].set_ylabel(str(kind).replace("_", "-"))
        row[0].set_title("annotation certainty", fontsize="small")
        row[0].legend(fontsize="x-small")
        for panel, metric in zip(row[1:], metrics):
            values = posterior[metric].isel(setting=at)
            mean = values.mean(("chain", "draw")).transpose("setting", "model").values
            spread = values.std(("chain", "draw")).transpose("setting", "model").values
            for m, model in enumerate(posterior["model"].values.tolist()):
                panel.plot(level, mean[:, m], label=str(model), color=f"C{m % 10}", marker="o")
                panel.fill_between(level, mean[:, m] - spread[:, m], mean[:, m] + spread[:, m], alpha=0.2)
                panel.axhline(
                    float(point[metric].sel(model=model)), color=f"C{m % 10}", linestyle=":", linewidth=0.8
                )
            panel.set_title(metric.replace("_", " "), fontsize="small")
        row[0].set_xscale("log")
        for panel in row:
            panel.set_xlabel("reliability")
    panels[0, 1].legend(fontsize="x-small")
    return panels


def plot_annotation_statistics(result: xr.DataTree) -> NDArray[Any]:
    """Draw how many rankings and labels the items have, how many labels a ranking has, and its largest tie.

    Parameters
    ----------
    result
        Result of `ranking_study`.

    Returns
    -------
    array of Axes

    References
    ----------
    Stutz et al. (2023), figure 12.

    """
    titles = {"n_rankings": "rankings of an item", "n_named": "labels named for an item"}
    titles |= {"n_ranked": "labels in a ranking", "largest_block": "largest tie in a ranking"}
    panels = _panels(1, len(titles))
    found = result["annotation"].to_dataset()
    for panel, (name, title) in zip(panels[0], titles.items()):
        values = found[name].values
        panel.hist(values, bins=np.arange(0.5, values.max() + 1.5).tolist(), color="0.5", rwidth=0.9)
        panel.set_title(title, fontsize="small")
    return panels


def _panels(rows: int, columns: int, **shared: Any) -> NDArray[Any]:
    import matplotlib.pyplot as plt

    size = (2.6 * columns, 2.4 * rows)
    return plt.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False, **shared)[1]


def main(
    source: _options.WithPredictions,
    sampling: _options.Sampling,
    simulated_models: Annotated[
        int, Option(help="Models to simulate where there is no file of predictions.")
    ] = 4,
    prirn: Annotated[str, Option("--prirn", help="Reliabilities of PrIRN.")] = "2,5,10,20,50",
    plackett_luce: Annotated[
        str, Option("--plackett-luce", help="Whole reliabilities of Plackett-Luce.")
    ] = "1,2,3,5",
    unranked: Annotated[str, Option(help="Labels that nobody named: exact or lumped.")] = "lumped",
    risk: Annotated[Path | None, Option(help="Table with columns label and risk.")] = None,
    case: Annotated[str | None, Option(help="Item to show, by default the least certain one.")] = None,
    figures: Figures = None,
    output: Path | None = None,
) -> _output.Answer:
    """Evaluate against rankings, under two aggregation models and many reliabilities: Stutz et al., figures 6 to 15.

    Example: python -m studies.rankings --data derm-ddx --draws 250
    """
    truth, models = source.read()
    if not isinstance(truth, Rankings):
        raise InputError(f"these are {type(truth).__name__}, not rankings; use `bayesagree evaluate`")
    one_of(unranked, "unranked", ("exact", "lumped"))
    simulated = models is None
    models = models or noisy_models(truth, n_models=simulated_models, random_seed=sampling.random_seed)
    how: Any = {"prirn_reliability": _options.numbers(prirn), "unranked": unranked}
    how["plackett_luce_reliability"] = _options.numbers(plackett_luce)
    tree = ranking_study(truth, models, risk=_risk(risk, source.data), **how, **vars(sampling))
    if output is not None:
        write_result(tree, output)
    notes = ["The models are simulated."] if simulated else []
    drawn = {
        "figure-6": lambda: plot_ranking_study(tree),
        "figure-12": lambda: plot_annotation_statistics(tree),
    }
    notes += save_figures(figures, drawn)
    return _output.Answer(_tables(truth, tree, case), notes)


def _tables(truth: Rankings, tree: xr.DataTree, case: str | None) -> list[_output.Table]:
    correlation = certainty_correlation(tree).values
    names, view = setting_names(tree), item_view(truth, tree, case)
    given = [
        {"ranking": " > ".join("{" + ", ".join(map(str, block)) + "}" for block in r)} for r in view.rankings
    ]
    matrix: list[dict[str, Any]] = [
        {"setting": n} | dict(zip(names, row)) for n, row in zip(names, correlation)
    ]
    return [
        _output.Table("annotations", [annotation_summary(tree)], "Annotations"),
        _output.Table("settings", setting_table(tree), "Certainty"),
        _output.Table("correlation_of_certainty", matrix, most=0),
        _output.Table(
            "nearest_settings", nearest_settings(tree), "Settings of PrIRN whose certainty correlates most"
        ),
        _output.Table("unsettled_items", unsettled_items(tree), "Items that no reliability settles"),
        _output.Table("scores", model_scores(tree), "Mean scores, models in order of columns"),
        _output.Table("item", [{"item": view.item, "certainty": view.certainty}], most=0),
        _output.Table("rankings", given, f"Item {view.item}, certainty {view.certainty:.2f}"),
        _output.Table("labels", view.labels, "Probability to be the top label"),
    ]


def _risk(path: Path | None, data: str | None) -> dict[Any, float] | None:
    if path is not None:
        table = read_table(path)
        return dict(zip(table["label"].tolist(), table["risk"].tolist()))
    return None if data is None else load(data).extra.get("risk")


if __name__ == "__main__":
    run(main)
