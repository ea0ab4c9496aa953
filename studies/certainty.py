"""Certainty of labels, of ratings and of published labels by reliability (Stutz et al., figures 3, 9 and 10)."""

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
import xarray as xr
from typer import Option

from bayesagree.annotations import Labels, Rankings, Ratings
from bayesagree.annotations.gold import Gold, gold_codes
from bayesagree.cli import _options, _output
from bayesagree.datasets import load
from bayesagree.errors import InputError
from bayesagree.inference.streams import Seed
from bayesagree.plausibility.certainty import annotation_certainty, label_certainty
from bayesagree.plausibility.dirichlet.posterior import dirichlet
from bayesagree.plausibility.normal_inverse_gamma.posterior import normal_inverse_gamma
from bayesagree.plots.certainty import plot_certainty
from studies._command import Figures, run, save_figures
from studies.certainty_figures import plot_rating_item


def certainty_by_reliability(
    annotations: Labels | Ratings,
    *,
    reliability: Sequence[float] = (0.5, 1, 2, 5),
    k: int = 1,
    threshold: float | None = None,
    gold: Gold | None = None,
    draws: int = 1000,
    chains: int = 4,
    random_seed: Seed = None,
) -> xr.Dataset:
    """Return the annotation certainty of every item at several reliabilities, and that of one label of each.

    Labels have the Dirichlet posterior, ratings the normal-inverse-gamma one, cut at the threshold.

    Parameters
    ----------
    annotations
        `Labels` or `Ratings`.
    reliability
        Weights of an annotation.
    k
        Labels in the set whose certainty is computed.
    threshold
        For ratings: the labels are then "below" and "at_or_above".
    gold
        Item to label, such as the labels that a benchmark was published with: their certainty is their
        uncertainty-adjusted accuracy.
    draws, chains, random_seed
        Of each posterior.

    Returns
    -------
    Dataset
        ``certainty`` (reliability, item), in (0, 1]; with `gold` ``gold_certainty`` (reliability, item), in [0, 1],
        NaN for items without gold.

    References
    ----------
    Stutz et al., arXiv:2307.02191, equations 2 to 6; figures 2, 3, 9 and 10.

    Examples
    --------
    >>> votes = Labels.from_counts([[5, 0], [3, 2]])
    >>> certainty = certainty_by_reliability(votes, reliability=(1, 10), random_seed=1)["certainty"]
    >>> certainty.mean("item").round(1).values.tolist()
    [0.8, 1.0]
    """
    if isinstance(annotations, Ratings) and threshold is None:
        raise InputError("ratings ask on which side of a threshold the mean is: pass threshold=")
    rows, of_gold = [], []
    for weight in reliability:
        options: dict[str, Any] = {
            "reliability": weight,
            "draws": draws,
            "chains": chains,
            "random_seed": random_seed,
        }
        if isinstance(annotations, Labels):
            tree = dirichlet(annotations, top_labels=k, **options)
        else:
            tree = normal_inverse_gamma(annotations, **options)
        rows.append(annotation_certainty(tree, k=k, threshold=threshold))
        if gold is not None:
            every_label = label_certainty(tree, threshold=threshold)
            truth = gold_codes(gold, annotations.items, every_label["category"].values)
            picked = every_label.transpose("item", "category").values[np.arange(truth.size), truth]
            of_gold.append(np.where(truth >= 0, picked, np.nan))
    coords = {"reliability": list(reliability), "item": annotations.items}
    data = {"certainty": (("reliability", "item"), np.stack([row.values for row in rows]))}
    if gold is not None:
        data["gold_certainty"] = (("reliability", "item"), np.stack(of_gold))
    return xr.Dataset(data, coords)


def main(
    source: _options.Source,
    sampling: _options.ShortSampling,
    reliability: Annotated[str, Option(help="Reliabilities, comma separated.")] = "0.5,1,2,5",
    threshold: _options.Threshold = None,
    figures: Figures = None,
) -> _output.Answer:
    """Show certainty of labels or ratings, and of published labels, by reliability: Stutz et al., figures 3, 9, 10.

    Example: python -m studies.certainty --data chaosnli-snli --figures folder
    """
    given, _ = source.read()
    if isinstance(given, Rankings):
        raise InputError(
            "these are rankings; `python -m studies.rankings` shows their certainty under two models"
        )
    gold = None
    if source.data is not None and not isinstance(given, Ratings):
        gold = load(source.data).gold
    levels = _options.numbers(reliability)
    found = certainty_by_reliability(
        given, reliability=levels, threshold=threshold, gold=gold, **vars(sampling)
    )
    certainty = found["certainty"]
    curves = {f"reliability {r:g}": certainty.sel(reliability=r) for r in levels}
    drawn: dict[str, Any] = {"certainty": lambda: plot_certainty(curves)}
    if isinstance(given, Ratings):
        least = certainty.isel(reliability=0).idxmin("item").item()
        tree = normal_inverse_gamma(given, draws=50, random_seed=sampling.random_seed)
        drawn["item"] = lambda: plot_rating_item(tree, given, least, threshold=threshold)
    if gold is not None:
        of_gold = found["gold_certainty"].isel(reliability=0, drop=True).dropna("item")
        both = {"annotation certainty": certainty.isel(reliability=0, drop=True).sel(item=of_gold["item"])}
        both["published label"] = of_gold
        drawn["published"] = lambda: plot_certainty(both, order="annotation certainty")
    published = {} if gold is None else found["gold_certainty"].mean("item").to_series().to_dict()
    rows = [
        {
            "reliability": r,
            "mean_certainty": float(certainty.sel(reliability=r).mean()),
            "below_0.99": float((certainty.sel(reliability=r) < 0.99).mean()),
            "published_labels": published.get(r),
        }
        for r in levels
    ]
    notes = save_figures(figures, drawn)
    title = "Annotation certainty; adjusted accuracy of the published labels"
    return _output.Answer([_output.Table("certainty", rows, title)], notes)


if __name__ == "__main__":
    run(main)
