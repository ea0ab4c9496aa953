# ruff: noqa: E501
"""Runs of `bayesagree._inference`: kinds of values, unknown arguments, blocks on a cluster, states of runs, sizes."""

import inspect
import time
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike, NDArray

import bayesagree as ba
from _runs.recipe import FEW, add, later
from _runs.world import AGES, HARD, LABELS, LEVELS, MANY, RANKED, SOFT
from bayesagree._inference import arguments, checkpoint, kinds, results, storage, streams

ANNOTATIONS: dict[str, Any] = {
    "int": int, "float": float, "bool": bool, "str": str, "int | None": int | None, "str | int": str | int,
    "Literal": Literal["a", "b", 2], "Literal | float": Literal["a"] | float, "Sequence[int]": Sequence[int],
    "Sequence[float]": Sequence[float], "Sequence[str]": Sequence[str], "Collection[Any]": Collection[Any],
    "list[str] | None": list[str] | None, "tuple[float, float]": tuple[float, float],
    "tuple[int, ...]": tuple[int, ...], "Mapping[str, float]": Mapping[str, float], "dict[str, Any]": dict[str, Any],
    "ArrayLike": ArrayLike, "Numbers": kinds.Numbers, "NDArray[float]": NDArray[np.float64], "NDArray": NDArray[Any],
    "Callable": Callable[..., Any], "Path | str": Path | str, "Any": Any, "Labels": ba.Labels,
    "Seed": streams.Seed, "DataTree | DataArray": xr.DataTree | xr.DataArray,
}  # fmt: skip
VALUES: list[Any] = [
    None, 0, 3, -1, 2.5, float("nan"), True, "a", "text", "", [], [1, 2], [1.5, 2], ["a"], ["a", 1], [None], [True], (0.2, 0.7),
    (1, 2, 3), ("a", 1.0), {"x": 1.0}, {"x": "a"}, {}, {1, 2}, np.int64(4), np.float64(0.5), np.array(2), np.array(2.5), np.array("a"),
    np.arange(3), np.array([0.5, 1.0]), np.array(["a"]), np.zeros((2, 2)), pd.Series([1.0]), pd.DataFrame({"a": [1]}), abs,
    Path("x"), xr.DataArray(3.0), xr.DataArray([1.0]), range(3), iter([1]), np.random.default_rng(1), list("ab" * 501), [1] * 1000 + ["a"],
    [1] * 999 + ["a"],
]  # fmt: skip
for name, annotation in ANNOTATIONS.items():
    add(f"fits {name}", lambda a=annotation: [int(kinds.fits(a, v)) + 2 * k for k, v in enumerate(VALUES)])()
    add(f"words_of {name}", kinds.words_of, annotation)()


def unknown(argument: str) -> str:
    """Give what each of many functions says of an argument that it may not have."""
    found = []
    for name in sorted(ba.__all__):
        function = getattr(ba, name)
        if inspect.isfunction(function):
            takes = list(inspect.signature(function).parameters)
            if argument not in takes:
                found.append(str(arguments.unknown_argument(name, argument, takes)))
    return "\n".join(found)


for argument in (
    *sorted(arguments.SYNONYMS),
    "drawz",
    "chain",
    "plausibilty",
    "n_item",
    "reliabilities",
    "group",
    "to",
    "tune",
    "x",
):
    add("unknown_argument", unknown, argument)()
add("unknown_argument", arguments.unknown_argument, "one", "anything", ["only"])()
for names in ([n] for n in sorted(arguments.KINDS | {"Mapping", "Path", "Series"})):
    add(f"_way_out {names[0]}", lambda n: [
        arguments._way_out(n, v() if isinstance(v, later) else v)
        for v in (LABELS, LEVELS, RANKED, SOFT, AGES, drawn, drawn_array, *VALUES[:30], pd.DataFrame({"a": [1]}), Path("x"))
    ], names)()  # fmt: skip
