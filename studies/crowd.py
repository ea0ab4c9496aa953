"""CrowdTruth on readings of one scale, its validation, and disagreement without spammers (Balayn and Bozzon 2019)."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import scipy as sp
import xarray as xr

from bayesagree.annotations import Labels, Ratings
from bayesagree.annotations.gold import Gold, gold_codes
from bayesagree.cli import _options, _output
from bayesagree.datasets import load
from bayesagree.errors import InputError, shorten
from bayesagree.plots._panels import COLOURS, MARKERS, Panels, new_panels, one_panel, with_sizes, wrapped_panels
from bayesagree.subjective.crowd_quality import Judgments, Quality, crowdtruth
from bayesagree.subjective.disagreement import disagreement_rate, recode
from studies._command import Figures, flat, run, save_figures

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The four ways in which the paper reads its scale of toxicity.
SETUPS: dict[int, dict[int, Any]] = {
    1: {-2: "toxic", -1: "toxic", 0: "non-toxic", 1: "non-toxic", 2: "non-toxic"},
    2: {-2: "toxic", -1: "toxic", 0: "toxic", 1: "non-toxic", 2: "non-toxic"},
    3: {-2: "toxic", -1: "toxic", 0: "neutral", 1: "non-toxic", 2: "non-toxic"},
    4: {-2: -2, -1: -1, 0: 0, 1: 1, 2: 2},
}

SHARES = (0.15, 0.2)
"""Disagreement rates whose exceedance the paper reports."""


def crowd_setups(ratings: Ratings, *, setups: Mapping[Any, Mapping[Any, Any]] = SETUPS) -> xr.Dataset:
    """Return the CrowdTruth quality of items and annotators under several readings of one scale.

    Parameters
    ----------
    ratings
        On a scale of five levels, which are read as -2 to 2 in their order; with other `setups`, as they name them.
    setups
        Name to {rating: label}, by default the paper's four.

    Returns
    -------
    Dataset
        ``uqs`` (setup, item), ``wqs`` (setup, annotator), ``aqs`` (setup, category; NaN where the setup lacks the
        label), ``mean_uqs``, ``mean_wqs``, ``mean_aqs`` (setup).

    Raises
    ------
    InputError
        The default setups on a scale of other than five levels.

    References
    ----------
    Balayn and Bozzon, "Designing evaluations of machine learning models for subjective inference" (2019), experiments
    with CrowdTruth.

    Examples
    --------
    >>> ratings = Ratings.from_matrix([[1, 1, 2], [4, 5, 5], [3, 4, 3]], scale=(1, 5), step=1)
    >>> crowd_setups(ratings)["mean_uqs"].round(2).values.tolist()
    [1.0, 0.8, 0.8, 0.33]
    """
    centred = _centred(ratings) if setups is SETUPS else ratings
    found = {name: crowdtruth(_relabelled(centred, labels)) for name, labels in setups.items()}
    names = list(dict.fromkeys(str(label) for one in found.values() for label in one["category"].values))
    data: dict[str, Any] = {"aqs": (("setup", "category"), np.full((len(found), len(names)), np.nan))}
    for row, one in zip(data["aqs"][1], found.values()):
        row[[names.index(str(label)) for label in one["category"].values]] = one["aqs"].values
    for name, dim in (("uqs", "item"), ("wqs", "annotator")):
        data[name] = (("setup", dim), np.stack([one[name].values for one in found.values()]))
    for name in ("uqs", "wqs", "aqs"):
        data[f"mean_{name}"] = (("setup",), np.nanmean(data[name][1], axis=1))
    coords = {"setup": list(found), "item": ratings.items, "annotator": ratings.annotators, "category": names}
    return xr.Dataset(data, coords)


def _relabelled(ratings: Ratings, labels: Mapping[Any, Any]) -> Labels:
    names = list(dict.fromkeys(labels.values()))
    codes = np.array([names.index(labels[rating]) for rating in ratings.rating], np.int32)
    return replace(recode(ratings, 0), categories=np.array(names), label_index=codes)


def _centred(ratings: Ratings) -> Ratings:
    low, high = ratings.scale
    if ratings.step is None or round((high - low) / ratings.step) != 4:
        raise InputError(
            f"the paper's readings are of five levels, and the scale {ratings.scale} has others; pass setups="
        )
    return replace(ratings, rating=(ratings.rating - low) / ratings.step - 2, scale=(-2.0, 2.0), step=1.0)


def crowd_validation(
    quality: xr.Dataset,
    *,
    annotator_quality: Mapping[Any, float] | None = None,
    ambiguous: Mapping[Any, bool] | None = None,
) -> xr.Dataset:
    """Return how well CrowdTruth scores match judgements by hand: MSE of the WQS, AUROC of the UQS.

    Parameters
    ----------
    quality
        Result of `crowdtruth`, or of `crowd_setups`.
    annotator_quality
        Share of right labels of some annotators; `accuracy_against` gives it from gold.
    ambiguous
        Whether some items have several readings.

    Returns
    -------
    Dataset
        ``wqs_mse`` and ``uqs_auroc`` (setup where `quality` has it): mean squared difference of WQS and quality, and
        probability that an ambiguous item has the lower UQS; NaN without the judgements.

    Raises
    ------
    InputError
        Names that the quality lacks; items that are all, or none, ambiguous.

    References
    ----------
    Balayn and Bozzon (2019), experiments with CrowdTruth.

    Examples
    --------
    >>> votes = Labels.from_matrix([["a", "a", "b"], ["b", "b", "a"], ["a", "a", "a"]], annotators=["x", "y", "z"])
    >>> found = crowd_validation(crowdtruth(votes), annotator_quality={"x": 1, "z": 0.3}, ambiguous={0: True, 2: False})
    >>> round(float(found["wqs_mse"]), 3), float(found["uqs_auroc"])
    (0.014, 1.0)
    """
    error, area = (
        quality[name].isel({dim: 0}, drop=True) * np.nan
        for name, dim in (("wqs", "annotator"), ("uqs", "item"))
    )
    if annotator_quality:
        known = _known(quality["wqs"], "annotator", annotator_quality)
        error = ((known - list(annotator_quality.values())) ** 2).mean("annotator")
    if ambiguous:
        known, flags = _known(quality["uqs"], "item", ambiguous), np.array(list(ambiguous.values()), bool)
        if flags.all() or not flags.any():
            raise InputError("ambiguous: the items must be of both kinds")
        rank = xr.apply_ufunc(
            lambda v: sp.stats.rankdata(-v, axis=-1),
            known,
            input_core_dims=[["item"]],
            output_core_dims=[["item"]],
        )
        n, m = flags.sum(), (~flags).sum()
        area = (rank.isel(item=np.flatnonzero(flags)).sum("item") - n * (n + 1) / 2) / (n * m)
    return xr.Dataset({"wqs_mse": error, "uqs_auroc": area})


def _known(scores: xr.DataArray, dim: str, judged: Mapping[Any, Any]) -> xr.DataArray:
    missing = [name for name in judged if name not in scores[dim].values]
    if missing:
        raise InputError(f"the quality has no {dim} {missing[0]!r}; there is {shorten(scores[dim].values)}")
    return scores.sel({dim: list(judged)})


def accuracy_against(labels: Labels, gold: Gold) -> pd.Series:
    """Return the share of each annotator's labels that equal the gold, index annotator, NaN for who has none.

    Examples
    --------
    >>> votes = Labels.from_matrix([["a", "b"], ["b", "b"]], annotators=["x", "y"])
    >>> accuracy_against(votes, {0: "a", 1: "b"}).tolist()
    [1.0, 0.5]
    """
    truth = gold_codes(gold, labels.items, labels.categories)
    known = truth[labels.item_index] >= 0
    right = labels.label_index == truth[labels.item_index]
    n = np.bincount(labels.annotator_index[known], minlength=labels.annotators.size)
    hits = np.bincount(labels.annotator_index[known & right], minlength=labels.annotators.size)
    share = np.divide(hits, n, out=np.full(n.size, np.nan), where=n > 0)
    return pd.Series(share, pd.Index(labels.annotators, name="annotator"), name="accuracy")


def spammers(labels: Labels, *, deals: int = 20, random_seed: int | None = 1) -> pd.DataFrame:
    """Return annotators whose quality is nearer to chance than to the average annotator, the worst first.

    The chance level of an annotator is the quality of their own labels dealt at random over their own items: somebody
    who always gives the same label sits exactly on it, however often the crowd happens to agree with them.

    Parameters
    ----------
    labels
        Labels by known annotators.
    deals
        Number of deals; chance is their mean.
    random_seed
        Of the deals.

    Returns
    -------
    DataFrame
        Index annotator; ``wqs``, ``chance_wqs``, ``n_items`` and ``spammer``, whether wqs is below the middle of chance
        and the average annotator, each annotation counting once.

    References
    ----------
    Balayn and Bozzon (2019), figure 3a, which sets spammers apart by hand.

    Examples
    --------
    >>> votes = Labels.from_matrix([["a", "a", "b"], ["b", "b", "a"], ["a", "a", "a"]], annotators=["x", "y", "z"])
    >>> spammers(votes)["spammer"].to_dict()
    {'z': True, 'x': False, 'y': False}
    """
    scores, judgments, rng = crowdtruth(labels), Judgments.of(labels), np.random.default_rng(random_seed)
    quality = Quality(*(scores[name].values for name in Quality._fields))
    who = judgments.annotator.tocsc().indices  # one annotator a judgment
    places, dealt = np.argsort(who, kind="stable"), np.empty(who.size, np.int64)
    chance = np.zeros(labels.annotators.size)
    for _ in range(deals):
        dealt[places] = np.lexsort((rng.random(who.size), who))
        chance += judgments.compared(judgments.marks[dealt], quality)[1] / deals
    n_items = np.bincount(who, minlength=labels.annotators.size)
    average = np.average(quality.wqs, weights=n_items)
    index = pd.Index(labels.annotators, name="annotator")
    table = pd.DataFrame({"wqs": quality.wqs, "chance_wqs": chance, "n_items": n_items}, index)
    table = table[table["n_items"] > 0].assign(spammer=lambda t: t["wqs"] < (t["chance_wqs"] + average) / 2)
    return table.sort_values(["spammer", "wqs"], ascending=[False, True])


def disagreement_without(
    labels: Labels, removed: Iterable[Any], *, shares: tuple[float, ...] = SHARES
) -> pd.DataFrame:
    """Return how far annotators disagree with the majority, before and after some of them are removed.

    Parameters
    ----------
    labels
        One label per (item, annotator).
    removed
        Annotators to remove, such as the index of `spammers`; the majority is counted again without them.
    shares
        Disagreement rates whose exceedance is counted.

    Returns
    -------
    DataFrame
        Rows before and after; columns annotators, mean, always_agree, and above_S for each of `shares`.

    References
    ----------
    Balayn and Bozzon (2019): after removing spammers 10.5 % always agree, 4.5 % disagree in 20 % or more.

    Examples
    --------
    >>> votes = Labels.from_matrix([["a", "a", "b"], ["b", "b", "a"], ["a", "a", "a"]], annotators=["x", "y", "z"])
    >>> disagreement_without(votes, ["z"])["always_agree"].round(2).tolist()
    [0.67, 1.0]
    """
    gone = list(removed)
    missing = [name for name in gone if name not in labels.annotators]
    if missing:
        raise InputError(f"there is no annotator {missing[0]!r}; there is {shorten(labels.annotators)}")
    kept = labels.select(~np.isin(labels.annotators[labels.annotator_index], gone))
    rows = {}
    for name, given in (("before", labels), ("after", kept)):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*their rate is NaN")  # those who were removed
            rate = disagreement_rate(given).dropna("annotator").values
        rows[name] = {"annotators": rate.size, "mean": rate.mean(), "always_agree": (rate == 0).mean()}
        rows[name] |= {f"above_{share:g}": (rate >= share).mean() for share in shares}
    return pd.DataFrame.from_dict(rows, orient="index")


def plot_crowd_setups(result: xr.Dataset, *, axes: Panels | None = None) -> Panels:
    """Draw the CrowdTruth quality of items and annotators under each reading of the scale, and that of the labels.

    Parameters
    ----------
    result
        Result of `crowd_setups`.
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


