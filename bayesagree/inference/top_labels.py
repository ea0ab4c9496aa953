"""The best labels of each draw, from whatever stands for the truth: a posterior of any kind, or a point estimate."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesagree._types import Array, Floats
from bayesagree.annotations._container import are_numbers
from bayesagree.annotations.ratings import THRESHOLD_LABELS
from bayesagree.errors import InputError, as_python, shorten
from bayesagree.inference.blocks import DrawBlock, by_chain
from bayesagree.inference.group_scores import require_one_truth
from bayesagree.inference.pseudo_label import split_of
from bayesagree.inference.streams import item_blocks, map_blocks

# A posterior, or a point estimate of the plausibilities with dims (item, category).
Truth = xr.DataTree | xr.DataArray


@dataclass(frozen=True, eq=False)
class TruthDraws:
    """Names, sizes and blocks of the draws of a truth.

    Attributes
    ----------
    items, labels
        Names on each axis.
    chains, draws
        How many there are.
    read
        Returns the draws of a block of items. Draws on disk are read block by block, wherever they are needed.
    """

    items: Array
    labels: Array
    chains: int
    draws: int
    read: Callable[[slice], DrawBlock]

    def map(self, work: Callable[[DrawBlock], Any], client: Any = None) -> Iterator[Any]:
        """Apply a function to every block of items, in order, in threads or on the workers of a cluster."""
        read = self.read
        return map_blocks(lambda items: work(read(items)), item_blocks(self.items.size), client)

    @property
    def blocks(self) -> Iterator[DrawBlock]:
        """Every block of items, in order."""
        return self.map(lambda block: block)


def require_distributions(tree: xr.DataTree, off: float) -> None:
    """Refuse plausibilities that are none, such as percents or logits, by the first and last draws.

    Their sums are 1 but for less than `off`.
    """
    shown = tree["posterior"]["plausibility"].isel(draw=[0, -1]).transpose("item", ..., "category")
    values = shown.values  # sums by xarray would import Dask's arrays
    total, least = values.sum(axis=-1), values.min(axis=-1)
    wrong = ~((np.abs(total - 1) < off) & (least >= 0)).reshape(len(total), -1).all(axis=1)
    if wrong.any():
        at = int(wrong.argmax())
        item, found = as_python(shown["item"].values[at]), total[at].flat[0]
        raise InputError(
            f"the plausibilities of item {item!r} sum to {found:.8g} or are negative; they are a distribution over the "
            "labels: divide them by their sum, and leave out items without annotations"
        )


def truth_draws(
    truth: Truth, depth: int, *, threshold: float | None = None, plausibility: bool = False
) -> TruthDraws:
    """Return the `depth` best labels of each draw, with all plausibilities on request.

    Equal plausibilities stand in label order, but for those of labels that nobody named, which share the mass of a
    pseudo-label: their order is drawn. Items with NaN (a majority vote that excludes ties) are an error here:
    drop them first.

    Raises
    ------
    InputError
        More labels requested than were kept, all plausibilities where only the best labels were, ratings without a
        threshold, plausibilities that are no distributions, or no posterior at all.
    """
    tree = _as_tree(truth)
    kept = [str(name) for name in tree["posterior"].data_vars]
    if "top_label" in kept and not plausibility:
        if depth > (most := tree["posterior"]["top_label"].sizes["rank"]):
            raise InputError(
                f"the top {depth} labels are needed, but only {most} were kept; pass top_labels={depth}"
            )
        return _draws(
            tree,
            ["top_label"],
            names_of(tree, "category"),
            lambda items, top: DrawBlock(items, top[:, :, :depth]),
        )
    if "mean" in kept and not plausibility:
        if threshold is None:
            raise InputError(
                "ratings have no labels; pass threshold=c to ask whether the mean is below c or not"
            )
        return number_draws(tree, threshold, keep=False)
    if "plausibility" not in kept:
        raise InputError(
            f"plausibilities are needed, but this result keeps {', '.join(kept)}; draw the posterior of labels or "
            "rankings without top_labels="
        )
    require_distributions(tree, 1e-3 if isinstance(truth, xr.DataTree) else 1e-6)
    split, labels = split_of(tree), plausibility_draws(tree, slice(0))["category"].values
    if depth > labels.size:
        raise InputError(f"the top {depth} labels do not exist: there are {labels.size}")

    def block(items: slice, drawn: Array) -> DrawBlock:
        values = drawn.astype(np.float64, copy=False) if split is None else split(drawn, items)
        if np.isnan(values).any():
            raise InputError(
                f"plausibilities of items {items.start} to {items.stop - 1} are NaN; drop those items"
            )
        found = DrawBlock(items, plausibility=values).ranked(depth)
        return found if plausibility else found._replace(plausibility=None)

    return _draws(tree, ["plausibility"], labels, block)


def number_draws(truth: Truth, threshold: float | None = None, *, keep: bool = True) -> TruthDraws:
    """Return the draws of the number that is the truth of each item, and the sides of a threshold that they are on."""
    tree = _as_tree(truth)
    kept = [str(name) for name in tree["posterior"].data_vars]
    found = [name for name in ("mean", "item_mean") if name in kept][:1]  # that of common agreement
    if not found:
        raise InputError(
            f"numbers are compared with the mean of each item, but the posterior has {', '.join(kept)}"
        )

    def block(items: slice, mean: Floats, variance: Any = np.nan) -> DrawBlock:
        drawn = DrawBlock(items, mean=mean, variance=np.broadcast_to(variance, mean.shape))
        return sides(drawn, threshold, keep=keep)

    return _draws(tree, found + ["variance"] * ("variance" in kept), THRESHOLD_LABELS, block)


def _as_tree(truth: Truth) -> xr.DataTree:
    """Return a posterior of one truth; a point estimate, of plausibilities or of numbers, is one of a single draw."""
    if isinstance(truth, xr.DataTree):
        require_one_truth(truth)
        return truth
    name = "mean" if truth.dims == ("item",) else "plausibility"
    if name == "plausibility":
        point_estimate(truth)
    return xr.DataTree.from_dict({"posterior": truth.expand_dims(chain=1, draw=1).to_dataset(name=name)})


def _draws(tree: xr.DataTree, names: list[str], labels: Array, block: Callable[..., DrawBlock]) -> TruthDraws:
    """Return draws whose blocks are made of the items and of the draws (item, sample, ...) of these variables.

    Blocks have the R-hat and ESS of each item, where the result has them.
    """
    kept = [tree["posterior"][name].transpose("chain", "draw", "item", ...).variable for name in names]
    known: Any = tree["diagnostics"].to_dataset() if "diagnostics" in tree else {}
    worst = None
    if "r_hat" in known and "ess" in known and known["r_hat"].dims == ("item",):
        worst = np.stack([known["r_hat"], known["ess"]], axis=1)

    def read(items: slice) -> DrawBlock:
        # A Dask graph is computed here: inside a task of a cluster it must not wait for other tasks.
        parts = [one.isel(item=items).compute(scheduler="synchronous").values for one in kept]
        flat = [part.reshape(-1, *part.shape[2:]) for part in parts]
        found = block(items, *(np.ascontiguousarray(part.swapaxes(0, 1)) for part in flat))
        return found if worst is None else found._replace(diagnostics=worst[items])

    items, (chains, draws, *_) = np.asarray(tree["posterior"]["item"]), kept[0].shape
    return TruthDraws(items, labels, chains, draws, read)


def plausibility_draws(tree: xr.DataTree, items: slice = slice(None)) -> xr.DataArray:
    """Return all plausibilities of a posterior, or those of some items, dims (chain, draw, item, category).

    The mass of a pseudo-label is split among the labels that nobody named, as its prior says.
    """
    require_one_truth(tree)
    values = tree["posterior"]["plausibility"].transpose("chain", "draw", "item", "category").isel(item=items)
    if (split := split_of(tree)) is None:
        return values
    chains, draws, *rest = values.shape
    known = values.compute(scheduler="synchronous").values.reshape(chains * draws, *rest)
    whole = split(known.swapaxes(0, 1), items)
    return values.isel(category=slice(-1)).copy(data=by_chain(whole, chains))


def names_of(tree: xr.DataTree, dim: str) -> Array:
    """Return the names on a dimension of the truth, also of labels of which only the best ones were kept."""
    for group in ("posterior", "constant_data", "posterior_parameters"):
        if group in tree and dim in tree[group].coords:
            return np.asarray(tree[group][dim])
    raise InputError(f"the draws name no {dim}: sample a model that has the coordinate {dim!r}")


def point_estimate(estimate: xr.DataArray) -> Floats:
    """Return the plausibilities of a point estimate, shape (item, category).

    Raises
    ------
    InputError
        Other dims, an item without plausibilities.
    """
    if set(estimate.dims) != {"item", "category"}:
        raise InputError(f"a point estimate has dims (item, category), not {estimate.dims}")
    values = estimate.transpose("item", "category").values
    if np.isnan(values).any():
        open_items = np.asarray(estimate["item"])[np.isnan(values).any(axis=1)]
        raise InputError(
            f"item {as_python(open_items[0])!r} has no plausibility ({open_items.size} such items, excluded ties?); "
            "drop them from the estimate and from the predictions"
        )
    return values


def sides(block: DrawBlock, threshold: float | None, *, keep: bool, depth: int = 2) -> DrawBlock:
    """Return the sides of a threshold that drawn means are on, as best labels, and the means themselves to `keep`."""
    top = np.empty((*block.mean.shape, 0), np.int16)
    if threshold is not None:
        above = (threshold <= block.mean).astype(np.int16)
        top = np.stack([above, 1 - above], axis=2)[:, :, :depth]
    return block._replace(top_label=top) if keep else DrawBlock(block.items, top, diagnostics=block.diagnostics)


def of_items(truth: Truth, items: Any) -> Truth:
    """Return the truth of some items."""
    known = truth["item"] if isinstance(truth, xr.DataArray) else truth["posterior"]["item"]
    place = pd.Index(np.asarray(known)).get_indexer(pd.Index(items))
    if (place < 0).any():
        unknown = [item for item, at in zip(items, place) if at < 0]
        raise InputError(f"the truth has no items {shorten(unknown)}; name the items as the truth does")
    # Which splits items by their places.
    if isinstance(truth, xr.DataTree) and split_of(truth) is not None:
        whole = plausibility_draws(truth).to_dataset(name="plausibility")
        truth = xr.DataTree.from_dict({"posterior": whole})
    return truth.isel(item=place)


def states_order(truth: Truth, labels: Array) -> bool:
    """Return whether the labels of draws have an order: what their axis says, else whether they are numbers."""
    drawn = truth["posterior"].coords if isinstance(truth, xr.DataTree) else truth.coords
    stated = drawn["category"].attrs.get("ordered") if "category" in drawn else None
    return are_numbers(labels) if stated is None else bool(stated)
