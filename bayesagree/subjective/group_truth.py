"""Whether groups of annotators see items differently: a permutation test, and the items that divide them."""

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesagree._types import SAMPLE, Codes, Floats
from bayesagree.annotations import Labels
from bayesagree.annotations.groups import Groups
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, positive_int, probability, require, shorten, warn
from bayesagree.evaluation.scoring import evaluate
from bayesagree.evaluation.tables import intervals_of
from bayesagree.inference.cells import cell_sums
from bayesagree.inference.intervals import column_hdi
from bayesagree.inference.streams import Seed, seed_sequence
from bayesagree.metrics.concordant_pairs import ratio
from bayesagree.plausibility.group_dirichlet.posterior import group_dirichlet
from bayesagree.subjective.disagreement import require_one_each


def group_permutation_test(
    labels: Labels, groups: Groups, *, permutations: int = 999, random_seed: Seed = None
) -> xr.Dataset:
    """Compare the agreement within groups with that between them, and with groups drawn at random.

    Annotators change places between groups, so that three people with opinions of their own are no group: random
    groups of three people with opinions differ as much.

    Parameters
    ----------
    labels
        One label per item and annotator.
    groups
        Of the annotators; those in no group stay in none.
    permutations
        Number of random groupings of the same sizes.
    random_seed
        Same seed, same groupings.

    Returns
    -------
    Dataset
        ``difference`` (group): the share of pairs of annotations of one item by two members that agree, minus that of
        pairs by a member and another annotator in a group; NaN without such pairs. ``p_value`` (group): the share of
        groupings, the given one included, with a difference at least as large. ``p_value_of_all``: the same of the sum
        of all differences, of groups that have one.

    Raises
    ------
    InputError
        Groups of other annotators, repeated labels.

    References
    ----------
    Good, "Permutation, parametric, and bootstrap tests of hypotheses" (2005), chapter 3, for the test; the statistic is
    ours.

    Examples
    --------
    >>> rows = [["a", "a", "a", "b", "b", "b"], ["b", "b", "b", "a", "a", "a"]] * 5
    >>> votes = Labels.from_matrix(rows, annotators=list("uvwxyz"))
    >>> sides = Groups(votes.annotators, np.array(["left", "right"]), np.array([0, 0, 0, 1, 1, 1], np.int32), "side")
    >>> found = group_permutation_test(votes, sides, permutations=199, random_seed=1)
    >>> found["difference"].values.tolist(), bool(found["p_value"].max() < 0.2)
    ([1.0, 1.0], True)
    """
    require(labels, Labels, "labels")
    require_one_each(labels, "agreement of groups")
    groups.of_rows(labels)
    rng = np.random.default_rng(seed_sequence(random_seed))
    member = np.flatnonzero(groups.index >= 0)
    observed = _differences(labels, groups.index, groups.names.size)
    if np.isnan(observed).any():
        none = shorten(groups.names[np.isnan(observed)])
        warn(f"no pairs of answers to one item within {none}, or across to others: the difference is NaN")
    at_least = np.ones(observed.size + 1)
    for _ in range(positive_int(permutations, "permutations")):
        index = groups.index.copy()
        index[member] = groups.index[rng.permutation(member)]
        drawn = _differences(labels, index, groups.names.size)
        # Rounding must not decide between equal groupings.
        at_least[:-1] += drawn >= observed - 1e-12
        at_least[-1] += np.nansum(drawn) >= np.nansum(observed) - 1e-12
    p_value = at_least / (permutations + 1)
    found = {
        "difference": ("group", observed),
        "p_value": ("group", np.where(np.isnan(observed), np.nan, p_value[:-1])),
        "p_value_of_all": p_value[-1],
    }
    return xr.Dataset(found, {"group": groups.names})


def _differences(labels: Labels, index: Codes, n_groups: int) -> Floats:
    """Return, for each group, the agreement of its members with each other minus that with the others."""
    group = index[labels.annotator_index]
    inside = group >= 0
    cell = group[inside], labels.item_index[inside], labels.label_index[inside]
    counts = cell_sums((n_groups, labels.items.size, labels.categories.size), *cell)
    others, size = counts.sum(axis=0) - counts, counts.sum(axis=2)
    within = (counts * (counts - 1)).sum(axis=(1, 2))
    pairs = (size * (size - 1)).sum(axis=1)
    across = (counts * others).sum(axis=(1, 2))
    crossed = (size * others.sum(axis=2)).sum(axis=1)
    return ratio(within, pairs) - ratio(across, crossed)