def plot_disagreement_by_quality(
    rate: xr.DataArray,
    quality: xr.DataArray,
    *,
    edges: Sequence[float] = (0, 0.2, 0.4, 0.6, 0.8, 1),
    axes: "Axes | None" = None,
) -> "Axes":
    """Draw the distribution of the disagreement rate for ranges of the annotators' CrowdTruth quality.

    Parameters
    ----------
    rate, quality
        `disagreement_rate` and the WQS of `crowdtruth`, on the same annotators.
    edges
        Edges of the ranges of quality; ranges without annotators are left out.
    axes
        The axes to draw in; by default a figure of its own.

    Returns
    -------
    Axes
        The axes drawn in.

    References
    ----------
    Balayn and Bozzon (2019), figure 3b.

    Examples
    --------
    >>> from bayesagree import Labels
    >>> from bayesagree.subjective import crowdtruth, disagreement_rate
    >>> votes = Labels.from_matrix([["a", "a", "b"], ["b", "b", "a"], ["a", "a", "a"]], annotators=["x", "y", "z"])
    >>> plot_disagreement_by_quality(disagreement_rate(votes), crowdtruth(votes)["wqs"]).get_xlabel()
    'quality WQS (annotators)'
    """
    if not rate["annotator"].equals(quality["annotator"]):
        raise InputError("rate and quality are of different annotators; compute both from the same labels")
    last = len(edges) - 2
    boxes: dict[str, xr.DataArray] = {}
    for i in range(last + 1):
        inside = (quality >= edges[i]) & ((quality <= edges[i + 1]) if i == last else (quality < edges[i + 1]))
        rates = rate.where(inside & rate.notnull(), drop=True)
        if rates.size:
            boxes[f"{edges[i]:g}-{edges[i + 1]:g}\n({rates.size})"] = rates
    if not boxes:
        raise InputError(f"no annotator has a quality within {edges[0]:g} to {edges[-1]:g}")
    panel = one_panel(axes, width=1.2 * len(boxes) + 1.5, height=3)
    panel.boxplot([values.to_numpy() for values in boxes.values()], widths=0.6, manage_ticks=False)
    panel.set_xticks(range(1, len(boxes) + 1), list(boxes))
    panel.set(xlabel="quality WQS (annotators)", ylabel="disagreement with the majority")
    return panel


