"""`bayesagree compare`: is A better than B, from annotations and predictions, or an evaluation that was kept."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesagree.cli import _options, _output
from bayesagree.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

# Endings of results.
KEPT = (".nc",)


def compare(
    source: _options.Source,
    columns: _options.PredictionColumns,
    sampling: _options.Sampling,
    predictions: Path | None = None,
    metric: str | None = None,
    plausibility: str | None = None,
    reliability: float | None = None,
    items: str = "fixed",
    missing: str = "error",
    ci_prob: float = 0.95,
    json: bool = False,
) -> None:
    """Show the probability that each model is better than each other, and that of every place.

    Instead of annotations and predictions it takes the result that `bayesagree evaluate -o FILE` kept.

    Example: bayesagree compare labels.csv predictions.csv --metric top_1_accuracy
    """
    from bayesagree._inference.results import settings_of
    from bayesagree.evaluation.comparison import compare as run
    from bayesagree.evaluation.tables import ITEMS_ARE, pair_table, prior_notes
    from bayesagree.io.files import read_result

    if source.annotations is not None and source.annotations.suffix in KEPT:
        kept, metric = read_result(source.annotations), metric or "top_1_accuracy"
    else:
        given: dict[str, Any] = {"items": items, "missing": missing, "reliability": reliability}
        kept, metric = _evaluated(*source.read(predictions, columns), metric, plausibility, given | vars(sampling))
    found = run(kept, metric=metric, reliability=reliability, ci_prob=ci_prob)
    pairs = pair_table(found).assign(ci_kind="hdi", ci_prob=ci_prob)
    places = [f"place_{rank}" for rank in found["rank"].values]
    ranks = zip(found["model"].values.tolist(), found["rank_probability"].transpose("model", "rank").values.tolist())
    made = settings_of(kept)
    where = f" {ITEMS_ARE[made['items']]}" if "items" in made else ""  # areas under the curve have none
    tables = [
        _output.Table("pairs", pairs, f"{metric}{where}: differences with their {ci_prob:.0%} HDI"),
        _output.Table(
            "ranks", [{"model": name, **dict(zip(places, row))} for name, row in ranks], "Probability of each place"
        ),
    ]
    _output.show(tables, json=json, notes=prior_notes(made.get("prior_share")))


def _evaluated(
    truth: Any, models: Any, metric: str | None, plausibility: str | None, options: dict[str, Any]
) -> tuple["xr.DataTree", str]:
    """Evaluate the models as `bayesagree evaluate` does, by one metric, and name it."""
    from bayesagree.evaluation.scoring import evaluate, scores_another_annotator
    from bayesagree.metrics.registry import default_metrics

    if models is None:
        raise InputError("there are no predictions: give a file of predictions, or a result of evaluate (.nc)")
    metric = metric or default_metrics(models)[0]
    _options.one_of(options["items"], "--items", ("fixed", "bootstrap"))
    _options.one_of(options["missing"], "--missing", ("error", "skip", "wrong"))
    weight = options.pop("reliability")
    levels = None if weight is None else (weight,)
    chosen, record = _options.posterior_of(truth, models, plausibility, levels, {})
    another = scores_another_annotator(record.specification, [metric])
    options |= {"another_annotator": another, "reliability": levels}
    return evaluate(truth, models, plausibility=chosen, metrics=[metric], **options), metric
