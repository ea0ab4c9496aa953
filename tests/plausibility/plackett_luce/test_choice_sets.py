"""Rankings of a few labels among many: what was not on offer has not lost."""

import itertools

import numpy as np
import pandas as pd
import pytest

import bayesagree as ba
from bayesagree.errors import InputError
from bayesagree.inference.convergence import diagnostics
from bayesagree.predictive import reliability_curve

RACES = [[["a"], ["b"]], [["b", "c"]], [["d"], ["a", "c"]], [["c"]], [["b"], ["a"]]]
OFFERED = [["a", "b"], ["a", "b", "c"], ["a", "c", "d", "e"], ["c", "e"], ["a", "b"]]
LABELS = list("abcdef")
CHOSEN = ba.Rankings.from_blocks([RACES], labels=LABELS, offered=[OFFERED])


def named_in(race: list[list[str]]) -> list[str]:
    """Return the labels that a ranking names."""
    return list(itertools.chain(*race))


def chance_of(race: list[list[str]], offered: list[str], theta: np.ndarray) -> np.ndarray:
    """Return the probability of one partial ranking of what was on offer, all orders summed, shape (sample,)."""
    rest = [k for k in offered if k not in named_in(race)]
    total = 0.0
    for orders in itertools.product(*(itertools.permutations(block) for block in race)):
        order = list(itertools.chain(*orders))
        worth = {k: theta[:, LABELS.index(k)] for k in offered}
        left = sum(worth[k] for k in [*order, *rest])
        chance = 1.0
        for k in order:
            chance, left = chance * worth[k] / left, left - worth[k]
        total = total + chance
    return np.asarray(total)


def weighted_prior(shape: float, offered: list[list[str]]) -> tuple[np.ndarray, np.ndarray]:
    """Return draws of the prior and their weights under the races."""
    theta = np.random.default_rng(5).dirichlet(np.full(6, shape), 300_000)
    weight = np.prod([chance_of(race, sets, theta) for race, sets in zip(RACES, offered)], axis=0)
    return theta, weight / weight.sum()


def test_posterior_equals_the_weighted_prior() -> None:
    theta, weight = weighted_prior(0.8, OFFERED)
    with pytest.warns(UserWarning, match="no ranking was offered 'f'"):
        tree = ba.plackett_luce(CHOSEN, shape=0.8, draws=5000, random_seed=1)
    draws = tree["posterior"]["plausibility"].values.reshape(-1, 6)
    for power in (1, 2):
        expected = weight @ theta**power
        prior_error = np.sqrt(weight**2 @ (theta**power - expected) ** 2)
        for k in range(6):
            own = draws[:, k] ** power
            error = own.std() / np.sqrt(diagnostics(own.reshape(4, -1, 1))[1].min())
            assert abs(own.mean() - expected[k]) < 4.5 * np.hypot(error, prior_error[k])


def pairwise_wins() -> tuple[ba.Rankings, list[list[list[str]]], np.ndarray]:
    """Six systems that met in pairs: 600 comparisons of known worths, those that met, and the worths."""
    worth = np.array([0.3, 0.24, 0.18, 0.13, 0.09, 0.06])
    rng = np.random.default_rng(2)
    wins = []
    for _ in range(600):
        a, b = rng.choice(6, 2, replace=False)
        first = rng.random() < worth[a] / (worth[a] + worth[b])
        wins.append([[LABELS[a if first else b]], [LABELS[b if first else a]]])
    met = [[winner[0], loser[0]] for winner, loser in wins]
    return ba.Rankings.from_blocks([wins], labels=LABELS, offered=[met]), [wins], worth


def test_pairwise_wins_are_no_defeats_of_absent_systems() -> None:
    """Read as rankings of all six, win rates of .65 to .33 gave all systems .17."""
    rankings, _, worth = pairwise_wins()
    offered = ba.plackett_luce(rankings, draws=500, random_seed=1)["posterior"]["plausibility"]
    mean, sd = offered.mean(("chain", "draw")).values[0], offered.std(("chain", "draw")).values[0]
    assert (np.abs(mean - worth) < 4 * sd).all()
    assert mean[0] > 2 * mean[5]


def test_pairs_without_choice_sets_warn() -> None:
    _, wins, _ = pairwise_wins()
    plain = ba.Rankings.from_blocks(wins, labels=LABELS)
    with pytest.warns(UserWarning, match="all rankings name 2 of 6 labels"):
        ba.plackett_luce(plain, draws=500, random_seed=1)


def test_long_tables_and_blocks_agree() -> None:
    rows = [
        (0, r, label, next((place for place, block in enumerate(race, 1) if label in block), np.nan))
        for r, (race, sets) in enumerate(zip(RACES, OFFERED))
        for label in sets
    ]
    table = pd.DataFrame(rows, columns=["item", "annotator", "label", "rank"]).sample(frac=1, random_state=1)
    read = ba.Rankings.from_long(table, labels=LABELS, offered=True)
    named = ba.Rankings.from_blocks([RACES], labels=LABELS, offered=[OFFERED])
    for field in ("start", "label_index", "block"):
        np.testing.assert_array_equal(getattr(read, field), getattr(named, field))
    assert read.offered is not None
    assert named.offered is not None
    np.testing.assert_array_equal(read.offered.start, named.offered.start)
    np.testing.assert_array_equal(read.offered.label_index, named.offered.label_index)
    with pytest.raises(InputError, match="pass offered=True"):
        ba.Rankings.from_long(table, labels=LABELS)


def test_what_knows_no_choice_sets_says_so() -> None:
    with pytest.raises(InputError, match="not on offer"):
        ba.plausibility.irn(CHOSEN)
    with pytest.raises(InputError, match="not on offer"):
        ba.prirn(CHOSEN)
    with pytest.raises(InputError, match="not on offer"):
        reliability_curve(CHOSEN, plausibility="prirn", random_seed=1)