def plot_annotator_quality(
    quality: xr.DataArray, apart: Iterable[Any] = (), *, axes: "Axes | None" = None
) -> "Axes":
    """Draw the distribution of the annotators' CrowdTruth quality, some of them apart.

    Parameters
    ----------
    quality
        WQS of `crowdtruth` (annotator).
    apart
        Names of annotators to draw hatched, such as those who label as if at random.
    axes
        The axes to draw in; by default a figure of its own.

    Returns
    -------
    Axes
        The axes drawn in.

    References
    ----------
    Balayn and Bozzon (2019), figure 3a.

    Examples
    --------
    >>> from bayesagree import Labels
    >>> from bayesagree.subjective import crowdtruth
    >>> votes = Labels.from_matrix([["a", "a", "b"], ["b", "b", "a"], ["a", "a", "a"]], annotators=["x", "y", "z"])
    >>> plot_annotator_quality(crowdtruth(votes)["wqs"]).get_xlabel()
    'quality WQS'
    """
    known = quality.dropna("annotator")
    panel = one_panel(axes)
    named = known["annotator"].isin(list(apart)).values
    groups = (
        {"apart": known.values[named], "others": known.values[~named]}
        if named.any()
        else {"annotators": known.values}
    )
    edges = np.linspace(0, 1, 21)
    names = [f"{name} ({values.size})" for name, values in groups.items()]
    panel.hist(list(groups.values()), bins=edges.tolist(), stacked=True, label=names, edgecolor="0.2")
    for patches, hatch in zip(panel.containers, ("//", "") if named.any() else ("",)):
        for patch in patches:
            patch.set_hatch(hatch)
    panel.set(xlabel="quality WQS", ylabel="annotators")
    panel.legend(fontsize="small")
    return panel


