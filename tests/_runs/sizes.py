"""Runs with one or two models, with items that only some have answered, and the parts of results that others drop."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

import bayesagree as ba
from _runs.agreement import PRIOR
from _runs.predictive import fits as known
from _runs.predictive import trees
from _runs.recipe import FEW, add, later
from _runs.world import HARD, LABELS, LEVELS, MANY, MANY_SOFT, ORDERED, SOFT
from bayesagree import blind as bl
from bayesagree import planning as pn
from bayesagree import predictive as pr
from bayesagree.subjective.tables import read_model_predictions


def first(predictions: Any, n: int) -> Any:
    """Keep the first models."""
    given = predictions()
    scores = {m: pd.DataFrame(s, given.items, given.categories) for m, s in zip(given.models[:n], given.scores)}
    return ba.Predictions.from_scores(scores, labels=given.categories.tolist())


for data, models in ((LABELS, SOFT), (MANY, MANY_SOFT), (ORDERED, SOFT)):
    for n in (1, 2):
        few = later(lambda models=models, n=n: first(models, n), f"{n} of {models.name}")
        given = f"{data.name} {few.name}"
        for goal in (None, "decision", "metric", "certainty"):
            add(f"annotate_next {given}", ba.annotate_next, data, few, n=4, seed=1, plausibility="dirichlet")(goal=goal)
        add(f"value_of_votes {given}", pn.value_of_votes, data, few, seed=1, plausibility="dirichlet")()
        found = later(
            lambda data=data, few=few: ba.evaluate(data(), few(), plausibility="dirichlet", metrics=["brier"], **FEW)
        )
        add(f"evaluate {given}", lambda of: of, found)()
        add(f"compare {given}", ba.compare, found)(metric="brier")
most = later(lambda: LABELS().select(LABELS().item_index % 4 != 1), "most")
for method in ("direct", "calibrated_majority", "naive_bayes", "svm", "glm"):
    add("blind_scores some of the crowd", bl.blind_scores, HARD, crowd=most, seed=1)(method=method)
add("blind_experiment some of the crowd", bl.blind_experiment, HARD, crowd=most, draws=10, seed=1)()


def log_prior(tree: Any, annotations: Any) -> Any:
    """Give the log prior density of what items share, if there is such."""
    import pytensor

    # Evaluated in Python: compiling the densities of all models takes a minute.
    with pytensor.config.change_flags(mode="FAST_COMPILE", linker="py"):
        found = pr.with_log_likelihood(tree, annotations, seed=1, draws=10)
    return found.get("log_prior", "none")


for name, (data, _) in known.items():
    add(f"log_prior {name}", log_prior, trees[name], data)()
how: dict[str, Any] = {"likelihood": "binned", "keep_item_means": True, "prior": PRIOR} | FEW
for effects in ("shift", "shift_and_spread"):
    tree = later(lambda e=effects: ba.common_agreement(LEVELS(), annotator_effects=e, **how))
    add(f"log_prior {effects}", log_prior, tree, LEVELS)()


def read(annotations: Any, columns: dict[str, Any], **names: Any) -> Any:
    """Read predictions of models of people's answers from a file."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "models.csv"
        pd.DataFrame(columns).to_csv(path, index=False)
        return read_model_predictions(path, annotations, **names)


rows = {"model": [*"AABB"], "item": ["t00", "t01"] * 2, "label": [*"xyyx"], "rating": [1, 4, 2, 5]}
for data in (LABELS, LEVELS):
    for left_out in ("", "label", "rating", "item"):
        columns = {k: v for k, v in rows.items() if k != left_out}
        add(f"read_model_predictions {data.name} {left_out}", read, data, columns)()
        add(
            f"read_model_predictions by people {data.name} {left_out}", read, data, columns | {"annotator": [*"abab"]}
        )()
add("read_model_predictions of names", read, LABELS, {"m": ["A"], "i": ["t00"], "l": ["x"], "who": ["ann"]})(
    model="m", item="i", label="l", annotator="who"
)
