"""Small results of every public posterior, for tests of what they share."""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

import bayesagree as ba
from bayesagree.plausibility.dawid_skene._crowd import VARIANTS

FEW: dict[str, Any] = {"draws": 12, "chains": 2, "random_seed": 1}
ALONE = FEW | {"plausibility": "dirichlet"}
MATRIX = np.arange(8)[:, None] % 3 * np.ones((1, 5), int)
MATRIX[np.arange(8), np.arange(8) % 5] = 2  # one annotator of each item says another label


def labels() -> ba.Labels:
    """Eight items, five annotators, three labels."""
    return ba.Labels.from_matrix(MATRIX, labels=[0, 1, 2])


def binary() -> ba.Labels:
    """The same with two labels."""
    return ba.Labels.from_matrix(np.minimum(MATRIX, 1), labels=[0, 1])


def people() -> ba.Labels:
    """Votes of two people on the same items."""
    return ba.Labels.from_matrix(np.arange(16).reshape(8, 2) % 3 // 2, labels=[0, 1])


def rankings() -> ba.Rankings:
    """Two items of four labels, one of which nobody named."""
    return ba.Rankings.from_blocks([[[[0], [1, 2]], [[0], [1]]], [[[2], [0]], [[2]]]], labels=4)


def ratings() -> ba.Ratings:
    """Eight items, five annotators."""
    return ba.Ratings.from_matrix(MATRIX + 1, scale=(1, 4), step=1)


def predictions(n_labels: int) -> ba.Predictions:
    """Two models."""
    scores = np.random.default_rng(2).random((2, 8, n_labels))
    return ba.Predictions.from_scores(dict(zip("AB", scores)), labels=list(range(n_labels)))


def groups() -> ba.Annotators:
    """Five annotators of two groups."""
    return ba.Annotators.from_table(pd.DataFrame({"annotator": range(5), "group": list("xxyyx")}))


@cache
def results() -> dict[str, Callable[[], xr.DataTree]]:
    """Return how each result is made, once in a process."""
    gold = {0: 0, 1: 1, 2: 2}
    found: dict[str, Callable[[], xr.DataTree]] = {
        "dirichlet": lambda: ba.dirichlet(labels(), **FEW),
        "dirichlet top_labels": lambda: ba.dirichlet(labels(), top_labels=2, **FEW),
        "informed_dirichlet": lambda: ba.informed_dirichlet(labels(), predictions(3), **FEW),
        "informed_dirichlet top_labels": lambda: ba.informed_dirichlet(labels(), predictions(3), top_labels=2, **FEW),
        "prirn": lambda: ba.prirn(rankings(), **FEW),
        "plackett_luce": lambda: ba.plackett_luce(rankings(), **FEW),
        "plackett_luce lumped": lambda: ba.plackett_luce(rankings(), unranked="lumped", **FEW),
        "plackett_luce top_labels": lambda: ba.plackett_luce(rankings(), unranked="lumped", top_labels=2, **FEW),
        "normal_inverse_gamma": lambda: ba.normal_inverse_gamma(ratings(), **FEW),
        "dawid_skene top_labels": lambda: ba.dawid_skene(labels(), top_labels=2, confusion=False, **FEW),
        "dawid_skene em": lambda: ba.dawid_skene(labels(), engine="em", random_seed=1),
        "common_agreement": lambda: ba.common_agreement(ratings(), **FEW),
        "common_agreement inflated": lambda: ba.common_agreement(
            ratings(), item_mean="flat", likelihood="inflated", **FEW
        ),
        "evaluate": lambda: ba.evaluate(labels(), predictions(3), **ALONE),
        "evaluate bootstrap": lambda: ba.evaluate(labels(), predictions(3), items="bootstrap", **ALONE),
        "evaluate slices": lambda: ba.evaluate(
            labels(), predictions(3), metrics=["f1_macro"], by=[0, 1] * 4, another_annotator=True, **ALONE
        ),
        "calibrate": lambda: ba.calibrate(ba.dawid_skene(labels(), **FEW), gold, random_seed=1),
        "blind_posterior": lambda: ba.blind.blind_posterior(predictions(2), method="sampling", **FEW),
        "auc_posterior": lambda: ba.metrics.auc_posterior(binary(), predictions(2), **FEW),
        "corrected_rate share": lambda: ba.corrected_rate(binary(), people(), positive=1, **FEW),
        "corrected_rate truth": lambda: ba.corrected_rate(binary(), people(), positive=1, target="truth", **FEW),
        "effective_judges": lambda: ba.judges.effective_judges(labels(), gold, **FEW),
        "group_posterior": lambda: ba.group_posterior(labels(), predictions(3), groups(), ["group"], **FEW),
    }
    for variant in VARIANTS:
        found[f"dawid_skene {variant}"] = partial(_dawid_skene, variant)
    return {name: cache(make) for name, make in found.items()}


def _dawid_skene(variant: Any) -> xr.DataTree:
    return ba.dawid_skene(labels(), variant=variant, tune=20, **FEW)