def plot_shares(distributions: "pd.DataFrame", *, axes: Panels | None = None) -> Panels:
    """Draw how annotators, items and labels are distributed, one panel for each feature, with their targets.

    Parameters
    ----------
    distributions
        The table of a `SpecificationReport`: columns kind, feature, value, target, actual, n.
    axes
        An array of as many axes to draw in; by default a figure of its own.

    Returns
    -------
    array of Axes, shape (row, column)
        The axes drawn in.

    References
    ----------
    Balayn and Bozzon (2019), figures 4 and 5.

    Examples
    --------
    >>> import pandas as pd
    >>> from bayesagree import Annotators, Labels
    >>> from bayesagree.subjective import EvaluationSpecification
    >>> votes = Labels.from_matrix([["a", "b", "a"]], annotators=list("xyz"))
    >>> people = Annotators.from_table(pd.DataFrame({"annotator": list("xyz"), "gender": ["f", "f", "m"]}))
    >>> declared = EvaluationSpecification("unequal accuracy", protected=["gender"])
    >>> [panel.get_title() for panel in plot_shares(declared.check(votes, people).distributions).flat]
    ['annotator: gender', 'label: label']
    """
    groups = list(distributions.groupby(["kind", "feature"], sort=False))
    if not groups:
        raise InputError("there is no distribution to draw: the specification names no feature")
    _, panels = wrapped_panels(axes, len(groups), 3, width=3.2, height=2.4)
    for panel, (names, rows) in zip(panels.ravel(), groups):
        kind, feature = names  # type: ignore[misc]
        at = np.arange(len(rows))
        panel.barh(at, 100 * rows["actual"].to_numpy(float), color=COLOURS[0], alpha=0.7, label="actual")
        panel.plot(100 * rows["target"].to_numpy(float), at, "D", color="0.1", label="target")
        panel.set_yticks(at, with_sizes(rows["value"], rows["n"]), fontsize="small")
        panel.invert_yaxis()
        panel.set_title(f"{kind}: {feature}", fontsize="medium")
        panel.set_xlabel("share (%)")
    panels[0, 0].legend(fontsize="small")
    return panels


