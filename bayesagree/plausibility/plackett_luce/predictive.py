"""Rankings left out, each predicted from the other rankings of its item by posterior draws."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy as sp
from numpy.typing import NDArray

from bayesagree._types import Floats
from bayesagree.annotations import Rankings
from bayesagree.errors import InputError, positive_int
from bayesagree.inference.predictive import HeldOutRecord, HeldOutScores
from bayesagree.inference.streams import block_generators, item_blocks, map_blocks, stream_apart
from bayesagree.plausibility.plackett_luce._sampler import Problem, Run, Unranked
from bayesagree.plausibility.plackett_luce.likelihood import partial_log_probability


def _held_out(
    rankings: Rankings,
    levels: Floats,
    *,
    random_seed: np.random.SeedSequence,
    shape: float | None = None,
    unranked: Unranked = "exact",
    draws: int = 250,
    tune: int = 200,
    chains: int = 4,
) -> HeldOutScores:
    if rankings.offered is not None:
        raise InputError("held-out rankings take all labels as on offer; these have offered=")
    run = Run(*(positive_int(v, n) for v, n in zip((chains, tune, draws, 1), Run._fields)))
    n = np.bincount(rankings.item_index, minlength=rankings.items.size)
    held_out = np.flatnonzero(n[rankings.item_index] > 1)
    log_score, agreement, error = np.zeros((levels.size, n.size)), np.zeros((levels.size, n.size)), []
    for g, level in enumerate(levels):
        if not float(level).is_integer():
            raise InputError(f"reliability {level:g}: Plackett-Luce repeats rankings, a whole number of times")
        read = partial(Problem.of, reliability=int(level), shape=shape, unranked=unranked)
        found, errors = _scores(rankings, held_out, read, run, random_seed)
        log_score[g] = np.bincount(rankings.item_index[held_out], weights=found, minlength=n.size)
        agreement[g] = _agreement(read(rankings), run, stream_apart(random_seed, "agreement of rankings"))
        error.append(float(np.sqrt((errors**2).sum())))
    return HeldOutScores(log_score, np.where(n > 1, n, 0), agreement, np.array(error))


def _scores(
    rankings: Rankings,
    held_out: NDArray[np.int64],
    read: Callable[[Rankings], Problem],
    run: Run,
    random_seed: np.random.SeedSequence,
) -> tuple[Floats, Floats]:
    """Return the log probability of each ranking given the others of its item, and its error."""
    item = rankings.item_index
    start, stop = (np.searchsorted(item, item[held_out], side=side) for side in ("left", "right"))
    beside = [np.setdiff1d(np.arange(a, b), r) for a, b, r in zip(start, stop, held_out)]
    which = np.repeat(np.arange(held_out.size), [one.size for one in beside])
    left_out = _chosen(rankings, held_out, np.arange(held_out.size))
    problem = read(_chosen(rankings, np.concatenate([np.empty(0, np.int64), *beside]), which))

    def score(h: int, theta: Floats, rng: np.random.Generator) -> tuple[float, float]:
        return _log_mean(_log_probability(theta, problem, left_out, h, rng), run.chains)

    found = _of_items(score, problem, run, random_seed).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def _chosen(rankings: Rankings, rows: NDArray[np.int64], item: NDArray[np.int64]) -> Rankings:
    """Return some rankings, each for the item of the given number; numbers increase."""
    size = np.diff(rankings.start)[rows]
    start = np.append(0, np.cumsum(size))
    entry = np.repeat(rankings.start[rows] - start[:-1], size) + np.arange(start[-1])
    items = np.arange(item.max(initial=-1) + 1)
    nobody = np.full(rows.size, -1, np.int32)
    entries = item.astype(np.int32), nobody, start, rankings.label_index[entry], rankings.block[entry]
    return Rankings(items, np.empty(0, "<U1"), rankings.categories, *entries)


def _of_items(
    work: Callable[[int, Floats, np.random.Generator], Any],
    problem: Problem,
    run: Run,
    random_seed: np.random.SeedSequence,
) -> Floats:
    """Return what `work` makes of each item's number and shares of its slots, shape (sample, slot), in threads."""

    def some(job: tuple[slice, np.random.Generator]) -> list[Any]:
        items, rng = job
        return [work(i, theta, rng) for i, theta in problem.by_item(items, problem.draw(items, run, rng))]

    blocks = item_blocks(problem.n_items)
    parts = map_blocks(some, list(zip(blocks, block_generators(random_seed, len(blocks)))))
    return np.array([one for part in parts for one in part])


