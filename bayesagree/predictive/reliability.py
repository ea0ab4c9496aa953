"""Which reliability? How well each value predicts an annotator who was left out, and how much agreement it predicts.

Reliability, the weight of an annotation, is a free parameter of the plausibilities (Stutz et al.): results are shown
across a range of it. Two curves help to choose the range.

*Leave-one-annotator-out log score.* Every annotator of an item is predicted from the others of that item, whose
annotations count `reliability` times; the score is the mean log probability of the annotation left out.

*Predicted agreement.* The probability that two other annotators of an item make the same (first) choice, beside the
share of pairs of annotators who did.

Caveat. Both curves measure how well the plausibilities predict *annotators*, not the truth. Annotators who share an
error, copy each other or follow the same wrong guideline predict each other well, and the curve then favours too high a
reliability; only gold labels tell the two apart. Take the curve as the scale on which "low" and "high"
reliability are to be understood, not as a licence for one number.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from bayesagree._types import Floats, Rng
from bayesagree.annotations import Labels, Rankings
from bayesagree.errors import InputError, positive_int
from bayesagree.inference.cells import cell_sums
from bayesagree.inference.intervals import column_hdi
from bayesagree.inference.predictive import HeldOut, HeldOutScores
from bayesagree.inference.streams import Seed, seed_sequence, stream_apart
from bayesagree.io.doors import as_annotations
from bayesagree.metrics.concordant_pairs import ratio
from bayesagree.plausibility.registry import POSTERIORS

CI_PROB = 0.95
# Half a decade apart, and from hardly any weight to hardly any prior.
GRID = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)


def reliability_curve(
    annotations: Labels | Rankings,
    reliabilities: Sequence[float] | None = None,
    *,
    plausibility: str | None = None,
    replicates: int = 1000,
    random_seed: Seed = None,
    **options: Any,
) -> xr.Dataset:
    r"""Score reliabilities by how well the other annotators of an item predict the one left out.

    The predictive probability of the annotator left out, given the others with reliability :math:`\gamma`:

    ``"dirichlet"``
        :math:`(\gamma n^{-r}_{iy} + a_y) / (\gamma n^{-r}_i + \sum_k a_k)` for the label y left out, exactly.
    ``"prirn"``
        PrIRN has no sampling model of rankings, so we let the annotator draw labels from the plausibilities without
        replacement (Plackett-Luce given :math:`\lambda`). Under :math:`\lambda \sim \mathrm{Dirichlet}(\alpha)` each
        choice among those left is independent of the choices before (the Dirichlet distribution is neutral), so the
        expectation is the Plackett-Luce probability with worths :math:`\alpha = \gamma\,\mathrm{IRN}^{-r} + a_0`,
        exactly.

    The number of labels an annotator names, and the ties, are taken as given; a tie is an order unknown.

    Parameters
    ----------
    annotations
        Labels or rankings; items with one annotator say nothing about reliability and are left out.
    reliabilities
        Values to compare, by default 0.03 to 100.
    plausibility
        ``"dirichlet"`` (labels) or ``"prirn"`` (rankings); by default the one that fits.
    replicates
        Bayesian bootstrap replicates over items for the intervals.
    random_seed
        Same seed, same result.
    options
        `prior` of ``"dirichlet"``; `prior` and `ties` of ``"prirn"``.

    Returns
    -------
    Dataset
        Over ``reliability``: ``log_score`` (nats an annotation) with ``lower`` and ``upper``; ``difference``, the best
        score minus this one, with ``difference_lower`` and ``difference_upper`` (paired over items, so that it says
        more than the overlap of intervals); ``prob_best``, the share of replicates in which the value is the best;
        ``agreement`` with ``agreement_lower`` and ``agreement_upper``. Without dimension: ``best`` and
        ``observed_agreement``. Intervals are HDI 0.95 over items.

    Raises
    ------
    InputError
        Annotations or values that the plausibility does not take; no item with two annotators.

    Notes
    -----
    Annotators who err together predict each other: the curve measures trust in them as predictors of each other, not
    of the truth. See the caveat of this module. With few annotators per item it sees little more than reliability over
    prior weight, and a larger prior asks for a larger reliability: on CIFAR-10H the best is 1.5 with all 51 annotators
    of an image and 10 with five of them.

    References
    ----------
    Stutz et al., "Evaluating AI systems under uncertain ground truth", sections 2 and 3 and appendix B (reliability).
    The curve is ours.

    Examples
    --------
    >>> votes = Labels.from_counts([[4, 0], [5, 1], [0, 5], [6, 0]])
    >>> curve = reliability_curve(votes, (0.1, 1, 10), random_seed=1)
    >>> float(curve["best"]), curve["log_score"].values.round(2).tolist()
    (1.0, [-0.49, -0.26, -0.28])
    """
    annotations = as_annotations(annotations)
    name, held_out = _held_out(annotations, plausibility)
    levels = np.asarray(GRID if reliabilities is None else reliabilities, dtype=float)
    if levels.ndim != 1 or levels.size == 0 or np.unique(levels).size != levels.size:
        raise InputError(f"reliabilities={reliabilities!r} must be one or several different numbers")
    observed = _observed_agreement(annotations)
    if np.isnan(observed).all():
        raise InputError("no item has two annotators, and nobody can be predicted from the others")
    root = seed_sequence(random_seed)
    scores = held_out(annotations, levels, **options)
    rng = np.random.default_rng(stream_apart(root, "item weights"))
    return _curve(scores, levels, observed, positive_int(replicates, "replicates"), rng, name)


def _held_out(annotations: Labels | Rankings, plausibility: str | None) -> tuple[str, HeldOut]:
    """Return the posterior that a curve is of, and its scores."""
    known = {name: record for name, record in POSTERIORS.items() if record.held_out}
    for name, record in known.items():
        if record.held_out and plausibility in (None, name) and isinstance(annotations, record.annotations):
            return name, record.held_out
    takes = ", ".join(f"{name!r} takes {record.annotations.__name__}" for name, record in known.items())
    raise InputError(
        f"plausibility={plausibility!r} has no reliability curve of {type(annotations).__name__}; {takes}"
    )


def _curve(
    scores: HeldOutScores,
    levels: Floats,
    observed: Floats,
    replicates: int,
    rng: Rng,
    name: str,
) -> xr.Dataset:
    kept = scores.scored > 0
    number = scores.scored[kept].astype(float)
    log_score, agreement = scores.log_score[:, kept], scores.agreement[:, kept]
    mean = log_score.sum(axis=1) / number.sum()
    drawn, drawn_agreement = np.empty((2, levels.size, replicates))
    # One weight of an item for all reliabilities: differences between them are paired.
    for replicate in range(replicates):
        weight = rng.standard_exponential(number.size)
        drawn[:, replicate] = log_score @ weight / (number @ weight)
        drawn_agreement[:, replicate] = agreement @ weight / weight.sum()
    best = int(mean.argmax())
    winner = np.bincount(drawn.argmax(axis=0), minlength=levels.size)
    variables = {"log_score": mean, **_interval("", drawn), "difference": mean[best] - mean}
    variables |= _interval("difference_", drawn[best] - drawn) | {"prob_best": winner / replicates}
    variables |= {"agreement": agreement.mean(axis=1), **_interval("agreement_", drawn_agreement)}
    data = {name: ("reliability", values) for name, values in variables.items()}
    data |= {"best": levels[best], "observed_agreement": np.nanmean(observed[kept])}
    attrs = {"plausibility": name, "ci_kind": "hdi", "ci_prob": CI_PROB}
    attrs |= {"n_items": int(kept.sum()), "n_annotations": int(number.sum())}
    return xr.Dataset(data, {"reliability": levels}, attrs)


def _interval(prefix: str, draws: Floats) -> dict[str, Floats]:
    lower, upper = column_hdi(draws.T, CI_PROB)
    return {f"{prefix}lower": lower, f"{prefix}upper": upper}


def _observed_agreement(annotations: Labels | Rankings) -> Floats:
    """Return the share of pairs of an item's annotators with the same (first) choice, NaN for one annotator.

    Where an annotator ties several labels for the first place, each of them is the first choice with equal chance.
    """
    if isinstance(annotations, Labels):
        chosen = annotations.counts().astype(float)
        n = own = chosen.sum(axis=1)  # annotators agree with themselves; those pairs are taken out
    else:
        n_items, first = annotations.items.size, annotations.block == 0
        item = annotations.item_index[annotations.ranking_index()[first]]
        share = 1.0 / annotations.block_sizes()[first]
        shape = n_items, annotations.categories.size
        chosen = cell_sums(shape, item, annotations.label_index[first], weight=share)
        n, own = np.bincount(annotations.item_index, minlength=n_items), np.bincount(item, share**2, n_items)
    return ratio((chosen**2).sum(axis=1) - own, n * (n - 1.0))
