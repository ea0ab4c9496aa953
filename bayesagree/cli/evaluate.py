"""`bayesagree evaluate`: the main job on files or a named data set."""

from typing import TYPE_CHECKING, Annotated

from typer import Option

from bayesagree.cli import _output
from bayesagree.cli._options import ItemFeatures, Sampling, Scoring, WithPredictions, item_groups, unused
from bayesagree.cli._output import Answer, ResultAnswer, Table

if TYPE_CHECKING:
    import xarray as xr

TIERS = "Models of one tier may be equal. Tiers and places hold for all models together, a pair on its own."


def evaluate(
    source: WithPredictions,
    sampling: Sampling,
    scoring: Scoring,
    item_features: ItemFeatures = None,
    by: Annotated[str | None, Option(help="Column of the item features: scores of each value.")] = None,
    cluster: Annotated[str | None, Option(help="Column of the item features: resampled together.")] = None,
) -> ResultAnswer:
    """Score models under the uncertainty that the annotations leave about the truth, and compare them.

    Instead of annotations and predictions it takes the file that -o kept: bayesagree evaluate scores.nc

    Example: bayesagree evaluate annotations.csv predictions.csv --item task --annotator worker -o scores.nc
    """
    from bayesagree.evaluation.gold import gold_notes
    from bayesagree.evaluation.scoring import evaluate as run
    from bayesagree.evaluation.scoring import items_to_score, scores_another_annotator
    from bayesagree.evaluation.tables import given_notes, prior_notes
    from bayesagree.inference.posterior import Request
    from bayesagree.inference.results import settings_of
    from bayesagree.io.files import read_result
    from bayesagree.metrics.registry import default_metrics
    from bayesagree.plausibility.dawid_skene._results import choice_notes
    from bayesagree.plausibility.registry import default_posterior, is_auto, record_for

    if source.annotations is not None and source.annotations.suffix == ".nc":
        unused("where a kept result is shown", but=("annotations", "json", "output", "force"))
        return _answer(read_result(source.annotations), [])
    truth, models = source.read(needed=True)
    options, known = scoring.given(source.label) | vars(sampling), source.gold(scoring.gold, truth, models)
    options |= {"gold": known} if known else {}
    levels, chosen = options.get("reliability", (1.0,)), options["plausibility"]
    asked = ("threshold", "gold") if levels == (1.0,) else ("threshold", "gold", "reliability")
    own = {name: options[name] for name in asked if name in options}
    record = record_for(truth, default_posterior(truth, models, own).name if is_auto(chosen) else chosen)
    if not record.specification.checks_chains:
        del options["allow_unmixed"]
    names = ["roc_auc" if name == "auc" else name for name in options.get("metrics", default_metrics(models))]
    another = not known and scores_another_annotator(record.specification, names)
    options |= {"metrics": names, "another_annotator": another}
    options |= item_groups(item_features, source.item, by=by, cluster=cluster)
    total = items_to_score(record.specification, truth, models, levels, Request(**vars(sampling)))
    with _output.progress("scoring", total) as advance:
        tree = run(truth, models, progress=advance, **options)
    made = settings_of(tree)
    notes = gold_notes(made) + prior_notes(made.get("prior_share")) + choice_notes(made)
    more = given_notes(truth, models, scoring.missing)
    return _answer(tree, notes + [note for note in more if note not in " ".join(notes)])


def _answer(tree: "xr.DataTree", notes: list[str]) -> Answer:
    """Return scores, the comparison of the models, and what the scores are to be read with."""
    from bayesagree.evaluation import tables as of
    from bayesagree.inference.results import settings_of

    scores = of.score_table(tree).rename(columns={"warning": "note"})
    settings = settings_of(tree) | {"seed": tree.attrs["seed"], "ci_kind": "hdi", "ci_prob": 0.95}
    title = f"Scores of the models {of.ITEMS_ARE[settings['items']]}, 95 % HDI: {settings['target']}"
    tables = [
        Table("settings", [settings], most=0),
        Table("scores", scores, title, hidden=[name for name in scores if name.startswith("difference")]),
    ]
    if "slices" in tree:
        tables.append(Table("slices", of.slice_table(tree), "Scores of each slice, the rest, the difference"))
    against = "a well-annotated truth (estimate)"
    if "gold_items" in tree:
        against = "gold (known on items with gold, estimated on the others)"
    if {"gold_items", "annotations_only"} & set(tree.children):
        title = f"Score against {against}, and from these annotations alone"
        tables.append(Table("targets", of.sensitivity_table(tree), title))
    if tree["posterior"].sizes["model"] > 1:
        pairs = of.pair_table(tree).query("prob_better >= 0.5")
        tables.append(Table("pairs", pairs, "Differences with their 95 % HDI, each pair on its own", 20))
        notes = [*notes, TIERS]
    return Answer(tables, notes, tree)
