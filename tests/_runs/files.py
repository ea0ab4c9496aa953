# ruff: noqa: E501
"""Runs of `bayesagree.io`: files of every format read, and tables written."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import _exports
import numpy as np
import pandas as pd
import xarray as xr

import bayesagree as ba
from _runs.recipe import FEW, add, later
from _runs.world import FOLDER, LABELS, RANKED, SOFT, _games, _many, _rating_rows
from bayesagree import io

VOTES = [
    (i, f"w{j}", [*["yes", "no", "perhaps"], None][(i * 7 + j * 3 + i * j) % 4]) for i in range(6) for j in range(3)
]
TWO = [(i, who, label or "no") for i, who, label in _exports.votes(5, 3)]


def exported(make: Any, rows: Any, **options: Any) -> Any:
    """Write a file as a tool does, and read all that it holds."""
    with TemporaryDirectory() as folder:
        path = make(Path(folder), rows)
        return [io.read_export(path, **options)]


TOOLS = [getattr(_exports, n) for n in dir(_exports) if not n.startswith("_") and n not in (
    "votes", "by_item", "groupby", "counts_csv") and getattr(getattr(_exports, n), "__module__", "") == "_exports"]  # fmt: skip
for tool in TOOLS:
    if tool.__code__.co_argcount >= 2 and tool.__code__.co_varnames[:2] == ("folder", "rows"):
        add(f"read_export {tool.__name__}", exported, tool, VOTES)()
        add(f"read_export {tool.__name__}", exported, tool, TWO)(merge_similar=True)
for file in sorted((Path(_exports.__file__).parent / "io" / "exported").glob("*.*")):
    if file.suffix != ".py":
        question = (
            None
            if file.name.startswith(("doccano", "argilla_spans"))
            else "helpful"
            if "brain" in file.name
            else "mood"
        )
        add(f"read_export {file.name}", lambda f, q: io.read_export(f, question=q), file, question)()
        add(f"read_export {file.name}", lambda f, q: io.read_export(f, question=q), file, None)()


def written(frame: Any, name: str, **options: Any) -> Any:
    """Write a table in a format, and read annotations and the table."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        io.write_table(frame, path)
        return [io.read_annotations(path, **options), io.read_table(path)]


for end in ("csv", "tsv", "jsonl", "parquet"):
    add("read_annotations", written, later(_many), f"t.{end}")()
    add("read_annotations ratings", written, later(lambda: _rating_rows(None)), f"t.{end}", scale=(1.0, 5.0))()
    add("read_annotations comparisons", written, later(_games), f"t.{end}")()
add("read_annotations levels", written, later(lambda: _rating_rows(1)), "t.csv", scale=(1.0, 5.0), step=1.0)()
add("read_annotations ordered", written, later(_many), "t.csv", labels=[*"zyx"], ordered=True)()
add("read_annotations names", written, later(lambda: _many().rename(columns={"item": "id", "annotator": "worker"})), "t.csv",
    item="id", annotator="worker")()  # fmt: skip
add("read_annotations na", written, later(_many), "t.csv", na_values=["y"])()


