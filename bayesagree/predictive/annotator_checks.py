"""Diagnostics of annotators and of the Dawid-Skene posterior.

=================  ===================================================================================================
check              asks
=================  ===================================================================================================
annotator_table    how accurate is each annotator, who is worse than chance, of whom is too little known?
label_switching    do chains or draws disagree about which label is which?
agreement_check    do annotators agree otherwise than if they erred independently? A large p-value proves nothing
=================  ===================================================================================================
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import scipy as sp
import xarray as xr

from bayesagree._types import Array, Floats, Integers, Pair
from bayesagree.annotations import Labels
from bayesagree.annotations._container import parts_met
from bayesagree.errors import InputError, warn
from bayesagree.inference.cells import cell_sums
from bayesagree.inference.intervals import column_hdi
from bayesagree.inference.kernel_draws import categories
from bayesagree.inference.results import settings_of
from bayesagree.inference.streams import Seed, seed_sequence
from bayesagree.metrics.concordant_pairs import ratio
from bayesagree.plausibility.calibration import calibrate, calibration_scores, label_probability
from bayesagree.plausibility.dawid_skene._variants import READ_PLAUSIBILITIES
from bayesagree.plausibility.dawid_skene.prior import DawidSkenePrior

CI_PROB = 0.95
# An accuracy whose 95 % interval is wider than this is not known.
WIDE = 0.3
# A quarter of an sd, in widths of 95 % intervals.
PULL = 1 / 16
# With fewer labels than this an accuracy is mostly the population's or the prior's.
FEW = 10
# The histogram of the share of agreeing pairs has cells of a twentieth: exact up to five annotations per item.
SHARES = 20


def annotator_table(result: xr.DataTree) -> pd.DataFrame:
    """Return the posterior accuracy, number of labels and warning flags of each annotator.

    With few labels, intervals depend on the prior: with ``variant="full"`` and a crowd unlike its prior they cover .83
    (50 labels each) and .89 (150) instead of .95; the hierarchical variant, which learns the crowd's prior, covers .92
    and .93.

    Parameters
    ----------
    result
        Result of `dawid_skene`.

    Returns
    -------
    DataFrame
        One row per annotator: ``annotator``, ``n_labels_given``, ``accuracy`` (posterior mean), ``lower``, ``upper``
        (HDI 0.95), ``prob_below_chance`` (posterior probability that the accuracy is below 1/K), ``flags``:
        ``worse_than_chance`` (that probability above 0.95) and ``too_few_labels`` (interval wider than 0.3, or fewer
        than 10 labels: the accuracy is then mostly the population's). One draw (EM) has no interval: NaN.

    Warns
    -----
    UserWarning
        Of ``variant="full"``, whose prior is fixed: a crowd whose mean accuracy lies more than two standard deviations
        from the prior's, where this moves half of the accuracies by a quarter of theirs.

    Examples
    --------
    >>> from bayesagree.datasets.simulate import crowd_labels
    >>> tree = dawid_skene(crowd_labels(n_items=60, n_annotators=4, random_seed=1).labels, draws=100, random_seed=1)
    >>> annotator_table(tree)["n_labels_given"].sum()
    np.int64(180)
    """
    posterior = result["posterior"].to_dataset()
    if "accuracy" not in posterior:
        raise InputError(f"no annotators in this posterior, which has {', '.join(map(str, posterior))}")
    accuracy = posterior["accuracy"].transpose("chain", "draw", "annotator").values
    accuracy = accuracy.reshape(-1, accuracy.shape[-1])
    chance = 1 / posterior.sizes["category"]
    lower = upper = below = np.full(accuracy.shape[1], np.nan)
    given = result["constant_data"].to_dataset()["n_labels_given"].values
    if len(accuracy) > 1:
        lower, upper = column_hdi(accuracy, CI_PROB)
        below = (accuracy < chance).mean(axis=0)
        if settings_of(result).get("variant") == "full":
            prior = DawidSkenePrior(**(settings_of(result)["prior"] or {}))
            _warn_of_another_crowd(prior, 1 / chance, accuracy.mean(axis=0), upper - lower, given)
    unknown = (given < FEW) | (upper - lower > WIDE)
    flags = [
        [name for name, raised in (("worse_than_chance", b > 0.95), ("too_few_labels", u)) if raised]
        for b, u in zip(below, unknown)
    ]
    table = pd.DataFrame({"annotator": posterior["annotator"].values, "n_labels_given": given})
    table = table.assign(accuracy=accuracy.mean(axis=0), lower=lower, upper=upper)
    return table.assign(prob_below_chance=below, flags=flags)


def _warn_of_another_crowd(
    prior: DawidSkenePrior, n_labels: float, accuracy: Floats, width: Floats, given: Integers
) -> None:
    """Warn where a prior that the crowd contradicts moves half of the accuracies by a quarter of their sd or more."""
    sd = np.sqrt(prior.accuracy * (1 - prior.accuracy) / (prior.strength + 1) / n_labels / accuracy.size)
    gap, weight = accuracy.mean() - prior.accuracy, prior.strength * n_labels
    pull = abs(gap) * weight / (given + weight)
    if abs(gap) > 2 * sd and np.median(pull / width) > PULL:
        warn(
            f"the crowd's mean accuracy is {accuracy.mean():.2f}, and its prior says {prior.accuracy:g}: intervals of "
            "accuracies lean to it and are short of coverage; take variant='hierarchical', which learns it, or state "
            "it: prior=DawidSkenePrior(accuracy=...)"
        )


def label_switching(result: xr.DataTree) -> float:
    """Return the share of draws in which some label is better explained by another label's confusion.

    In every draw the mean confusion matrix (annotators weighted by their labels) should be largest on its
    diagonal, row by row after the best matching of labels; a draw whose best matching is not the identity has switched.
    Where some have, the labels alone leave open which is which: give gold, or a `DawidSkenePrior` of annotators better
    than chance.
    """
    posterior = result["posterior"].to_dataset()
    if "confusion" not in posterior:
        raise InputError("label switching is seen in confusion matrices; keep them (confusion=True)")
    given = result["constant_data"].to_dataset()["n_labels_given"].values.astype(float)
    order = ("chain", "draw", "annotator", "category", "observed_category")
    matrices = np.einsum("cdjkl,j->cdkl", np.nan_to_num(posterior["confusion"].transpose(*order).values), given)
    flat = matrices.reshape(-1, *matrices.shape[2:])
    identity = np.arange(flat.shape[-1])
    # Where each row is largest on the diagonal, no other matching is as good.
    doubtful = flat[(flat.argmax(axis=2) != identity).any(axis=1)]
    switched = [not np.array_equal(sp.optimize.linear_sum_assignment(-m)[1], identity) for m in doubtful]
    return sum(switched) / len(flat)


def agreement_check(
    labels: Labels, result: xr.DataTree, *, replicates: int = 200, random_seed: Seed = None
) -> xr.Dataset:
    """Compare the agreement on items with that of annotators who err independently.

    Posterior predictive check: for posterior draws the labels are drawn again for the same (item, annotator) pairs.
    Compared are the share of agreeing pairs of annotations of an item, its mean and variance over items, and its
    histogram: how many items with so many annotations have what share of agreeing pairs. One annotator who copies
    another is found by `audit`.

    Parameters
    ----------
    labels
        What the result was made from.
    result
        Result of `dawid_skene`, with plausibilities and confusion matrices.
    replicates
        How often the labels are drawn again.
    random_seed
        Same seed, same replicates.

    Returns
    -------
    Dataset
        Per ``statistic`` (``mean``, ``variance``, ``histogram``): ``observed`` and ``replicated`` (replicate) value, of
        the histogram its chi-square-like distance from the mean of the replicates; ``z`` of the observed value and
        ``p_value``, the share of replicates at least as large; NaN where nobody shares an item.

    Raises
    ------
    InputError
        A result without plausibilities or confusion matrices.

    Notes
    -----
    **A large p-value does not show independence**, and the check does not measure how far confidence is too high. Its
    power, the share with p < 0.01, in twenty simulated sets of three labels, 70 % of them right, ten annotators and
    five labels per item:

    ==========================================  =========  =========  =========  ==========
    annotators                                  statistic  100 items  300 items  1000 items
    ==========================================  =========  =========  =========  ==========
    7 in 10 labels copy the item's first one    histogram       1.00       0.90        0.95
    2 in 5 do                                   histogram       0.50       0.55        1.00
    1 in 5 do                                   histogram       0.05       0.15        0.80
    read ambiguous items differently            any             0.00       0.05        0.00
    5 annotators, 3 an item, 7 in 10 copied     mean            1.00       0.70        0.00
    independent                                 any             0.05       0.00        0.05
    ==========================================  =========  =========  =========  ==========

    So it has no power against different readings of ambiguous items; and where there are few annotators, confusion
    matrices absorb the dependence, the better the more items they are estimated from.

    Examples
    --------
    >>> from bayesagree.datasets.simulate import crowd_labels
    >>> labels = crowd_labels(n_items=60, n_annotators=4, random_seed=1).labels
    >>> check = agreement_check(labels, dawid_skene(labels, draws=100, random_seed=1), random_seed=1)
    >>> check["statistic"].values.tolist()
    ['mean', 'variance', 'histogram']
    """
    posterior = result["posterior"].to_dataset()
    if "confusion" not in posterior or "plausibility" not in posterior:
        raise InputError(
            "the check draws labels again; keep plausibilities and confusion matrices in the posterior"
        )
    if replicates < 2:
        raise InputError("replicates=1 has no spread to compare with; use 2 or more")
    rng = np.random.default_rng(seed_sequence(random_seed))
    chains, draws = posterior.sizes["chain"], posterior.sizes["draw"]
    known = result["constant_data"].to_dataset() if "constant_data" in result else xr.Dataset()
    one = np.full(draws, settings_of(result).get("variant", "full"), dtype=object)
    variant = known["variant_of_draw"].values if "variant_of_draw" in known else one
    found = [_agreement(labels, labels.label_index)]
    at = rng.integers(chains * draws, size=replicates)
    places = {"chain": ("replicate", at // draws), "draw": ("replicate", at % draws)}
    drawn = posterior[["plausibility", "confusion"]].isel(places)
    plausibilities = drawn["plausibility"].transpose("replicate", "item", "category").values
    confusions = drawn["confusion"].transpose("replicate", "annotator", "category", "observed_category").values
    for plausibility, confusion, name in zip(plausibilities, confusions, variant[at % draws]):
        if name in READ_PLAUSIBILITIES:
            read = categories(rng, plausibility[labels.item_index])
        else:
            read = plausibility.argmax(axis=1)[labels.item_index]
        given = read if name == "votes" else categories(rng, confusion[labels.annotator_index, read])
        found.append(_agreement(labels, given))
    moments, histogram = (np.array(part) for part in zip(*found))
    expected = histogram[1:].mean(axis=0)
    distance = ((histogram - expected) ** 2 / (expected + 1)).sum(axis=1)
    values = np.column_stack([moments, distance]).T
    observed, replicated = values[:, 0], values[:, 1:]
    spread = replicated.std(axis=1, ddof=1)
    z = ratio(observed - replicated.mean(axis=1), spread)
    p_value = np.where(np.isnan(moments[0, 0]), np.nan, (replicated >= observed[:, None]).mean(axis=1))
    found = {"observed": observed, "replicated": replicated, "z": z, "p_value": p_value}
    variables = {name: (("statistic", "replicate")[: v.ndim], v) for name, v in found.items()}
    return xr.Dataset(variables, {"statistic": ["mean", "variance", "histogram"]})


def _agreement(labels: Labels, given: Array) -> Pair:
    """Return mean and variance over items of the share of agreeing pairs, and its histogram."""
    counts = cell_sums((labels.items.size, labels.categories.size), labels.item_index, given)
    total = counts.sum(axis=1)
    some = total > 1
    if not some.any():
        return np.full(2, np.nan), np.zeros(1)
    sizes, size = np.unique(total[some], return_inverse=True)
    share = (counts * (counts - 1)).sum(axis=1)[some] / (total * (total - 1))[some]
    place = np.floor(share * SHARES + 1e-9).astype(int)
    histogram = cell_sums((sizes.size, SHARES + 1), size, place).ravel()
    return np.array([share.mean(), share.var()]), histogram.astype(float)


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
    agreement, who = agreement_check(labels, truth, random_seed=1), labels.annotator_index
    return {
        "separate_groups_of_annotators": np.unique(parts_met(who, labels.item_index)[who]).size,
        "share_of_draws_with_switched_labels": label_switching(truth),
        "agreement_varies_more_than_independent_errors_z": float(agreement["z"].sel(statistic="variance")),
        "agreement_unlike_independent_errors_p": float(agreement["p_value"].sel(statistic="histogram")),
        "largest_r_hat": float(truth["diagnostics"].to_dataset()["r_hat"].max()),
    }


def confidence_on_gold(
    truth: xr.DataTree, gold: Mapping[Any, Any], *, random_seed: Seed = None
) -> dict[str, float]:
    """Accuracy on gold items beside the predicted confidence, before and after calibration.

    Parameters
    ----------
    truth
        A posterior that has not seen the gold labels.
    gold
        Item to its true label.
    random_seed
        Of the calibration.
    """
    predicted = calibration_scores(label_probability(truth), gold)
    confidence = calibrate(truth, gold, random_seed=random_seed)["posterior"].to_dataset()["mean_confidence"]
    return {
        "gold_items": len(gold),
        "accuracy_on_gold": predicted["mean_accuracy"],
        "predicted_on_gold": predicted["mean_confidence"],
        "calibrated_over_all_items": float(confidence.mean()),
        "calibrated_sd": float(confidence.std()),
    }
