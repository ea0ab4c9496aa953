"""`evaluate` of batches of items, one after the other: scores averaged over items."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import xarray as xr

from bayesagree._types import Advance, Named
from bayesagree.annotations import Annotations, Labels, Rankings, Ratings
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, shorten
from bayesagree.evaluation._truths import WITHOUT_UNSURE
from bayesagree.inference.results import result_attrs, settings_of
from bayesagree.inference.streams import Seed, seed_sequence
from bayesagree.metrics.records import Mean
from bayesagree.metrics.registry import AnyMetric, Metric


def over_batches(
    batches: Iterator[tuple[Annotations, Predictions]],
    evaluate: Callable[..., xr.DataTree],
    plausibility: Any,
    metrics: Sequence[AnyMetric],
    random_seed: Seed,
    progress: Advance | None,
) -> xr.DataTree:
    """Score one batch after the other, each with random numbers of its own, and average, weighted by items.

    The first batch chooses the posterior of all.
    """
    for metric in map(Metric.of, metrics):
        if not isinstance(metric.record.kind, Mean):
            raise InputError(
                f"metric {metric.name!r} is not a mean over items, so batches do not add up to it; leave it out, or "
                "call evaluate() on all items"
            )
    root = seed_sequence(random_seed)
    sums = {}
    models = np.empty(0)
    share = 0.0
    settings: Named = {"n_items": 0}
    doubted: dict[str, dict[str, None]] = {"left_out": {}, "unsure": {}}
    made = xr.DataTree()
    for number, batch in enumerate(batches):
        annotations, predictions = _pair(number, batch)
        if number and not np.array_equal(models, predictions.models):
            raise InputError(
                f"batch {number}: the models are {shorten(predictions.models)}, those of the first are "
                f"{shorten(models)}; give every batch the same models in one order"
            )
        models = predictions.models
        stream = np.random.SeedSequence(root.entropy, spawn_key=(*root.spawn_key, number))
        made = evaluate(annotations, predictions, plausibility=plausibility, random_seed=stream)
        plausibility = made.attrs["model"] if isinstance(plausibility, str) else plausibility
        own = made["certainty"].sizes["item"]
        stated = settings_of(made)
        settings = stated | {
            "n_items": settings["n_items"] + own,
            "choice": settings.get("choice", stated["choice"]),
        }
        share += own * stated.get("prior_share", 0.0)
        for name, known in doubted.items():
            known |= dict.fromkeys(stated.get(name, []))
        with xr.set_options(keep_attrs=True):
            for name, group in _scores_of(made).items():
                sums[name] = own * group + sums.get(name, 0)
        if progress is not None:
            progress(own)
    if not sums:
        raise InputError("there is no batch; an iterator gives its batches once")
    settings |= {name: list(known) for name, known in doubted.items() if known}
    if "prior_share" in settings:
        settings["prior_share"] = share / settings["n_items"]
    with xr.set_options(keep_attrs=True):
        tree = xr.DataTree.from_dict({f"/{name}": sum_ / settings["n_items"] for name, sum_ in sums.items()})
    tree.attrs = made.attrs | result_attrs(random_seed, settings)
    return tree


def _pair(number: int, batch: Any) -> tuple[Annotations, Predictions]:
    kinds = (Labels, Rankings, Ratings), (Predictions,)
    if not isinstance(batch, tuple) or [isinstance(*one) for one in zip(batch, kinds)] != [True, True]:
        raise InputError(
            f"batch {number}: expected a pair (annotations, predictions), got {type(batch).__name__}"
        )
    return batch


def _scores_of(tree: xr.DataTree) -> dict[str, xr.Dataset]:
    """Return the groups of an evaluation that are means over items: not its chains, and of certainty the mean."""
    groups = {name: node.to_dataset() for name, node in tree.children.items() if name != "diagnostics"}
    if "annotations_only" in groups:  # of a batch that leaves no doubt both truths are one
        groups.setdefault(WITHOUT_UNSURE, groups["posterior"])
    return groups | {
        "certainty": groups["certainty"].drop_vars("label_certainty", errors="ignore").mean("item")
    }
