"""Gibbs sampler of `group_dirichlet`: its chains, and draws of blocks of items given their states.

A state holds what makes items independent: the parameters, and for each item how many votes count for the common
distribution (graded) or which groups are apart and a typical label of each view (divided). Plausibilities are drawn
exactly given a state, in blocks.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesagree._inference.streams import (
    Seed,
    block_generator,
    block_generators,
    map_blocks,
    seed_sequence,
    stream_apart,
)
from bayesagree._numerics.types import Floats, Rng
from bayesagree.annotations import Labels
from bayesagree.errors import as_python
from bayesagree.plausibility.group_dirichlet import _kernels as kernels
from bayesagree.plausibility.group_dirichlet import _source_kernels as sources
from bayesagree.plausibility.group_dirichlet._problem import GroupProblem

# Sweeps before the first state, from one state to the next, and to one with other means of the items.
WARM_UP, THIN, SETTLE = 300, 2, 10
# As many times more sweeps of careful votes, whose chains wander more slowly.
SLOWER = 3
# Items x states that are kept at most: of more items, consecutive draws share a state.
MOST_KEPT = 5_000_000
FEWEST_STATES = 50


class Chain:
    """One Markov chain over all items, whose means are one of the `bases` (set, item, category) after the other."""

    def __init__(self, problem: GroupProblem, rng: Rng, bases: Floats) -> None:
        self.problem, self.rng, prior = problem, rng, problem.prior
        self.bases, self.base = bases, bases[0]
        n_groups, n_items, n_labels = problem.votes.shape
        self.votes = problem.votes.copy() if problem.varies else problem.votes
        self.log_shape = np.full(n_labels, 0.0 if problem.informed else -np.log(n_labels))
        self.centre = self.log_shape.copy()
        start = np.log(prior.similarity) + rng.standard_normal(n_groups)
        # From beyond the ends a slice step would never return.
        self.log_similarity = np.clip(start, kernels.LOWEST, kernels.HIGHEST)
        self.share = np.where(problem.free, rng.random(n_groups), 0.0)
        self.leaning = np.tile(np.eye(n_labels + 1)[-1], (n_groups, 1))
        self.leaned = np.zeros((n_groups, n_labels + 1), np.int64)
        wide = n_groups + 1 if problem.divided else 1
        self.rows, self.row_item = np.zeros((n_items * wide, n_labels), np.int32), np.arange(n_items * wide)
        self.views = np.full((n_items, 1 + n_groups) if problem.divided else (0, 0), -1, np.int16)
        self.divisions = np.zeros(n_labels, np.int64)
        self.counts = problem.votes.sum(axis=0, dtype=np.int32)
        self.common = np.empty((n_items, 1, n_labels))
        self.source = np.zeros(problem.single.shape[1], np.int8)
        self.weight = np.full(problem.parts.shape[1], 1 / problem.parts.shape[1])
        self.care = np.full(problem.n_annotators, 0.9 if problem.careful else 1.0)
        self.habit = np.full((problem.n_annotators, n_labels), 1 / n_labels)
        self.log_care = np.log([prior.careful, prior.careless])
        self.care_counts = np.zeros((problem.n_annotators, 2), np.int32)
        self.draw_common()

    def draw_common(self) -> None:
        """Draw the common distributions given the state."""
        kernels.draw_common(self.rng, self.counts[None], self.log_shape[None], self.base[None], self.common)

    def sweep(self) -> None:
        """Draw every parameter and state given the others."""
        problem, rng, prior, common = self.problem, self.rng, self.problem.prior, self.common[:, 0]
        shape_sd = float(prior.shape_sd)
        if problem.varies:
            sources.draw_sources(
                rng, problem.single, self.votes, self.log_similarity, common, self.leaning, self.views, self.counts,
                self.log_shape, self.base, self.weight, self.care, self.habit, self.source,
            )  # fmt: skip
            self.weight = rng.dirichlet(1 + np.bincount(self.source + 1, minlength=self.weight.size + 1)[1:])
        if problem.careful:
            sources.draw_care(rng, problem.single, self.source, self.log_care, self.care, self.habit, self.care_counts)
            centre = np.log([prior.careful, prior.careless])
            kernels.draw_shapes(
                rng, self.care_counts, len(self.care_counts), self.log_care, np.zeros(2, np.int64), centre, 1.0
            )
        if problem.divided:
            n_rows = kernels.draw_divided(
                rng, self.votes, self.log_shape, self.base, self.share, self.views, self.counts,
                self.rows, self.row_item, self.divisions,
            )  # fmt: skip
            own = (self.views[:, 1:] >= 0).sum(axis=0)
            drawn = rng.beta(1 + own, prior.divided + len(self.views) - own)
            self.share = np.where(problem.free, np.clip(drawn, 1e-12, 1 - 1e-12), 0.0)
        else:
            centre, n_rows = np.log(prior.similarity), len(self.counts)
            how = rng, self.votes, common, self.leaning, self.log_similarity
            kernels.draw_similarity(*how, centre, float(prior.similarity_sd))
            sources.draw_tables(*how, self.counts, self.leaned)
            for g in np.flatnonzero(problem.leans):
                *own, others = self.leaned[g]
                share = rng.beta(1 + sum(own), prior.leaning + others)
                self.leaning[g] = np.append(share * rng.dirichlet(np.add(own, 1)), 1 - share)
            self.rows = self.counts
        if problem.informed:
            how = np.log(prior.worth), shape_sd
            kernels.draw_worth(rng, self.rows, self.row_item, n_rows, self.base, self.log_shape, *how)
        else:
            kernels.draw_shapes(rng, self.rows, n_rows, self.log_shape, self.divisions, self.centre, shape_sd)
        if not problem.divided:
            self.draw_common()

    def run(self, n_states: int) -> dict[str, NDArray[Any]]:
        """Return the states, each variable with the state as first axis."""
        problem, kept = self.problem, []
        times = SLOWER if problem.varies else 1
        for _ in range(WARM_UP * times):
            self.sweep()
        of_state = np.arange(n_states) * len(self.bases) // n_states
        for moved, at in zip(np.diff(of_state, prepend=0), of_state):
            self.base = self.bases[at]
            for _ in range((SETTLE if moved else THIN) * times):
                self.sweep()
            one: dict[str, Any] = {"log_shape": self.log_shape.copy()}
            if problem.divided:
                one |= {"share": self.share, "views": self.views.copy()}
            else:
                small = np.min_scalar_type(int(problem.votes.sum(axis=(0, 2)).max()))
                one |= {"log_similarity": self.log_similarity.copy(), "tables": self.counts.astype(small)}
                one["leaning"] = self.leaning.copy()
            if problem.careful:
                one["care"] = self.care.copy()
            if problem.varies:
                one |= {"source": self.source.copy(), "weight": self.weight}
            kept.append(one)
        return {name: np.stack([one[name] for one in kept]) for name in kept[0]}


@dataclass(frozen=True, eq=False)
class States:
    """States of all chains, each variable (chain, state, ...); `shared` consecutive draws belong to a state."""

    problem: GroupProblem
    values: dict[str, NDArray[Any]]
    shared: int

    def flat(self, name: str, *part: Any) -> NDArray[Any]:
        """Return a part of a variable with all states of all chains on one axis; empty where there is none.

        Contiguous, as all that the kernels take: they are compiled anew for every other layout.
        """
        found = self.values.get(name)
        if found is None:
            return np.zeros((0, 0), np.int16)
        return np.ascontiguousarray(found[(slice(None), slice(None), *part)].reshape(-1, *found[(0, 0, *part)].shape))

    @cached_property
    def alone(self) -> Floats:
        """Probability that a group is with no other one on an item, (chain, state, group).

        A group is alone if it is apart, or if all others are.
        """
        share = self.values["share"]
        others = np.stack([np.delete(share, g, axis=2).prod(axis=2) for g in range(share.shape[2])], axis=2)
        return 1 - (1 - share) * (1 - others)

    def parameters(self) -> dict[str, tuple[tuple[str, ...], NDArray[Any]]]:
        """Return the parameters of every draw, with their dims."""
        values, dims = self.values, ("chain", "draw", "level" if self.problem.crossed else "group")
        found = {"apart": self.alone} if self.problem.divided else {"similarity": np.exp(values["log_similarity"])}
        drawn = {name: (dims, np.repeat(one, self.shared, axis=1)) for name, one in found.items()}
        if not self.problem.divided:
            drawn["leaning"] = dims, 1 - np.repeat(values["leaning"][..., -1], self.shared, axis=1)
        if self.problem.crossed:
            drawn["weight"] = ("chain", "draw", "feature"), np.repeat(values["weight"], self.shared, axis=1)
        if self.problem.careful:
            drawn["careful"] = (("chain", "draw", "annotator"), np.repeat(values["care"], self.shared, axis=1))
        return drawn

    def named(self, labels: Labels) -> tuple[list[str], Floats]:
        """Return the names of the parameters that all items share, and their chains (chain, state, parameter)."""
        problem, shape = self.problem, self.values["log_shape"]
        main = self.alone if problem.divided else self.values["log_similarity"]
        names = [f"{'apart' if problem.divided else 'similarity'}[{name}]" for name in problem.levels]
        names += ["worth"] if problem.informed else [f"shape[{as_python(k)}]" for k in labels.categories]
        return names, np.concatenate([main, shape], axis=2)[:, :, : len(names)]

    def standpoints(self, items: slice) -> Floats:
        """Return 1 for the typical label of each group's view, (group, item, sample, category); divided form only."""
        views = self.flat("views", items)
        label = np.where(views[..., 1:] < 0, views[..., :1], views[..., 1:])
        one = (label[..., None] == np.arange(self.problem.votes.shape[2])).astype(np.float64)
        return np.repeat(np.ascontiguousarray(one.transpose(2, 1, 0, 3)), self.shared, axis=2)

    def draw(self, items: slice, rng: Rng, groups: Sequence[int]) -> Iterator[Floats]:
        """Draw plausibilities of a block of items, (item, sample, category) for each of some groups.

        Draws of different groups are those of one joint draw, whichever groups are drawn.
        """
        problem = self.problem
        log_shape = self.flat("log_shape")
        base = np.ascontiguousarray(problem.base[:, items]) if problem.informed else problem.base
        votes, views = problem.votes[None, :, items], self.flat("views", items)
        if problem.varies:
            first, last = np.searchsorted(problem.single[0], [items.start, items.stop])
            votes = np.empty((len(log_shape), *votes.shape[1:]), np.int32)
            single = np.ascontiguousarray(problem.single[:, first:last])
            sources.count_sources(single, items.start, self.flat("source", slice(first, last)), votes)
        if problem.divided:
            counts = np.einsum(
                "sgik,sig->sik", np.broadcast_to(votes, (len(views), *votes.shape[1:])), views[..., 1:] < 0
            )
            counts += views[..., :1] == np.arange(counts.shape[2])
        else:
            counts = self.flat("tables", items).astype(np.int32)
        n_items, n_samples, n_labels = items.stop - items.start, len(log_shape) * self.shared, problem.votes.shape[2]
        # Given the common distribution a group's own ones are independent draws: one for each state will do.
        common = np.empty((n_items, n_samples if problem.divided else len(log_shape), n_labels))
        root: Any = rng.bit_generator.seed_seq
        kernels.draw_common(rng, counts, log_shape, base, common)
        weight = np.repeat(self.flat("weight"), self.shared, axis=0) if problem.crossed else np.ones((1, 1))

        def of_level(g: int) -> Floats:
            out = np.empty((n_items, n_samples, n_labels))
            similarity = np.zeros(0) if problem.divided else self.flat("log_similarity", g)
            own = np.ascontiguousarray(views[:, :, 1 + g]) if problem.divided else views
            stream = block_generator(seed_sequence(root), g)
            leaning = np.zeros((0, 0)) if problem.divided else self.flat("leaning", g)
            mine = np.ascontiguousarray(votes[:, g])
            kernels.draw_group(stream, mine, common, leaning, similarity, own, log_shape, base, out)
            return out

        for group in groups:
            first, *others = problem.parts[group].tolist()
            drawn = of_level(first)
            if others:
                drawn *= weight[:, :1]
                for f, level in enumerate(others, 1):
                    drawn += weight[:, f : f + 1] * of_level(level)
            yield drawn


def draws_per_state(n_items: int, draws: int, chains: int) -> int:
    """Return how many consecutive draws of a chain share a state; it divides `draws`."""
    most = max(MOST_KEPT // (n_items * chains), FEWEST_STATES)
    return next(d for d in range(1, draws + 1) if draws % d == 0 and draws // d <= most)


def sample_states(problem: GroupProblem, draws: int, chains: int, seed: Seed) -> States:
    """Run the chains."""
    shared = draws_per_state(problem.votes.shape[1], draws, chains)
    generators = block_generators(stream_apart(seed, "parameters"), chains)
    bases = np.split(problem.base, chains) if problem.informed else [problem.base] * chains
    how = list(zip(generators, bases))
    kept = list(map_blocks(lambda chain: Chain(problem, *chain).run(draws // shared), how))
    return States(problem, {name: np.stack([one[name] for one in kept]) for name in kept[0]}, shared)
