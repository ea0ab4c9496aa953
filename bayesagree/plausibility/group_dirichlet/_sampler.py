"""Votes of each group, and the Gibbs sampler of `group_dirichlet`: all chains side by side, all items at once.

A state holds what makes items independent: the shapes a, and for each item which groups are apart and a typical label
of each view. All distributions are integrated out; plausibilities are drawn exactly given a state, block by block.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import scipy as sp

from bayesagree._types import Array, Booleans, Floats, Integers, Rng
from bayesagree.annotations import Labels
from bayesagree.annotations.groups import Groups
from bayesagree.errors import InputError, shorten, warn
from bayesagree.inference.cells import cell_sums
from bayesagree.inference.kernel_draws import categories, log_dirichlets
from bayesagree.inference.posterior import Request
from bayesagree.inference.streams import block_generator, seed_sequence, stream_apart
from bayesagree.plausibility._side_by_side import Counts, slice_step
from bayesagree.plausibility.group_dirichlet.prior import GroupDirichletPrior

# Sweeps before the first state, and from one state to the next.
WARM_UP, THIN = 200, 2
# Items x states that are kept at most: of more items, consecutive draws share a state.
MOST_KEPT, FEWEST_STATES = 5_000_000, 50
MOST_STATES = 500
# End of log shapes, and the width of slice steps, of them and of logits of shares.
FARTHEST, WIDTH = 9.5, 1.5

# Group of each annotator: a mapping or a series by annotator, or ready groups.
MembersOfGroups = Mapping[Any, Any] | pd.Series | Groups


@dataclass(frozen=True, eq=False)
class GroupVotes:
    """Votes of the groups that voted.

    `names` of groups, `categories`, `votes` (group, item, category); `sampled` are states that were drawn.
    """

    names: Array
    categories: Array
    votes: Integers
    sampled: "list[States]" = field(default_factory=list)

    @classmethod
    def of(cls, labels: Labels, groups: MembersOfGroups) -> "GroupVotes":
        """Count the votes of each group that has any."""
        known = groups if isinstance(groups, Groups) else Groups.by_annotator(labels, groups)
        code = known.of_rows(labels)
        row = labels.row_of_each()
        row = row[code[row] >= 0]
        used, group = np.unique(code[row], return_inverse=True)
        if used.size < 2:
            raise InputError(
                f"there must be votes of two groups or more; only {shorten(known.names[used])} voted"
            )
        shape = used.size, labels.items.size, labels.categories.size
        votes = cell_sums(shape, group, labels.item_index[row], labels.label_index[row])
        return cls(known.names[used], labels.categories, votes)

    @property
    def repeated(self) -> Booleans:
        """Groups that have an item of two votes or more; of others no claim about an item can be made."""
        return (self.votes.sum(axis=2) > 1).any(axis=1)

    @property
    def free(self) -> Integers:
        """Groups that may be apart: of two the one of fewer votes, since only whether they differ can be known."""
        every = np.arange(self.names.size)
        return every if every.size > 2 else np.delete(every, self.votes.sum(axis=(1, 2)).argmax())

    def states(self, prior: GroupDirichletPrior | None, request: Request) -> "States":
        """Run the chains, once."""
        if not self.sampled:
            if not self.repeated.all():
                warn(
                    f"no item has two votes of {shorten(self.names[~self.repeated])}: whether such a group sees an "
                    "item its own way, or its one vote is by chance, cannot be known; averages over items are right, "
                    "prob_different is NaN"
                )
            draws, n_chains = request.draws, request.chains
            most = min(max(MOST_KEPT // (self.votes.shape[1] * n_chains), FEWEST_STATES), MOST_STATES)
            shared = next(d for d in range(1, draws + 1) if draws % d == 0 and draws // d <= most)
            rng = np.random.default_rng(stream_apart(request.random_seed, "parameters"))
            chains = Chains(self, prior or GroupDirichletPrior(), n_chains, rng)
            kept = []
            for sweep in range(1, WARM_UP + THIN * draws // shared + 1):
                chains.sweep()
                if sweep > WARM_UP and (sweep - WARM_UP) % THIN == 0:
                    labels = (of.astype(np.int16) for of in (chains.typical, chains.own))
                    kept.append((chains.log_shape, chains.share.copy(), *labels))
                    if request.progress is not None:
                        request.progress(n_chains)
            self.sampled.append(States(self, shared, *(np.stack(one, axis=1) for one in zip(*kept))))
        return self.sampled[0]


class Chains:
    """Markov chains over all items, side by side."""

    def __init__(self, problem: GroupVotes, prior: GroupDirichletPrior, n_chains: int, rng: Rng) -> None:
        self.problem, self.prior, self.rng = problem, prior, rng
        self.votes = np.ascontiguousarray(problem.votes.transpose(2, 0, 1))
        n_groups, n_items, n_labels = problem.votes.shape
        self.log_shape: Floats = np.full((n_chains, n_labels), -np.log(n_labels))
        self.share = np.zeros((n_chains, n_groups))
        self.share[:, problem.free] = 0.5  # from others, chains may not get back to the groups that are apart
        self.apart = np.zeros((n_chains, n_groups, n_items), bool)
        # Typical label of the common view, where a group is apart from it, and of each view of its own; else -1.
        self.typical = self.own = np.empty(0)

    def sweep(self) -> None:
        """Draw which groups are apart, typical labels, shares and shapes, each given the others.

        Arrays have shape (category, chain, [group,] item).
        """
        votes, rng, (n_chains, n_labels) = self.votes, self.rng, self.log_shape.shape
        shape = np.exp(self.log_shape).T
        sizes = votes.sum(axis=0)
        n_items = votes.shape[2]
        whole = shape.sum(axis=0)
        most = int(sizes.sum(axis=0).max())
        chain = np.arange(n_chains)
        rising, of_all = _log_rising(shape, most), _log_rising(whole, most)
        # Log probability of a group's votes by themselves, (chain, group, item).
        alone = sum(one[:, n] for one, n in zip(rising, votes)) - of_all[:, sizes]
        # Chance that a typical label of the own view is not k, over that before any vote.
        rarer = np.log1p((sizes - votes)[:, None] / np.maximum(whole - shape, 1e-300)[..., None, None])
        rarer -= np.log1p(sizes / whole[:, None, None])

        def density(apart: Booleans) -> tuple[Floats, Floats, Integers]:
            """Log density of the state of each item, weights of its typical label, and pooled votes."""
            pooled = np.einsum("kgi,cgi->kci", votes, (~apart).astype(int))
            weight = np.exp(np.einsum("kcgi,cgi->kci", rarer, apart)) * (shape[..., None] + pooled)
            size, at = pooled.sum(axis=0), chain[:, None]
            value = np.log(weight.sum(axis=0) / (whole[:, None] + size)) - of_all[at, size]
            value += sum(one[at, n] for one, n in zip(rising, pooled)) + (alone * apart).sum(axis=1)
            return value, weight, pooled

        apart, free, divided = self.apart, self.problem.free, self.prior.divided
        now, *_ = density(apart)
        for g in free:
            turned = apart.copy()
            turned[:, g] ^= True
            new, *_ = density(turned)
            odds = np.where(apart[:, g], now - new, new - now)

            def of_share(logit: Floats, odds: Floats = odds) -> Floats:
                """Log density of a share: whether the group is apart on an item is summed out, or they would stick."""
                yes, no = sp.special.log_expit(logit), sp.special.log_expit(-logit)
                return yes + divided * no + np.logaddexp(no[:, None], yes[:, None] + odds).sum(axis=1)

            logit = slice_step(rng, of_share, sp.special.logit(self.share[:, g]), WIDTH)
            chosen = rng.random(odds.shape) < sp.special.expit(logit[:, None] + odds)
            now, apart[:, g] = np.where(chosen == apart[:, g], now, new), chosen
        # Which groups are apart from which others, on all items at once: one by one the shares would hold them back.
        some = apart.any(axis=1) & ~apart[:, free].all(axis=1)
        turned = apart.copy()
        turned[:, free] ^= some[:, None]
        gain = (density(turned)[0] - now).sum(axis=1)
        for sign, of in ((1, turned), (-1, apart)):
            n = of.sum(axis=2)[:, free]
            gain += sign * sp.special.betaln(1 + n, divided + n_items - n).sum(axis=1)
        self.apart = apart = np.where(
            (-rng.standard_exponential(n_chains) < gain)[:, None, None], turned, apart
        )
        n_own = apart.sum(axis=2)[:, free]
        _, weight, pooled = density(apart)
        typical = categories(rng, np.moveaxis(weight, 0, -1))
        self.typical, self.own = np.where(apart.any(axis=1), typical, -1), np.full(apart.shape, -1)
        c, g, i = np.nonzero(apart)
        chance = shape[:, c] + votes[:, g, i]
        chance[typical[c, i], np.arange(c.size)] = 0.0
        self.own[c, g, i] = categories(rng, chance.T)
        self.share[:, free] = np.clip(rng.beta(1 + n_own, divided + n_items - n_own), 1e-12, 1 - 1e-12)
        label = np.arange(n_labels)[:, None]
        of_common = pooled + (self.typical == label[..., None])
        of_own = votes[:, g, i] + (self.own[c, g, i] == label)
        rows = np.concatenate([of_common.reshape(n_labels, -1), of_own], axis=1)
        self._draw_shapes(np.append(np.repeat(chain, n_items), c), rows, typical[c, i])

    def _draw_shapes(self, owner: Array, rows: Array, parted: Array) -> None:
        """Draw the shapes given counts of distributions (category, row), each of an `owner`, its chain.

        `parted` are the typical labels from which views of their own are apart; they belong to the last rows.
        """
        (n_chains, n_labels), centre = self.log_shape.shape, -np.log(self.log_shape.shape[1])
        chain = np.arange(n_chains)
        given = Counts.of(owner * n_labels + np.arange(n_labels)[:, None], rows, n_chains * n_labels)
        of_all = Counts.of(owner, rows.sum(axis=0), n_chains)
        group = np.repeat(chain, n_labels)
        apart = cell_sums((n_chains, n_labels), owner[owner.size - parted.size :], parted)

        def density(log_shape: Floats) -> Floats:
            a = np.exp(log_shape)
            whole = a.sum(axis=1)
            value = given.log_density(a, group) - of_all.log_density(whole, chain)
            value -= (apart * np.log(np.maximum(1 - a / whole[:, None], 1e-300))).sum(axis=1)
            value -= 0.5 * (((log_shape - centre) / self.prior.shape_sd) ** 2).sum(axis=1)
            return np.where((np.abs(log_shape) < FARTHEST).all(axis=1), value, -np.inf)

        for direction in (*np.eye(n_labels), np.ones(n_labels)):

            def along(distance: Floats, at: Any = self.log_shape, way: Any = direction) -> Floats:
                return density(at + distance[:, None] * way)

            moved = slice_step(self.rng, along, np.zeros(n_chains), WIDTH)
            self.log_shape = self.log_shape + moved[:, None] * direction


def _log_rising(shape: Floats, most: int) -> Floats:
    """Return log of shape (shape + 1) ... (shape + n - 1) for n up to the most, (..., n)."""
    steps = np.log(shape[..., None] + np.arange(most))
    return np.concatenate([np.zeros_like(steps[..., :1]), np.cumsum(steps, axis=-1)], axis=-1)


@dataclass(frozen=True, eq=False)
class States:
    """States of all chains, with the state as second axis; `shared` consecutive draws belong to one."""

    problem: GroupVotes
    shared: int
    log_shape: Floats
    share: Floats
    typical: Integers
    own: Integers

    @property
    def alone(self) -> Floats:
        """Probability that a group, or each of all others, is apart on an item, shape (chain, state, group)."""
        others = [np.delete(self.share, g, axis=2).prod(axis=2) for g in range(self.share.shape[2])]
        return 1 - (1 - self.share) * (1 - np.stack(others, axis=2))

    def different(self, items: slice) -> Booleans:
        """Return where the typical label of a group's view is none of the most frequent ones of all other groups.

        Shape (group, chain, state, item).
        """
        own, labels = self.own[..., items], np.arange(self.log_shape.shape[2])
        view = np.where(own < 0, self.typical[:, :, None, items], own)[..., None] == labels
        others = view.sum(axis=2, keepdims=True, dtype=np.int16) - view
        return np.moveaxis((others * view).sum(axis=-1) < others.max(axis=-1) * view.any(axis=-1), 2, 0)

    def draw(self, items: slice, rng: Rng, groups: Iterable[int]) -> Iterator[Floats]:
        """Draw plausibilities of a block of items, (item, sample, category), for each of some groups.

        Draws of different groups are those of one joint draw, whichever groups are drawn.
        """
        votes = self.problem.votes[:, items]
        labels = np.arange(self.log_shape.shape[2])
        own, typical = (
            of.reshape(-1, *of.shape[2:]) for of in (self.own[..., items], self.typical[..., items])
        )
        shape = np.exp(self.log_shape.reshape(-1, 1, labels.size))
        root: Any = rng.bit_generator.seed_seq
        together = shape + np.einsum("gik,sgi->sik", votes, own < 0) + (typical[..., None] == labels)
        common = np.exp(log_dirichlets(rng, np.repeat(together, self.shared, axis=0).swapaxes(0, 1)))
        for g in groups:
            stream, values = block_generator(seed_sequence(root), g), common.copy()
            state, item = np.nonzero(own[:, g] >= 0)
            alone = shape[state] + (votes[g, item] + (own[state, g, item, None] == labels))[:, None]
            drawn = np.exp(log_dirichlets(stream, np.repeat(alone, self.shared, axis=1)))
            values[item[:, None], state[:, None] * self.shared + np.arange(self.shared)] = drawn
            yield values
