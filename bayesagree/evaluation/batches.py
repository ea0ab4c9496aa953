"""Scores of models on more items than fit into memory: the weighted mean over batches of items."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import xarray as xr

from bayesagree._inference.results import result_tree, settings_of
from bayesagree._inference.streams import Seed, seed_sequence
from bayesagree.annotations import Annotations, Labels, Rankings, Ratings
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, shorten
from bayesagree.metrics._scorer import Scorer
from bayesagree.metrics.registry import Metric


def over_batches(
    batches: Iterator[tuple[Annotations, Predictions]],
    score: Callable[[Seed, Annotations, Predictions], xr.DataTree],
    metrics: Sequence[Metric],
    seed: Seed,
    progress: Callable[[int], None],
) -> xr.DataTree:
    """Score one batch after the other, each with random numbers of its own, and average, weighted by items."""
    root, sums, models, made = seed_sequence(seed), {}, None, None
    n_items, share = 0, 0.0
    for number, batch in enumerate(batches):
        annotations, predictions = _pair(number, batch)
        if models is None:
            models = predictions.models
            _require_means(predictions, metrics)
        elif not np.array_equal(models, predictions.models):
            differ = f"{shorten(predictions.models)}, those of the first are {shorten(models)}"
            raise InputError(f"batch {number}: the models are {differ}; give every batch the same models in one order")
        stream = np.random.SeedSequence(root.entropy, spawn_key=(*root.spawn_key, number))
        made = score(stream, annotations, predictions)
        own = made["certainty"].sizes["item"]
        for name, group in _scores_of(made).items():
            sums[name] = own * group if name not in sums else sums[name] + own * group
        n_items += own
        share += own * settings_of(made).get("prior_share", 0.0)
        progress(own)
    if made is None:
        raise InputError("there is no batch; an iterator gives its batches once")
    settings = settings_of(made) | {"n_items": n_items}
    if "prior_share" in settings:
        settings["prior_share"] = share / n_items
    named = {
        name: {str(key): (values.dims, values.values / n_items, made[name][str(key)].attrs) for key, values in sum_}
        for name, sum_ in ((name, group.items()) for name, group in sums.items())
    }
    coords = {dim: made["posterior"][dim].values for dim in ("reliability", "model")}
    how = {"model": made.attrs["model"], "engine": made.attrs["engine"], "seed": seed}
    return result_tree(named, coords, **how, settings=settings)


def _pair(number: int, batch: Any) -> tuple[Annotations, Predictions]:
    kinds = (Labels, Rankings, Ratings), (Predictions,)
    if not isinstance(batch, tuple) or [isinstance(*one) for one in zip(batch, kinds)] != [True, True]:
        raise InputError(f"batch {number}: expected a pair (annotations, predictions), got {type(batch).__name__}")
    return batch


def _scores_of(tree: xr.DataTree) -> dict[str, xr.Dataset]:
    """Return the groups of an evaluation, the certainty as its mean over items."""
    groups = {name: node.to_dataset() for name, node in tree.children.items()}
    return groups | {"certainty": groups["certainty"].mean("item")}


def _require_means(predictions: Predictions, metrics: Sequence[Metric]) -> None:
    scorer = Scorer(predictions, list(metrics))
    mean = np.isfinite(scorer.of_metrics(np.zeros((scorer.n_components, 1)))[:, 0])
    if not mean.all():
        raise InputError(
            f"metric {metrics[int(np.argmin(mean))].name!r} is no mean over items, so that batches do not add up to "
            "it; leave it out, or call evaluate() on all items"
        )
