"""Items for people to label: how likely each is to be chosen, and a sample of exactly that design.

Source: Neyman, "On the two different aspects of the representative method", JRSS 97 (1934), allocation by standard
deviations, https://doi.org/10.2307/2342192; Madow, "On the theory of systematic sampling II", Annals of Mathematical
Statistics 20 (1949), https://doi.org/10.1214/aoms/1177729988; Zrnic and Candes, "Active statistical inference" (2024),
arXiv:2403.03208, for labels where the judge is in doubt.
"""

from collections.abc import Hashable, Mapping
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesagree._inference.streams import Seed, seed_sequence
from bayesagree._numerics.types import Floats
from bayesagree.annotations import Labels, Ratings
from bayesagree.annotations.gold import ItemGroup, group_of_each
from bayesagree.errors import InputError, one_of, positive_int
from bayesagree.judges._panel import probabilities_of, verdict_values

# Judges that agree may all be wrong: an item of which nobody doubts is chosen with a quarter of the chance of an even
# one, so that no label weighs more than about four times its share.
LEAST_DOUBT = 0.25


def label_allocation(
    verdicts: Labels | Ratings,
    *,
    n: int,
    system: ItemGroup | None = None,
    positive: Hashable,
    design: Literal["random", "stratified", "doubt"] = "random",
    expected: Mapping[Hashable, float] | pd.Series | None = None,
    seed: Seed = None,
) -> pd.DataFrame:
    """Inclusion probability of every item, and n items for people to label drawn with just these probabilities.

    Parameters
    ----------
    verdicts
        Item x judge, as for `corrected_rate`.
    n
        Items to label.
    system
        System of each item; by default all are of one.
    positive
        The label that counts; not used for ratings.
    design
        ``"random"``: every item alike. ``"stratified"``: equally many items of every system. ``"doubt"``: within a
        system in proportion to the standard deviation sqrt(p (1 - p)) of a vote, where p is the mean verdict, and no
        less than a quarter of that at p = 1/2.
    expected
        Probability that an item is positive before the judges are heard (of an older model, say): p is then the mean of
        both, and the doubt is largest where judge and expectation disagree.
    seed
        Same seed, same items.

    Returns
    -------
    DataFrame
        ``item``, ``inclusion`` (sums to n), ``chosen``. Give the column to `corrected_rate(inclusion=...)`: unless the
        chance depends on verdicts, systems and features that the regression knows, an estimate without it is biased.

    Raises
    ------
    InputError
        More items than there are, a probability outside [0, 1], items without one.

    See Also
    --------
    corrected_rate, prediction_powered_mean

    Examples
    --------
    >>> verdicts = Labels.from_matrix([[1, 1], [1, 0], [0, 0], [0, 1]] * 5, annotators=["a", "b"])
    >>> found = label_allocation(verdicts, n=5, positive=1, design="doubt", seed=1)
    >>> found["inclusion"][:2].round(2).tolist(), int(found["chosen"].sum())
    ([0.1, 0.4], 5)
    """
    one_of(design, "design", ("random", "stratified", "doubt"))
    size = verdicts.items.size
    if positive_int(n, "n") > size:
        raise InputError(f"n={n} items are requested, there are {size}")
    code = np.zeros(size, np.int64)
    if system is not None:
        code = pd.factorize(group_of_each(system, verdicts.items, "system").astype(str), sort=True)[0]
    weight = _doubt(verdicts, positive, expected) if design == "doubt" else np.ones(size)
    if design != "random":  # every system alike
        weight = weight / np.bincount(code, weight)[code]
    inclusion = _at_most_one(weight, n)
    rng = np.random.default_rng(seed_sequence(seed))
    chosen = np.zeros(size, bool)
    chosen[_systematic(inclusion, code, rng)] = True
    return pd.DataFrame({"item": verdicts.items, "inclusion": inclusion, "chosen": chosen})


def _doubt(
    verdicts: Labels | Ratings, positive: Hashable, expected: Mapping[Hashable, float] | pd.Series | None
) -> Floats:
    value = verdict_values(verdicts, positive)
    present = np.isfinite(value)
    p = np.where(present, value, 0.0).sum(axis=1) / np.maximum(present.sum(axis=1), 1)
    p = np.where(present.any(axis=1), p, 0.5)
    if expected is not None:
        p = (p + probabilities_of(expected, verdicts.items, "expected")) / 2
    return np.maximum(np.sqrt(p * (1 - p)), LEAST_DOUBT * 0.5)


def _at_most_one(weight: Floats, n: int) -> Floats:
    """Scale weights to a sum of n, none above 1."""
    certain = np.zeros(weight.size, bool)
    while True:
        inclusion = np.where(certain, 1.0, weight * (n - certain.sum()) / max(weight[~certain].sum(), 1e-300))
        above = (inclusion > 1) & ~certain
        if not above.any():
            return inclusion
        certain |= above


def _systematic(inclusion: Floats, code: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw a sample of fixed size, spread evenly over the systems, in random order within them."""
    order = np.lexsort((rng.random(inclusion.size), code))
    # Rounding apart the last sum is the number of items; a point for each whole number that the sums pass.
    passed = np.floor(np.cumsum(inclusion[order]) + rng.random() + 1e-9)
    return order[np.diff(passed, prepend=0) > 0.5] if passed.size else order
