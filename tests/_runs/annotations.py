# ruff: noqa: E501
"""Runs of `bayesagree.annotations`."""

from typing import Any

import numpy as np
import pandas as pd

import bayesagree as ba
from _runs.recipe import add, later
from _runs.world import (
    AGES,
    ALL_GAMES,
    BLOCKS,
    COUNTS,
    CROWD,
    FINE,
    FULL,
    GAMES,
    GAPPY,
    GROUPS,
    HARD,
    JUDGES,
    LABELS,
    LEVELS,
    MANY,
    MANY_AGES,
    MANY_SOFT,
    NUMBERS,
    OFFERED,
    ORDERED,
    RANKED,
    RANKED_SOFT,
    RATED_LABELS,
    SCORES,
    SOFT,
    SYSTEMS,
    TWICE,
    TWO,
    VERDICTS,
    _games,
    table,
)  # fmt: skip
from bayesagree import annotations as an
from bayesagree.annotations import Groups, Taxonomy

METHODS = ("overview", "shares", "to_long", "to_matrix", "counts", "unit", "of_item", "hard_labels", "block_sizes",
           "ranking_index", "n_comparisons", "components", "n_annotations", "n_items", "n_levels", "level", "kind",
           "has_repeats", "row_of_each", "text", "points", "levels", "top_labels", "to_labels", "lacking")  # fmt: skip


def shown(given: Any) -> Any:
    """Give a container, its displays, and what its methods without arguments return."""
    found: dict[str, Any] = {"fields": given, "repr": repr(given)}
    if hasattr(given, "_repr_html_"):
        found["html"] = given._repr_html_()
    for name in METHODS:
        value = getattr(given, name, None)
        if callable(value):
            try:
                value = value()
            except (TypeError, ba.InputError) as error:
                value = f"{type(error).__name__} {error}"[:90] if isinstance(error, ba.InputError) else None
        if value is not None:
            found[name] = value
    return found


for data in (AGES, ALL_GAMES, COUNTS, CROWD, FINE, FULL, GAMES, GAPPY, GROUPS, HARD, JUDGES, LABELS, LEVELS, MANY, NUMBERS,
             OFFERED, ORDERED, RANKED, RANKED_SOFT, RATED_LABELS, SCORES, SOFT, SYSTEMS, TWICE, TWO, VERDICTS):  # fmt: skip
    add(f"container {data.name}", shown, data)()
rows = pd.DataFrame({
    "who": ["b", "a", "c", "a", "b", "b", "c"], "what": [3, 1, 1, 3, 1, 2, 2], "said": ["no", "yes", "no", "no", "maybe", "yes", None],
})  # fmt: skip
read = {"item": "what", "annotator": "who", "label": "said"}
run = add("Labels.from_long", lambda frame, **o: shown(ba.Labels.from_long(frame, **o)), rows, **read)
run()
run(labels=["no", "maybe", "yes"], ordered=True)
run(labels=["no", "yes"])
run(annotator=None)
run(duplicates="first")
again = pd.concat([rows, rows.assign(said="yes").iloc[:3]])
run = add("Labels.from_long twice", lambda frame, **o: shown(ba.Labels.from_long(frame, **o)), again, **read)
for duplicates in ("error", "keep", "first", "last"):
    run(duplicates=duplicates)
add("Labels.from_long similar", ba.Labels.from_long, rows.replace("no", "No ").iloc[:6], **read)()
run = add("Labels.from_matrix", ba.Labels.from_matrix, [["a", None, "b"], ["b", "b", ""], [np.nan, "a", "c"]])
run()
run(items=["p", "q", "r"], annotators=["x", "y", "z"], labels=["c", "b", "a"])
run = add(
    "Labels.from_counts", ba.Labels.from_counts, pd.DataFrame({"x": [2, 0, 1], "y": [1, 3, 0]}, index=["p", "q", "r"])
)
run()
add("Ratings.from_long", ba.Ratings.from_long, pd.DataFrame(
    {"item": [1, 1, 2, 2], "annotator": ["x", "y", "x", "y"], "rating": [0.5, 2.0, 3.5, None]}), scale=(0, 4))()  # fmt: skip
for step in (None, 0.5, 0.3):
    add("Ratings.from_matrix", ba.Ratings.from_matrix, [[0.5, 2.0], [3.5, np.nan], [4, 1]], scale=(0, 4))(step=step)
add("Rankings.from_blocks", ba.Rankings.from_blocks, BLOCKS, labels=[*"abcde"])()
long = later(lambda: RANKED().to_long(), "long")
add("Rankings.from_long", ba.Rankings.from_long, long)(labels=[*"abcd"])
add("Rankings.from_long offered", ba.Rankings.from_long, later(lambda: OFFERED().to_long(), "offered"))(offered=True)
add("Comparisons.from_rankings", ba.Comparisons.from_rankings, RANKED)()
add("Comparisons.from_batches", lambda: ba.Comparisons.from_batches(
    ba.Comparisons.from_long(_games().iloc[k : k + 20], annotator="annotator", item="item") for k in (0, 20, 40)))()  # fmt: skip
