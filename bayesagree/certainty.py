"""How much do the annotations leave open? Certainty, risk and agreement per item.

The certainty of a label is the probability that it is the most plausible one; the *annotation certainty* of an item is
that of its most certain label. It is 1 where the annotations settle the item and small where they leave it open,
whatever the model under test says. Distinguish it from the entropy of the plausibilities, which stays large on an item
that is truly ambiguous, however many annotators look at it.

Source: Stutz et al., "Evaluating AI systems under uncertain ground truth", section 2.3 (annotation certainty) and
appendix D (annotator agreement).
"""

import warnings
from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np
import scipy as sp
import xarray as xr
from numpy.typing import NDArray

from bayesagree._inference.streams import item_blocks, map_blocks
from bayesagree._numerics.dirichlet_argmax import argmax_probabilities
from bayesagree.annotations import Labels, Rankings
from bayesagree.errors import InputError, shorten
from bayesagree.plausibility._draws.blocks import DrawBlock
from bayesagree.plausibility._draws.top_labels import plausibility_block, truth_draws
from bayesagree.plausibility.dirichlet.inverse_rank_normalization import inverse_ranks
from bayesagree.plausibility.normal_inverse_gamma.posterior import THRESHOLD_LABELS

_NORMAL_INVERSE_GAMMA = ("location", "strength", "shape", "scale")

type Via = Literal["top_label", "mass"]


def label_certainty(
    tree: xr.DataTree, *, threshold: float | None = None, exact: bool = False, client: Any = None
) -> xr.DataArray:
    """Compute the probability that each label is the most plausible one of its item.

    Parameters
    ----------
    tree
        A posterior of plausibilities, or of ratings together with a threshold.
    threshold
        For ratings: the labels are then "below" and "at_or_above".
    exact
        Without Monte-Carlo error, from the closed form of the posterior (`dirichlet`, `prirn`,
        `normal_inverse_gamma`).
    client
        A `distributed.Client` to count draws on, for posteriors on a disk that its workers see (``to=``).

    Returns
    -------
    DataArray
        Probabilities (item, category); they sum to one over label.

    References
    ----------
    Stutz et al., section 2.3: certainty of label y = E[1{argmax lambda = y}].

    Examples
    --------
    >>> tree = dirichlet(Labels.from_counts([[2, 1, 0]]), prior=1.0, seed=1)
    >>> label_certainty(tree, exact=True).values.round(4).tolist()
    [[0.6366, 0.2847, 0.0787]]
    """
    if exact:
        return _exact_label_certainty(tree, threshold)
    truth = truth_draws(tree, 1, threshold=threshold)
    n_labels = truth.labels.size

    def share(block: DrawBlock) -> NDArray[np.float64]:
        top = block.top_label[:, :, 0]
        cell = np.arange(top.shape[0])[:, None] * n_labels + top
        counts = np.bincount(cell.ravel(), minlength=top.shape[0] * n_labels)
        return counts.reshape(top.shape[0], -1) / top.shape[1]

    certainty = np.concatenate(list(truth.map(share, client)))
    return _per_item_label(certainty, truth.items, truth.labels, "label_certainty")


def annotation_certainty(
    tree: xr.DataTree, *, k: int = 1, threshold: float | None = None, exact: bool = False, client: Any = None
) -> xr.DataArray:
    """Compute how certain the annotations are of the k most plausible labels of each item.

    Parameters
    ----------
    tree
        A posterior of plausibilities, or of ratings together with a threshold.
    k
        Size of the set of most plausible labels; their order inside the set does not count.
    threshold
        For ratings.
    exact
        Without Monte-Carlo error; only for k = 1.
    client
        As in `label_certainty`.

    Returns
    -------
    DataArray
        Probability of the most frequent top-k set (item), between 0 and 1.

    Examples
    --------
    >>> tree = dirichlet(Labels.from_counts([[3, 1, 0], [1, 1, 2]]), prior=1.0, seed=1)
    >>> annotation_certainty(tree, exact=True).values.round(3).tolist()
    [0.779, 0.535]

    References
    ----------
    Stutz et al., section 2.3: max over sets Y of E[1{Y_k(lambda) = Y}], over the sets seen in the draws.
    """
    if k == 1:
        certainty = label_certainty(tree, threshold=threshold, exact=exact, client=client)
        return certainty.max("category").rename("annotation_certainty")
    if exact:
        raise InputError(f"exact certainty exists for k=1 only, not k={k}; use the draws (exact=False)")
    truth = truth_draws(tree, k, threshold=threshold)
    n_labels = truth.labels.size

    def largest(block: DrawBlock) -> NDArray[np.float64]:
        return np.array([most_frequent_set(top, n_labels) for top in block.top_label])

    certainty = np.concatenate(list(truth.map(largest, client)))
    return _per_item(certainty, truth.items, "annotation_certainty")