def dividing_items(truth: xr.DataTree, *, false_share: float = 0.1) -> pd.DataFrame:
    """List the items that each group sees differently from all others, with few false ones among them.

    Parameters
    ----------
    truth
        Result of `group_dirichlet`.
    false_share
        Largest expected share of items in a group's list that it does not see differently.

    Returns
    -------
    DataFrame
        Columns group, item, ``prob_different``, the most certain item of each group first.

    Raises
    ------
    InputError
        Another result; one vote per group and item, from which nothing follows for an item; a share that is not
        between 0 and 1.

    References
    ----------
    Newton et al., "Detecting differential gene expression with a semiparametric hierarchical mixture method",
    Biostatistics 5 (2004), section 4: the expected share of false discoveries is the mean of 1 - probability.

    Examples
    --------
    >>> from bayesagree import group_dirichlet
    >>> votes = Labels.from_matrix([["a"] * 8, ["a"] * 4 + ["b"] * 4, ["b"] * 8] * 10, annotators=list("stuvwxyz"))
    >>> sides = dict.fromkeys("stuv", "left") | dict.fromkeys("wxyz", "right")
    >>> truth = group_dirichlet(votes, groups=sides, draws=200, random_seed=1)
    >>> sorted(set(dividing_items(truth, false_share=0.01)["item"] % 3))
    [1]
    """
    probability(false_share, "false_share")
    if "derived" not in truth or "prob_different" not in truth["derived"]:
        raise InputError("dividing_items takes the result of group_dirichlet")
    table: Any = truth["derived/prob_different"].to_dataframe().reset_index().dropna()
    if table.empty:
        raise InputError(
            "no group has two votes on any item: a view of its own and one vote by chance look the same, so that only "
            "averages over items are known; collect two votes per group and item"
        )
    table = table.sort_values(
        ["group", "prob_different"], ascending=[True, False], kind="stable", ignore_index=True
    )
    false = (1 - table["prob_different"]).groupby(table["group"]).expanding().mean().to_numpy()
    return table[false <= false_share].reset_index(drop=True)


def group_score_table(result: xr.DataTree) -> pd.DataFrame:
    """Return scores against the truth of each group as records.

    Parameters
    ----------
    result
        Result of `evaluate` with `group_dirichlet` as plausibility.

    Returns
    -------
    DataFrame
        Columns metric, group, model, mean, lower, upper (HDI 0.95), ``difference`` from the mean of the other groups
        with ``difference_lower`` and ``difference_upper``, ``worst_served`` (probability).
    """
    draws = result["posterior"].to_dataset()
    apart = draws - (draws.sum("group") - draws) / (draws.sizes["group"] - 1)
    differences = {"score": "difference", "lower": "difference_lower", "upper": "difference_upper"}
    found = intervals_of(draws, 0.95).rename(score="mean").merge(intervals_of(apart, 0.95).rename(differences))
    found = found.assign(worst_served=result["worst_served"].to_dataset().to_dataarray("metric"))
    return found.to_dataframe(["metric", "group", "model"]).reset_index()


def group_truth_table(truth: xr.DataTree, test: xr.Dataset) -> pd.DataFrame:
    """Return how far each group is from the others as records.

    Parameters
    ----------
    truth
        Result of `group_dirichlet`.
    test
        Result of `group_permutation_test`.

    Returns
    -------
    DataFrame
        Columns group, votes, ``divided`` (mean share of items), lower, upper (HDI 0.95), ``p_value``.
    """
    draws = truth["posterior/divided"].stack(sample=SAMPLE).transpose("sample", "group").values
    lower, upper = column_hdi(draws)
    names = truth["posterior/group"].values
    columns = {"group": names, "votes": truth["constant_data/n_votes"].sum("item").values}
    columns |= {"divided": draws.mean(axis=0), "lower": lower, "upper": upper}
    return pd.DataFrame(columns | {"p_value": test["p_value"].sel(group=names).values})


def group_truth_tables(
    labels: Labels, models: Predictions, groups: Groups, *, draws: int = 1000, random_seed: Seed = None
) -> dict[str, pd.DataFrame]:
    """Return scores against the truth of each group, how far groups differ, and the items that divide them.

    The truth is learnt from the votes alone: scores of models that know more than these votes come out too low.

    Returns
    -------
    dict
        The tables ``scores``, of the accuracy, ``groups`` and ``items``: `group_score_table`, `group_truth_table`,
        `dividing_items`.
    """
    truth = group_dirichlet(labels, groups=groups, draws=draws, random_seed=random_seed, top_labels=1)
    test = group_permutation_test(labels, groups, random_seed=random_seed)
    scores = group_score_table(evaluate(labels, models, plausibility=truth))
    known = bool(truth["derived/prob_different"].notnull().any())
    items = dividing_items(truth) if known else pd.DataFrame(columns=["group", "item", "prob_different"])
    return {"scores": scores, "groups": group_truth_table(truth, test), "items": items}