add("_way_out Series", arguments._way_out, ["Mapping", "Series"], 3)()
drawn = later(lambda: ba.dirichlet(LABELS(), **FEW), "drawn")
drawn_array = later(lambda: drawn()["posterior"]["plausibility"], "drawn_array")
add("_brief", lambda: [arguments._brief(v) for v in (*VALUES[:40], "x" * 79, "x" * 200)])()
for call in (
    lambda: ba.dirichlet(), lambda: ba.dirichlet(LABELS(), LABELS(), 3), lambda: ba.evaluate(LABELS()), lambda: ba.Labels.from_matrix(),
    lambda: ba.Labels.from_matrix([["a"]], item=3), lambda: LABELS().select(), lambda: ba.majority_vote(HARD()),
    lambda: ba.dirichlet(LABELS(), draws=0), lambda: ba.dirichlet(LABELS(), chains=1.5), lambda: ba.agreement.icc(LEVELS(), ci_prob=1),
    lambda: ba.agreement.icc(LEVELS(), ci_prob=0), lambda: ba.dirichlet(LABELS(), seed=-1), lambda: ba.dirichlet(LABELS(), reliability=-1e-9),
    lambda: ba.dirichlet(LABELS(), thin=2),
):  # fmt: skip
    add("a call that is refused", call)()