def plausibility_entropy(tree: xr.DataTree, *, exact: bool = False) -> xr.DataArray:
    """Compute the expected entropy of each item's plausibilities, in nats: the inherent part of its uncertainty.

    Returns
    -------
    DataArray
        Mean entropy over draws (item), or its closed form for Dirichlet posteriors with ``exact=True``.

    Examples
    --------
    >>> tree = dirichlet(Labels.from_counts([[3, 1, 0], [1, 1, 2]]), prior=1.0, seed=1)
    >>> plausibility_entropy(tree, exact=True).values.round(3).tolist()
    [0.831, 0.95]
    """
    if exact:
        shape = _concentration(tree)
        total = shape.sum(axis=1, keepdims=True)
        mean = sp.special.digamma(total[:, 0] + 1) - (shape / total * sp.special.digamma(shape + 1)).sum(axis=1)
        return _per_item(mean, np.asarray(tree["posterior_parameters"]["item"]), "plausibility_entropy")
    entropy = _by_item(tree, "the entropy", lambda values: sp.special.entr(values).sum(axis=-1).mean(axis=(0, 1)))
    return _per_item(entropy, np.asarray(tree["posterior"]["item"]), "plausibility_entropy")


def risk_certainty(tree: xr.DataTree, risk: Mapping[Any, float], *, via: Via = "top_label") -> xr.DataArray:
    """Compute how certain the annotations are of the risk level of each item.

    Parameters
    ----------
    tree
        A posterior of plausibilities.
    risk
        Label to ordinal level, such as 0 low, 1 medium, 2 high; every label needs one.
    via
        ``"top_label"``: the level of the most plausible label. ``"mass"``: the level with the largest plausibility in
        all.

    Returns
    -------
    DataArray
        Probability of the most certain level (item).

    Examples
    --------
    >>> tree = dirichlet(Labels.from_counts([[3, 1, 0], [1, 1, 2]]), prior=1.0, seed=1)
    >>> risk_certainty(tree, {0: 0, 1: 1, 2: 1}).values.round(1).tolist()
    [0.8, 0.8]
    """
    return level_probability(tree, risk, via=via).max("level").rename("risk_certainty")


def expected_risk(tree: xr.DataTree, risk: Mapping[Any, float], *, via: Via = "top_label") -> xr.DataArray:
    """Compute the expected risk level of each item, in units of the levels.

    Parameters
    ----------
    tree, risk
        As in `risk_certainty`.
    via
        ``"top_label"``: E[risk of the most plausible label]. ``"mass"``: E[sum of plausibility times risk].

    Examples
    --------
    >>> tree = dirichlet(Labels.from_counts([[3, 1, 0], [1, 1, 2]]), prior=1.0, seed=1)
    >>> expected_risk(tree, {0: 0, 1: 1, 2: 1}, via="mass").values.round(2).tolist()
    [0.43, 0.71]
    """
    if via == "mass":
        levels = _levels(risk, _label_names(tree))
        if "plausibility" in tree["posterior"].data_vars:
            risk_of = _by_item(
                tree, "the mass of a level", lambda values: (values.mean(axis=(0, 1)) * levels).sum(axis=1)
            )
            return _per_item(risk_of, np.asarray(tree["posterior"]["item"]), "expected_risk")
        shape = _concentration(tree)
        mass = shape / shape.sum(axis=1, keepdims=True)
        return _per_item((mass * levels).sum(axis=1), np.asarray(tree["posterior_parameters"]["item"]), "expected_risk")
    probability = level_probability(tree, risk, via=via)
    return (probability * probability["level"]).sum("level").rename("expected_risk")