def _agreement(problem: Problem, run: Run, random_seed: np.random.SeedSequence) -> Floats:
    """Return the posterior mean of sum_k theta_k^2, shape (item,): the chance that two first choices agree."""

    def square(i: int, theta: Floats, rng: np.random.Generator) -> float:
        number, one = max(problem.n_labels + 1 - theta.shape[1], 1), problem.split
        # E sum V^2 of a symmetric Dirichlet distribution over the unnamed labels.
        within = (one + 1) / (number * one + 1)
        return float(np.mean((theta[:, :-1] ** 2).sum(axis=1) + within * theta[:, -1] ** 2))

    return _of_items(square, problem, run, random_seed)


def _log_probability(
    theta: Floats, problem: Problem, left_out: Rankings, h: int, rng: np.random.Generator
) -> Floats:
    """Return the log probability of ranking h for each draw of the others' worths, shape (sample,).

    A label that only the ranking left out names has a random share V of the worth of all unnamed labels, nearly always
    tiny and sometimes not. Every order of arrival has its worth as a factor, so V is drawn from its distribution
    weighted by V (Dirichlet with one more) and divided out again.
    """
    entries = slice(left_out.start[h], left_out.start[h + 1])
    label, block = left_out.label_index[entries], left_out.block[entries]
    # A label that only this ranking names has no worth of its own: its share of the unnamed mass is drawn below.
    names = problem.races.label[slice(*problem.races.slot_start[h : h + 2])]
    at = np.searchsorted(names, label)  # below the number of labels, which ends them
    known = names[at] == label
    others = np.setdiff1d(np.arange(names.size - 1), at[known])
    unnamed = problem.n_labels + 1 - names.size
    share, log_weight = _unnamed_shares(int((~known).sum()), unnamed, problem.split, len(theta), rng)
    named = np.empty((len(theta), label.size))
    named[:, known] = theta[:, at[known]]
    named[:, ~known] = theta[:, -1:] * share[:, :-1]
    rest = theta[:, others].sum(axis=1) + theta[:, -1] * share[:, -1]
    return partial_log_probability(named, rest[:, None], np.array([0, label.size]), block)[:, 0] + log_weight


def _unnamed_shares(
    number: int, n_unnamed: int, shape: float, samples: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return shares of `number` unnamed labels and, last, of the other ones, and the log weight of each draw."""
    if number == 0:
        return np.ones((samples, 1)), np.zeros(samples)
    gamma = rng.standard_gamma(shape + 1, (samples, number))
    rest = rng.standard_gamma((n_unnamed - number) * shape, samples) if n_unnamed > number else np.zeros(samples)
    share = np.column_stack([gamma, rest])
    share /= share.sum(axis=1, keepdims=True)
    total = n_unnamed * shape
    log_mean = number * np.log(shape) + sp.special.gammaln(total) - sp.special.gammaln(total + number)
    return share, log_mean - np.log(share[:, :-1]).sum(axis=1)


def _log_mean(log_value: Floats, chains: int) -> tuple[float, float]:
    """Return the log of the mean and its standard error, from the means of the chains."""
    top = log_value.max()  # probabilities of long rankings underflow
    means = np.exp(log_value - top).reshape(chains, -1).mean(axis=1)
    mean = means.mean()
    error = means.std(ddof=1) / np.sqrt(chains) / mean if chains > 1 else np.nan
    return float(top + np.log(mean)), float(error)


HELD_OUT = HeldOutRecord(_held_out, (1, 2, 3, 5, 10))
