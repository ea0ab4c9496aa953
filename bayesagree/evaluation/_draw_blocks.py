"""Draws of any posterior for an evaluation: the best labels alone, or with all plausibilities."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree._inference.streams import item_blocks
from bayesagree.annotations import Annotations
from bayesagree.errors import InputError
from bayesagree.plausibility._draws.blocks import Schedule
from bayesagree.plausibility._draws.top_labels import truth_draws
from bayesagree.plausibility.registry import PosteriorRecord, Reference


def draw_blocks(
    record: PosteriorRecord, annotations: Annotations, *, plausibility: bool, depth: int, schedule: Schedule, **how: Any
) -> Iterator[Any]:
    """Yield draws block of items by block: the `depth` best labels, with all plausibilities where they are asked for.

    Posteriors that do not stream all plausibilities keep them in memory meanwhile.
    """
    if not plausibility:
        return record.blocks(annotations, depth=depth, schedule=schedule, **how)
    if record.streams_plausibility:
        return record.blocks(annotations, depth=depth, schedule=schedule, plausibility=True, **how)
    if record.asks_threshold:
        raise InputError(
            f"plausibility={record.name!r} has no plausibilities of labels, which these scores compare with"
        )
    tree = record.posterior(annotations, client=schedule.client, **how)
    return _read_blocks(tree, depth, schedule, plausibility=True)


def record_of_trace(tree: xr.DataTree, annotations: Annotations) -> PosteriorRecord:
    """Return the record of a posterior that the user sampled: its draws are read, not made."""

    def blocks(given: Any, *, depth: int, schedule: Schedule, threshold: float | None = None, **how: Any) -> Any:
        return _read_blocks(tree, depth, schedule, threshold=threshold)

    own = Reference("own model", "A model of the user's own.")
    return PosteriorRecord(
        name="trace", title="posterior of the user's own", annotations=type(annotations),
        posterior=lambda given, **how: tree, blocks=blocks, model=lambda given: None,
        sentence="a posterior of the user's own", reference=own, learns_reliability=True,
    )  # fmt: skip


def _read_blocks(
    tree: xr.DataTree, depth: int, schedule: Schedule, *, threshold: float | None = None, plausibility: bool = False
) -> Iterator[Any]:
    draws = truth_draws(tree, depth, threshold=threshold, plausibility=plausibility)
    worst = _diagnostics(tree)
    for items in item_blocks(draws.items.size)[schedule.first :]:
        block = draws.read(items)
        if worst is not None:
            block = block._replace(diagnostics=worst[items])
        yield block if schedule.then is None else schedule.then(block)


def _diagnostics(tree: xr.DataTree) -> NDArray[np.float64] | None:
    """Return R-hat and ESS of each item, where the posterior has them."""
    if "diagnostics" not in tree:
        return None
    found = tree["diagnostics"].to_dataset()
    if not {"r_hat", "ess"} <= set(found) or found["r_hat"].dims != ("item",):
        return None
    return np.stack([found["r_hat"].values, found["ess"].values], axis=1)
