# ruff: noqa: E501
"""Runs of `bayesagree.io` that take the side of a condition which no other run takes: lists for tools, layouts, exports."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

import bayesagree as ba
from _runs.files import chosen, listed, table_of, texts
from _runs.recipe import FEW, add, later
from _runs.world import LABELS
from bayesagree import io
from bayesagree.io.outputs import plain

certain = xr.DataArray([0.4, 0.9, 0.2], dims="item", coords={"item": [*"abc"]})
for items in (
    certain,
    certain.expand_dims(draw=2),
    chosen.rename(columns={"item": "task"}),
    pd.concat([chosen, chosen[1:]]),
    [*"ab"],
):
    add("write_items of another", listed, items, "t.csv")()
for name in ("t.json", "t.jsonl"):
    for tool in ("label_studio", "prodigy", "paper"):
        add("write_items by tool", listed, chosen, name)(tool=tool)
add("write_items with contents", listed, chosen, "t.csv")(contents=xr.Dataset())
for frame in (
    texts[:3],
    texts.rename(columns={"item": "id"}),
    pd.concat([texts, texts[4:5]]),
    [1, 2],
    texts.assign(more=np.nan),
):
    add("write_items with contents", listed, chosen, "t.json")(contents=frame)
add("plain", lambda: json.dumps([plain(v) for v in (
    None, pd.NA, pd.NaT, float("nan"), float("inf"), 2.5, True, 7, "x", np.arange(3), {1: (2, pd.NA)}, Path("p"), pd.Timestamp("2020-01-02"))]))()  # fmt: skip
one = later(lambda: ba.dirichlet(LABELS(), draws=1, chains=1, seed=3), "one")
for tree in (one, later(lambda: ba.dirichlet(LABELS(), top_labels=2, **FEW), "top")):
    add("summary_table of another", io.summary_table, tree)(group="posterior")
for result in (
    xr.DataArray([1, 2], dims="k", name="v"),
    xr.DataArray(2.5, coords={"model": "A"}, name="v"),
    pd.DataFrame({"a": [1, 2]}, index=pd.Index([*"xy"], name="i")),
    pd.DataFrame({"a": [1]}, index=["x"]),
    3,
):
    add("write_table of another", table_of, result, "t.csv")()
add(
    "summary_table of names",
    io.summary_table,
    xr.DataTree.from_dict(
        {"posterior": xr.Dataset({"x": (("chain", "draw"), [[1.0, 3.0]]), "s": ("k", [*"ab"]), "n": ((), 4)})}
    ),
)()


def given(content: str | bytes, name: str, reader: Any = io.read_predictions, **options: Any) -> Any:
    """Read a file that holds a text or bytes."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return reader(path, **options)


def rows(*lines: str) -> str:
    """Join lines of a table."""
    return "\n".join(lines) + "\n"


for title, text, options in (
    ("scores", rows("model,item,score", "A,i,.2", "A,j,.7", "B,i,.4", "B,j,.1"), {"labels": ["no", "yes"]}),
    ("score is a label", rows("model,item,score", "A,i,1", "A,j,1"), {"labels": ["score"]}),
    ("numbers", rows("model,item,v", "A,i,1.5", "A,j,2.5"), {"numbers": True}),
    ("numbers by model", rows("item,A,B", "i,1.5,3", "j,2.5,4"), {"numbers": True}),
    ("sides", rows("model,item,below,at_or_above", "A,i,.2,.8", "A,j,.6,.4"), {"numbers": True}),
    ("words by model", rows("item,A,B", "i,x,y", "j,y,y"), {}),
    ("words by model, labels", rows("item,A,B", "i,x,y", "j,y,y"), {"labels": ["A", "B"]}),
    ("a model alone", rows("item,A", "i,x", "j,y"), {}),
    ("no model of it", rows("item,A,B,note", "i,x,y,one", "j,y,y,two"), {}),
    ("lacking label", rows("model,item,x,y", "A,i,.3,.7"), {"labels": [*"xyz"]}),
    ("no label", rows("model,item", "A,i"), {}),
    ("no label of one", rows("model,item,label,x", "A,i,x,", "A,j,y,", "B,i,,.5"), {}),
    ("no label of some", rows("model,item,label", "A,i,x", "A,j,y", "B,i,", "B,j,x"), {}),
    ("numbered", rows("model,item,0,1", "A,i,.2,.8"), {}),
    ("quantiles", rows("model,item,0.1,0.5,0.9", "A,i,1,2,3"), {"numbers": True}),
    ("no quantiles", rows("model,item,0.1,0.5,1.9", "A,i,1,2,3"), {"numbers": True}),
):  # fmt: skip
    add(f"read_predictions {title}", given, text, "t.csv")(**options)
