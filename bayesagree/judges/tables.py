"""Results of judges as one table, and what should be sentences about them."""

import numpy as np
import pandas as pd
import xarray as xr

from bayesagree._inference.arguments import checked
from bayesagree._inference.results import require_from

# Half the items with votes give a sensitivity or a specificity of 100 items an interval of +-.1 or wider.
FEW_VOTES = 100
"""Fewer items with votes in all are warned of."""
LEANING = 0.975
"""Probability from which a judge is called lenient or strict to a system."""


@checked
def judge_table(result: xr.DataTree) -> pd.DataFrame:
    """One row for each system and judge: raw and corrected rate, the judge's confusion, and savings.

    Parameters
    ----------
    result
        From `corrected_rate`.

    Returns
    -------
    DataFrame
        ``system``, ``judge``, ``raw_rate``; ``rate``, ``lower``, ``upper`` (from all judges together);
        ``sensitivity``, ``specificity`` and ``max_saving`` (posterior medians); ``saving``, the variance from
        people's labels alone over that of the corrected rate; ``n_items_with_votes``.

    See Also
    --------
    corrected_rate, warnings_of

    Examples
    --------
    >>> from bayesagree import Labels, corrected_rate
    >>> verdicts = Labels.from_matrix([[1], [0]] * 40, annotators=["gpt"])
    >>> people = Labels.from_matrix([[1, 1], [0, 1]] * 20, items=range(40))
    >>> judge_table(corrected_rate(verdicts, people, positive=1, draws=50, chains=1, seed=1))["raw_rate"].tolist()
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
    return rows.loc[:, ["system", "judge", *names, "n_items_with_votes"]]


@checked
def warnings_of(result: xr.DataTree) -> list[str]:
    """Sentences on what a reader of corrected rates should know: few votes, a judge lenient to a system, a weak judge.

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
    >>> people = Labels.from_matrix([[1, 1], [0, 1]] * 20, items=range(40))
    >>> warnings_of(corrected_rate(verdicts, people, positive=1, draws=50, chains=1, seed=1))[0]
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
    # How often a judge says positive of an item that is as often good as bad.
    leaning = (posterior["sensitivity"] + 1 - posterior["specificity"]).transpose("chain", "draw", "system", "judge")
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
