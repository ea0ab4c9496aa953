"""Checkpoints: an interrupted run resumes when it is called again with the same arguments.

Beside the result `<name>` a file `<name>.run` holds the state of an unfinished run. It is replaced as a whole, so that
a kill at any moment leaves a whole one, and it says which run it is of: data, settings and seed.
"""

import hashlib
import json
import os
import time
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree._inference.results import plain
from bayesagree.errors import InputError

# At most this share of a run's time goes into writing its state.
SHARE_OF_TIME = 0.05

type State = dict[str, NDArray[Any]]


class Checkpoint:
    """The state of one run.

    Parameters
    ----------
    result
        Where the result will stand.
    asked_for
        All that the result depends on but the seed: settings by name; annotations and predictions, which stand there by
        their fingerprints.
    seed
        A whole number.
    state
        File of the state; None is `<result>.run`.
    """

    def __init__(self, result: Path, asked_for: Mapping[str, Any], seed: Any, *, state: Path | None = None) -> None:
        if not isinstance(seed, int | np.integer):
            raise InputError(f"seed={seed!r}: a run kept on disk needs a whole number to go on with")
        self.result, self.path = result, state or result.with_name(result.name + ".run")
        self._new = self.path.with_name(self.path.name + ".new")
        known = {name: fingerprint(v) if is_dataclass(v) else v for name, v in asked_for.items()}
        identity = known | {"seed": seed, "version": version("bayesagree")}
        self.identity = json.dumps(identity, default=plain, sort_keys=True)
        self._next_write = 0.0

    @property
    def finished(self) -> bool:
        """Whether a whole result stands there, of this run or another."""
        return self.result.exists() and not self.path.exists()

    @property
    def due(self) -> bool:
        """Whether the last state was not written a moment ago."""
        return time.monotonic() >= self._next_write

    def own(self, tree: xr.DataTree) -> xr.DataTree:
        """Return a finished result, which must be of this run."""
        self._require_same(tree.attrs.get("run", ""))
        return tree

    def load(self) -> State | None:
        """Return the state of this run as last written, None where it has not begun; refuse that of another run."""
        if not self.path.exists():
            return None
        try:
            with np.load(self.path) as file:
                state = dict(file)
        except (ValueError, EOFError, BadZipFile) as error:
            raise InputError(f"{str(self.path)!r} is not the state of a run; name another file or remove it") from error
        self._require_same(str(state.pop("identity", "")))
        return state

    def save(self, state: Mapping[str, NDArray[Any] | int], *, now: bool = False) -> None:
        """Write the state, unless that was done a moment ago."""
        if not (self.due or now):
            return
        # Written beside and moved over: a kill in the middle leaves the last whole state.
        start = time.monotonic()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._new.open("wb") as file:
            arrays: dict[str, Any] = {name: np.asarray(values) for name, values in state.items()}
            np.savez(file, identity=np.array(self.identity), **arrays)
        os.replace(self._new, self.path)
        end = time.monotonic()
        self._next_write = end + (end - start) / SHARE_OF_TIME

    def remove(self) -> None:
        """Forget the state: the result is whole."""
        self._new.unlink(missing_ok=True)
        self.path.unlink(missing_ok=True)

    def _require_same(self, found: str) -> None:
        if found == self.identity:
            return
        if not found:
            raise InputError(f"{str(self.result)!r} exists and is of no such run; name another file or remove it")
        theirs, ours = json.loads(found), json.loads(self.identity)
        differs = [k for k in sorted(theirs.keys() | ours.keys()) if theirs.get(k) != ours.get(k)]
        shown = "; ".join(f"{k} was {theirs.get(k)!r} and is {ours.get(k)!r}" for k in differs)
        raise InputError(
            f"{str(self.result)!r} belongs to another run ({shown}); call with the same arguments to go on, or name "
            "another file"
        )


def fingerprint(data: Any) -> str:
    """Return a hash of everything in annotations or predictions, of their names too."""
    digest = hashlib.sha256()
    _feed(digest, data)
    return digest.hexdigest()[:32]


def _feed(digest: Any, data: Any) -> None:
    if is_dataclass(data):
        for field in fields(data):
            digest.update(field.name.encode())
            _feed(digest, getattr(data, field.name))
    elif isinstance(data, np.ndarray) and data.dtype.kind in "biufSUmM":
        digest.update(f"{data.dtype.str}{data.shape}".encode())
        digest.update(np.ascontiguousarray(data).view(np.uint8) if data.size else b"")
    elif isinstance(data, np.ndarray):
        digest.update(repr(data.tolist()).encode())
    else:
        digest.update(repr(data).encode())
