"""One score for each draw of the truth: any metric by its name, or a function of the user's.

The truth of a draw is its most plausible label (``truth_is="top"``), or a label sampled from its plausibilities
(``"sampled"``: the label of another annotator); metrics against the whole distribution compare with the
plausibilities themselves.
"""

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesagree._types import Advance, Array, Floats, silent
from bayesagree.annotations.gold import ItemGroup
from bayesagree.annotations.missing_predictions import Missing, scored_items
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import require, warn
from bayesagree.inference.cells import row_shares
from bayesagree.inference.group_scores import each_group
from bayesagree.inference.results import variable
from bayesagree.inference.streams import Seed, stream_apart
from bayesagree.inference.top_labels import Truth, number_draws, of_items, states_order, truth_draws
from bayesagree.io.doors import as_predictions, as_truth
from bayesagree.metrics._checks import check_order, check_truth_is
from bayesagree.metrics._scorer import ItemSums, Scorer, TruthIs, by_slice
from bayesagree.metrics.concordant_pairs import ratio
from bayesagree.metrics.item_weights import ItemGroups, ItemWeights
from bayesagree.metrics.records import Mean
from bayesagree.metrics.registry import AnyMetric, Metric
from bayesagree.plausibility.votes import one_label_each

SIDES = ("slice", "rest", "difference")


@each_group
def score(
    truth: Truth,
    predictions: Predictions,
    metric: AnyMetric | Metric,
    *,
    truth_is: TruthIs = "top",
    threshold: float | None = None,
    missing: Missing = "error",
    by: ItemGroup | None = None,
    cluster: ItemGroup | None = None,
    random_seed: Seed = None,
    client: Any = None,
    progress: Advance | None = None,
) -> xr.DataArray:
    """Score each model against every draw of the truth, by any metric.

    Parameters
    ----------
    truth
        A posterior of plausibilities (of ratings, with `threshold`), or of ratings for predicted numbers; or a point
        estimate, dims (item, category) or of numbers (item,), which gives the plug-in score as a single draw.
    predictions
        Models to score, on the same items and labels.
    metric
        A name (`bayesagree.metrics.registry.METRICS` has all: ``"f1_macro"``, ``"recall[yes]"``, ``"roc_auc_ovr"``,
        ``"total_variation"``, ``"top_3_accuracy"``, ...; names and conventions are those of scikit-learn); a function
        (true labels, predicted labels) -> float, such as those of `sklearn.metrics`, called for every draw (take few);
        or a `UserMetric`, which states what a function takes and whether higher is better.
    truth_is
        ``"top"``: the most plausible label of a draw; ``"sampled"``: a label drawn from its plausibilities. Ignored
        by metrics that compare whole distributions.
    threshold
        For ratings and predicted labels: the labels are then "below" and "at_or_above".
    missing
        Items that a model predicts nothing for: ``"error"`` refuses them, ``"skip"`` scores all models on the items
        that every model predicts, ``"wrong"`` counts a missing label as wrong.
    by
        A slice for each item (mapping or series by item, or one value per item): scores of every slice.
    cluster
        A cluster for each item, as in `by`. Items are then a sample of a larger population and whole clusters are
        weighted anew in every draw (Bayesian bootstrap; a function of the user's sees resampled clusters).
    random_seed
        Of sampled truths and of the bootstrap.
    client
        A `distributed.Client` to score on, for metrics that are sums over items.
    progress
        Called with the number of items done, for a function of the user's with that of calls.

    Returns
    -------
    DataArray
        One value per draw, dims (chain, draw, model); with `by` (chain, draw, slice, side, model), side = slice, rest
        (all other items), difference. ``attrs["higher_is_better"]`` is 1 or 0.

    Raises
    ------
    InputError
        An unknown metric, predictions without the scores or probabilities that it needs, other items or labels than
        those of the truth.

    Notes
    -----
    Labels of a point estimate that tie on top share an item's accuracy; for other metrics the first of them is true.

    Warns
    -----
    UserWarning
        Draws in which a score does not exist (NaN), with the reason; a point estimate for a metric that is biased when
        votes are few.

    See Also
    --------
    make_scorer, per_item, evaluate

    References
    ----------
    .. [1] D. Stutz et al., arXiv:2307.02191, section 2.4, uncertainty-adjusted metrics.

    Examples
    --------
    >>> from sklearn.metrics import hamming_loss
    >>> from bayesagree import dirichlet, simulate
    >>> given = simulate.labelled_test_set(random_seed=1)
    >>> truth = dirichlet(given.labels, random_seed=1)
    >>> score(truth, given.predictions, "f1_macro").mean(("chain", "draw")).values.round(2).tolist()
    [0.72, 0.73, 0.62]
    >>> few = dirichlet(given.labels, draws=10, random_seed=1)
    >>> score(few, given.predictions, hamming_loss).mean(("chain", "draw")).values.round(1).tolist()
    [0.3, 0.3, 0.4]
    """
    truth = as_truth(truth)
    predictions = as_predictions(predictions, truth, may_lack=True, runs=True)
    if isinstance(truth, pd.Series):
        truth = one_label_each(truth, predictions.categories)
    require(truth, (xr.DataTree, xr.DataArray), "truth")
    requested = Metric.of(metric)
    advance = progress or silent
    if (kept := scored_items(predictions, missing)) is not predictions:
        truth, predictions = of_items(truth, kept.items), kept
    if isinstance(truth, xr.DataArray) and requested.record.biased_of_estimate:
        warn(
            f"{requested.name} of a point estimate is biased with few votes; score a posterior of the plausibilities"
        )
    check_truth_is(truth_is, requested)
    sampled = stream_apart(random_seed, "sampled truth") if truth_is == "sampled" else None
    if predictions.numbers is not None:
        draws = number_draws(truth, threshold)
    else:
        full = truth_is == "sampled" or requested.record.against_distribution
        draws = truth_draws(truth, requested.depth, threshold=threshold, plausibility=full)
    check_order([requested], states_order(truth, draws.labels), draws.labels.size)
    slices: Any = ItemGroups.of(by, draws.items, "by")
    n_samples = draws.chains * draws.draws
    weights = None if cluster is None else ItemWeights(cluster, draws.items, n_samples, random_seed)
    scorer = Scorer(predictions.aligned(draws.items, draws.labels), [requested], slices, weights, sampled)
    by_item = cluster is None and requested.record.one_true_label and isinstance(requested.record.kind, Mean)
    if by_item and isinstance(truth, xr.DataArray):
        shared = _shared_by_ties(scorer, truth, requested.k)

        def of_slices(at: Any) -> Floats:
            inside = at[slices.code].astype(float)
            return ratio(shared @ inside[:, None], inside.sum())

        values = shared.mean(axis=1)[:, None] if slices is None else by_slice(of_slices, slices.names.size)
        return score_array(values, requested, predictions, (1, 1), slices)
    sums = ItemSums(scorer, n_samples, advance)
    for done in draws.map(scorer, client):
        sums.add(done)
        if not requested.record.by_user:
            advance(done.items.stop - done.items.start)
    values = sums.scores()[0] if slices is None else by_slice(lambda at: sums.scores(at)[0], slices.names.size)
    return score_array(values, requested, predictions, (draws.chains, draws.draws), slices)