def table_of(result: Any, name: str, **options: Any) -> Any:
    """Write a result as a table, and give its text."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        io.write_table(result, path, **options)
        return path.read_text()


drawn = later(lambda: ba.dirichlet(LABELS(), **FEW), "drawn")
score = later(lambda: ba.score(drawn(), SOFT(), "top_1_accuracy", seed=1), "score")
for end in ("csv", "json", "jsonl", "tsv"):
    add("write_table", table_of, drawn, f"t.{end}")(ci_prob=0.8)
    add("write_table array", table_of, score, f"t.{end}")()
    add("write_table labels", table_of, later(lambda: LABELS().to_long()), f"t.{end}")()
for formulas in ("escape", "keep", "error"):
    add("write_table formulas", table_of, pd.DataFrame({"item": ["=1+1", "@x", "-3", "a"]}), "t.csv")(formulas=formulas)
for group in ("posterior", "posterior_parameters"):
    add("summary_table", io.summary_table, drawn)(group=group)
add("summary_table", io.summary_table, drawn)(ci_prob=0.5)
chosen = pd.DataFrame({"item": ["t04", "t01", "t07"], "gain": [0.3, 0.21, 0.1]})
texts = pd.DataFrame({"item": [f"t{k:02d}" for k in range(14)], "text": [f"words {k}" for k in range(14)]})


def listed(items: Any, name: str, **options: Any) -> str:
    """Write a list of items for a tool."""
    with TemporaryDirectory() as folder:
        io.write_items(items, Path(folder) / name, **options)
        return (Path(folder) / name).read_text()


for tool, end in (("label_studio", "json"), ("prodigy", "jsonl"), ("argilla", "jsonl"),
                  ("doccano", "jsonl"), (None, "csv"), (None, "json")):  # fmt: skip
    add("write_items", listed, chosen, f"t.{end}")(tool=tool, contents=texts)
    add("write_items", listed, chosen, f"t.{end}")(tool=tool, n=2)
certain = xr.DataArray(np.linspace(0.9, 0.3, 5), dims="item", coords={"item": [*"abcde"]}, name="certainty")
add("write_items certainty", listed, certain, "t.csv")(n=3)


def kept(result: Any, name: str) -> Any:
    """Write a result to a file, and read it."""
    with TemporaryDirectory() as folder:
        io.write_result(result, Path(folder) / name)
        return io.read_result(Path(folder) / name).load()


for end in ("nc", "zarr"):
    add("read_result", kept, drawn, f"kept.{end}")()
    # Of a zarr folder the order of names differs from run to run.
    if end == "nc":
        add("read_result rankings", kept, later(lambda: ba.prirn(RANKED(), **FEW)), f"kept.{end}")()


def predictions(name: str, **options: Any) -> Any:
    """Read predictions from a file of the world."""
    return io.read_predictions(FOLDER() / name, **options)


run = add("read_predictions", predictions)
add("read_predictions", predictions, "models.csv")(labels=[*"xyz"])
add("read_predictions", predictions, "shares.csv")(labels=[*"zyx"])
add("read_predictions", predictions, "scores.csv")(numbers=True, label="score", score="none")
add("read_predictions two", predictions, "scores.csv")(labels=["no", "yes"], probabilities=True)


def patterns(kind: Any, frame: Any, end: str, posterior: Any, **options: Any) -> Any:
    """Count distinct items of a file, and draw of them."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"t.{end}"
        frame.to_csv(path, index=False) if end == "csv" else frame.to_parquet(path)
        found = kind.from_file(path, **options)
        tree = posterior(found)
        return [found.n_items, found.n_annotations, found.weight, found.representatives(), tree]


for end in ("csv", "parquet"):
    add("LabelPatterns", patterns, ba.LabelPatterns, later(_many), end, lambda p: ba.dirichlet(p.representatives(), **FEW),
        labels=[*"xyz"])()  # fmt: skip
    add("RatingPatterns", patterns, io.RatingPatterns, later(lambda: _rating_rows(1)), end,
        lambda p: ba.common_agreement(p, item_mean="flat", **FEW), scale=(1, 5), step=1)()  # fmt: skip


def by_batches(rows: int, **options: Any) -> Any:
    """Estimate by EM from a file that is read in parts."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "sorted.csv"
        _many().to_csv(path, index=False)
        (Path(folder) / "out").mkdir()
        batches = ba.LabelBatches(path, labels=[*"xyz"], rows=rows)
        return [
            [b.items.size for b in batches],
            ba.dawid_skene(batches, engine="em", folder=Path(folder) / "out", **options),
        ]


for rows in (30, 1000):
    add("LabelBatches", by_batches, rows)()
