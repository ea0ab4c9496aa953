"""Which judges to ask: the accuracy of the majority of every panel that can be formed of them."""

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from bayesagree._inference.streams import Seed, seed_sequence
from bayesagree._numerics.intervals import column_hdi
from bayesagree._numerics.types import Floats
from bayesagree.annotations import Labels
from bayesagree.annotations.gold import Gold
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, positive, positive_int, shorten
from bayesagree.judges.independence import known_truths, single_verdicts, weighted_truths

# Judges form 2^J - 1 panels, and each is tried on every draw.
MOST_JUDGES = 10


def best_panel(
    judges: Labels | Predictions,
    truth: Gold | xr.DataTree,
    *,
    cost: Mapping[Any, float] | None = None,
    budget: float | None = None,
    ci_prob: float = 0.95,
    draws: int = 1000,
    chains: int = 4,
    seed: Seed = None,
) -> pd.DataFrame:
    """Panels of judges by the accuracy of their majority, the best first.

    Judges that err together do not add up: two cheap ones of different kinds may beat three of one family. Items are a
    sample (Bayesian bootstrap), and the truth is drawn as in `effective_judges`.

    Parameters
    ----------
    judges
        Two to ten judges: labels with a verdict of each judge on each item, or predictions.
    truth
        True label of some items, or a posterior of the truth made of people's labels on some of the items.
    cost
        Cost of a verdict of each judge; by default each costs 1.
    budget
        Only panels that cost at most this much an item.
    ci_prob
        Probability of the HDI of the accuracy.
    draws, chains
        chains x draws posterior draws in all.
    seed
        Same seed, same draws.

    Returns
    -------
    DataFrame
        One row for each panel: ``panel`` (tuple of judges), ``n_judges``, ``cost``, ``accuracy`` of its majority (a
        tie counts by shares), ``lower``, ``upper``, ``prob_best``, the probability that no panel of the table is
        better, and ``efficient``: no panel of the table costs less, or the same, and is better by its mean.

    Raises
    ------
    InputError
        One judge, more than ten, an item without a verdict, no item with a known truth, a judge without a cost, a
        budget that no judge fits in.

    References
    ----------
    Rubin, "The Bayesian bootstrap", Annals of Statistics 9 (1981), https://doi.org/10.1214/aos/1176345338.

    See Also
    --------
    effective_judges

    Examples
    --------
    >>> truth = np.arange(210) % 2
    >>> wrong = [np.arange(210) % k == 0 for k in (5, 6, 7)]
    >>> called = np.stack([np.where(w, 1 - truth, truth) for w in (wrong[0], wrong[0], wrong[1], wrong[2])], axis=1)
    >>> verdicts = Labels.from_matrix(called, annotators=["a", "copy of a", "b", "c"])
    >>> table = best_panel(verdicts, dict(enumerate(truth)), draws=200, chains=1, seed=1)
    >>> table["panel"].iloc[0]
    ('a', 'b', 'c')
    """
    items, names, verdict, labels = single_verdicts(judges)
    panels, costs = _affordable(names, cost, budget)
    known, evidence = known_truths(truth, items, labels)
    verdict = verdict[known]
    member = np.array([[name in panel for name in names.tolist()] for panel in panels])
    share, pattern = _majorities(verdict, labels.size, member)
    cells = int(pattern.max()) + 1
    words = seed_sequence(seed).generate_state(positive_int(chains, "chains"))
    rngs = [np.random.default_rng([int(word), chain]) for chain, word in enumerate(words)]
    drawn = (pair for rng in rngs for pair in weighted_truths(verdict, evidence, positive_int(draws, "draws"), rng))
    masses = (np.bincount(true * cells + pattern, weight, labels.size * cells) for true, weight in drawn)
    accuracy = np.array([share @ mass for mass in masses])
    lower, upper = column_hdi(accuracy, ci_prob)
    best = accuracy >= accuracy.max(axis=1, keepdims=True) - 1e-12  # ties of panels that vote alike: each counts
    table = pd.DataFrame({"panel": panels, "n_judges": member.sum(axis=1), "cost": costs})
    table = table.assign(accuracy=accuracy.mean(axis=0), lower=lower, upper=upper, prob_best=best.mean(axis=0))
    table = table.sort_values(["cost", "accuracy"], ascending=[True, False], kind="stable", ignore_index=True)
    before = table["accuracy"].cummax().shift(fill_value=-np.inf)
    table["efficient"] = table["accuracy"] > before
    return table.sort_values(["accuracy", "cost"], ascending=[False, True], kind="stable", ignore_index=True)


def _affordable(
    names: NDArray[Any], cost: Mapping[Any, float] | None, budget: float | None
) -> tuple[list[tuple[Any, ...]], Floats]:
    """Return every panel within the budget, and what it costs."""
    judges = names.tolist()
    if len(judges) > MOST_JUDGES:
        raise InputError(f"{len(judges)} judges form {2 ** len(judges) - 1} panels; give at most {MOST_JUDGES} of them")
    missing = [name for name in judges if cost is not None and name not in cost]
    if missing:
        raise InputError(f"cost= has no entry for the judges {shorten(missing)}; give the cost of each judge's verdict")
    price = {name: 1.0 if cost is None else positive(cost[name], f"cost of {name!r}", zero=True) for name in judges}
    limit = np.inf if budget is None else positive(budget, "budget")
    every = [panel for size in range(1, len(judges) + 1) for panel in combinations(judges, size)]
    kept = [panel for panel in every if sum(price[name] for name in panel) <= limit]
    if not kept:
        raise InputError(f"budget={budget!r} pays for no judge: the cheapest costs {min(price.values()):g}")
    return kept, np.array([sum(price[name] for name in panel) for panel in kept])


def _majorities(
    verdict: NDArray[np.int64], n_labels: int, member: NDArray[np.bool_]
) -> tuple[Floats, NDArray[np.int64]]:
    """Return what each panel's majority gives each label, (panel, label x pattern), and the pattern of each item."""
    patterns, pattern = np.unique(verdict, axis=0, return_inverse=True)
    share = np.empty((len(member), n_labels, len(patterns)))
    votes = (patterns[:, :, None] == np.arange(n_labels)).astype(np.float64)
    for row, panel in zip(share, member):
        count = votes[:, panel].sum(axis=1)
        first = count == count.max(axis=1, keepdims=True)
        row[:] = (first / first.sum(axis=1, keepdims=True)).T
    return share.reshape(len(member), -1), pattern
