"""Further figures of the papers: random answers, vote quality, evaluations, annotation statistics, toy classes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy as sp
import xarray as xr

from bayesagree._arguments import checked
from bayesagree.annotations import Ratings
from bayesagree.errors import InputError, shorten
from bayesagree.plots._panels import MARKERS, Panels, new_panels, one_panel, positions, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayesagree.simulate import ToyClasses

_SHOWN = 200


@checked
def plot_random_answers(result: xr.Dataset, *, axes: Panels | None = None) -> Panels:
    """Draw how often random answers are called agreement, by the number of raters, with Jeffreys intervals.

    Parameters
    ----------
    result
        Result of `bayesagree.studies.random_answers`.
    axes
        An array of as many axes to draw in; by default a figure of its own.

    Returns
    -------
    array of Axes
        The axes drawn in.

    References
    ----------
    Checco et al. (2017), figure 3.

    Examples
    --------
    >>> from bayesagree.studies import random_answers
    >>> found = random_answers(n_annotators=[3], n_levels=[5], n_items=20, repeats=2, seed=1)
    >>> plot_random_answers(found)[0, 0].get_title()
    '5 levels'
    """
    levels, raters = result["n_levels"].values, result["n_annotators"].values
    n = result.sizes["repeat"]
    _, panels = new_panels(axes, 1, levels.size, width=3.2, height=2.8, sharey=True)
    for panel, level in zip(panels[0], levels):
        for k, means in enumerate(result["item_mean"].values.tolist()):
            share = result["false_agreement"].sel(n_levels=level, item_mean=means).values
            ends = sp.stats.beta.ppf([[0.025], [0.975]], share * n + 0.5, n - share * n + 0.5)
            bars = np.maximum([share - ends[0], ends[1] - share], 0)
            panel.errorbar(raters, share, yerr=bars, capsize=3, label=f"{means} item means", **style(k))
        panel.axhline(1 - result.attrs["ci_prob"], color="0.6", linewidth=1)
        panel.set_title(f"{level} levels")
        panel.set_xlabel("raters of an item")
    panels[0, 0].set_ylabel("called agreement")
    panels[0, 0].legend(fontsize="small")
    return panels


@checked
def plot_vote_quality(quality: xr.DataArray, *, axes: "Axes | None" = None) -> "Axes":
    """Draw how well the vote of the systems matches the gold, by its threshold, one line for each metric.

    Parameters
    ----------
    quality
        Result of `bayesagree.studies.vote_quality`.
    axes
        The axes to draw in; by default a figure of its own.

    Returns
    -------
    Axes
        The axes drawn in.

    References
    ----------
    Jung and Lease (2012), figure 2.

    Examples
    --------
    >>> from bayesagree.simulate import simulated_systems
    >>> from bayesagree.studies import vote_quality
    >>> systems = simulated_systems(n_items=50, accuracies=(0.6, 0.7, 0.8), seed=1)
    >>> len(plot_vote_quality(vote_quality(systems.predictions, dict(enumerate(systems.truth.tolist())))).lines)
    4
    """
    _, panel = one_panel(axes)
    for k, metric in enumerate(quality["metric"].values.tolist()):
        panel.plot(quality["threshold"].values, quality.sel(metric=metric).values, label=str(metric), **style(k))
    panel.set_xlabel("share of votes that makes an item positive")
    panel.set_ylabel("score of the vote against gold")
    panel.legend(fontsize="small")
    return panel


@checked
def plot_evaluations(
    tree: xr.DataTree,
    case: str,
    *,
    labels_per_item: int,
    labels_per_annotator: int,
    run: int = 0,
    axes: Panels | None = None,
) -> Panels:
    """Draw every method's evaluation of the models of one run against the true one; and the true ones of all runs.

    Parameters
    ----------
    tree
        Result of `bayesagree.studies.auc_study` with ``keep_evaluations``.
    case, labels_per_item, labels_per_annotator, run
        Which problem.
    axes
        An array of as many axes to draw in; by default a figure of its own.

    Returns
    -------
    array of Axes
        The axes drawn in.

    References
    ----------
    Urkullu, Perez, Calvo: supplement, scatter plots of evaluations and box plots of the true one.

    Examples
    --------
    >>> from bayesagree.studies import auc_study
    >>> size = {"labels_per_item": [5], "labels_per_annotator": [5], "runs": 2, "n_items": 50, "n_models": 5}
    >>> tree = auc_study(cases=["good"], keep_evaluations=True, **size)
    >>> plot_evaluations(tree, "good", labels_per_item=5, labels_per_annotator=5).size
    6
    """
    if "evaluations" not in tree.children:
        raise InputError("the study kept no evaluations; run auc_study with keep_evaluations=True")
    kept = tree["evaluations"].to_dataset()
    place = {"case": case, "labels_per_item": labels_per_item, "labels_per_annotator": labels_per_annotator}
    for dim, value in place.items():
        if value not in kept[dim].values:
            raise InputError(f"the study has no {dim} {value!r}; it has {shorten(kept[dim].values, 10)}")
    here = kept.sel(place)
    truth, estimate = here["truth"].sel(run=run).values, here["estimate"].sel(run=run)
    methods = estimate["auc_method"].values.tolist()
    _, panels = new_panels(axes, 1, len(methods) + 1, width=2.2, height=2.3)
    for panel, method in zip(panels[0], methods):
        panel.plot(truth, estimate.sel({"auc_method": method}).values, ".", markersize=3)
        panel.set_title(method.replace("_", " "), fontsize="small")
        panel.set_xlabel("true evaluation")
    panels[0, 0].set_ylabel("estimate")
    models = np.unique(np.linspace(0, truth.size - 1, 10).astype(int))
    panels[0, -1].boxplot(here["truth"].isel(model=models).transpose("run", "model").values, manage_ticks=False)
    panels[0, -1].set_xticks(range(1, models.size + 1), models + 1, fontsize="x-small")
    panels[0, -1].set_title("true evaluation, all runs", fontsize="small")
    panels[0, -1].set_xlabel("model")
    return panels


@checked
def plot_annotation_statistics(tree: xr.DataTree, *, axes: Panels | None = None) -> Panels:
    """Draw how many rankings and labels the items have, how many labels a ranking has, and its largest tie.

    Parameters
    ----------
    tree
        Result of `bayesagree.studies.ranking_study`.
    axes
        An array of as many axes to draw in; by default a figure of its own.

    Returns
    -------
    array of Axes
        The axes drawn in.

    References
    ----------
    Stutz et al. (2023), figure 12.

    Examples
    --------
    >>> from bayesagree.simulate import noisy_models, rankings
    >>> from bayesagree.studies import ranking_study
    >>> given = rankings(n_items=5, seed=1).rankings
    >>> options = {"prirn_reliability": (2,), "plackett_luce_reliability": (), "draws": 50}
    >>> plot_annotation_statistics(ranking_study(given, noisy_models(given, seed=1), **options)).size
    4
    """
    titles = {
        "n_rankings": "rankings of an item", "n_named": "labels named for an item", "n_ranked": "labels in a ranking",
        "largest_block": "largest tie in a ranking",
    }  # fmt: skip
    _, panels = new_panels(axes, 1, len(titles), width=2.5, height=2.3)
    found = tree["annotation"].to_dataset()
    for panel, (name, title) in zip(panels[0], titles.items()):
        values = found[name].values
        panel.hist(values, bins=np.arange(0.5, values.max() + 1.5).tolist(), color="0.5", rwidth=0.9)
        panel.set_title(title, fontsize="small")
    return panels


@checked
def plot_toy_classes(
    toy: "ToyClasses", certainty: xr.DataArray, *, items: Sequence[int] = (), axes: Panels | None = None
) -> Panels:
    """Draw the true shares of the classes on the line, and below them the annotation certainty by reliability.

    Parameters
    ----------
    toy
        Result of `bayesagree.simulate.toy_classes`.
    certainty
        ``certainty`` of `bayesagree.studies.certainty_by_reliability` on its labels.
    items
        Positions of items to mark.
    axes
        An array of as many axes to draw in; by default a figure of its own.

    Returns
    -------
    array of Axes
        The axes drawn in.

    References
    ----------
    Stutz et al. (2023), figure 2.

    Examples
    --------
    >>> from bayesagree.simulate import toy_classes
    >>> from bayesagree.studies import certainty_by_reliability
    >>> toy = toy_classes(n_items=10, seed=1)
    >>> plot_toy_classes(toy, certainty_by_reliability(toy.labels, draws=20, seed=1)["certainty"]).size
    2
    """
    _, panels = new_panels(axes, 2, 1, width=5, height=2, sharex=True)
    above, below = panels[:, 0]
    for k, share in enumerate(toy.plausibility.T):
        above.plot(toy.x, share, label=f"class {k}", **style(k) | {"marker": ""})
    for k, level in enumerate(certainty["reliability"].values.tolist()):
        below.plot(toy.x, certainty.sel(reliability=level).values, label=f"reliability {level:g}", **style(k))
    for number, item in enumerate(items):
        above.axvline(toy.x[item], color="0.6", linewidth=1)
        above.text(toy.x[item], 1.02, f"({'i' * (number + 1)})", ha="center")
    above.set_ylabel("true share")
    below.set_ylabel("annotation certainty")
    below.set_xlabel("observation")
    for panel in (above, below):
        panel.legend(fontsize="x-small")
    return panels


@checked
def plot_rating_item(
    tree: xr.DataTree, ratings: Ratings, item: Any, *, threshold: float | None = None, axes: "Axes | None" = None
) -> "Axes":
    """Draw the ratings of one item and normal densities drawn from its posterior of mean and variance.

    Parameters
    ----------
    tree
        Result of `normal_inverse_gamma`.
    ratings
        The same ratings.
    item
        Name of the item.
    threshold
        Where the labels "below" and "at_or_above" part.
    axes
        The axes to draw in; by default a figure of its own.

    Returns
    -------
    Axes
        The axes drawn in.

    References
    ----------
    Stutz et al. (2023), figures 9 and 10, right.

    Examples
    --------
    >>> from bayesagree import normal_inverse_gamma
    >>> given = Ratings.from_matrix([[1, 2, 2, 5]], scale=(1, 5), step=1)
    >>> tree = normal_inverse_gamma(given, draws=20, seed=1)
    >>> plot_rating_item(tree, given, 0, threshold=3).get_xlabel()
    'rating'
    """
    posterior = tree["posterior"].to_dataset()
    if "variance" not in posterior:
        raise InputError("the posterior has no variance of the ratings; draw it by normal_inverse_gamma")
    at = positions([item], ratings.items, "item")[0]
    low, high = ratings.scale
    x = np.linspace(low - 0.1 * (high - low), high + 0.1 * (high - low), 200)
    mean, variance = (posterior[name].sel(item=item).values.ravel()[:_SHOWN, None] for name in ("mean", "variance"))
    _, panel = one_panel(axes, height=2.8)
    own = ratings.rating[ratings.item_index == at]
    step = ratings.step or (high - low) / 20
    panel.hist(
        own, bins=np.arange(low - step / 2, high + step, step).tolist(), density=True, color="0.7", label="ratings"
    )
    panel.plot(x, sp.stats.norm.pdf(x, mean, np.sqrt(variance)).T[:, :30], color="C2", alpha=0.25, linewidth=0.8)
    if threshold is not None:
        share = float((posterior["mean"].sel(item=item) < threshold).mean())
        panel.axvline(threshold, color="0.1", linestyle="--")
        panel.set_title(f"item {item}: Pr(mean below {threshold:g}) = {share:.2f}", fontsize="medium")
    panel.set_ylim(0, 1.6 * float(np.median(sp.stats.norm.pdf(0, 0, np.sqrt(variance)))))
    panel.set_xlabel("rating")
    panel.set_ylabel("density")
    return panel


@checked
def plot_crowd_setups(result: xr.Dataset, *, axes: Panels | None = None) -> Panels:
    """Draw the CrowdTruth quality of items and annotators under each reading of the scale, and that of the labels.

    Parameters
    ----------
    result
        Result of `bayesagree.studies.crowd_setups`.
    axes
        An array of as many axes to draw in; by default a figure of its own.

    Returns
    -------
    array of Axes
        The axes drawn in.

    References
    ----------
    Balayn and Bozzon (2019), experiments with CrowdTruth on four set-ups.

    Examples
    --------
    >>> from bayesagree.studies import crowd_setups
    >>> given = Ratings.from_matrix([[1, 1, 2], [4, 5, 5], [3, 4, 3]], scale=(1, 5), step=1)
    >>> plot_crowd_setups(crowd_setups(given)).size
    3
    """
    _, panels = new_panels(axes, 1, 3, width=2.8, height=2.6, sharey=True)
    names = [str(name) for name in result["setup"].values]
    for panel, (score, title) in zip(panels[0], (("uqs", "items, UQS"), ("wqs", "annotators, WQS"))):
        values = [row[np.isfinite(row)] for row in result[score].transpose("setup", ...).values]
        panel.boxplot(values, widths=0.6, manage_ticks=False)
        panel.set_title(title, fontsize="medium")
    labels = panels[0, 2]
    for k, name in enumerate(result["category"].values.tolist()):
        quality = result["aqs"].sel(category=name).values
        labels.plot(np.arange(1, len(names) + 1), quality, MARKERS[k % len(MARKERS)], label=str(name))
    labels.set_title("labels, AQS", fontsize="medium")
    labels.legend(fontsize="x-small")
    for panel in panels[0]:
        panel.set_xticks(range(1, len(names) + 1), names)
        panel.set_xlabel("set-up")
    panels[0, 0].set_ylabel("quality")
    return panels
