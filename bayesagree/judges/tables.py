"""Results of judges as one table, and what should be sentences about them."""

import numpy as np
import pandas as pd
import xarray as xr

from bayesagree._types import SAMPLE
from bayesagree.inference.results import require_from, settings_of

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
        people's labels alone over that of the corrected rate; ``n_items_with_votes``. ``attrs["warnings"]`` lists, in
        sentences, few votes, judges that are lenient or strict to a system, and judges that save little.

    See Also
    --------
    corrected_rate

    Examples
    --------
    >>> from bayesagree import Labels, corrected_rate
    >>> verdicts = Labels.from_matrix([[1], [0]] * 40, annotators=["gpt"])
    >>> people = Labels.from_matrix([[1, 1], [0, 1], [0, 1], [1, 0]] * 10, items=range(40))
    >>> result = corrected_rate(verdicts, people, positive=1, draws=50, chains=1, random_seed=1)
    >>> table = judge_table(result)
    >>> table["raw_rate"].tolist(), table.attrs["warnings"][0]
    ([0.5], 'People labelled 40 items in all; below 100 the intervals are wide and lean on the prior.')
    """
    require_from("corrected_rate", result, "derived/saving")
    posterior = result["posterior"].to_dataset()
    middle = posterior[["sensitivity", "specificity", "max_saving"]].median(SAMPLE)
    shorter = {"rate_mean": "rate", "rate_lower": "lower", "rate_upper": "upper"}
    per_system = result["derived"].to_dataset()[[*shorter, "saving"]].rename(shorter)
    counts = result["constant_data"].to_dataset()[["n_items_with_votes"]]
    raw = result["raw"].to_dataset().rename(rate="raw_rate")
    table = xr.merge([raw, per_system, middle, counts], join="outer", compat="no_conflicts").to_dataframe()
    names = ["raw_rate", "rate", "lower", "upper", "sensitivity", "specificity", "saving", "max_saving"]
    rows = table.reset_index().sort_values(["system", "judge"])
    table = rows.loc[:, ["system", "judge", *names, "n_items_with_votes"]]
    table.insert(0, "target", settings_of(result)["target"])
    table.attrs["warnings"] = _warnings(result)
    return table


def _warnings(result: xr.DataTree) -> list[str]:
    """List what a reader of corrected rates should know: few votes, a judge lenient to a system, a weak judge."""
    posterior = result["posterior"].to_dataset()
    number = int(result["constant_data"].to_dataset()["n_items_with_votes"].sum())
    sentences = []
    if number < FEW_VOTES:
        sentences.append(
            f"People labelled {number} items in all; below {FEW_VOTES} the intervals are wide and lean on the prior."
        )
    raw = result["raw/rate"].stack(pair=("system", "judge"))
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
        above = (leaning.isel(system=s) > others).mean(SAMPLE)
        for judge, share in zip(above["judge"].values, above.values):
            if max(share, 1 - share) > LEANING:
                word = "lenient" if share > 0.5 else "strict"
                sentences.append(f"Judge {judge} is {word} to {system} compared with the other systems.")
    best = posterior["max_saving"].median(SAMPLE).max("judge")
    sentences += [
        f"On {name} a single judge can make a label of people worth at most {bound:.1f} labels."
        for name, bound in zip(best["system"].values, best.values)
        if bound < 1.5
    ]
    return sentences


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
    values = {name.removeprefix("difference_"): found[name].values[first, second] for name in columns}
    return pd.DataFrame({"system": names[first], "other_system": names[second]} | values)