for winner in ("names", "words", "numbers"):
    games = _games().iloc[:9]
    column = {
        "names": games["winner"].where(games["winner"] == "tie", games["left"]),
        "words": games["winner"].map({"left": "model_a", "right": "model_b", "tie": "both_bad"}),
        "numbers": games["winner"].map({"left": 1, "right": 0, "tie": 0.5}),
    }[winner]
    add("Comparisons.from_long", ba.Comparisons.from_long, games.assign(winner=column))(order_known=winner == "names")
for data in (LABELS, FINE):
    for by in (["age"], ["sex"], ["age", "sex"]):
        add(f"Groups.by_features {data.name}", Groups.by_features, data, AGES)(by=by)
groups = later(lambda: Groups.by_features(MANY(), MANY_AGES(), ["age", "sex"]), "groups")
for method, given in (("sizes", ()), ("composition", (MANY,)), ("of_rows", (MANY,)), ("merged", (2,)), ("merged", (3,)),
                      ("without", (["old & f"],))):  # fmt: skip
    add(f"Groups.{method}", lambda g, *given, m=method: getattr(g, m)(*given), groups, *given)()
rate = later(lambda: ba.subjective.disagreement_rate(MANY()), "rate")
for number in (2, 3):
    add("Groups.by_disagreement", lambda r, n: Groups.by_disagreement(r, bins=n), rate, number)()
for name in ("age", "sex"):
    add("Annotators.values", lambda people, n: people.values(n, ["bob", "eve", "ann"]), AGES, name)()
    add("Annotators.levels", lambda people, n: people.levels(n), AGES, name)()
tree = Taxonomy(
    {"cat": "animal", "dog": "animal", "animal": "thing", "car": "vehicle", "bus": "vehicle", "vehicle": "thing"}
)
add(
    "Taxonomy",
    lambda: [
        tree.leaves("animal"),
        {(a, b): tree.path_length([a], [b]) for a in ("cat", "dog", "car") for b in ("cat", "bus")},
    ],
)()
for name in ("hierarchical_precision", "hierarchical_recall", "hierarchical_f1"):
    add(name, lambda n: [getattr(tree, n)(["cat", "dog"], b) for b in (["cat", "car"], ["dog", "dog"])], name)()
below = later(lambda: ba.Labels.from_matrix([["cat", "animal"], ["dog", "vehicle"], ["thing", "bus"]]), "below")
add("Taxonomy.votes", lambda labels: tree.votes(labels), below)()
add("chosen_labels", an.chosen_labels, LABELS)(label="y")
for function in (an.label_sets, an.repeated_labels):
    for data in (TWICE, LABELS):
        add(f"{function.__name__} {data.name}", function, data)()
add("document_of", lambda: [an.document_of(i) for i in ("d1:3-9", "a", "d2#4", "x/0:4")])()
for labels in (["x", "z", "y"], ["x", "y", "z", "w"]):
    add("Predictions.from_labels", ba.Predictions.from_labels, {"A": ["x", "y"], "B": ["z", "z"]})(labels=labels)
add("Predictions.from_numbers", ba.Predictions.from_numbers, {"A": [[1.0, 2.0, 4.0], [2.0, 3.0, 3.5]]})()
quantiles = pd.DataFrame([[1.0, 2.0, 4.0], [2.0, 3.0, 3.5]], columns=[0.1, 0.5, 0.9])
add("Predictions.from_numbers", ba.Predictions.from_numbers, {"A": quantiles})()
add("Predictions.take", lambda p: p.take(np.array([2, 0]), p.items[[2, 0]]), SOFT)()
add("Predictions.on_items", lambda p: p.on_items(p.items[[4, 1]]), SOFT)()
add("Predictions.aligned", lambda p: p.aligned(p.items[::-1], np.array([*"zyx"])), SOFT)()
for k in (1, 2):
    add("Predictions.top_labels", lambda p, k: p.top_labels(k), MANY_SOFT, k)()
shares = later(lambda: pd.DataFrame(
    [(m, i, c, SOFT().scores[a, b, d]) for a, m in enumerate(SOFT().models) for b, i in enumerate(SOFT().items)
     for d, c in enumerate(SOFT().categories)], columns=["model", "item", "label", "score"]), "shares")  # fmt: skip
add("Predictions.from_long", ba.Predictions.from_long, shares)()
add("Predictions.from_long", ba.Predictions.from_long, later(lambda: table("models.csv")))(labels=[*"zyx"])
