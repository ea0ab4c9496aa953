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
from bayesagree.plausibility.registry import PosteriorRecord


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
    return _read_blocks(tree, depth, schedule)


def _read_blocks(tree: xr.DataTree, depth: int, schedule: Schedule) -> Iterator[Any]:
    draws = truth_draws(tree, depth, plausibility=True)
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
