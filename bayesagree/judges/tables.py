"""Results of judges as one table, and what should be sentences about them."""

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayesagree.annotations import Annotations, Rankings, Ratings
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, shorten
from bayesagree.inference.results import require_from, settings_of
from bayesagree.io.doors import as_annotations
from bayesagree.judges._panel import verdict_codes

# Half the items with votes give a sensitivity or a specificity of 100 items an interval of +-.1 or wider.
# Fewer items with votes in all are warned of.
FEW_VOTES = 100
# Probability from which a judge is called lenient or strict to a system.
LEANING = 0.975


def judge_table(result: xr.DataTree) -> pd.DataFrame:
    """Tabulate, for each system and judge, raw and corrected rate, the judge's confusion, and savings.

    Parameters
    ----------
    result
        From `corrected_rate`.

    Returns
    -------
    DataFrame
        ``target``, of what the rate is: ``"share"``, the share of people who would say positive, or ``"truth"``, the
        share of items that are; ``system``, ``judge``, ``raw_rate``; ``rate``, ``lower``, ``upper`` (of all judges);
        ``sensitivity``, ``specificity`` and ``max_saving`` (posterior medians); ``saving``, the variance from
        people's labels alone over that of the corrected rate; ``n_items_with_votes``.

    See Also
    --------
    corrected_rate, warnings_of

    Examples
    --------
    >>> from bayesagree import Labels, corrected_rate
    >>> verdicts = Labels.from_matrix([[1], [0]] * 40, annotators=["gpt"])
    >>> people = Labels.from_matrix([[1, 1], [0, 1], [0, 1], [1, 0]] * 10, items=range(40))
    >>> result = corrected_rate(verdicts, people, positive=1, draws=50, chains=1, random_seed=1)
    >>> judge_table(result)["raw_rate"].tolist()
    [0.5]
    """
    require_from("corrected_rate", result, "derived/saving")
    posterior, derived = result["posterior"].to_dataset(), result["derived"].to_dataset()
    middle = posterior[["sensitivity", "specificity", "max_saving"]].median(("chain", "draw"))
    shorter = {"rate_mean": "rate", "rate_lower": "lower", "rate_upper": "upper"}
    per_system = derived[[*shorter, "saving"]].rename(shorter)
    counts = result["constant_data"].to_dataset()[["n_items_with_votes"]]
    raw = result["raw"].to_dataset().rename(rate="raw_rate")
    merged = xr.merge([raw, per_system, middle, counts], join="outer", compat="no_conflicts")
    table: pd.DataFrame = merged.to_dataframe()
    names = ["raw_rate", "rate", "lower", "upper", "sensitivity", "specificity", "saving", "max_saving"]
    rows = table.reset_index().sort_values(["system", "judge"])
    table = rows.loc[:, ["system", "judge", *names, "n_items_with_votes"]]
    table.insert(0, "target", settings_of(result)["target"])
    return table


def warnings_of(result: xr.DataTree) -> list[str]:
    """List what a reader of corrected rates should know: few votes, a judge lenient to a system, a weak judge.

    Parameters
    ----------
    result
        From `corrected_rate`.

    Returns
    -------
    list of str
        Empty if there is nothing to say.

    See Also
    --------
    judge_table

    Examples
    --------
    >>> from bayesagree import Labels, corrected_rate
    >>> verdicts = Labels.from_matrix([[1], [0]] * 40, annotators=["gpt"])
    >>> people = Labels.from_matrix([[1, 1], [0, 1], [0, 1], [1, 0]] * 10, items=range(40))
    >>> warnings_of(corrected_rate(verdicts, people, positive=1, draws=50, chains=1, random_seed=1))[0]
    'People labelled 40 items in all; below 100 the intervals are wide and lean on the prior.'
    """
    require_from("corrected_rate", result, "derived/saving")
    posterior = result["posterior"].to_dataset()
    number = int(result["constant_data"].to_dataset()["n_items_with_votes"].sum())
    sentences = []
    if number < FEW_VOTES:
        sentences.append(
            f"People labelled {number} items in all; below {FEW_VOTES} the intervals are wide and lean on the prior."
        )
    raw = result["raw"].to_dataset()["rate"].stack(pair=("system", "judge"))
    sentences += [
        f"Judge {judge} gave one label to every item of {system}: the verdicts say nothing about these items."
        for (system, judge), rate in zip(raw["pair"].values, raw.values)
        if rate in (0.0, 1.0)
    ]
    # How often a judge says positive of an item that is as often good as bad.
    leaning = (posterior["sensitivity"] + 1 - posterior["specificity"]).transpose(
        "chain", "draw", "system", "judge"
    )
    systems = leaning["system"].values
    for s, system in enumerate(systems if systems.size > 1 else ()):
        others = leaning.isel(system=np.arange(systems.size) != s).mean("system")
        above = (leaning.isel(system=s) > others).mean(("chain", "draw"))
        for judge, share in zip(above["judge"].values, above.values):
            if max(share, 1 - share) > LEANING:
                word = "lenient" if share > 0.5 else "strict"
                sentences.append(f"Judge {judge} is {word} to {system} compared with the other systems.")
    best = posterior["max_saving"].median(("chain", "draw")).max("judge")
    sentences += [
        f"On {name} a single judge can make a label of people worth at most {bound:.1f} labels."
        for name, bound in zip(best["system"].values, best.values)
        if bound < 1.5
    ]
    return sentences


