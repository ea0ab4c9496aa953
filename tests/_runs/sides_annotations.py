# ruff: noqa: E501
"""Runs of `bayesagree.annotations` that take the other side of its conditions: tables of another kind, and refusals."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import xarray as xr

import bayesagree as ba
from _runs.annotations import shown, tree
from _runs.recipe import add, later
from _runs.world import BLOCKS, FINE, GROUPS, HARD, LABELS, MANY, NUMBERS, OFFERED, RANKED, SOFT
from bayesagree import annotations as an
from bayesagree.annotations import Annotators, Groups
from bayesagree.annotations.missing_predictions import scored_items, without_missing

levels = pd.CategoricalDtype(["low", "mid", "high"], ordered=True)
words = pd.DataFrame({"x": ["mid", "low", None], "y": ["mid", "mid", "low"]}, index=["p", "q", "r"])
for name, frame in (("ordered", words.astype(levels)), ("categories", words.astype(pd.CategoricalDtype(levels.categories))),
                    ("numbers", pd.DataFrame({"x": [2, 1], "y": [1.0, None]})), ("mixed", pd.DataFrame({"x": [2, 1], "y": ["a", "b"]})),
                    ("no column", pd.DataFrame(index=[0, 1])), ("twice", pd.DataFrame([[1, 2]], columns=["x", "x"]))):  # fmt: skip
    run = add(f"Labels.from_matrix frame of {name}", lambda f, **o: shown(ba.Labels.from_matrix(f, **o)), frame)
    run()
    run(annotators=["a", "b"])
    run(ordered=False)
for place, value in (("list", ["a"]), ("bytes", b"a"), ("NUL", "a\0"), ("truth value", True), ("number", 3), ("large", 2**70),
                     ("unsigned", 2**63), ("whole", 2.0), ("NaN", np.nan), ("text", "b")):  # fmt: skip
    values = pd.DataFrame(
        {"item": [0, 1, 2], "annotator": ["x", "y", "x"], "label": pd.Series(["a", value, "a"], dtype=object)}
    )
    add(f"Labels.from_long with a {place}", ba.Labels.from_long, values)()
for name, values in (("unsigned", np.array([2**63, 1], np.uint64)), ("small unsigned", np.array([3, 1], np.uint64)), ("fractions", [0.5, 2.0]),
                     ("beyond", [2**70, 1]), ("large floats", [2.0**53, 1.0]), ("no", [])):  # fmt: skip
    add(f"names of {name}", lambda v: ba.Labels.from_matrix([["a"] for _ in v], items=v).items, values)()
for place, value in (("large", 10**400), ("word", "many"), ("text", "3.5"), ("none", None)):
    values = pd.DataFrame(
        {"item": [0, 1, 2], "annotator": ["x", "y", "x"], "rating": pd.Series([1, value, 2], dtype=object)}
    )
    add(f"Ratings.from_long with a {place}", ba.Ratings.from_long, values, scale=(0, 5))()
for scale, step in (((0, np.inf), None), ((-np.inf, 1), None), ((1, 1), None), ((2, 1), None), ((0, 5), "1"), ((0, 5), 0), ((0, 5), 2),
                    ((0, 5), np.float32(0.5)), ((0, "five"), None), ((0, 1, 2), None), ((0, 1), 0.3333333), ((0, 1), 0.3333)):  # fmt: skip
    add("Ratings.from_matrix on", ba.Ratings.from_matrix, [[1, 0], [0, 1]])(scale=scale, step=step)

for name, given in (("cube", np.zeros((2, 2, 2))), ("nothing", np.zeros((0, 2))), ("row", [0.3, 0.8]), ("empty row", []), ("wide", [[0.1, 0.9]]),
                    ("three", [[0.2, 0.3, 0.5], [1, 0, 0]]), ("series", pd.Series([0.0, 1.0], ["p", "q"])), ("beyond", [0.5, 1.01]),
                    ("negative", [-0.01, 0.5])):  # fmt: skip
    add(f"Predictions.from_scores of {name}", lambda g, **o: ba.Predictions.from_scores({"A": g}, **o), given)()
    add(f"Predictions.from_scores of {name}", lambda g, **o: ba.Predictions.from_scores({"A": g}, **o), given)(
        labels=["no", "yes"]
    )
    add(f"Predictions.from_numbers of {name}", lambda g: ba.Predictions.from_numbers({"A": g}), given)()
    add(
        f"Predictions.from_numbers of {name} by name",
        lambda g: ba.Predictions.from_numbers({"A": g}, items=["p", "q"]),
        given,
    )()
for columns in ([0.1, 0.9], [0.9, 0.1], [0.1, 1.0], [0.0, 0.9], [1, 2], ["a", "b"]):
    add(
        "Predictions.from_numbers columns",
        lambda c: ba.Predictions.from_numbers({"A": pd.DataFrame([[1.0, 2.5], [2.0, 3.5]], columns=c)}),
        columns,
    )()
add("Predictions.points", lambda p: p.points(), HARD)()
add("Predictions.points", lambda p: p.points(), NUMBERS)()
add("Predictions.aligned numbers", lambda p: p.aligned(p.items[::-1], p.categories), NUMBERS)()
gaps = later(
    lambda: ba.Predictions.from_labels({"A": ["x", None, "y", None], "B": [None, "x", "y", None]}, labels=[*"xy"]),
    "gaps",
)
none = later(lambda: gaps().take(np.array([0, 1]), gaps().items[:2]), "none")
holes = later(lambda: ba.Predictions.from_numbers({"A": [1.0, np.nan, 3.0], "B": [2.0, 2.5, 4.0]}), "holes")
for data in (gaps, none, holes, NUMBERS):
    for missing in ("error", "wrong", "skip"):
        for may_skip in (True, False):
            add(f"scored_items {data.name}", scored_items, data, may_skip=may_skip)(missing=missing)
add("without_missing of rankings", lambda: without_missing(RANKED(), ba.Predictions.from_labels(
    {"A": ["a", "b", None, "c", "d"]}, items=[*"vwxyz"], labels=[*"abcd"]), "skip"))()  # fmt: skip


class Guesser:
    """A classifier as of scikit-learn, of two classes, which knows a probability or only labels."""

    def __init__(self, *, sure: bool = False) -> None:
        self.classes_ = np.array(["no", "yes"])
        if not sure:
            self.predict_proba = lambda X: np.column_stack([1 - np.asarray(X)[:, 0], np.asarray(X)[:, 0]])

    def predict(self, X: Any) -> Any:
        """Return the label above a half."""
        return self.classes_[(np.asarray(X)[:, 0] > 0.5).astype(int)]


inputs = pd.DataFrame({"x": [0.2, 0.9, 0.6]}, index=["p", "q", "r"])
for sure in (False, True):
    run = add(
        "Predictions.from_estimators",
        lambda X, s, **o: ba.Predictions.from_estimators({"A": Guesser(sure=s)}, X, **o),
        inputs,
        sure,
    )
    run(labels=["no", "maybe", "yes"])
    run(items=["u", "v", "w"], labels=["no", "yes"])
    add("Predictions.from_estimators rows", lambda X, s: ba.Predictions.from_estimators({"A": Guesser(sure=s)}, X, labels=["no", "yes"]),
        inputs.to_numpy(), sure)()  # fmt: skip
add("Predictions.from_estimators", lambda: ba.Predictions.from_estimators({"A": Guesser()}, inputs, labels=["no"]))()

games = pd.DataFrame({"left": [*"ABC"], "right": [*"BCA"], "winner": ["left", None, "tie"]})
for winner in (["left", None, "tie"], ["A", "C", "tie"], ["left", "who", "tie"], ["left", ["x"], "tie"], [1, 0, 0.5], [1, 0, np.nan], ["b", "a", "B"],
               ["first", "second", "draw"]):  # fmt: skip
    add(
        "Comparisons.from_long winner",
        lambda w: ba.Comparisons.from_long(games.assign(winner=pd.Series(w, dtype=object))),
        winner,
    )()
for names in (["a", "c", "d"], [1, 0, 2], ["left", "x", "y"]):
    add("Comparisons.from_long models", lambda n: ba.Comparisons.from_long(pd.DataFrame(
        {"left": n, "right": [n[1], n[2], n[0]], "winner": pd.Series([n[0], "right", "tie"], dtype=object)})), names)()  # fmt: skip

people = pd.DataFrame(
    {
        "annotator": [*"abcdefgh"],
        "age": [18, 20, 22, 25, 31, 40, 52, 66],
        "fast": [True, False] * 4,
        "years": [1, 1, 1, 1, 1, 2, 3, 9],
    }
)
for frame in (
    people,
    people.set_index("annotator"),
    people.set_index("annotator").rename_axis("who"),
    people.set_index("annotator", drop=False),
):
    add("Annotators.from_table", lambda f: Annotators.from_table(f).features, frame)()
for name in ("age", "fast", "years"):
    grown = pd.concat([people, people.assign(annotator=people["annotator"] + "2", age=people["age"] + 7)])
    add("Annotators.values", lambda n, t: Annotators.from_table(t).values(n, [*"abchx", "g2"]), name, grown)()
    add("Annotators.levels", lambda n, t: Annotators.from_table(t).levels(n), name, grown)()
shares = pd.DataFrame(
    {"annotator": [f"a{k:02d}" for k in range(40)], "rate": [0.5] * 25 + [0.6 + 0.01 * k for k in range(15)]}
)
add("Annotators.levels of equal numbers", lambda: Annotators.from_table(shares).levels("rate"))()
for again in (people.iloc[:3], people.iloc[:3].assign(age=[18, 21, 22]), people.iloc[:3].assign(fast=None)):
    add("Annotators.from_table repeated", lambda t: Annotators.from_table(t).features, pd.concat([people, again]))()
add("Annotators.from_table narwhals", lambda: Annotators.from_table(nw.from_native(people)).features)()

rate = xr.DataArray([0.0, 0.25, 1.0, np.nan], {"annotator": [*"wxyz"]}, ("annotator",))
for values in ((0, 1), (0.25, 0.25), (0.25, 1), (-0.01, 1), (0, 1.01), (0.6, 0.5)):
    add("Groups.by_disagreement in", lambda v: Groups.by_disagreement(rate, bins=2, value_range=v), values)()
for few in (rate[3:], rate[2:], rate[:2] * 1e-3, rate[:2] * 1e-18 + 0.5):
    add("Groups.by_disagreement of few", lambda r: Groups.by_disagreement(r, bins=3), few)()
add("Groups.of_rows of others", lambda g, a: g.of_rows(a), GROUPS, MANY)()
for left_out in ("old", "none"):
    add("Groups.without", lambda g, n: g.without([n]), GROUPS, left_out)()

add("Rankings.from_blocks", ba.Rankings.from_blocks, [["ab", [["b"]]]], labels=[*"ab"])()
for blocks in (
    5,
    "a",
    ["a"],
    [["a"], "b"],
    [],
    [[]],
    [["a"], []],
    ({"a"}, {"b"}),
    [["a"], ["a"]],
    np.array([["a"], ["b"]]),
):
    add("Rankings.from_blocks of", lambda b: ba.Rankings.from_blocks([[b, [["b"]]]], labels=[*"ab"]), blocks)()
long = later(lambda: OFFERED().to_long(), "long")
for rows in (slice(0, 1), slice(0, 3), slice(2, None)):
    add("Rankings.from_long without ranks", lambda t, s: ba.Rankings.from_long(
        t.assign(rank=t["rank"].where(~t.index.isin(t.index[s]))), offered=True), long, rows)()  # fmt: skip
add("Rankings.from_long nobody ranked", lambda t: ba.Rankings.from_long(
    t.assign(rank=t["rank"].where((t["item"] != "w") | (t["annotator"] != "ann"))), offered=True), long)()  # fmt: skip

spans = pd.DataFrame(
    {"document": ["d", "d"], "annotator": ["a", "b"], "start": [0, 2], "end": [3, 6], "label": ["P", "L"]}
)
for name, values in (("document", [None, "d"]), ("annotator", ["a", None]), ("start", [0.5, 2]), ("start", [-1, 2]), ("start", [0, 6]), ("start", [0, 5]),
                     ("start", [0, None]), ("end", [3, 6.5]), ("end", [1, 6]), ("end", [0, 6]), ("label", ["P", None]), ("start", [0, np.inf]),
                     ("end", ["three", 6])):  # fmt: skip
    add(f"Labels.from_spans {name}", lambda n, v: ba.Labels.from_spans(spans.assign(**{n: v})), name, values)()
for text in ("One. Two", "One. ", "", "      ", 6, 5, ["One", "Two"], ["O"] * 6):
    for unit in ("token", "sentence"):
        add("Labels.from_spans in", lambda t, u: ba.Labels.from_spans(spans, unit=u, documents={"d": t}), text, unit)()
for unit in ("token", "sentence", "span"):
    add("Labels.from_spans without texts", ba.Labels.from_spans, spans, unit=unit)()
    add("Labels.from_spans of another text", ba.Labels.from_spans, spans, unit=unit)(documents={"e": "text"})


def pictures(*pixels: Any) -> Any:
    """Write pictures, and read them as masks."""
    from matplotlib.image import imsave

    with TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{k}.png" for k in range(len(pixels))]
        for path, values in zip(paths, pixels):
            imsave(path, np.asarray(values, np.uint8), cmap="gray", vmin=0, vmax=255)
        return ba.Labels.from_masks(paths)


mask = [[0, 1, 2], [0, 0, 1]]
add("Labels.from_masks of pictures", pictures, mask, [[0, 1, 1], [0, 2, 1]])()
add("Labels.from_masks of pictures", pictures, mask, [[0, 1], [0, 2]])()
for name, masks in (("flat", mask), ("nothing", np.zeros((2, 0, 3))), ("whole floats", np.array([mask, mask], float)), ("fractions", np.array([mask, mask]) / 2),
                    ("words", np.array([[["a"]], [["b"]]])), ("truth values", np.array([mask, mask]) > 0), ("blank", np.zeros((2, 2, 2), int))):  # fmt: skip
    add(f"Labels.from_masks of {name}", ba.Labels.from_masks, masks)()
for true, predicted in (([], ["cat"]), (["cat"], []), ([], []), (["thing"], ["cat"]), (["cat"], ["car"])):
    add(
        "Taxonomy scores",
        lambda a, b: [tree.hierarchical_precision(a, b), tree.hierarchical_recall(a, b), tree.hierarchical_f1(a, b)],
        true,
        predicted,
    )()
from bayesagree.annotations._columns import sort_rows  # noqa: E402
from bayesagree.annotations._words import one_spelling  # noqa: E402

for sizes in ((4, 3, 5), (2**31, 2**31, 4), (2**31, 2**31, 2)):
    add(
        "sort_rows",
        lambda s: sort_rows([np.array([3, 1, 1, 0]), np.array([0, 2, 1, 1]), np.array([1, 1, 0, 1])], s),
        sizes,
    )()
for listed in (None, ["Yes", 1], ["yes "], ["no"]):
    add("one_spelling", lambda given: one_spelling(["yes", "Yes", "YES ", "yes", "1", "1.0", 1, "no"], given), listed)()
for word in ("nan", "1e3", "1_0", "ÉTÉ", "x y"):
    add("spelling", lambda w: one_spelling([w, w.upper(), w.replace("_", " "), "1000", "NaN "]), word)()
add("containers", lambda: [an.chosen_labels(LABELS(), label="q"), FINE().levels()])()
add("containers", lambda: [SOFT().points(), BLOCKS])()
