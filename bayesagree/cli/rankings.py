"""`bayesagree rankings`: a whole evaluation against rankings, under two aggregation models and many reliabilities."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from bayesagree.cli import _input, _options, _output
from bayesagree.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

    from bayesagree.annotations import Rankings


def rankings(
    annotations: _options.AnnotationsFile = None,
    predictions: _options.PredictionsFile = None,
    data: _options.Data = None,
    simulated_models: Annotated[
        int, typer.Option(help="Without predictions: simulate this many noisy models.", min=1)
    ] = 4,
    prirn: Annotated[str, typer.Option(help="Reliabilities of PrIRN, comma separated.")] = "2,5,10,20,50",
    plackett_luce: Annotated[str, typer.Option(help="Whole reliabilities of Plackett-Luce.")] = "1,2,3,5",
    unranked: Annotated[str, typer.Option(help="Unnamed labels in Plackett-Luce: lumped or exact.")] = "lumped",
    risk: Annotated[Path | None, typer.Option(help="Table with the columns label and risk (a level).")] = None,
    case: Annotated[str | None, typer.Option(help="Item to look at; by default the least certain one.")] = None,
    draws: _options.Draws = 1000,
    chains: _options.Chains = 4,
    seed: _options.Seed = 1,
    model: _options.ModelColumn = "model",
    item: _options.Item = "item",
    annotator: _options.Annotator = "annotator",
    label: _options.LabelColumn = "label",
    rank: _options.RankColumn = "rank",
    labels: _options.LabelNames = None,
    json: _options.Json = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Keep everything: a .nc or .zarr file.")] = None,
) -> None:
    """Say what rankings leave open, and whether the order of the models survives the choice of aggregation.

    Certainty, risk and scores under PrIRN and Plackett-Luce at several reliabilities; how the two agree; which items
    no reliability settles.

    Example: bayesagree rankings --data derm-ddx --draws 250
    """
    from bayesagree.annotations import Rankings
    from bayesagree.io.files import read_predictions, write_result
    from bayesagree.simulate import noisy_models
    from bayesagree.studies.ranking_models import ranking_study

    columns = {"item": item, "annotator": annotator, "label": label, "rank": rank}
    truth, models = _input.read(
        annotations, data, columns=columns, scale=None, step=None, labels=labels, duplicates="error"
    )
    if not isinstance(truth, Rankings):
        raise InputError(f"these are {type(truth).__name__}, not rankings; use `bayesagree evaluate`")
    if unranked not in ("exact", "lumped"):
        raise InputError(f"--unranked {unranked!r} is not one of exact, lumped")
    if predictions is not None:
        models = read_predictions(predictions, model=model, item=item, label=label)
    simulated = models is None
    models = noisy_models(truth, n_models=simulated_models, seed=seed) if models is None else models
    prirn_levels = _input.numbers(prirn, "--prirn")
    whole = _whole(_input.numbers(plackett_luce, "--plackett-luce"))
    with _output.progress("settings", len(prirn_levels) + len(whole)) as advance:
        tree = ranking_study(
            truth, models, risk=_risk(risk, data), prirn_reliability=prirn_levels, plackett_luce_reliability=whole,
            unranked=unranked, draws=draws, chains=chains, seed=seed, progress=advance,
        )  # fmt: skip
    if output is not None:
        write_result(tree, output)
    result = answer(tree) | {"simulated_models": simulated, "case": view_case(truth, tree, case)}
    if json:
        _output.show_json(result)
    else:
        show(result)


def answer(tree: "xr.DataTree") -> dict[str, Any]:
    """Return what the command says, for JSON."""
    from bayesagree.studies.ranking_models import certainty_correlation

    correlation = certainty_correlation(tree).values
    names = _names(tree)
    kinds = tree["certainty"].to_dataset()["aggregation"].values
    best = {
        name: max(((correlation[i, j], names[j]) for j in np.flatnonzero(kinds == "prirn")), default=(np.nan, ""))
        for i, name in enumerate(names)
        if kinds[i] == "plackett_luce"
    }
    return {
        "annotations": _annotations(tree),
        "settings": _settings(tree),
        "correlation_of_certainty": {
            "settings": names,
            "matrix": correlation.tolist(),
            "best_prirn_for_plackett_luce": {n: {"prirn": p, "correlation": float(c)} for n, (c, p) in best.items()},
        },
        "items_that_reliability_does_not_settle": _unsettled(tree),
        "scores": _scores(tree),
    }


def show(result: dict[str, Any]) -> None:
    """Print the tables."""
    counts = result["annotations"]
    typer.echo(
        f"{counts['n_items']} items, {counts['n_rankings']} rankings, {counts['rankings_per_item']:.2f} an item; "
        f"{counts['labels_per_ranking']:.2f} labels a ranking, {counts['share_with_ties']:.0%} with ties; "
        f"{counts['labels_per_item']:.2f} labels an item."
    )
    rows = result["settings"]
    names = [name.replace("_", " ") for name in rows[0]]
    _output.show_table(names, [list(row.values()) for row in rows], title="\nCertainty")
    for name, best in result["correlation_of_certainty"]["best_prirn_for_plackett_luce"].items():
        if best["prirn"]:
            typer.echo(f"Certainty of {name} correlates {best['correlation']:.2f} with that of {best['prirn']}.")
    for name, found in result["items_that_reliability_does_not_settle"].items():
        typer.echo(
            f"{name}: on {found['flat']} open items the certainty rises by less than {found['rise']:g} from "
            f"reliability {found['from']:g} to {found['to']:g}; on {found['tied']} it never reaches 1, as their best "
            "labels tie."
        )
    suffix = " (simulated models)" if result["simulated_models"] else ""
    rows = result["scores"]
    table = [
        [row["metric"], row["setting"], *row["scores"].values(), "yes" if row["order_differs"] else ""] for row in rows
    ]
    names = ["metric", "setting", *rows[0]["scores"], "order differs"]
    _output.show_table(names, table, title=f"\nScores{suffix}: mean over draws, models in order of columns")
    view = result["case"]
    typer.echo(f"\nItem {view['item']}, certainty {view['certainty']:.2f}")
    for ranking in view["rankings"]:
        typer.echo("  " + " > ".join("{" + ", ".join(map(str, block)) + "}" for block in ranking))
    names = ["label", "IRN", "PrIRN top", "Plackett-Luce top"]
    _output.show_table(names, [list(row.values()) for row in view["labels"]])


def view_case(rankings: "Rankings", tree: "xr.DataTree", name: str | None) -> dict[str, Any]:
    """Look at one item: what the annotators said, and how probable each label is as the top one (figures 1, 5, 15)."""
    from bayesagree.annotations import Rankings
    from bayesagree.certainty import label_certainty
    from bayesagree.plausibility.dirichlet.inverse_rank_normalization import irn, prirn
    from bayesagree.plausibility.plackett_luce.posterior import plackett_luce

    certainty = tree["certainty"].to_dataset()["top_1"].mean("setting").values
    at = int(certainty.argmin()) if name is None else _position(rankings, name)
    said = rankings_of(rankings, at)
    one = Rankings.from_blocks([said], labels=rankings.categories.tolist())
    levels = {kind: float(_middle(tree, kind)) for kind in ("prirn", "plackett_luce")}
    top = {
        "prirn": label_certainty(prirn(one, reliability=levels["prirn"], top_labels=1, seed=1)),
        "plackett_luce": label_certainty(
            plackett_luce(
                one, reliability=int(levels["plackett_luce"]), unranked=_unranked(tree), top_labels=1, seed=1
            )
        ),
    }  # fmt: skip
    point = irn(one).values[0]
    shown = np.flatnonzero(point)[np.argsort(-point[np.flatnonzero(point)], kind="stable")]
    return {
        "item": rankings.items[at].item() if hasattr(rankings.items[at], "item") else rankings.items[at],
        "certainty": float(certainty[at]),
        "rankings": said,
        "reliability": levels,
        "labels": [
            {"label": str(rankings.categories[k]), "irn": float(point[k])}
            | {f"{kind}_top": float(certain.values[0, k]) for kind, certain in top.items()}
            for k in shown
        ],
    }


def rankings_of(rankings: "Rankings", item: int) -> list[list[list[Any]]]:
    """Return the rankings of one item as nested lists of label names."""
    cases = []
    for r in np.flatnonzero(rankings.item_index == item):
        entries = slice(rankings.start[r], rankings.start[r + 1])
        named, block = rankings.categories[rankings.label_index[entries]].tolist(), rankings.block[entries]
        cases.append([[n for n, b in zip(named, block) if b == level] for level in range(block[-1] + 1)])
    return cases


def _names(tree: "xr.DataTree") -> list[str]:
    certainty = tree["certainty"].to_dataset()
    return [f"{a} {r:g}" for a, r in zip(certainty["aggregation"].values, certainty["reliability"].values)]


def _annotations(tree: "xr.DataTree") -> dict[str, Any]:
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


def _settings(tree: "xr.DataTree") -> list[dict[str, Any]]:
    """Summarise each setting: mean certainty of the top sets, share of open items, risk, agreement."""
    from bayesagree.studies.ranking_models import OPEN

    agreement = tree["annotation"].to_dataset()["agreement"].values
    known = np.isfinite(agreement)
    rows = []
    for s, name in enumerate(_names(tree)):
        here = {k: tree["certainty"].to_dataset()[f"top_{k}"].values[s] for k in (1, 2, 3)}
        row: dict[str, Any] = {"setting": name} | {f"top_{k}": float(v.mean()) for k, v in here.items()}
        row[f"share_below_{OPEN}"] = float((here[1] < OPEN).mean())
        if "risk" in tree:
            row["risk_certainty"] = float(tree["risk"].to_dataset()["certainty"].values[s].mean())
            row["expected_risk"] = float(tree["risk"].to_dataset()["expected"].values[s].mean())
        row["correlation_with_agreement"] = _correlation(here[1][known], agreement[known])
        rows.append(row)
    return rows


def _correlation(a: Any, b: Any) -> float:
    return float(np.corrcoef(a, b)[0, 1]) if len(a) > 1 and np.ptp(a) > 0 and np.ptp(b) > 0 else float("nan")


def _unsettled(tree: "xr.DataTree") -> dict[str, dict[str, float]]:
    """Count, for each aggregation model, the items whose certainty has stopped to rise, and those that stay tied."""
    from bayesagree.studies.ranking_models import RISE, saturated_items

    certainty = tree["certainty"].to_dataset()
    kinds = certainty["aggregation"].values
    counts = {}
    for kind in np.unique(kinds):
        levels = np.sort(certainty["reliability"].values[kinds == kind])
        if levels.size > 1:
            counts[str(kind)] = {
                "from": float(levels[-2]),
                "to": float(levels[-1]),
                "rise": RISE,
                "flat": int(saturated_items(tree, kind).sum()),
                "tied": int(tree["annotation"].to_dataset()[f"tied_{kind}"].sum()),
            }
    return counts


def _scores(tree: "xr.DataTree") -> list[dict[str, Any]]:
    """List the mean score of every model by metric and setting, and whether the order differs from the first one."""
    from bayesagree.studies.ranking_models import SCORES, model_ranks

    models = [str(m) for m in tree["posterior"].to_dataset()["model"].values]
    rows = []
    for metric in SCORES:
        mean = tree["posterior"].to_dataset()[metric].mean(("chain", "draw")).transpose("setting", "model").values
        ranks = model_ranks(tree, metric).values
        for s, name in enumerate(_names(tree)):
            scores = {model: float(value) for model, value in zip(models, mean[s])}
            differs = bool((ranks[s] != ranks[0]).any())
            rows.append({"metric": metric, "setting": name, "scores": scores, "order_differs": differs})
    return rows


def _middle(tree: "xr.DataTree", kind: str) -> float:
    certainty = tree["certainty"].to_dataset()
    levels = np.sort(certainty["reliability"].values[certainty["aggregation"].values == kind])
    return float(levels[levels.size // 2]) if levels.size else 1.0


def _unranked(tree: "xr.DataTree") -> Any:
    from bayesagree._inference.results import settings_of

    return settings_of(tree)["unranked"]


def _position(rankings: "Rankings", name: str) -> int:
    found = np.flatnonzero(rankings.items.astype(str) == name)
    if found.size == 0:
        raise InputError(f"--case {name!r}: there is no such item")
    return int(found[0])


def _whole(levels: list[float]) -> list[int]:
    broken = [level for level in levels if level < 1 or not float(level).is_integer()]
    if broken:
        raise InputError(f"--plackett-luce {broken[0]:g}: Plackett-Luce repeats rankings 1, 2, 3, ... times")
    return [int(level) for level in levels]


def _risk(path: Path | None, data: str | None) -> dict[Any, float] | None:
    if path is not None:
        from bayesagree.io.files import read_table

        table = read_table(path)
        if not {"label", "risk"} <= set(table.columns):
            raise InputError(f"{path} needs the columns label and risk; it has {', '.join(map(str, table.columns))}")
        return dict(zip(table["label"].tolist(), table["risk"].tolist()))
    if data is not None:
        from bayesagree.datasets import load

        return load(data).extra.get("risk")
    return None
