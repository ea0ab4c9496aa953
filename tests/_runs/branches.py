# ruff: noqa: E501
"""Runs of branches that the others pass by: rare data, stores that go on, values of another kind."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd

import bayesagree as ba
from _runs.recipe import FEW, add, later
from _runs.world import (
    AGES,
    ENDS,
    FINE,
    FULL,
    HARD,
    LABELS,
    MANY,
    MANY_GOLD,
    RANKED,
    RANKED_SOFT,
    SOFT,
    TWICE,
    TWO,
)  # fmt: skip
from bayesagree import agreement as ag
from bayesagree import planning as pn
from bayesagree import plausibility as pl

NUMBERED = later(lambda: ba.Labels.from_matrix(
    [[1, 2, 4], [3, 3, 2], [5, 4, None], [1, None, 2], [2, 2, 1]], labels=[1, 2, 3, 4, 5], ordered=True))  # fmt: skip
for weights in ("circular", "bipolar", "radical", "ratio", "ordinal", "quadratic"):
    add("agreement_table weights", ag.agreement_table, NUMBERED, seed=3)(weights=weights)
sets = later(lambda: ba.annotations.label_sets(TWICE()), "sets")
for distance in ("masi", "jaccard"):
    add("krippendorff_alpha of sets", ag.krippendorff_alpha, sets)(distance=distance)
    add("agreement_table of sets", ag.agreement_table, sets, seed=3)(distance=distance)
opposed = later(
    lambda: ba.Ratings.from_matrix([[1, 5, 1.4], [4.8, 1.2, 5], [5, 1.1, 4.7], [1.3, 4.9, 1]] * 3, scale=(1, 5))
)
run = add("common_agreement opposed", ba.common_agreement, opposed, item_mean="flat", **FEW)
for likelihood in ("averaged", "inflated", "squeezed", "density"):
    run(likelihood=likelihood)
    add("common_agreement of ends", ba.common_agreement, ENDS, item_mean="flat", **FEW)(likelihood=likelihood)
    add("common_agreement of inner ratings", ba.common_agreement, FINE, item_mean="flat", **FEW)(likelihood=likelihood)
poles = later(
    lambda: ba.Ratings.from_matrix([[1, 5, 1], [5, 1, 5], [5, 1, 4], [2, 5, 1]] * 2, scale=(1, 5), step=1), "poles"
)
add("common_agreement of poles", ba.common_agreement, poles, item_mean="flat", **FEW)()
add("agreement_table of poles", ag.agreement_table, poles, seed=3)()
one = later(lambda: ba.Rankings.from_blocks([[[["a"], ["b"]], [["b"], ["a", "c"]], [["c"], ["b"]]]], labels=[*"abc"]))
add("agreement_table of one item", ag.agreement_table, one, seed=3)()
add("repr of a table", lambda: repr(ag.agreement_table(LABELS(), seed=3)))()
lonely = later(lambda: ba.Labels.from_matrix([["x", None], ["y", None], [None, "x"]], labels=["x", "y"]), "lonely")
same = later(lambda: ba.Labels.from_matrix([["x", "x"], ["x", "x"]], labels=["x", "y"]), "same")
for data in (lonely, same):
    add(f"agreement_table {data.name}", ag.agreement_table, data, seed=3)()
    add(f"evaluate {data.name}", lambda of: ba.evaluate(of, ba.Predictions.from_labels(
        {"A": ["x"] * of.items.size, "B": ["y"] * of.items.size}, labels=["x", "y"]), **FEW), data)()  # fmt: skip
    add(f"dawid_skene {data.name}", ba.dawid_skene, data, variant="full", tune=4, **FEW)()

mask = later(lambda: ba.Labels.from_matrix(
    (np.random.default_rng(5).random((20_000, 4)) < [0.3, 0.5, 0.6, 0.45]).astype(int), labels=[0, 1]))  # fmt: skip
for variant in ("full", "hierarchical", "mixed_membership", "votes"):
    add("dawid_skene of alike items", ba.dawid_skene, mask, tune=3, draws=4, chains=2, seed=3)(
        variant=variant, confusion=variant != "votes"
    )
add("dawid_skene votes", ba.dawid_skene, LABELS, tune=3, **FEW)(variant="votes")
estimate = later(lambda: ba.dawid_skene(iter([MANY()]), engine="em"), "estimate")
add("label_probability of labels", pl.dawid_skene.label_probability, estimate, MANY)()
best = later(lambda: ba.dawid_skene(MANY(), variant="one_coin", tune=4, top_labels=1, **FEW), "best")
add("label_probability of best labels", pl.label_probability, best)()
add("calibrate best labels", ba.calibrate, best, MANY_GOLD, seed=1)()
lumped = later(lambda: ba.plackett_luce(RANKED(), unranked="lumped", tune=3, **FEW), "lumped")
add("annotation_certainty lumped", ba.annotation_certainty, lumped)(k=2)
add("label_certainty lumped", ba.label_certainty, lumped)()
add("score lumped", ba.score, lumped, RANKED_SOFT, "average_overlap_3", seed=1)()
add("score lumped", ba.score, lumped, RANKED_SOFT, "kl", seed=1)()
sides = {f"p{j}": "AABBBCC"[j] for j in range(7)}
grouped = later(lambda: ba.group_dirichlet(MANY(), groups=sides, **FEW), "grouped")
add("annotation_certainty grouped", ba.annotation_certainty, grouped)()
add("score grouped", ba.score, grouped, later(lambda: ba.Predictions.from_labels(
    {"A": ["x"] * 40, "B": [*"xyzx"] * 10}, items=MANY().items.tolist(), labels=[*"xyz"])), "accuracy", seed=1)()  # fmt: skip


def go_on(**changed: Any) -> Any:
    """Draw to a store twice, the second time as the first or with another argument."""
    with TemporaryDirectory() as folder:
        asked = {"to": Path(folder) / "kept.zarr", "draws": 5, "chains": 2, "seed": 3}
        ba.dirichlet(MANY(), **asked)
        return ba.dirichlet(MANY(), **(asked | changed)).load()


add("a store that is there", go_on)()
for change in ({"seed": 4}, {"draws": 6}, {"reliability": 2.0}):
    add("a store that is there", go_on)(**change)
WRONG: list[Any] = [None, "text", 3, 2.5, True, [], {}, np.zeros((2, 2)), pd.DataFrame({"a": [1]}), abs, Path("x")]
for function, parameter, given in (
    (ba.dirichlet, "labels", {}), (ba.evaluate, "annotations", {}), (ba.common_agreement, "ratings", {}),
    (ba.dirichlet, "reliability", {"labels": LABELS}), (ba.dirichlet, "draws", {"labels": LABELS}),
    (ba.dawid_skene, "variant", {"labels": LABELS}), (ba.dawid_skene, "gold", {"labels": LABELS}),
    (ba.evaluate, "metrics", {"annotations": LABELS, "predictions": SOFT}), (ba.plan, "items", {"annotations": LABELS}),
    (ba.certainty.annotation_certainty, "truth", {}), (ba.informed_dirichlet, "predictions", {"labels": LABELS}),
    (ba.group_posterior, "annotators", {"labels": LABELS, "predictions": HARD}), (ba.prirn, "rankings", {}),
):  # fmt: skip
    for value in [*WRONG, LABELS, FULL, RANKED, SOFT, AGES, estimate]:
        fits = LABELS if function is ba.evaluate else None
        if value is fits or (parameter == "gold" and isinstance(value, dict)):
            continue
        add(
            f"{function.__name__}({parameter}=...)",
            lambda f=function, n=parameter, v=value, g=given: _refusal(f, n, v, g),
        )()
for wrong in ("seeed", "reliabilty", "n_draws", "coverage", "kind", "xyzzy"):
    add("an unknown argument", lambda w=wrong: ba.dirichlet(LABELS(), **{w: 1}))()
    add("an unknown argument", lambda w=wrong: ba.evaluate(LABELS(), SOFT(), **{w: 1}))()


def _refusal(function: Any, name: str, value: Any, given: dict[str, Any]) -> str:
    """Give the sentence that refuses a value, or that it is none."""
    made = {k: v() for k, v in given.items()}
    value = value() if isinstance(value, later) else value
    try:
        function(**made, **{name: value})
    except (ValueError, TypeError) as error:
        return str(error)
    return "taken"


spans = pd.DataFrame(
    [("d1", "ann", 0, 4, "P"), ("d1", "ann", 6, 9, "L"), ("d1", "bob", 0, 5, "P"), ("d1", "cyn", 7, 9, "P"),
     ("d2", "ann", 2, 8, "P"), ("d2", "bob", 1, 8, "L")], columns=["document", "annotator", "start", "end", "label"],
)  # fmt: skip
texts = {"d1": "One is here. Two.", "d2": "Three words more! Yes."}
for unit in ("span", "token", "sentence"):
    for match in ("exact", "overlap"):
        add("Labels.from_spans", ba.Labels.from_spans, spans)(unit=unit, match=match, documents=texts)
masks = np.random.default_rng(3).integers(0, 3, (3, 6, 5))
add("Labels.from_masks", lambda **o: ba.Labels.from_masks(masks, **o))()
variances = pn.two_stage_variance([1.0, 3.0, 0.0, 2.0, 4.0], [2, 4, 3, 3, 5])
add("TwoStage.variance", lambda: [variances.variance(i, a) for i in (10, 40) for a in (2, 5)])()
add("alternative_annotator_test hard rankings", ba.alternative_annotator_test, RANKED, later(
    lambda: ba.Predictions.from_labels({"A": [*"abcda"], "B": [*"bbcca"]}, items=[*"vwxyz"], labels=[*"abcd"])), **FEW)(
        min_items=2)  # fmt: skip
add("identified_accuracy", lambda: ba.metrics.identified_accuracy(ba.dirichlet(TWO(), **FEW), ba.Predictions.from_labels(
    {"A": ["no", "yes"] * 7}, items=TWO().items.tolist(), labels=["no", "yes"]), votes=2, seed=1))()  # fmt: skip
