"""Scores of models on more items than fit into memory: one batch of items after the other."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import xarray as xr

from bayesagree._inference.arguments import checked
from bayesagree._inference.docstrings import shared
from bayesagree._inference.results import result_tree, settings_of
from bayesagree._inference.streams import Seed, seed_sequence
from bayesagree.annotations import Annotations
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, shorten
from bayesagree.evaluation.scoring import evaluate
from bayesagree.metrics._scorer import Scorer, TruthIs
from bayesagree.metrics.registry import AnyMetric, Metric
from bayesagree.plausibility.registry import POSTERIORS

OF_ONE_SET = ("items", "by", "cluster", "to")
"""Arguments of `evaluate` that need all items at once."""


@shared(
    plausibility=", ".join(f'``"{name}"`` ({r.annotations.__name__})' for name, r in POSTERIORS.items()) + ".",
    metrics="Names as `evaluate` takes them, of metrics that are means over items.",
)
@checked
def evaluate_batches(
    batches: Iterable[tuple[Annotations, Predictions]],
    *,
    plausibility: str = "dirichlet",
    reliability: float | Sequence[float] = (1.0,),
    metrics: Sequence[AnyMetric] = ("top_1_accuracy",),
    truth_is: TruthIs = "top",
    further_annotator: bool = False,
    draws: int = 1000,
    chains: int = 4,
    seed: Seed = None,
    client: Any = None,
    progress: Callable[[int], None] | None = None,
    **options: Any,
) -> xr.DataTree:
    """Score every model on all items of all batches, in the memory that one batch takes.

    Draw by draw a score is the mean of the batches' scores, weighted by their items: the score of all items at once,
    for their truths are independent. What a plausibility learns from all items together (``"informed_dirichlet"``,
    ``"dawid_skene"``) it learns from each batch anew, so that batches should be large.

    Parameters
    ----------
    batches
        Pairs of annotations and predictions on the same items, each item in one batch, for instance from
        `LabelBatches` and ``read_predictions(items=...)``; read once, one at a time.
    {plausibility}
    {metrics}
    reliability, truth_is, further_annotator, draws, chains, seed, client, options
        As in `evaluate`. Every batch has random numbers of its own.
    progress
        Called with the number of items of a batch when it is done.

    Returns
    -------
    DataTree
        As of `evaluate`, and `compare` takes it; in the group ``certainty`` ``annotation_certainty`` is the mean over
        items, dims (reliability).

    Raises
    ------
    InputError
        No batch; a metric that is no mean over items; models that differ from those of the first batch; arguments of
        `evaluate` that need all items at once (``items=``, ``by=``, ``cluster=``, ``to=``); and as `evaluate`.

    Examples
    --------
    >>> from bayesagree import Labels
    >>> votes = [Labels.from_counts([[3, 1], [0, 4]]), Labels.from_counts([[2, 2]])]
    >>> models = [Predictions.from_labels(dict(A=said, B=said[::-1]), labels=[0, 1]) for said in ([0, 1], [0])]
    >>> tree = evaluate_batches(zip(votes, models), seed=1)
    >>> tree["posterior"]["top_1_accuracy"].mean(("chain", "draw")).round(1).squeeze().values.tolist()
    [0.8, 0.2]
    """
    wrong = [name for name in OF_ONE_SET if name in options]
    if wrong:
        raise InputError(f"{wrong[0]}= needs all items at once; leave it out, or call evaluate() on them")
    options |= {"metrics": metrics, "reliability": reliability, "truth_is": truth_is, "draws": draws, "chains": chains}
    root, sums, models, made = seed_sequence(seed), {}, None, None
    n_items, share = 0, 0.0
    for number, (annotations, predictions) in enumerate(batches):
        if models is None:
            models = predictions.models
            _require_means(predictions, metrics)
        elif not np.array_equal(models, predictions.models):
            told = f"{shorten(predictions.models)}, those of the first are {shorten(models)}"
            raise InputError(f"batch {number}: the models are {told}; give every batch the same models in one order")
        stream = np.random.SeedSequence(root.entropy, spawn_key=(*root.spawn_key, number))
        made = evaluate(
            annotations, predictions, plausibility=plausibility, further_annotator=further_annotator, seed=stream,
            client=client, **options,
        )  # fmt: skip
        own = made["certainty"].sizes["item"]
        for name, group in _scores_of(made).items():
            sums[name] = own * group if name not in sums else sums[name] + own * group
        n_items += own
        share += own * settings_of(made).get("prior_share", 0.0)
        if progress is not None:
            progress(own)
    if made is None:
        raise InputError("there is no batch; an iterator gives its batches once")
    settings = settings_of(made) | {"n_items": n_items}
    if "prior_share" in settings:
        settings["prior_share"] = share / n_items
    return _tree({name: group / n_items for name, group in sums.items()}, made, settings, seed)


def _scores_of(tree: xr.DataTree) -> dict[str, xr.Dataset]:
    """Return the groups of an evaluation, the certainty as its mean over items."""
    groups = {name: node.to_dataset() for name, node in tree.children.items()}
    return groups | {"certainty": groups["certainty"].mean("item")}


def _require_means(predictions: Predictions, metrics: Sequence[AnyMetric]) -> None:
    asked = [Metric.of(metric) for metric in metrics]
    if not asked:
        raise InputError("there is no metric to compute")
    scorer = Scorer(predictions, asked)
    mean = np.isfinite(scorer.of_metrics(np.zeros((scorer.n_components, 1)))[:, 0])
    if not mean.all():
        raise InputError(
            f"metric {asked[int(np.argmin(mean))].name!r} is no mean over items, so that batches do not add up to it; "
            "leave it out, or call evaluate() on all items"
        )


def _tree(groups: dict[str, xr.Dataset], last: xr.DataTree, settings: dict[str, Any], seed: Seed) -> xr.DataTree:
    """Give the means the attributes and coordinates of the evaluation of the last batch."""
    named = {
        name: {str(key): (values.dims, values.values, last[name][str(key)].attrs) for key, values in group.items()}
        for name, group in groups.items()
    }
    coords = {dim: last["posterior"][dim].values for dim in ("reliability", "model")}
    return result_tree(
        named, coords, model=last.attrs["model"], engine=last.attrs["engine"], seed=seed, settings=settings
    )
