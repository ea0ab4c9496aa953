"""What one more answer about each item or pair is expected to tell, and the choice between the two best models."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy as sp

from bayesagree._types import Array, Floats, Integers
from bayesagree.errors import InputError
from bayesagree.inference.streams import Seed, seed_sequence

# Probability with which the interval of the difference shall not hold 0.
SEPARATED = 0.8
# The normal quantile .975: to import scipy.special for it would take a tenth of the import of every name.
BORDER = 1.959963984540054


class Lead(NamedTuple):
    """The difference of the two best models, as normal, and what more answers leave of its variance.

    Attributes
    ----------
    models
        The best and the next best today.
    mean, variance
        Of their difference.
    votes, left
        Numbers of answers, rising, and the variance after each.
    size
        What the difference is divided by to be one of scores.
    shown
        Places of the numbers that the table lists.
    """

    models: Array
    mean: float
    variance: float
    votes: Integers
    left: Floats
    size: int = 1
    shown: Any = slice(None)


class Outlook(NamedTuple):
    """Items or pairs that the next answer may be about.

    Attributes
    ----------
    units
        A row each, as the list shows it, but for the gain.
    gains
        Columns of each goal that can be asked for, the default first: ``gain``, and ``votes`` where it takes several.
    certainty
        Probability of what is likeliest today, (unit,).
    lead
        None without two models.
    reason
        Why the posterior was chosen, where there was a choice.
    """

    units: pd.DataFrame
    gains: dict[str, dict[str, Any]]
    certainty: Floats
    lead: Lead | None
    reason: str = ""

    def best_first(self, n: int, goal: str | None, random_seed: Seed) -> pd.DataFrame:
        """Return the n units of the largest gain; of equal gain the least certain first, then in random order."""
        if goal not in (None, *self.gains):
            known = ", ".join(map(repr, self.gains))
            raise InputError(
                f"goal={goal!r} is not one of {known} here: 'metric' needs a model, 'decision' two, 'certainty' items"
            )
        told = self.units.assign(**self.gains[goal or next(iter(self.gains))])
        # A difference below 1e-12 is rounding.
        gain, known = np.round(told["gain"].to_numpy(), 12), np.round(self.certainty, 12)
        rng = np.random.default_rng(seed_sequence(random_seed))
        order = np.lexsort((rng.random(gain.size), known, -gain))[:n]
        last, what = order[-1], "pairs" if "first" in told else "items"
        same, shown = gain == gain[last], f"{gain[last]:.2g}"
        alike, notes = same & (known == known[last]), []
        if same.all() and gain.size > 1:
            notes = [f"All {gain.size} {what} have the same gain, {shown}: the least certain come first."]
        if (more := alike.sum()) > (listed := alike[order].sum()):
            equal = f"{more} {what} are equal in gain ({shown}) and certainty ({known[last]:.2f}); {listed} of them, "
            notes.append(f"{equal}chosen at random, are listed.")
        table = told.iloc[order].reset_index(drop=True)
        table.attrs = {"notes": notes, "choice": self.reason}
        return table

    def value(self) -> pd.DataFrame:
        """Return the result of `value_of_votes`."""
        if self.lead is None:
            raise InputError("a choice needs two models; pass predictions= of both")
        models, mean, variance, votes, left, size, shown = self.lead
        table = pd.DataFrame({"votes": votes, "sd": np.sqrt(left) / size})
        # Models that are alike on all items: a coin, which no vote helps.
        table["prob_right"], table["prob_separated"] = 0.5, 0.0
        if variance > 0:
            with np.errstate(divide="ignore", invalid="ignore"):
                step, rest = np.sqrt(variance - left), np.sqrt(left)
                table["prob_right"] = 1 - 2 * sp.special.owens_t(mean / np.sqrt(variance), rest / step)
                ends = [sp.special.ndtr((sign * mean - BORDER * rest) / step) for sign in (1, -1)]
            table["prob_separated"] = sum(ends)
        enough = votes[table["prob_separated"].to_numpy() >= SEPARATED]
        found = table.iloc[shown].reset_index(drop=True)
        found.attrs = {"models": models.tolist(), "choice": self.reason}
        found.attrs["separating"] = int(enough[0]) if enough.size else None
        return found
