"""The ceiling of a score: one more annotator against the same draws of the truth."""

from typing import Any

import numpy as np
import xarray as xr

from bayesagree._inference.arguments import checked
from bayesagree._inference.streams import Seed
from bayesagree.draws.blocks import DrawBlock
from bayesagree.draws.top_labels import Truth
from bayesagree.metrics._block_sums import GroupSums
from bayesagree.metrics._further_annotator import FURTHER_ANNOTATOR, FurtherAnnotator
from bayesagree.metrics._item_groups import ItemGroups, ItemWeights
from bayesagree.metrics._truths import TruthIs, draws_for
from bayesagree.metrics.registry import Metric


@checked
def human_ceiling(
    truth: Truth,
    metric: str,
    *,
    truth_is: TruthIs = "top",
    cluster: Any = None,
    thin: int = 1,
    seed: Seed = None,
    client: Any = None,
) -> xr.DataArray:
    """Score of a further annotator against every draw of the truth.

    In each draw the annotator's label of an item is drawn from the plausibilities of that draw; of a metric that needs
    probabilities the label has probability one.

    Parameters
    ----------
    truth
        A posterior of plausibilities, or a point estimate (item, category).
    metric
        Name of a metric that a single label has a value of.
    truth_is, cluster, thin, seed, client
        As in `score`.

    Returns
    -------
    DataArray
        One value per draw, dims (chain, draw, model), the model being "a further annotator": beside the scores of
        models by `xarray.concat`.

    Raises
    ------
    InputError
        A metric of whole orders of labels or items, such as ``set_2_accuracy`` or ``roc_auc``.

    See Also
    --------
    score, evaluate

    References
    ----------
    .. [1] J. Baan et al., "Stop measuring calibration when humans disagree", EMNLP 2022, section 5,
       doi:10.18653/v1/2022.emnlp-main.124.

    Examples
    --------
    >>> from bayesagree import dirichlet, simulate
    >>> given = simulate.labelled_test_set(seed=1)
    >>> human_ceiling(dirichlet(given.labels, seed=1), "accuracy", seed=1).mean().round(2).item()
    0.79
    """
    asked = Metric.named(metric)
    draws = draws_for(asked, truth, truth_is=truth_is, threshold=None, thin=thin, seed=seed, plausibility=True)
    annotator = FurtherAnnotator([asked], draws.labels, seed)
    n_samples = draws.chains * draws.draws
    weights = None
    if cluster is not None:
        weights = ItemWeights(ItemGroups.of(cluster, draws.items, "cluster"), draws.items.size, n_samples, seed)
    scorer = annotator.scorers[0]
    sums = GroupSums(1, (scorer.n_components, 1, n_samples))

    def work(block: DrawBlock) -> tuple[Any, Any]:
        rows = None if weights is None else weights.rows(block.items)
        total = float(len(block.top_label)) if rows is None else rows.sum(axis=0)
        return annotator.sums(block, annotator.labels(block), rows), total

    for found, total in draws.map(work, client):
        sums.add(0, found, total)
    values = sums.scores(lambda s, t: scorer.finish(s, t)[0], sliced=False)
    shaped = values.T.reshape(draws.chains, draws.draws, 1)
    coords = {"chain": np.arange(draws.chains), "draw": np.arange(draws.draws), "model": [FURTHER_ANNOTATOR]}
    attrs = {"higher_is_better": int(asked.record.higher_is_better)}
    return xr.DataArray(shaped, dims=("chain", "draw", "model"), coords=coords, name=asked.name, attrs=attrs)