def verdict_predictions(verdicts: Annotations, people: Annotations) -> Predictions:
    """Return what each judge answered on the items of people.

    Parameters
    ----------
    verdicts
        Answers of the judges, who are its annotators: labels, of which the first of an item counts; ratings, of which
        the mean counts; or rankings, in which labels that a judge did not name come after all others.
    people
        Answers of people of the same kind.

    Returns
    -------
    Predictions
        One model for each judge, as `alternative_annotator_test` takes them.

    Raises
    ------
    InputError
        Judges without names, or one who ranked nothing for an item.

    Examples
    --------
    >>> from bayesagree import Labels
    >>> judges = Labels.from_matrix([["a", "b"], ["b", "b"]], annotators=["gpt", "llama"])
    >>> people = Labels.from_matrix([["b", "b"]], items=[1], labels=["a", "b"])
    >>> verdict_predictions(judges, people).hard_labels().tolist()
    [[1], [1]]
    """
    verdicts, people = as_annotations(verdicts, name="verdicts"), as_annotations(people, name="people")
    if not verdicts.annotators_known:
        raise InputError("the judges are unknown, and each is a model here; give their names")
    items = people.items.tolist()
    if isinstance(verdicts, Rankings):
        ranked = verdicts.to_long().groupby("annotator")
        scores: dict[str, Any] = {str(judge): _scores(part, people, judge) for judge, part in ranked}
        return Predictions.from_scores(scores)
    if isinstance(verdicts, Ratings):
        means: Any = (
            verdicts.to_long().pivot_table(index="item", columns="annotator", values="rating").reindex(items)
        )
        return Predictions.from_labels({str(judge): means[judge] for judge in means.columns})
    rows = pd.Index(verdicts.items).get_indexer(pd.Index(people.items))
    codes, names = verdict_codes(verdicts)[rows], [*verdicts.categories, None]
    predicted = {str(judge): [names[code] for code in codes[:, j]] for j, judge in enumerate(verdicts.annotators)}
    return Predictions.from_labels(predicted, items=items, labels=verdicts.categories.tolist())


def _scores(part: pd.DataFrame, people: Annotations, judge: Any) -> pd.DataFrame:
    """Return a judge's ranks as scores, the best highest and labels without a rank below all, one row per item."""
    wide = part.pivot(index="item", columns="label", values="rank")
    missing = [item for item in people.items.tolist() if item not in wide.index]
    if missing:
        raise InputError(
            f"judge {judge!r} ranked nothing of {shorten(missing)}; leave these items out of people's table"
        )
    ranks = wide.reindex(people.items.tolist(), columns=people.categories.tolist())
    return -ranks.fillna(ranks.max(axis=None) + 1)


def system_pairs(tree: xr.DataTree) -> pd.DataFrame:
    """Return the difference of each two systems: system, other_system, difference, lower, upper, prob_better.

    Parameters
    ----------
    tree
        From `corrected_rate`.

    Examples
    --------
    >>> from bayesagree import Labels, corrected_rate
    >>> verdicts = Labels.from_matrix([[1], [0]] * 40, annotators=["gpt"])
    >>> people = Labels.from_matrix([[1, 1], [0, 1], [0, 1], [1, 0]] * 10, items=range(40))
    >>> systems = ["A", "A", "B", "B"] * 20
    >>> result = corrected_rate(verdicts, people, positive=1, system=systems, draws=200, chains=1, random_seed=1)
    >>> system_pairs(result)[["system", "other_system"]].values.tolist()
    [['A', 'B']]
    """
    require_from("corrected_rate", tree, "derived/saving")
    found = tree["derived"].to_dataset()
    columns = ["difference", "difference_lower", "difference_upper", "prob_better"]
    names = found["system"].values
    first, second = np.triu_indices(names.size, 1)
    pairs = {"system": names[first], "other_system": names[second]}
    values = {name.removeprefix("difference_"): found[name].values[first, second] for name in columns}
    return pd.DataFrame(pairs | values)