def level_probability(tree: xr.DataTree, risk: Mapping[Any, float], *, via: Via = "top_label") -> xr.DataArray:
    """Compute the probability of each risk level (item, level); see `risk_certainty`."""
    if via not in ("top_label", "mass"):
        raise InputError(f"via={via!r} is not one of 'top_label', 'mass'")
    labels = _label_names(tree)
    levels, level_of = np.unique(_levels(risk, labels), return_inverse=True)
    if via == "top_label":
        certainty = label_certainty(tree)
        items, probability = np.asarray(certainty["item"]), _add_up(certainty.values, level_of, levels.size)
    elif "plausibility" in tree["posterior"].data_vars:
        items = np.asarray(tree["posterior"]["item"])

        def share(values: NDArray[np.float64]) -> NDArray[np.float64]:
            top = _add_up(values, level_of, levels.size).argmax(axis=-1)
            return np.stack([(top == level).mean(axis=(0, 1)) for level in range(levels.size)], axis=1)

        probability = _by_item(tree, "the mass of a level", share)
    else:
        # Sums of the parts of a Dirichlet vector are again Dirichlet: no draws are needed.
        items = np.asarray(tree["posterior_parameters"]["item"])
        probability = argmax_probabilities(_add_up(_concentration(tree), level_of, levels.size))
    coords = {"item": items, "level": levels}
    return xr.DataArray(probability, dims=("item", "level"), coords=coords, name="level_probability")


def annotator_agreement(annotations: Labels | Rankings) -> xr.DataArray:
    """Compute how often an annotator names what the others put on top.

    For each annotator in turn, the best label of the others (largest IRN; for single labels the plurality) is looked
    up among the labels that the annotator names; where several labels share the top, the share of them that is named
    counts.

    Returns
    -------
    DataArray
        Mean over the item's annotators (item), between 0 and 1; NaN, with a warning, for fewer than two annotators.

    Examples
    --------
    >>> annotator_agreement(Labels.from_counts([[3, 1, 0], [1, 1, 2]])).values.round(3).tolist()
    [0.75, 0.167]

    References
    ----------
    Stutz et al., appendix D.
    """
    if isinstance(annotations, Labels):
        value = _label_agreement(annotations.counts())
    else:
        value = _ranking_agreement(annotations)
    alone = np.isnan(value)
    if alone.any():
        warnings.warn(
            f"annotator agreement is NaN for items with fewer than two annotators: {shorten(annotations.items[alone])}",
            stacklevel=2,
        )
    return _per_item(value, annotations.items, "annotator_agreement")


def most_frequent_set(top: NDArray[Any], n_labels: int) -> float:
    """Return the share of the most frequent set of labels among draws (sample, rank)."""
    ordered = np.sort(top, axis=1).astype(np.int64)
    code, size = ordered[:, 0], n_labels
    for column in ordered.T[1:]:
        if size > 2**62 // n_labels:
            _, code = np.unique(code, return_inverse=True)
            size = len(code)
        code, size = code * n_labels + column, size * n_labels
    return float(np.unique(code, return_counts=True)[1].max() / len(code))


