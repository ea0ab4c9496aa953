"""Draws as they come, block of items by block: into memory, or into a zarr store that outlives the process."""

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import xarray as xr
from numpy.typing import DTypeLike, NDArray

from bayesagree._inference.checkpoint import Checkpoint
from bayesagree._inference.streams import BLOCK
from bayesagree.errors import InputError

type Destination = str | Path | None


class Variable(NamedTuple):
    """One variable of a result: dims, one of them item, their sizes, and the group it is in."""

    dims: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: DTypeLike
    group: str = "posterior"

    def place(self, items: slice) -> tuple[slice, ...]:
        """Return where a block of items goes."""
        return tuple(items if dim == "item" else slice(None) for dim in self.dims)


class KeptDraws:
    """The variables of one result, filled block of items by block.

    On disk a chunk holds one block of items, so that memory needs room for the blocks on their way only.
    """

    def __init__(self, variables: Mapping[str, Variable], store: "Store | None") -> None:
        self.variables, self.store, self.first = variables, store, 0  # first block that is still to be drawn
        if store is None:
            self._arrays = {name: np.empty(v.shape, v.dtype) for name, v in variables.items()}
        else:
            self.first = store.begin(variables)
            self._arrays = store.arrays(variables)

    def put(self, items: slice, values: Mapping[str, NDArray[Any]]) -> None:
        """Keep one block, each variable in its own dims."""
        for name, value in values.items():
            self._arrays[name][self.variables[name].place(items)] = value
        if self.store is not None:
            self.store.done(items.start // BLOCK + 1)

    def variable(self, name: str) -> tuple[tuple[str, ...], Any]:
        """Return dims and values; values on disk are read when they are used."""
        if self.store is None:
            return self.variables[name].dims, self._arrays[name]
        return self.variables[name].dims, self.store.lazy(self.variables[name].group, name)

    def finish(self, tree: xr.DataTree) -> xr.DataTree:
        """Complete the result on disk with what is not among the variables; in memory there is nothing to do."""
        return tree if self.store is None else self.store.finish(tree, set(self.variables))


class Store:
    """A zarr store for one result."""

    def __init__(self, path: Path, checkpoint: Checkpoint) -> None:
        self.path, self.checkpoint = path, checkpoint

    @classmethod
    def at(cls, to: Destination, seed: Any, **asked_for: Any) -> Self | None:
        """Return the store at a path, for these annotations and settings; None keeps draws in memory.

        Raises
        ------
        InputError
            Another ending than .zarr, zarr is not installed, or a seed that is no whole number.
        """
        if to is None:
            return None
        path = Path(to)
        if path.suffix != ".zarr":
            raise InputError(f"to={str(path)!r}: draws are streamed to a .zarr store; name one")
        if find_spec("zarr") is None:
            raise InputError(f"to={str(path)!r} needs zarr: install the extra scale (pip install 'bayesagree[scale]')")
        return cls(path, Checkpoint(path, asked_for, seed))

    def finished(self) -> xr.DataTree | None:
        """Return the result where it is whole already."""
        if not self.checkpoint.finished:
            return None
        try:
            tree = xr.open_datatree(self.path, engine="zarr", consolidated=False, chunks=None)
        except OSError as error:
            raise InputError(
                f"{str(self.path)!r} exists and is not a result; name another store or remove it"
            ) from error
        return self.checkpoint.own(tree)

    def begin(self, variables: Mapping[str, Variable]) -> int:
        """Create the store, or find the first block that it lacks."""
        import zarr

        state = self.checkpoint.load()
        if state is not None and state["created"] and self.path.exists():
            return int(state["blocks"])
        # First the claim, then the store: a run killed between both starts anew instead of reading half a store.
        self.checkpoint.save({"blocks": 0, "created": False}, now=True)
        root = zarr.open_group(self.path, mode="w", zarr_format=3)
        for name, v in variables.items():
            chunks = tuple(min(BLOCK, n) if dim == "item" else n for dim, n in zip(v.dims, v.shape))
            dtype = np.dtype(v.dtype)
            # Random doubles do not compress; positions of labels do.
            compressors = None if dtype.kind == "f" else "auto"
            how = {"chunks": chunks, "compressors": compressors, "fill_value": np.nan if dtype.kind == "f" else -1}
            group = root.require_group(v.group)
            group.create_array(name, shape=v.shape, dtype=dtype, dimension_names=v.dims, **how)
        self.checkpoint.save({"blocks": 0, "created": True}, now=True)
        return 0

    def arrays(self, variables: Mapping[str, Variable]) -> dict[str, Any]:
        """Return the arrays to write to."""
        import zarr

        root = zarr.open_group(self.path, mode="r+")
        return {name: root[f"{v.group}/{name}"] for name, v in variables.items()}

    def done(self, blocks: int) -> None:
        """Remember that so many blocks are on disk."""
        self.checkpoint.save({"blocks": blocks, "created": True})

    def lazy(self, group: str, name: str) -> xr.Variable:
        """Return a variable whose values are read when they are used."""
        stored = xr.open_dataset(self.path, engine="zarr", group=group, consolidated=False, chunks=None)
        return stored[name].variable

    def finish(self, tree: xr.DataTree, streamed: set[str]) -> xr.DataTree:
        """Write all but the streamed variables, and which run the result is of."""
        tree.attrs["run"] = self.checkpoint.identity
        xr.Dataset(attrs=tree.attrs).to_zarr(self.path, mode="a", consolidated=False)
        for name, node in tree.children.items():
            rest = node.to_dataset().drop_vars(streamed, errors="ignore")
            rest.to_zarr(self.path, group=name, mode="a", consolidated=False)
        self.checkpoint.remove()
        return tree
