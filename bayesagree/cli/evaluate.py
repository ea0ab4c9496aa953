"""`bayesagree evaluate`: the main job on files or a named data set."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesagree.cli import _options, _output
from bayesagree.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

    from bayesagree.annotations import Annotations
    from bayesagree.annotations.predictions import Predictions


def evaluate(
    source: _options.Source,
    columns: _options.PredictionColumns,
    sampling: _options.Sampling,
    predictions: Path | None = None,
    simulated_models: int = 0,
    plausibility: str | None = None,
    reliability: str | None = None,
    metrics: str | None = None,
    truth_is: str = "top",
    another_annotator: bool = False,
    item_features: Path | None = None,
    by: str | None = None,
    cluster: str | None = None,
    items: str = "fixed",
    missing: str = "error",
    gold: Path | None = None,
    threshold: float | None = None,
    allow_unmixed: bool = False,
    dask: str | None = None,
    json: bool = False,
    output: Path | None = None,
) -> None:
    """Score models under the uncertainty that the annotations leave about the truth.

    Example: bayesagree evaluate annotations.csv predictions.csv --item task --annotator worker --reliability 0.1,1,10
    """
    from bayesagree._inference.results import settings_of
    from bayesagree.evaluation.gold import gold_notes, takes_gold
    from bayesagree.evaluation.scoring import evaluate as run
    from bayesagree.evaluation.scoring import items_to_score, scores_another_annotator
    from bayesagree.evaluation.tables import given_notes, prior_notes
    from bayesagree.io.files import write_result
    from bayesagree.metrics.registry import default_metrics
    from bayesagree.plausibility.dawid_skene._results import choice_notes

    truth, models = source.read(predictions, columns)
    models = models or _simulated(truth, simulated_models, sampling.seed)
    options: dict[str, Any] = {} if threshold is None else {"threshold": threshold}
    levels = None if reliability is None else tuple(_options.numbers(reliability, "--reliability"))
    chosen = _options.one_of(items, "--items", ("fixed", "bootstrap"))
    groups = item_groups(item_features, source.item, {"by": by, "cluster": cluster})
    known = {} if gold is None else {"gold": _options.read_gold(gold, source, models.items)}
    model_of_truth, record = _options.posterior_of(truth, models, plausibility, levels, options | known)
    posterior: Any = record.specification
    if known:
        takes_gold(record)
        posterior = replace(posterior, **known)
    if allow_unmixed and record.checks_chains:
        options["allow_unmixed"] = True
    names = list(default_metrics(models)) if metrics is None else _options.words(metrics)
    options |= {"metrics": names, "items": chosen, "client": _options.dask_client(dask)} | groups | vars(sampling)
    options["missing"] = _options.one_of(missing, "--missing", ("error", "skip", "wrong"))
    options["truth_is"] = _options.one_of(truth_is, "--truth-is", ("top", "sampled"))
    options["another_annotator"] = another_annotator or (not known and scores_another_annotator(posterior, names))
    options |= known
    with _output.progress("scoring", items_to_score(posterior, truth, models, levels or (1.0,))) as advance:
        tree = run(truth, models, plausibility=model_of_truth, reliability=levels, progress=advance, **options)
    if output is not None:
        write_result(tree, output)
    made = settings_of(tree)
    notes = gold_notes(made) + prior_notes(made.get("prior_share")) + choice_notes(made)
    notes += given_notes(truth, models, options["missing"])
    _output.show(_tables(tree), json=json, notes=notes)


def item_groups(path: Path | None, item: str, columns: dict[str, str | None]) -> dict[str, Any]:
    """Read the requested columns of the item features, as series by item."""
    requested = {option: column for option, column in columns.items() if column is not None}
    if not requested:
        return {}
    if path is None:
        raise InputError(
            f"--{next(iter(requested))} names a column of the items: give their table, --item-features FILE"
        )
    from bayesagree.io.files import read_table

    table = read_table(path)
    for column in (item, *requested.values()):
        if column not in table.columns:
            raise InputError(f"{path} has no column {column!r}; it has {', '.join(map(str, table.columns))}")
    return {option: table.set_index(item)[column] for option, column in requested.items()}


def _tables(tree: "xr.DataTree") -> list[_output.Table]:
    from bayesagree._inference.results import settings_of
    from bayesagree.evaluation.tables import ITEMS_ARE, OPEN, comparisons, pair_table, score_table, slice_table

    certainty = tree["certainty"]["annotation_certainty"]
    share = (certainty < OPEN).mean("item").rename(f"share_below_{OPEN}")
    open_items = share.where(certainty.notnull().all("item"), drop=True).to_dataframe().reset_index()
    found = comparisons(tree)
    pairs = [
        {"metric": metric, "reliability": level} | row
        for (metric, level), one in found.items()
        for row in _output.records(pair_table(one))
    ]
    settings = settings_of(tree) | {"seed": tree.attrs["seed"], "ci_kind": "hdi", "ci_prob": 0.95}
    tables = [
        _output.Table("settings", [settings], most=0),
        _output.Table("open_items", open_items, "Share of items of low annotation certainty"),
        _output.Table(
            "scores",
            score_table(found),
            f"Scores of the models {ITEMS_ARE[settings['items']]}, 95 % HDI: {settings['target']}",
        ),
        *_beside(tree),
        _output.Table("pairs", pairs, most=0),
    ]
    if "slices" in tree:
        tables.insert(3, _output.Table("slices", slice_table(tree), "Scores of each slice, the rest, the difference"))
    return tables


def _beside(tree: "xr.DataTree") -> list[_output.Table]:
    """Return what an estimate is to be read with: scores on gold, the fit to every model, the annotations alone."""
    from bayesagree.evaluation.tables import sensitivity_table

    if "gold_items" in tree:
        title = "Score against gold (known on items with gold, estimated on the others), and from annotations alone"
        return [_output.Table("targets", sensitivity_table(tree), title)]
    if "annotations_only" not in tree:
        return []
    title = "Score against a well-annotated truth (estimate), and the score from these annotations alone"
    return [_output.Table("targets", sensitivity_table(tree), title)]


def _simulated(truth: "Annotations", number: int, seed: int) -> "Predictions":
    from bayesagree.annotations import Ratings

    if number and not isinstance(truth, Ratings):
        from bayesagree.datasets.simulate import noisy_models

        return noisy_models(truth, n_models=number, seed=seed)
    raise InputError("there are no predictions: give a file of predictions, or --simulated-models N to try it out")
