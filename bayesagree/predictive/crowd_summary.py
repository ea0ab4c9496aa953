"""Checks of a crowd and of its confidence, as named numbers."""

from collections.abc import Mapping
from typing import Any

import xarray as xr

from bayesagree._inference.streams import Seed
from bayesagree.annotations import Labels
from bayesagree.plausibility.calibration import (
    calibrate,
    calibration_scores,
    gold_items_needed,
    label_probability,
)
from bayesagree.predictive.annotator_checks import agreement_check, annotation_parts, label_switching


def crowd_checks(labels: Labels, truth: xr.DataTree) -> dict[str, float]:
    """Diagnostics of a crowd under a Dawid-Skene posterior.

    Parameters
    ----------
    labels, truth
        Labels of the crowd and their posterior.

    Returns
    -------
    dict
        Groups of annotators without common items, draws with switched labels, agreement beyond independent errors (z of
        its variance, p-value of its histogram), largest R-hat.
    """
    agreement = agreement_check(labels, truth, seed=1)
    return {
        "separate_groups_of_annotators": int(annotation_parts(labels).max()) + 1,
        "share_of_draws_with_switched_labels": label_switching(truth),
        "agreement_varies_more_than_independent_errors_z": float(agreement["z"].sel(statistic="variance")),
        "agreement_unlike_independent_errors_p": float(agreement["p_value"].sel(statistic="histogram")),
        "largest_r_hat": float(truth["diagnostics"].to_dataset()["r_hat"].max()),
    }


def confidence_on_gold(truth: xr.DataTree, gold: Mapping[Any, Any], *, seed: Seed = None) -> dict[str, float]:
    """Accuracy on gold items beside the predicted confidence, before and after calibration.

    Parameters
    ----------
    truth
        A posterior that has not seen the gold labels.
    gold
        Item to its true label.
    seed
        Of the calibration.
    """
    predicted = calibration_scores(label_probability(truth), gold)
    calibrated = calibrate(truth, gold, seed=seed)
    confidence = calibrated["posterior"].to_dataset()["mean_confidence"]
    return {
        "gold_items": len(gold),
        "accuracy_on_gold": float(predicted["mean_accuracy"]),
        "predicted_on_gold": float(predicted["mean_confidence"]),
        "calibrated_over_all_items": float(confidence.mean()),
        "calibrated_sd": float(confidence.std()),
        "gold_items_for_an_interval_of_0.04": gold_items_needed(calibrated, width=0.04),
    }
