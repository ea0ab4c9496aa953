"""Votes of each group, and the Gibbs sampler of `group_dirichlet`: all chains side by side, all items at once.

A state holds what makes items independent: the shapes a, and for each item which groups are apart and a typical label
of each view. All distributions are integrated out; plausibilities are drawn exactly given a state, block by block.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, cast

import numpy as np
import pandas as pd
import scipy as sp
from numpy.typing import NDArray

from bayesagree._types import Floats, Rng
from bayesagree.annotations import Labels
from bayesagree.annotations.groups import Groups
from bayesagree.errors import InputError, positive, shorten, warn
from bayesagree.inference.kernel_draws import categories, log_dirichlets
from bayesagree.inference.posterior import Request
from bayesagree.inference.streams import block_generator, seed_sequence, stream_apart

# Sweeps before the first state, and from one state to the next.
WARM_UP, THIN = 200, 2
# Items x states that are kept at most: of more items, consecutive draws share a state.
MOST_KEPT, FEWEST_STATES = 5_000_000, 50
MOST_STATES = 500
# End of log shapes, and the width of their slice steps.
FARTHEST, WIDTH = 9.5, 1.0
# A gamma variable of this shape underflows with probability 1e-30.
SMALL_SHAPE = 0.1
# Members of a group, weighted by their votes, above which who they are hardly moves its mean; level of the test whether
# members differ.
MANY, TEST_LEVEL = 30, 0.01

# Group of each annotator: a mapping or a series by annotator, or ready groups.
type MembersOfGroups = Mapping[Any, Any] | pd.Series | Groups


@dataclass(frozen=True)
class GroupDirichletPrior:
    """Hyperparameters of `group_dirichlet`.

    Attributes
    ----------
    divided
        delta_g ~ Beta(1, divided), the chance of a view of its own: 1 is uniform.
    shape_sd
        log a_k ~ N(-log K, shape_sd^2) for the shapes of the common distribution of K labels, m_i ~ Dirichlet(a).

    Examples
    --------
    >>> GroupDirichletPrior(divided=3).shape_sd
    1.5
    """

    divided: float = 1.0
    shape_sd: float = 1.5

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            positive(value, name)


@dataclass(frozen=True, eq=False)
class GroupVotes:
    """Names of the groups that voted, and their votes, shape (group, item, category)."""

    names: NDArray[Any]
    votes: NDArray[np.int64]
    few_who_differ: NDArray[Any]
    """Names of groups whose votes come from few annotators who favour labels of their own whatever the item."""

    @classmethod
    def of(cls, labels: Labels, groups: MembersOfGroups) -> "GroupVotes":
        """Count the votes of each group that has any."""
        known = groups if isinstance(groups, Groups) else Groups.by_annotator(labels, groups)
        code = known.of_rows(labels)
        row = labels.row_of_each()
        row = row[code[row] >= 0]
        used, group = np.unique(code[row], return_inverse=True)
        if used.size < 2:
            raise InputError(f"there must be votes of two groups or more; only {shorten(known.names[used])} voted")
        item, label, annotator = labels.item_index[row], labels.label_index[row], labels.annotator_index[row]
        votes = np.zeros((used.size, labels.items.size, labels.categories.size), np.int64)
        np.add.at(votes, (group, item, label), 1)
        few = [_few_who_differ(item[group == g], label[group == g], annotator[group == g]) for g in range(used.size)]
        return cls(known.names[used], votes, known.names[used][few])

    @property
    def repeated(self) -> NDArray[np.bool_]:
        """Groups that have an item of two votes or more; of others no claim about an item can be made."""
        return (self.votes.sum(axis=2) > 1).any(axis=1)

    @property
    def free(self) -> NDArray[np.int64]:
        """Groups that may be apart: of two the one of fewer votes, since only whether they differ can be known."""
        every = np.arange(self.names.size)
        return every if every.size > 2 else np.delete(every, self.votes.sum(axis=(1, 2)).argmax())

    def warn_of_few(self) -> None:
        """Warn of groups about which nothing can be known item by item, or little beyond the annotators who voted."""
        if not self.repeated.all():
            warn(
                f"no item has two votes of {shorten(self.names[~self.repeated])}: whether such a group sees an item "
                "its own way, or its one vote is by chance, cannot be known; averages over items are right, "
                "prob_different is NaN"
            )
        if self.few_who_differ.size:
            warn(
                f"the votes of {shorten(self.few_who_differ)} come from few annotators, who favour labels of their own "
                "whatever the item: intervals are about these annotators, too narrow for the group; ask more members"
            )


def _few_who_differ(item: NDArray[Any], label: NDArray[Any], annotator: NDArray[Any]) -> bool:
    """Return whether few annotators gave these votes, and could not have exchanged them.

    Cochran's test of each label: had the annotators of an item exchanged their labels at random, each annotator's
    number of this label would have the sum of its shares p among the votes of these items as mean, and the sum of
    p (1 - p) as variance.
    """
    size = np.unique(annotator, return_counts=True)[1]
    if size.size < 2 or item.size**2 >= MANY * (size**2).sum():
        return False
    said: Any = pd.get_dummies(pd.Series(label)).astype(float)
    share = said.groupby(item).transform("mean")
    variance = (share * (1 - share)).groupby(annotator).sum()
    squares = ((said - share).groupby(annotator).sum() ** 2 / variance).where(variance > 0)
    freedom = np.maximum(squares.count() - 1, 0)
    p_value = sp.special.gammaincc(freedom / 2, squares.mean().fillna(0) * freedom / 2)
    return bool(np.where(freedom > 0, p_value, 1.0).min() * said.shape[1] < TEST_LEVEL)


class Chains:
    """Markov chains over all items, side by side."""

    def __init__(self, problem: GroupVotes, prior: GroupDirichletPrior, n_chains: int, rng: Rng) -> None:
        self.problem, self.prior, self.rng = problem, prior, rng
        n_groups, n_items, n_labels = problem.votes.shape
        self.log_shape = np.full((n_chains, n_labels), -np.log(n_labels))
        self.share = np.zeros((n_chains, n_groups))
        self.share[:, problem.free] = 0.5  # from others, chains may not get back to the groups that are apart
        self.apart = np.zeros((n_chains, n_groups, n_items), bool)
        # Typical label of the common view, where a group is apart from it, and of each view of its own; else -1.
        self.typical = self.own = np.empty(0)

    def sweep(self) -> None:
        """Draw which groups are apart, typical labels, shares and shapes, each given the others."""
        votes, rng, shape = self.problem.votes, self.rng, np.exp(self.log_shape)
        whole, sizes, label = shape.sum(axis=1)[:, None], votes.sum(axis=2), np.arange(votes.shape[2])
        chain = np.arange(len(shape))[:, None, None]
        most = int(sizes.sum(axis=0).max())
        rising, of_all = _log_rising(shape, most), _log_rising(whole, most)[:, 0]
        # Chance that a typical label of the own view is not k, over that before any vote: (chain, group, item, label).
        other = np.maximum(whole - shape, 1e-300)[:, None, None]
        rarer = np.log((other + (sizes[..., None] - votes)) / other)
        rarer += np.log(whole[:, None] / (whole[:, None] + sizes))[..., None]
        # Log probability of a group's votes by themselves.
        own = rising[chain[..., None], label, votes].sum(axis=3) - of_all[:, sizes]

        def pattern(apart: NDArray[np.bool_]) -> tuple[Floats, Floats, NDArray[np.int64]]:
            """Log density of groups being apart, (chain, item); weights of typical labels, and pooled votes."""
            pooled = np.einsum("gik,cgi->cik", votes, ~apart)
            weight = np.exp(np.einsum("cgik,cgi->cik", rarer, apart)) * (shape[:, None] + pooled)
            size = pooled.sum(axis=2)
            value = np.einsum("cgi,cgi->ci", own, apart) + rising[chain, label, pooled].sum(axis=2)
            value += np.log(weight.sum(axis=2) / (whole + size)) - of_all[chain[..., 0], size]
            return value, weight, pooled

        def swap(to: NDArray[np.bool_], apart: NDArray[np.bool_], new: tuple[NDArray[Any], ...]) -> None:
            self.apart = np.where(to[:, None], apart, self.apart)
            for old, values in zip(now, new):
                old[to] = values[to]

        now, free = pattern(self.apart), self.share[0] > 0
        odds = sp.special.logit(self.share[:, free])
        for g, log_odds in zip(np.flatnonzero(free), odds.T):
            apart = self.apart ^ (np.arange(len(votes)) == g)[:, None]
            new = pattern(apart)
            gain = new[0] - now[0] + log_odds[:, None] * np.where(apart[:, g], 1, -1)
            swap(rng.random(gain.shape) < sp.special.expit(gain), apart, new)
        # Which groups are apart from which others, on all items at once: one by one the shares would hold them back.
        some = self.apart.any(axis=1) & ~self.apart[:, free].all(axis=1)
        apart = self.apart ^ (some[:, None] & free[:, None])
        new, n_items = pattern(apart), votes.shape[1]
        counts = (1 + of.sum(axis=2)[:, free] for of in (apart, self.apart))
        log_prior = [sp.special.betaln(n, self.prior.divided + n_items + 1 - n).sum(axis=1) for n in counts]
        gain = (new[0] - now[0]).sum(axis=1) + log_prior[0] - log_prior[1]
        swap((-rng.standard_exponential(gain.size) < gain)[:, None] & some, apart, new)
        _, weight, pooled = now
        self.typical = np.where(self.apart.any(axis=1), categories(rng, weight), -1)
        c, g, i = np.nonzero(self.apart)
        chance = shape[c] + votes[g, i]
        chance[np.arange(c.size), self.typical[c, i]] = 0.0
        self.own = np.full(self.apart.shape, -1)
        self.own[c, g, i] = categories(rng, chance)
        n_own = self.apart.sum(axis=2)
        drawn = rng.beta(1 + n_own, self.prior.divided + votes.shape[1] - n_own)[:, self.problem.free]
        self.share[:, self.problem.free] = np.clip(drawn, 1e-12, 1 - 1e-12)
        of_common = pooled + (self.typical[..., None] == label)
        of_own = votes[g, i] + (self.own[c, g, i, None] == label)
        owner = np.append(np.repeat(np.arange(len(shape)), votes.shape[1]), c)
        self._draw_shapes(owner, np.concatenate([of_common.reshape(-1, votes.shape[2]), of_own]), self.typical[c, i])

    def _draw_shapes(self, owner: NDArray[Any], rows: NDArray[Any], parted: NDArray[Any]) -> None:
        """Draw the shapes given rows of counts (row, category) of distributions, each of an `owner`, its chain.

        `parted` are the typical labels from which views of their own are apart; they belong to the last rows.
        """
        (n_chains, n_labels), centre = self.log_shape.shape, -np.log(self.log_shape.shape[1])
        number, of_all = (_histogram(owner, counts, n_chains) for counts in (rows, rows.sum(axis=1)[:, None]))
        apart = _histogram(owner[len(rows) - parted.size :], parted[:, None], n_chains, n_labels - 1)[:, 0]

        def density(log_shape: Floats) -> Floats:
            a = np.exp(log_shape)
            whole = a.sum(axis=1, keepdims=True)
            value = np.einsum("ckn,ckn->c", number, _log_rising(a, number.shape[2] - 1))
            value -= np.einsum("ckn,ckn->c", of_all, _log_rising(whole, of_all.shape[2] - 1))
            value -= np.einsum("ck,ck->c", apart, np.log(np.maximum(1 - a / whole, 1e-300)))
            value -= 0.5 * (((log_shape - centre) / self.prior.shape_sd) ** 2).sum(axis=1)
            return np.where((np.abs(log_shape) < FARTHEST).all(axis=1), value, -np.inf)

        for direction in (*np.eye(n_labels), np.ones(n_labels)):
            self.log_shape = _slice_step(self.rng, density, self.log_shape, direction)


def _log_rising(shape: Floats, most: int) -> Floats:
    """Return log of shape (shape + 1) ... (shape + n - 1) for n up to the most, (..., n)."""
    steps = np.log(shape[..., None] + np.arange(most))
    return np.concatenate([np.zeros_like(steps[..., :1]), np.cumsum(steps, axis=-1)], axis=-1)


def _histogram(owner: NDArray[Any], counts: NDArray[Any], n_owners: int, most: int = 0) -> NDArray[np.int64]:
    """Count how many rows of counts (row, category) have n of a category, by owner, (owner, category, n)."""
    width, n_labels = max(most, counts.max(initial=0)) + 1, counts.shape[1]
    cell = (owner[:, None] * n_labels + np.arange(n_labels)) * width + counts
    return np.bincount(cell.ravel(), minlength=n_owners * n_labels * width).reshape(n_owners, n_labels, width)


def _slice_step(rng: Rng, density: Callable[[Floats], Floats], at: Floats, direction: Floats) -> Floats:
    """Move every chain along a direction by slice sampling (Neal, 2003): step out, then shrink."""

    def inside(distance: Floats) -> NDArray[np.bool_]:
        return density(at + distance[:, None] * direction) > level

    level = density(at) - rng.standard_exponential(len(at))
    low = -WIDTH * rng.random(len(at))
    high = low + WIDTH
    while (beyond := inside(low)).any():
        low[beyond] -= WIDTH
    while (beyond := inside(high)).any():
        high[beyond] += WIDTH
    found, left = np.zeros(len(at)), np.ones(len(at), bool)
    while left.any():
        tried = low + (high - low) * rng.random(len(at))
        kept = left & inside(tried)
        found[kept] = tried[kept]
        left &= ~kept
        low, high = np.where(left & (tried < 0), tried, low), np.where(left & (tried >= 0), tried, high)
    return at + found[:, None] * direction


def _dirichlets(rng: Rng, shape: Floats) -> Floats:
    """Draw Dirichlet vectors, (..., category): from logarithms, which take longer, where all gammas may underflow."""
    if shape.min(initial=1.0) < SMALL_SHAPE:
        return np.exp(log_dirichlets(rng, shape))
    drawn = rng.standard_gamma(shape)
    return drawn / drawn.sum(axis=-1, keepdims=True)


@dataclass(frozen=True, eq=False)
class States:
    """States of all chains, with the state as second axis; `shared` consecutive draws belong to one."""

    problem: GroupVotes
    shared: int
    log_shape: Floats
    share: Floats
    typical: NDArray[np.int64]
    own: NDArray[np.int64]

    @classmethod
    def sample(cls, problem: GroupVotes, prior: GroupDirichletPrior | None, request: Request) -> "States":
        """Run the chains."""
        problem.warn_of_few()
        draws, n_chains, n_items = request.draws, request.chains, problem.votes.shape[1]
        most = min(max(MOST_KEPT // (n_items * n_chains), FEWEST_STATES), MOST_STATES)
        shared = next(d for d in range(1, draws + 1) if draws % d == 0 and draws // d <= most)
        rng = np.random.default_rng(stream_apart(request.random_seed, "parameters"))
        chains = Chains(problem, prior or GroupDirichletPrior(), n_chains, rng)
        for _ in range(WARM_UP):
            chains.sweep()
        kept: list[tuple[NDArray[Any], ...]] = []
        for _ in range(draws // shared):
            for _ in range(THIN):
                chains.sweep()
            labels = (of.astype(np.int16) for of in (chains.typical, chains.own))
            kept.append((chains.log_shape, chains.share.copy(), *labels))
        return cls(problem, shared, *(np.stack(one, axis=1) for one in zip(*kept)))

    @property
    def alone(self) -> Floats:
        """Probability that a group, or each of all others, is apart on an item, shape (chain, state, group)."""
        others = [np.delete(self.share, g, axis=2).prod(axis=2) for g in range(self.share.shape[2])]
        return 1 - (1 - self.share) * (1 - np.stack(others, axis=2))

    def different(self, items: slice) -> NDArray[np.bool_]:
        """Return where the typical label of a group's view is none of the most frequent ones of all other groups.

        Shape (group, chain, state, item).
        """
        own = self.own[..., items]
        view = np.where(own < 0, self.typical[:, :, None, items], own)[..., None] == np.arange(self.log_shape.shape[2])
        others = view.sum(axis=2, keepdims=True) - view
        return np.moveaxis((others * view).sum(axis=-1) < others.max(axis=-1) * view.any(axis=-1), 2, 0)

    def draw(self, items: slice, rng: Rng, groups: Iterable[int]) -> Iterator[Floats]:
        """Draw plausibilities of a block of items, (item, sample, category), for each of some groups.

        Draws of different groups are those of one joint draw, whichever groups are drawn.
        """
        votes, labels, sample = self.problem.votes[:, items], np.arange(self.log_shape.shape[2]), np.arange(self.shared)
        own, typical = (of.reshape(-1, *of.shape[2:]) for of in (self.own[..., items], self.typical[..., items]))
        shape = np.exp(self.log_shape.reshape(-1, 1, labels.size))
        root = cast(np.random.SeedSequence, rng.bit_generator.seed_seq)
        together = shape + np.einsum("gik,sgi->sik", votes, own < 0) + (typical[..., None] == labels)
        common = _dirichlets(rng, np.repeat(together, self.shared, axis=0).swapaxes(0, 1))
        for g in groups:
            stream, values = block_generator(seed_sequence(root), g), common.copy()
            state, item = np.nonzero(own[:, g] >= 0)
            alone = shape[state] + (votes[g, item] + (own[state, g, item, None] == labels))[:, None]
            drawn = _dirichlets(stream, np.repeat(alone, self.shared, axis=1))
            values[item[:, None], state[:, None] * self.shared + sample] = drawn
            yield values