def _exact_label_certainty(tree: xr.DataTree, threshold: float | None) -> xr.DataArray:
    parameters = tree["posterior_parameters"].to_dataset() if "posterior_parameters" in tree else xr.Dataset()
    if "location" in parameters:
        if threshold is None:
            raise InputError("ratings have no labels; pass threshold=c")
        location, strength, shape, scale = (parameters[name].values for name in _NORMAL_INVERSE_GAMMA)
        distance = (threshold - location) / np.sqrt(scale / (shape * strength))
        below, above = sp.special.stdtr(2 * shape, distance), sp.special.stdtr(2 * shape, -distance)
        items = np.asarray(parameters["item"])
        return _per_item_label(np.stack([below, above], axis=1), items, THRESHOLD_LABELS, "label_certainty")
    probability = argmax_probabilities(_concentration(tree))
    items, labels = np.asarray(parameters["item"]), np.asarray(parameters["category"])
    return _per_item_label(probability, items, labels, "label_certainty")


def _concentration(tree: xr.DataTree) -> NDArray[np.float64]:
    if "posterior_parameters" not in tree or "concentration" not in tree["posterior_parameters"].data_vars:
        raise InputError(
            "this posterior has no closed form (only dirichlet, prirn and normal_inverse_gamma do); use exact=False, "
            "and keep full plausibilities (no top_labels) where mass is asked for"
        )
    return tree["posterior_parameters"]["concentration"].transpose("item", "category").values


def _by_item(
    tree: xr.DataTree, purpose: str, work: Callable[[NDArray[np.float64]], NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Apply a function to the plausibilities (chain, draw, item, category) of every block of items and join."""
    if "plausibility" not in tree["posterior"].data_vars:
        raise InputError(f"{purpose} needs full plausibilities; draw them without top_labels, or use exact=True")
    blocks = item_blocks(tree["posterior"].sizes["item"])
    return np.concatenate(list(map_blocks(lambda items: work(plausibility_block(tree, items)), blocks)))


def _label_names(tree: xr.DataTree) -> NDArray[Any]:
    return truth_draws(tree, 1).labels


def _levels(risk: Mapping[Any, float], labels: NDArray[Any]) -> NDArray[np.float64]:
    missing = [label for label in labels.tolist() if label not in risk]
    if missing:
        raise InputError(f"no risk level for label {shorten(missing)}; every label needs one")
    return np.asarray([float(risk[label]) for label in labels.tolist()])


def _add_up(values: NDArray[np.float64], group: NDArray[np.int64], n_groups: int) -> NDArray[np.float64]:
    return values @ np.eye(n_groups)[group]


def _label_agreement(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the agreement of single labels; the counts of the others are the counts less one own label."""
    n = counts.sum(axis=1)
    agreement = np.zeros(len(counts))
    for k in range(counts.shape[1]):
        others = counts.copy()
        others[:, k] -= 1
        on_top = others == others.max(axis=1, keepdims=True)
        agreement += counts[:, k] * on_top[:, k] / on_top.sum(axis=1)
    return np.where(n > 1, agreement / np.maximum(n, 1), np.nan)


def _ranking_agreement(rankings: Rankings) -> NDArray[np.float64]:
    bounds = np.searchsorted(rankings.item_index, np.arange(rankings.items.size + 1))
    agreement = np.full(rankings.items.size, np.nan)
    scores = inverse_ranks(rankings)
    for i in range(rankings.items.size):
        rows = [slice(*rankings.start[r : r + 2]) for r in range(bounds[i], bounds[i + 1])]
        if len(rows) < 2:
            continue
        own = np.zeros((len(rows), rankings.categories.size))
        for r, row in enumerate(rows):
            own[r, rankings.label_index[row]] = scores[row]
        others = own.sum(axis=0) - own
        on_top = np.isclose(others, others.max(axis=1, keepdims=True), rtol=1e-12, atol=0)
        agreement[i] = ((on_top & (own > 0)).sum(axis=1) / on_top.sum(axis=1)).mean()
    return agreement


def _per_item(values: Any, items: NDArray[Any], name: str) -> xr.DataArray:
    return xr.DataArray(np.asarray(values, dtype=np.float64), dims="item", coords={"item": items}, name=name)


def _per_item_label(values: NDArray[Any], items: NDArray[Any], labels: NDArray[Any], name: str) -> xr.DataArray:
    return xr.DataArray(values, dims=("item", "category"), coords={"item": items, "category": labels}, name=name)
