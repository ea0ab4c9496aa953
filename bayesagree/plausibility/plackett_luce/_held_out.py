"""Plackett-Luce probability of each annotator's ranking given the other annotators of the item, by posterior draws."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
import scipy as sp
from numpy.typing import NDArray

from bayesagree._types import Floats
from bayesagree.annotations import Rankings
from bayesagree.errors import InputError
from bayesagree.inference.streams import (
    Seed,
    block_generators,
    item_blocks,
    map_blocks,
    seed_sequence,
    stream_apart,
)
from bayesagree.plausibility.plackett_luce._sampler import Problem, Run
from bayesagree.plausibility.plackett_luce.likelihood import partial_log_probability

# Rankings as the sampler reads them, with one reliability and prior.
Read = Callable[[Rankings], Problem]


def refuse_choice_sets(rankings: Rankings) -> None:
    """Refuse rankings of few labels among many: replicates and held-out scores take all labels as on offer."""
    if rankings.offered is not None:
        raise InputError("predictive checks of rankings take all labels as on offer; these have offered=")


class Jackknife(NamedTuple):
    """Rankings left out one at a time: item h of `others` holds those that the h-th of `left_out` is predicted from."""

    left_out: Rankings
    others: Rankings


class RankingScores(NamedTuple):
    """Log probability of each ranking left out and its Monte-Carlo error; Pr(two further first choices agree)."""

    log_probability: Floats
    error: Floats
    agreement: Floats


def jackknife(rankings: Rankings, held_out: NDArray[np.int64], *, earlier: bool = False) -> Jackknife:
    """Leave out each of the rankings `held_out` in turn, to predict it from the others of its item or the earlier."""
    refuse_choice_sets(rankings)
    first = np.searchsorted(rankings.item_index, np.arange(rankings.items.size + 1))
    beside, which = [], []
    for h, r in enumerate(held_out):
        start, stop = first[rankings.item_index[r] : rankings.item_index[r] + 2].tolist()
        rows = np.arange(start, r if earlier else stop)
        beside.append(rows[rows != r])
        which.append(np.full(beside[-1].size, h))
    names = np.arange(held_out.size)
    return Jackknife(_chosen(rankings, held_out, names), _chosen(rankings, _joined(beside), _joined(which)))


def _joined(parts: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.concatenate(parts) if parts else np.empty(0, np.int64)


def _chosen(rankings: Rankings, rows: NDArray[np.int64], item: NDArray[np.int64]) -> Rankings:
    """Return some rankings, each for the item of the given number; numbers increase."""
    size = np.diff(rankings.start)[rows]
    start = np.append(0, np.cumsum(size))
    entry = np.repeat(rankings.start[rows] - start[:-1], size) + np.arange(start[-1])
    items = np.arange(item.max(initial=-1) + 1)
    nobody = np.full(rows.size, -1, np.int32)
    entries = item.astype(np.int32), nobody, start, rankings.label_index[entry], rankings.block[entry]
    return Rankings(items, np.empty(0, "<U1"), rankings.categories, *entries)


def plackett_luce_scores(
    rankings: Rankings, held_out: NDArray[np.int64], read: Read, run: Run, random_seed: np.random.SeedSequence
) -> RankingScores:
    """Score every ranking left out under the posterior of the others."""
    found = _predicted(jackknife(rankings, held_out), read, run, random_seed)
    return RankingScores(
        *found, _agreement(rankings, read, run, stream_apart(random_seed, "agreement of rankings"))
    )


def marginal_log_probability(rankings: Rankings, shape: float, draws: int, random_seed: Seed) -> Floats:
    """Return the log probability of all rankings of each item with its worths integrated out, shape (item,).

    One ranking after the other: the first exactly (under a Dirichlet distribution every choice is independent of those
    before), each other one by posterior draws given those before it.
    """
    later = np.flatnonzero(np.diff(rankings.item_index, prepend=-1) == 0)
    start = np.setdiff1d(np.arange(rankings.n_annotations), later)
    alone = _chosen(rankings, start, np.arange(start.size))
    rest = shape * (rankings.categories.size - np.diff(alone.start))
    named = np.full((1, alone.label_index.size), shape)
    value = partial_log_probability(named, rest[None], alone.start, alone.block)
    run = Run(chains=4, tune=200, draws=draws, thin=1)
    one_by_one = jackknife(rankings, later, earlier=True)
    read = partial(Problem.of, shape=shape)
    found = _predicted(one_by_one, read, run, seed_sequence(random_seed))[0] if later.size else np.zeros(0)
    return value[0] + np.bincount(rankings.item_index[later], weights=found, minlength=start.size)


def _predicted(
    split: Jackknife, read: Read, run: Run, random_seed: np.random.SeedSequence
) -> tuple[Floats, Floats]:
    """Return the log probability of every ranking left out and its Monte-Carlo error."""
    problem = read(split.others)

    def score(job: tuple[slice, np.random.Generator]) -> list[tuple[float, float]]:
        items, rng = job
        return [
            _log_mean(_log_probability(theta, problem, split.left_out, h, rng), run.chains)
            for h, theta in _of_items(problem, problem.draw(items, run, rng), items)
        ]

    log_probability, error = np.array(_over_blocks(score, problem.n_items, random_seed)).reshape(-1, 2).T
    return log_probability, error


def _of_items(problem: Problem, theta: Floats, items: slice) -> Iterator[tuple[int, Floats]]:
    """Yield each item of a block and the shares of its slots, shape (sample, slot)."""
    edges = problem.races.slot_start[items.start : items.stop + 1]
    flat = theta.reshape(-1, theta.shape[2])
    for i, start, stop in zip(range(items.start, items.stop), edges - edges[0], edges[1:] - edges[0]):
        yield i, flat[:, start:stop]


def _over_blocks[R](
    work: Callable[[tuple[slice, np.random.Generator]], list[R]], n_items: int, random_seed: np.random.SeedSequence
) -> list[R]:
    """Apply work to blocks of items in threads, each with its own stream, and join the lists."""
    blocks = item_blocks(n_items)
    return [
        one
        for part in map_blocks(work, list(zip(blocks, block_generators(random_seed, len(blocks)))))
        for one in part
    ]


def _agreement(rankings: Rankings, read: Read, run: Run, random_seed: np.random.SeedSequence) -> Floats:
    """Return the posterior mean of sum_k theta_k^2, shape (item,)."""
    problem = read(rankings)

    def square(job: tuple[slice, np.random.Generator]) -> list[float]:
        items, rng = job
        means = []
        for _, theta in _of_items(problem, problem.draw(items, run, rng), items):
            number, one = max(problem.n_labels + 1 - theta.shape[1], 1), problem.split
            # E sum V^2 of a symmetric Dirichlet distribution over the unnamed labels; equal shares where lumped.
            within = (one + 1) / (number * one + 1) if one else 1 / number
            means.append(float(np.mean((theta[:, :-1] ** 2).sum(axis=1) + within * theta[:, -1] ** 2)))
        return means

    return np.array(_over_blocks(square, problem.n_items, random_seed))


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
    if shape == 0:
        each = np.full((samples, number), 1 / n_unnamed)
        return np.column_stack([each, np.full(samples, 1 - number / n_unnamed)]), np.zeros(samples)
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