class Task:
    """What a cluster gives for work that it was sent."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def result(self) -> Any:
        return self.value


class Cluster:
    """A cluster of one process, which notes what it was sent."""

    def __init__(self, threads: int) -> None:
        self.threads, self.sent, self.copied = threads, [], 0

    def __repr__(self) -> str:
        return f"Cluster({self.threads})"

    def nthreads(self) -> dict[str, int]:
        return {"one": self.threads, "other": 0}

    def submit(self, function: Any, *given: Any, pure: bool = True) -> Task:
        values = [v.value if isinstance(v, Task) else v for v in given]
        self.sent.append(f"{function.__name__} {len(values)} {pure}")
        return Task(function(*values))

    def replicate(self, task: Task) -> None:
        self.copied += 1


def squared(block: slice) -> list[int]:
    """Say which block it is, and give its squares."""
    if block.start == 64:
        warnings.warn("the second block", stacklevel=1)
    return [k * k for k in range(block.start, block.stop)]


def on_cluster(threads: int, n: int) -> Any:
    """Map blocks over such a cluster."""
    client = Cluster(threads)
    found = list(streams.map_blocks(squared, streams.item_blocks(n), client))
    return [
        found,
        sum(s.startswith("run_batch") for s in client.sent[: 2 * threads + 1]),
        client.sent[0],
        client.sent[1],
        client.copied,
    ]


def in_threads(threads: int, n: int) -> Any:
    """Map blocks over threads, however many processors there are."""
    own, streams.n_threads = streams.n_threads, lambda: threads
    try:
        return list(streams.map_blocks(squared, streams.item_blocks(n)))
    finally:
        streams.n_threads = own


for threads in (0, 1, 3):
    add("map_blocks on a cluster", on_cluster, threads, 1000)()
for threads, n in ((1, 700), (2, 700), (3, 64), (2, 3000)):
    add("map_blocks in threads", in_threads, threads, n)()
add("map_blocks without a client", lambda: list(streams.map_blocks(squared, [slice(0, 2)], 3)))()
add("run_batch", lambda: streams.run_batch(squared, [slice(0, 3), slice(64, 66)])[::2])()


def seconds_of_a_block() -> float:
    """Give the seconds of a block, in units of what each sleeps, rounded."""
    return round(streams.run_batch(lambda _: time.sleep(0.05), [1, 2, 3])[1] / 0.05)


add("run_batch seconds", seconds_of_a_block)()
add(
    "next_batch",
    lambda: [len(streams.next_batch(iter(range(200)), s, 1.0)) for s in (0.1, 0.011, 1e-12, 5.0, 1 / 64, 1 / 65)],
)()
add(
    "item_blocks",
    lambda: [
        [b.start, b.stop]
        for n, size in ((0, 64), (63, 64), (65, 64), (7, 3), (6, 3))
        for b in streams.item_blocks(n, size)
    ],
)()
for purpose in streams.PURPOSES:
    add("stream_apart", lambda p: np.random.default_rng(streams.stream_apart(3, p)).random(2), purpose)()


def state(**changed: Any) -> Any:
    """Keep the state of a run, and read it for a run that may be another."""
    asked = {"draws": 5, "labels": LABELS(), "prior": np.array([0.5, 1.0]), "seed": 3}
    with TemporaryDirectory() as folder:
        made = [checkpoint.Checkpoint(Path(folder) / "r.nc", {k: v for k, v in of.items() if k != "seed"}, of["seed"])
                for of in (asked, asked | changed)]  # fmt: skip
        first, second = made
        said = [first.finished, first.due, first.load()]
        first.save({"at": 4, "values": np.arange(3.0)})
        said += [first.due, first.path.name, first.finished]
        first.save({"at": 5}, now=True)
        try:
            said.append(second.load())
        finally:
            first.result.write_text("")
            said.append(first.finished)
            first.remove()
            said.append(first.finished)
        return said


add("a state", state)()
for change in ({"draws": 6}, {"labels": MANY}, {"prior": np.array([0.5, 2.0])}, {"prior": np.array([[0.5, 1.0]])}, {"seed": 4},
               {"seed": None}, {"other": 1}):  # fmt: skip
    add("a state of another run", state)(**change)
add("fingerprint", lambda: [checkpoint.fingerprint(d()) for d in (LABELS, MANY, SOFT, HARD, LEVELS, RANKED)])()
add("fingerprint", lambda: [checkpoint.fingerprint(v) for v in (
    np.arange(4), np.arange(4.0), np.arange(4).reshape(2, 2), np.array(["a", "b"]), np.array(["a", 1], object), np.zeros(0), 3, "x")])()  # fmt: skip
for most in (95, 96, 97):
    add("check_size", results.check_size, {"chain": 2, "item": 6}, 8, most, "leave it")()
add(
    "settings_of",
    lambda: [
        results.settings_of(drawn()),
        results.seed_of(drawn()),
        results.seed_of(xr.DataTree()),
        results.settings_of(xr.DataTree()),
    ],
)()
add("concentration_of", lambda: [results.concentration_of(drawn()), results.concentration_of(xr.DataTree())])()
add("require_from", lambda: results.require_from("dirichlet", drawn(), "posterior/plausibility", "posterior/nothing"))()
add("require_from", lambda: results.require_from("dirichlet", drawn(), "nowhere/plausibility"))()


def stored(stop: int = 2, **changed: Any) -> Any:
    """Write blocks of draws to a store, stop before one, and go on, as the same run or as another."""
    variables = {
        "worth": storage.Variable(("chain", "draw", "item"), (2, 3, 70), np.float32),
        "best": storage.Variable(("item", "rank"), (70, 2), np.int16, "derived"),
    }
    values = {"worth": np.arange(420.0).reshape(2, 3, 70), "best": np.arange(140).reshape(70, 2)}
    found: list[Any] = []
    with TemporaryDirectory() as folder:
        for asked in ({"draws": 3}, {"draws": 3} | changed):
            store = storage.Store.at(Path(folder) / "k.zarr", 3, **asked)
            assert store is not None
            found.append(store.finished())
            kept = storage.KeptDraws(variables, store)
            for block in streams.item_blocks(70)[kept.first : stop]:
                kept.put(block, {"worth": values["worth"][..., block], "best": values["best"][block]})
            arrays = store.arrays(variables)
            found += [[str(arrays[n].chunks) + str(arrays[n].fill_value) for n in variables]]
            found += [[kept.variable(n)[0], np.array(kept.variable(n)[1].values)] for n in variables]
            stop = 2
        tree = xr.DataTree.from_dict(
            {"/derived": xr.Dataset({"best": (("item", "rank"), values["best"]), "more": 3.0})}
        )
        kept.finish(tree)
        whole = xr.open_datatree(Path(folder) / "k.zarr", engine="zarr", consolidated=False).load()
        found += sorted(f"{n.path} {sorted(map(str, n.to_dataset().variables))}" for n in whole.subtree)
        finished = store.finished()
        return [found, finished is not None]


for stop in (0, 1, 2):
    add("a store", stored, stop)()
add("a store of another run", stored, 1)(draws=4)
add("a store of no such name", lambda: storage.Store.at("x.nc", 3))()
add("a store without", lambda: storage.Store.at(None, 3))()
