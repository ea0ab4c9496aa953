"""How runs are listed and how a result becomes a short list of numbers and texts."""

import dataclasses
import re
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

FEW: dict[str, Any] = {"draws": 6, "chains": 2, "seed": 3}
RUNS: dict[str, Callable[[], Any]] = {}
SHORT = 6
"""So many numbers are kept each; of more their sums."""
UNKEPT = {
    "created_at",
    "creation_library",
    "creation_library_version",
    "sampling_time",
    "bayesagree_version",
    "seconds",
}


def add(name: str, function: Callable[..., Any], *given: Any, **shared: Any) -> Callable[..., None]:
    """List a function with its arguments; the answer lists it again, with other options each time."""

    def again(**options: Any) -> None:
        title = ", ".join([name, *(f"{key}={_named(value)}" for key, value in options.items())])
        while title in RUNS:
            title += "'"
        RUNS[title] = lambda: function(*map(_made, given), **{k: _made(v) for k, v in (shared | options).items()})

    return again


class World:
    """Which of two data sets the runs see: in the first nothing is alike, in the second much is."""

    alike = False


class later:
    """A value that is made when its run begins, once in a process and world."""

    def __init__(self, make: Callable[[], Any], name: str = "") -> None:
        self.make, self.name, self.kept = make, name, {}

    def __call__(self) -> Any:
        if World.alike not in self.kept:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.kept[World.alike] = self.make()
        return self.kept[World.alike]


def among_alike(run: Callable[[], Any]) -> Any:
    """Run on the data of which much is alike."""
    World.alike = True
    try:
        return run()
    finally:
        World.alike = False


def within(module: Any, limits: dict[str, Any], function: Any, *given: Any) -> Any:
    """Call a function while limits of its module are others."""
    own = {name: getattr(module, name) for name in limits}
    try:
        for name, value in limits.items():
            setattr(module, name, value)
        return function(*given)
    finally:
        for name, value in own.items():
            setattr(module, name, value)


def _made(value: Any) -> Any:
    return value() if isinstance(value, later) else value


def _named(value: Any) -> str:
    if isinstance(value, (str, int, float, bool, type(None))):
        return str(value)
    if (
        isinstance(value, (list, tuple))
        and len(str(value)) < 40
        and all(isinstance(v, (str, int, float)) for v in value)
    ):
        return str(value)
    return getattr(value, "name", "") or (
        repr(value) if len(repr(value)) < 60 and " at 0x" not in repr(value) else "..."
    )


def outcome(run: Callable[[], Any]) -> dict[str, Any]:
    """Run, and give what came out by name: numbers, texts, warnings, or the sentence that refuses it."""
    found: dict[str, list[Any]] = {}
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            for name, value in parts("", run()):
                # Entries of lists and rows are kept together.
                found.setdefault(re.sub(r"\(\d+\)", "", name), []).append(value)
        except (ValueError, RuntimeError, TypeError, AssertionError) as error:
            found["refused"] = [f"{type(error).__name__}: {error}"]
    if warned := [str(one.message) for one in said if issubclass(one.category, UserWarning | RuntimeWarning)]:
        found["warnings"] = warned
    return {name: short(values) for name, values in found.items()}


def short(values: list[Any]) -> Any:
    """Give texts or arrays of one name shortly."""
    if len(values) == 1:
        return text(values[0]) if isinstance(values[0], str) else numbers(values[0])
    texts = [v for v in values if isinstance(v, str)]
    arrays = [v.ravel() for v in values if not isinstance(v, str)]
    found = [numbers(np.concatenate([a.astype(float) for a in arrays]))] if arrays else []
    found += [text("\n".join(texts))] if texts else []
    return found[0] if len(found) == 1 else found