def main(
    source: _options.Source,
    threshold: _options.Threshold = None,
    figures: Figures = None,
) -> _output.Answer:
    """Show CrowdTruth on four readings of a scale, its validation by gold, and disagreement without spammers.

    The experiments of Balayn and Bozzon: set-ups need ratings on five levels, the validation a named data set with
    gold. Disagreement is of labels, or of ratings cut at the threshold (the middle of the scale by default).

    Example: python -m studies.crowd --data popquorn --figures folder
    """
    given, _ = source.read()
    tables: list[_output.Table] = []
    drawn: dict[str, Any] = {}
    if isinstance(given, Ratings):
        if given.step is not None and round((given.scale[1] - given.scale[0]) / given.step) == 4:
            setups = crowd_setups(given)
            means = setups[["mean_uqs", "mean_wqs", "mean_aqs"]].to_dataframe().reset_index()
            tables.append(_output.Table("setups", means, "Mean quality under each reading of the scale"))
            drawn["setups"] = lambda: plot_crowd_setups(setups)
        labels = recode(given, sum(given.scale) / 2 if threshold is None else threshold)
    elif isinstance(given, Labels):
        labels = given
    else:
        raise InputError("CrowdTruth is of labels, or of ratings read as labels")
    quality = crowdtruth(labels)
    gold = None if source.data is None or isinstance(given, Ratings) else load(source.data).gold
    if gold is not None:
        accuracy = accuracy_against(labels, gold).dropna().to_dict()
        mse = float(crowd_validation(quality, annotator_quality=accuracy)["wqs_mse"])
        row = {"annotators": len(accuracy), "wqs_mse": mse}
        tables.append(_output.Table("validation", [row], "WQS against the accuracy on gold"))
    people = spammers(labels)
    removed = people.index[people["spammer"].to_numpy()]
    without = flat(disagreement_without(labels, removed).rename_axis("spammers"))
    tables.append(_output.Table("disagreement", without, "Disagreement with the majority, spammers removed"))
    drawn["figure-3a"] = lambda: plot_annotator_quality(quality["wqs"], removed)
    drawn["figure-3b"] = lambda: plot_disagreement_by_quality(disagreement_rate(labels), quality["wqs"])
    return _output.Answer(tables, save_figures(figures, drawn))


if __name__ == "__main__":
    run(main)
