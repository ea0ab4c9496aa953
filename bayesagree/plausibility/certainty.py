"""Certainty and risk per item: how much the annotations determine of the truth.

The certainty of a label is the probability that it is the most plausible one; the *annotation certainty* of an item is
that of its most certain label. It is 1 where the annotations determine the truth and small where they leave it open,
whatever the model under test predicts. Distinguish it from the entropy of the plausibilities, which stays large on an
item that is truly ambiguous, however many annotators look at it.

Source: D. Stutz et al., "Evaluating AI systems under uncertain ground truth: a case study in dermatology",
arXiv:2307.02191, section 2.3 (annotation certainty) and appendix D (annotator agreement).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy as sp
import xarray as xr

from bayesagree._types import Array, Floats
from bayesagree.annotations.ratings import THRESHOLD_LABELS
from bayesagree.errors import InputError, positive_int, require, shorten
from bayesagree.inference.blocks import DrawBlock
from bayesagree.inference.cells import cell_sums
from bayesagree.inference.dirichlet_argmax import argmax_probabilities
from bayesagree.inference.group_scores import each_group
from bayesagree.inference.multisets import words
from bayesagree.inference.results import concentration_of, parameters_of
from bayesagree.inference.top_labels import truth_draws


@each_group
def label_certainty(
    truth: xr.DataTree, *, threshold: float | None = None, exact: bool = False, client: Any = None
) -> xr.DataArray:
    """Compute the probability that each label is the most plausible one of its item.

    Parameters
    ----------
    truth
        A posterior of plausibilities, or of ratings together with a threshold.
    threshold
        For ratings: the labels are then "below" and "at_or_above".
    exact
        Without Monte-Carlo error, from the closed form of the posterior (`dirichlet`, `prirn`,
        `normal_inverse_gamma`).
    client
        A `distributed.Client` to count draws on.

    Returns
    -------
    DataArray
        Probabilities (item, category); they sum to one over the categories.

    See Also
    --------
    annotation_certainty, risk_certainty, plausibility_entropy

    References
    ----------
    .. [1] D. Stutz et al., arXiv:2307.02191, section 2.3: certainty of label y = E[1{argmax lambda = y}].

    Examples
    --------
    >>> tree = dirichlet(Labels.from_counts([[2, 1, 0]]), prior=1.0, random_seed=1)
    >>> label_certainty(tree, exact=True).values.round(4).tolist()
    [[0.6366, 0.2847, 0.0787]]
    """
    if exact:
        return _exact_label_certainty(truth, threshold)
    draws = truth_draws(truth, 1, threshold=threshold)
    n_labels = draws.labels.size

    def share(block: DrawBlock) -> Floats:
        n_items, samples = block.true_label.shape
        return cell_sums((n_items, n_labels), np.arange(n_items)[:, None], block.true_label) / samples

    certainty = np.concatenate(list(draws.map(share, client)))
    return _array("label_certainty", certainty, item=draws.items, category=draws.labels)


@each_group
def annotation_certainty(
    truth: xr.DataTree, *, k: int = 1, threshold: float | None = None, exact: bool = False, client: Any = None
) -> xr.DataArray:
    """Compute how certain the k most plausible labels of each item are.

    The certainty is the probability of the most probable top-k set. It depends on the reliability of the posterior,
    above all for `prirn`, where the annotators of an item together count as 10 unless a reliability is given.

    Parameters
    ----------
    truth
        A posterior of plausibilities, or of ratings together with a threshold.
    threshold
        For ratings: the labels are then "below" and "at_or_above".
    k
        Size of the set of most plausible labels; their order inside the set does not count.
    exact
        Without Monte-Carlo error; only for k = 1.
    client
        A `distributed.Client` to count draws on.

    Returns
    -------
    DataArray
        Probability of the most frequent top-k set (item), between 0 and 1.

    Raises
    ------
    InputError
        More labels than were kept, ratings without a threshold, or ``exact=True`` where there is no closed form.

    See Also
    --------
    label_certainty, risk_certainty, annotator_agreement

    References
    ----------
    .. [1] D. Stutz et al., arXiv:2307.02191, section 2.3: max over sets Y of E[1{Y_k(lambda) = Y}], here over the sets
       seen in the draws.

    Examples
    --------
    >>> tree = dirichlet(Labels.from_counts([[3, 1, 0], [1, 1, 2]]), prior=1.0, random_seed=1)
    >>> annotation_certainty(tree, exact=True).values.round(3).tolist()
    [0.779, 0.535]
    """
    require(truth, xr.DataTree, "truth")
    if positive_int(k, "k") == 1:
        certainty = label_certainty(truth, threshold=threshold, exact=exact, client=client)
        return certainty.max("category").rename("annotation_certainty")
    if exact:
        raise InputError(f"exact certainty exists for k=1 only, not k={k}; use the draws (exact=False)")
    draws = truth_draws(truth, k, threshold=threshold)
    shares = draws.map(lambda block: share_of_most_frequent_set(block.top_label), client)
    return _array("annotation_certainty", np.concatenate(list(shares)), item=draws.items)


def share_of_most_frequent_set(top: Array) -> Floats:
    """Return the share of the most frequent set of labels among the draws of each item, (item, sample, rank)."""
    # A set is known by the sum of a random word for each of its labels.
    word = words(np.arange(top.max(initial=0) + 1))
    code = np.sort(sum(word[top[:, :, rank]] for rank in range(top.shape[2])), axis=1)
    new = np.diff(code, axis=1, prepend=~code[:, :1]) != 0
    start = np.flatnonzero(new)
    longest = np.maximum.reduceat(np.diff(start, append=new.size), np.flatnonzero(start % new.shape[1] == 0))
    return longest / new.shape[1]


@each_group
def plausibility_entropy(truth: xr.DataTree) -> xr.DataArray:
    """Compute the expected entropy of each item's plausibilities: ambiguity that more annotations do not remove.

    Parameters
    ----------
    truth
        A posterior that keeps full plausibilities (no ``top_labels``), or has a closed form (`dirichlet`, `prirn`).

    Returns
    -------
    DataArray
        Mean entropy, in nats (item): in closed form where there is one, else over the draws.

    Examples
    --------
    >>> tree = dirichlet(Labels.from_counts([[3, 1, 0], [1, 1, 2]]), prior=1.0, random_seed=1)
    >>> plausibility_entropy(tree).values.round(3).tolist()
    [0.831, 0.95]
    """
    shape = concentration_of(truth)
    if shape is not None:
        total = shape.sum("category")
        entropy = sp.special.digamma(total + 1) - (shape / total * sp.special.digamma(shape + 1)).sum(
            "category"
        )
        return entropy.rename("plausibility_entropy")
    draws = truth_draws(truth, 1, plausibility=True)
    parts = draws.map(lambda block: sp.special.entr(block.plausibility).sum(axis=-1).mean(axis=-1))
    return _array("plausibility_entropy", np.concatenate(list(parts)), item=draws.items)


def risk_certainty(
    truth: xr.DataTree, risk: Mapping[Any, Any], *, threshold: float | None = None
) -> xr.DataArray:
    """Compute the probability of the most probable risk level of each item.

    Parameters
    ----------
    truth
        A posterior of plausibilities, or of ratings together with a threshold.
    threshold
        For ratings: the labels are then "below" and "at_or_above".
    risk
        Label to level, numbers or words such as low and high; every label needs one.

    Returns
    -------
    DataArray
        Probability of the most certain level (item).

    Raises
    ------
    InputError
        A label without a level.

    See Also
    --------
    expected_risk, annotation_certainty

    References
    ----------
    .. [1] D. Stutz et al., arXiv:2307.02191, section 2.3.

    Examples
    --------
    >>> tree = dirichlet(Labels.from_counts([[3, 1, 0], [1, 1, 2]]), prior=1.0, random_seed=1)
    >>> risk_certainty(tree, {0: 0, 1: 1, 2: 1}).values.round(1).tolist()
    [0.8, 0.8]
    """
    return level_probability(truth, risk, threshold=threshold).max("level").rename("risk_certainty")


def expected_risk(
    truth: xr.DataTree, risk: Mapping[Any, float], *, threshold: float | None = None
) -> xr.DataArray:
    """Compute the expected risk level of each item, in units of the levels.

    Parameters
    ----------
    truth
        A posterior of plausibilities, or of ratings together with a threshold.
    threshold
        For ratings: the labels are then "below" and "at_or_above".
    risk
        Label to ordinal level, such as 0 low, 1 medium, 2 high; every label needs one.

    Returns
    -------
    DataArray
        Expected level (item).

    Raises
    ------
    InputError
        A label without a level.

    See Also
    --------
    risk_certainty

    Examples
    --------
    >>> tree = dirichlet(Labels.from_counts([[3, 1, 0], [1, 1, 2]]), prior=1.0, random_seed=1)
    >>> expected_risk(tree, {0: 0, 1: 1, 2: 1}).values.round(1).tolist()
    [0.2, 0.8]
    """
    probability = level_probability(truth, risk, threshold=threshold)
    if probability["level"].dtype.kind not in "biuf":
        raise InputError(
            f"the levels {shorten(probability['level'].values)} have no mean; give numbers, as 0, 1, 2"
        )
    return (probability * probability["level"]).sum("level").rename("expected_risk")


def level_probability(
    truth: xr.DataTree, risk: Mapping[Any, Any], *, threshold: float | None = None
) -> xr.DataArray:
    """Compute the probability of each risk level (item, level); see `risk_certainty`."""
    certainty = label_certainty(truth, threshold=threshold)
    labels = certainty["category"].values.tolist()
    if missing := [label for label in labels if label not in risk]:
        raise InputError(f"no risk level for label {shorten(missing)}; every label needs one")
    levels, level_of = np.unique([risk[label] for label in labels], return_inverse=True)
    values = certainty.values @ np.eye(levels.size)[level_of]
    return _array("level_probability", values, item=certainty["item"].values, level=levels)


def _exact_label_certainty(truth: xr.DataTree, threshold: float | None) -> xr.DataArray:
    shape, parameters = concentration_of(truth), parameters_of(truth)
    if shape is not None:
        return shape.copy(data=argmax_probabilities(shape.values)).rename("label_certainty")
    if "location" not in parameters:
        closed = "only dirichlet, prirn and normal_inverse_gamma do"
        raise InputError(f"this posterior has no closed form ({closed}); use exact=False")
    if threshold is None:
        raise InputError("ratings have no labels; pass threshold=c")
    location, strength, shape, scale = (
        parameters[name].values for name in ("location", "strength", "shape", "scale")
    )
    distance = (threshold - location) / np.sqrt(scale / (shape * strength))
    both = np.stack([sp.special.stdtr(2 * shape, side) for side in (distance, -distance)], axis=1)
    return _array("label_certainty", both, item=parameters["item"].values, category=THRESHOLD_LABELS)


def _array(name: str, values: Array, **coords: Array) -> xr.DataArray:
    return xr.DataArray(values, dims=tuple(coords), coords=coords, name=name)