for title, text, name, options in (
    ("semicolons", rows("item;annotator;label", "i;u;x", "j;u;y,z"), "t.csv", {}),
    ("semicolons, a comma in the head", rows("item,annotator,label;x", "i,u,x"), "t.csv", {}),
    ("empty", "", "t.csv", {}),
    ("uneven", rows("item,annotator,label", "i,u,x", "j,u,y,z,w"), "t.csv", {}),
    ("no json", '{"a": [1,', "t.json", {}),
    ("deep", "[" * 100_000, "t.json", {}),
    ("lines", '{"item": "i", "annotator": "u", "label": {"x": 2, "y": 0}}\n{"item": "j", "annotator": "u", "label": {}}\n', "t.jsonl", {}),
):  # fmt: skip
    add(f"read_export {title}", given, text, name, io.read_export)(**options)


def tasks(*results: list[tuple[str, list[str]]], truth: bool = False) -> Any:
    """Read tasks of Label Studio, each with an annotation of several controls."""
    rows = [
        {"id": k, "data": {"text": "t"}, "annotations": [
            {"id": 9, "completed_by": 3 + k % 2, "ground_truth": truth and k == 1, "result": [
                {"from_name": name, "to_name": "text", "type": "choices", "value": {"choices": chosen}} for name, chosen in of]}]}
        for k, of in enumerate(results)
    ]  # fmt: skip
    text = json.dumps(rows)
    return [given(text, "tasks.json", io.read_export, question=question) for question in ("mood", "tone")]


for truth in (False, True):
    add("read_export of two controls", tasks, [("mood", ["sad"]), ("tone", ["loud"])], [("mood", ["glad"]), ("tone", ["low"])],
        [("mood", ["sad"])], [])(truth=truth)  # fmt: skip
    add("read_export of several choices", tasks, [("mood", ["sad", "glad"]), ("tone", ["loud"])], [("mood", ["glad", "sad"]),
        ("tone", ["low", "loud"])], [("mood", ["sad", "glad"])])(truth=truth)  # fmt: skip
for content, labels in (
    ([[[[0], [1, 2]], [[2]]]], [*"abc"]), ([[[["a"], [1]]]], ["a", 1, "c"]), ([[[["a"], ["c"]]]], [*"abc"]), ([[[[1], [7]]]], [1, 7, 9]),
    ([[[[0], [3]]]], [*"abc"]), ([[[[-1], [2]]]], [*"abc"]), ([[[["a"], [1]]]], [*"abc"]),
):  # fmt: skip
    add(f"nested rankings {content} {labels}", lambda c=content, n=labels: given(
        json.dumps(c), "cases.json", ba.read_annotations, labels=n, kind="rankings"))()  # fmt: skip


def read_twice(rows: list[tuple[str, str | None, str]]) -> Any:
    """Read patterns of a sorted file in which an annotator may come twice to an item, or be missing."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "sorted.parquet"
        pd.DataFrame(rows, columns=["item", "annotator", "label"]).to_parquet(path)
        return ba.LabelPatterns.from_file(path, annotator="annotator")


fine = [("i1", "ann", "x"), ("i1", "bob", "y"), ("i2", "ann", "x"), ("i3", "bob", "y"), ("i3", "ann", "y")]
for k, row in enumerate((("i3", "bob", "x"), ("i3", None, "x"), ("i3", "cyn", "x"))):
    add(f"LabelPatterns of a sorted file {k}", read_twice, [*fine, row])()


for name in ("t.parquet", "t.csv", "t.txt", "t.csv.gz"):
    for content in (b"", b"PAR1none", b"item,label\ni1,x\ni1,\xff\n"):
        add(f"LabelPatterns of a broken {name} {content!r}", given, content, name, ba.LabelPatterns.from_file)()
