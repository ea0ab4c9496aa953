"""Draws of any posterior for an evaluation: the best labels alone, or with all plausibilities."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree._inference.streams import item_blocks
from bayesagree.annotations import Annotations
from bayesagree.draws.blocks import Schedule
from bayesagree.draws.convergence import diagnostics
from bayesagree.draws.top_labels import truth_draws
from bayesagree.errors import InputError
from bayesagree.plausibility.registry import PosteriorRecord, posterior_for


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


def record_for(annotations: Annotations, plausibility: str | xr.DataTree) -> PosteriorRecord:
    """Return the record of a posterior of that name, or of a trace of the same items and labels."""
    if isinstance(plausibility, str):
        return posterior_for(annotations, plausibility)
    record = record_of_trace(plausibility)
    named = {"item": annotations.items} | ({} if record.asks_threshold else {"category": annotations.categories})
    for dim, names in named.items():
        if not np.array_equal(_names(plausibility, dim)[: len(names)], names):
            what = "labels" if dim == "category" else "items"
            raise InputError(f"the {what} of the trace are not those of the annotations, in their order")
    return record


def record_of_trace(tree: xr.DataTree) -> PosteriorRecord:
    """Return the record of a posterior that the user sampled: its draws are read, not made."""
    tree = tree if "diagnostics" in tree else _with_diagnostics(tree)

    def blocks(given: Any, *, depth: int, schedule: Schedule, threshold: float | None = None, **how: Any) -> Any:
        return _read_blocks(tree, depth, schedule, threshold=threshold)

    return PosteriorRecord(
        name="trace", title="user's own", annotations=object, posterior=lambda given, **how: tree, blocks=blocks,
        model=lambda given: None, sentence="a posterior of the authors' own", reference=None, learns_reliability=True,
        asks_threshold=not {"plausibility", "top_label"} & set(tree["posterior"].data_vars),
    )  # fmt: skip


def _names(tree: xr.DataTree, dim: str) -> NDArray[Any]:
    """Return the names on a dimension of the truth, also of labels of which only the best ones were kept."""
    for group in ("posterior", "constant_data", "posterior_parameters"):
        if group in tree and dim in tree[group].coords:
            return np.asarray(tree[group][dim])
    raise InputError(f"the trace does not name its {dim}s: sample a model that has the coordinate {dim!r}")


def _with_diagnostics(tree: xr.DataTree) -> xr.DataTree:
    """Return the trace with the worst R-hat and ESS of each item, as the package's own Markov chains have them."""
    posterior = tree["posterior"].to_dataset()
    name = next((name for name in ("plausibility", "mean") if name in posterior), None)
    if name is None:
        return tree
    draws = posterior[name].transpose("chain", "draw", "item", ...).values
    r_hat, ess = diagnostics(draws.reshape(*draws.shape[:2], -1))
    by_item = (draws.shape[2], -1)
    worst = {
        "r_hat": np.fmax.reduce(r_hat.reshape(by_item), axis=1),
        "ess": np.fmin.reduce(ess.reshape(by_item), axis=1),
    }
    found = xr.Dataset({name: ("item", values) for name, values in worst.items()}, {"item": posterior["item"]})
    groups = {group: node.to_dataset() for group, node in tree.children.items()}
    return xr.DataTree.from_dict(groups | {"diagnostics": found})


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