def parts(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Give every array of numbers and every text of a result with its name."""
    if isinstance(value, xr.DataTree):
        for group in value.subtree:
            yield from parts(f"{name}{group.path}", group.to_dataset(inherit=False))
    elif isinstance(value, xr.Dataset):
        for key in value.data_vars:
            yield from parts(f"{name}.{key}", value[key].values)
        names = sorted(f"{key}: {shown(value[key].values)}" for key in value.coords if key not in ("chain", "draw"))
        if names:
            yield f"{name} names", np.array(zlib.crc32("\n".join(names).encode()))
        yield from parts(f"{name}@", {k: v for k, v in value.attrs.items() if k not in UNKEPT})
    elif isinstance(value, xr.DataArray):
        yield from parts(name, value.rename(None).to_dataset(name="_"))
    elif isinstance(value, pd.DataFrame):
        yield f"{name} columns", " ".join(map(str, value.columns))
        for key in value.columns:
            yield from parts(f"{name}[{key}]", value[key].to_numpy())
        if not isinstance(value.index, pd.RangeIndex):
            yield f"{name} index", shown(value.index.to_frame().astype(str).to_numpy())
        yield from parts(f"{name}@", dict(value.attrs))
    elif isinstance(value, (pd.Series, pd.Index)):
        yield from parts(name, value.to_numpy())
    elif isinstance(value, np.ndarray):
        yield from of_array(name, value)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from parts(f"{name}.{field.name}", getattr(value, field.name))
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield from parts(f"{name}{{{key}}}", one)
    elif hasattr(value, "_asdict"):
        yield from parts(name, value._asdict())
    elif isinstance(value, (list, tuple, set, frozenset)):
        listed = sorted(map(str, value)) if isinstance(value, (set, frozenset)) else list(value)
        for k, one in enumerate(listed):
            yield from parts(f"{name}({k})", one)
    elif isinstance(value, str):
        yield name, value
    elif value is None:
        yield name, "None"
    elif isinstance(value, (bool, int, float, np.number, np.bool)):
        yield name, np.array(value)
    elif callable(value) or isinstance(value, (Path, type)):
        pass
    else:
        state = {k: v for k, v in getattr(value, "__dict__", {}).items() if not k.startswith("__")}
        yield f"{name} kind", type(value).__name__
        yield from parts(name, state)


def of_array(name: str, values: np.ndarray) -> Iterator[tuple[str, Any]]:
    """Give an array of numbers as it is, one of names as a text, one of objects by its parts."""
    if values.dtype.kind in "mMUST":
        yield name, shown(values)
    elif values.dtype.kind == "O":
        flat = values.ravel().tolist()
        if flat and all(isinstance(v, (int, float, np.number)) and not isinstance(v, bool) for v in flat):
            yield name, np.array(flat, float).reshape(values.shape)
        elif any(dataclasses.is_dataclass(v) or isinstance(v, (list, tuple, np.ndarray)) for v in flat):
            yield from parts(name, flat)
        else:
            yield name, shown(values)
    else:
        yield name, values


def shown(values: np.ndarray) -> str:
    """Give names as one text, numbers with seven digits."""
    return " ".join(f"{v:.7g}" if isinstance(v, float) else str(v) for v in values.ravel().tolist())


def numbers(values: np.ndarray) -> Any:
    """Give the shape and the sums of many numbers, or few numbers themselves."""
    flat = values.ravel().astype(float)
    if flat.size <= SHORT:
        return [list(values.shape), *map(kept, flat)]
    finite = np.isfinite(flat)
    weight = weights(flat.size)
    away = [kept(weight[~finite].sum())] if not finite.all() else []
    known = flat[finite]
    if not known.size:
        return [list(values.shape), "none", *away]
    sums = [known.sum(), (weight[finite] * known).sum(), known.min(), known.max()]
    return [list(values.shape), *map(kept, sums), *away]


def weights(n: int) -> np.ndarray:
    """Give irregular weights between 1 and 2, one for each place."""
    return 1 + (np.arange(1, n + 1) * 0.6180339887498949) % 1


def kept(x: float) -> Any:
    """Give a number with the digits that are compared."""
    return float(f"{x:.9g}") if np.isfinite(x) else str(x)


NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


def text(words: str) -> Any:
    """Give a text; of a long one its length, its numbers and a check sum of its words."""
    words = re.sub(r"/[\w./-]*/(?=[\w.-]+)", "", words)
    if len(words) <= 160:
        return words
    found = [float(x) for x in NUMBER.findall(words)]
    rest = zlib.crc32(NUMBER.sub("#", words).encode())
    return ["text", words[:40], len(words), rest, numbers(np.array(found, float))]


def differs(new: Any, old: Any) -> bool:
    """Say whether numbers differ by more than the seventh digit, or words at all."""
    if isinstance(new, list) and isinstance(old, list):
        if len(new) != len(old):
            return True
        if old[:1] == ["text"]:  # what is printed is compared to the last digit that is kept
            alike = new[:4] == old[:4] and new[4][0] == old[4][0]
            return not alike or any(abs(a - b) > 2e-9 * abs(b) for a, b in zip(new[4][1:], old[4][1:]))
        if len(old) > 1 and isinstance(old[0], list) and all(isinstance(v, (int, float)) for v in [*new[1:], *old[1:]]):
            size = float(np.prod(old[0] or [1]))
            top = max([abs(v) for v in old[3:5]], default=0) if size > SHORT else 0
            # Sums cancel: they round as their largest numbers do.
            room = [1e-7 * abs(b) + (1e-9 * size * top if k < 2 else 0) + 1e-11 for k, b in enumerate(old[1:])]
            return new[0] != old[0] or any(abs(a - b) > r for a, b, r in zip(new[1:], old[1:], room))
        return any(differs(a, b) for a, b in zip(new, old))
    if isinstance(new, dict) and isinstance(old, dict):
        return new.keys() != old.keys() or any(differs(new[k], old[k]) for k in old)
    if isinstance(new, (int, float)) and isinstance(old, (int, float)):
        return abs(new - old) > 1e-7 * abs(old) + 1e-11
    return new != old