def _shared_by_ties(scorer: Scorer, estimate: xr.DataArray, k: int) -> Floats:
    """Return top-k accuracy, shape (model, item), where the labels that tie on top of an item share it."""
    values = estimate.transpose("item", "category").values
    on_top = values == values.max(axis=1, keepdims=True)
    best = scorer.given.best[:, :, :k].astype(np.intp)
    share = np.take_along_axis(row_shares(on_top)[None], np.maximum(best, 0), axis=2)
    return np.where(best < 0, 0, share).sum(axis=2)


def score_array(
    values: Floats, metric: Metric, of: Predictions, sizes: tuple[int, int], slices: ItemGroups | None
) -> xr.DataArray:
    """Give values (..., model, sample) their names, and warn of those that do not exist."""
    values = values if of.runs is None else of.runs.mean(values)
    warn_undefined(values, metric, of.model_names)
    shaped = np.moveaxis(values.reshape(*values.shape[:-1], *sizes), (-2, -1), (0, 1))
    coords = {"chain": np.arange(sizes[0]), "draw": np.arange(sizes[1])}
    coords |= {} if slices is None else {slices.name: slices.names, "side": list(SIDES)}
    named = {dim: variable(dim, names) for dim, names in (coords | {"model": of.model_names}).items()}
    return xr.DataArray(variable([*named], shaped, metric.attrs), named, name=metric.name)


def warn_undefined(values: Floats, metric: Metric, models: Array) -> None:
    """Warn of scores that do not exist: in how many draws of which models, and why."""
    missing = np.isnan(values)
    if missing.any():
        of_model = missing.any(axis=tuple(a for a in range(values.ndim) if a != values.ndim - 2))
        names = ", ".join(repr(str(name)) for name in models[of_model][:5])
        reason = metric.record.undefined or "it divides by zero"
        warn(
            f"{metric.name} does not exist in {missing.mean():.1%} of the draws (models {names}), where {reason}"
        )
