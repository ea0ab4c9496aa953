"""The posterior of strengths and effects of annotators: its density, its mode, its curvature."""

import math
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy as sp

from bayesagree._types import Advance, Floats, Integers, Named, Pair, Rng
from bayesagree.annotations.comparisons import TIE, Comparisons
from bayesagree.comparisons._cells import Cells, outcome_probabilities, slopes_by_distance
from bayesagree.comparisons.prior import DavidsonPrior
from bayesagree.errors import InputError, one_of
from bayesagree.inference.hamiltonian import walk

Effect = Literal["common", "annotator"] | None

# Logarithms of scales and odds beyond this are this: trajectories that went astray.
LARGEST = 50.0
# A walker starts at most this and one per parameter below the centre, in log density: a normal one has half of it.
FARTHEST = 10.0
# Walkers that make a chain one after the other, each of as many draws or more.
WALKERS, FEWEST_DRAWS = 4, 100
# The effects that each scale is of.
OF_SCALE = {
    "strength_sd": "strength",
    "item_sd": "item",
    "tie_sd": "tie_by",
    "order_sd": "order_by",
    "discrimination_sd": "discrimination_by",
}


class Form(NamedTuple):
    """Which effects a model has."""

    ties: Effect
    order: Effect
    discrimination: Effect
    item_effects: bool

    @property
    def cells(self) -> dict[str, bool]:
        """What tells cells apart."""
        by_annotator = "annotator" in (self.ties, self.order, self.discrimination)
        return {"oriented": self.order is not None, "by_item": self.item_effects, "by_annotator": by_annotator}


# Comparisons of an annotator on average from which each has effects by default, and annotators up to which: chains take
# time in proportion to the cube of their number.
ENOUGH, MOST_ANNOTATORS = 10, 300


def form_of(comparisons: Comparisons, requested: Named, item_effects: bool) -> Form:
    """Return the effects that were requested, after checks; of "auto" those that the comparisons can tell."""
    several = 2 <= comparisons.annotators.size <= MOST_ANNOTATORS
    rich = several and comparisons.n_comparisons >= ENOUGH * comparisons.annotators.size
    ties = int((comparisons.outcome == TIE).sum())
    # Chains with discriminations and a strength for each item mix slowly.
    there = {"ties": ties > 0, "order": comparisons.order_known, "discrimination": rich and not item_effects}
    effects = {}
    for name, value in requested.items():
        one_of(value, name, ("auto", "common", "annotator", None))
        if value == "annotator" and comparisons.annotators.size == 0:
            raise InputError(
                f"{name}='annotator', but the annotators are unknown; pass annotator= to Comparisons.from_long, or "
                f"{name}='common'"
            )
        chosen = ("annotator" if rich else "common") if there[name] else None
        effects[name] = chosen if value == "auto" else value
    if effects["order"] and not comparisons.order_known:
        raise InputError(
            f"order={requested['order']!r}, but nobody knows which model was shown first; pass order=None"
        )
    if item_effects and comparisons.items.size == 0:
        raise InputError("item_effects=True, but the items are unknown; pass item= to Comparisons.from_long")
    if effects["ties"] is None and ties:
        raise InputError(f"ties=None, but {ties} comparisons are ties; pass ties='common', or drop these rows")
    if effects["discrimination"] == "common":  # the scale of the strengths
        effects["discrimination"] = None
    return Form(**effects, item_effects=bool(item_effects))


class Density:
    """Log posterior of one model. A point holds coordinates of the effects, then logarithms of the scales.

    Effects are coordinates times factors; log discriminations are then relative to their mean. The outcomes of a cell
    depend on four numbers that are linear in the effects, `design`: the difference of strengths, the log of the
    discrimination, that of nu, and the advantage of the first place. A factor is the standard deviation, and the prior
    of the coordinates standard normal, as long as they are not `recentred`.
    """

    def __init__(self, cells: Cells, form: Form, prior: DavidsonPrior) -> None:
        self.cells, self.form, self.prior = cells, form, prior
        n_cells = cells.first.size
        n_entries = cells.entry_model.size
        cell = np.arange(cells.first.size)

        def one_hot(column: Integers, n: int) -> Any:
            return sp.sparse.csr_array((np.ones(n_cells), (cell, column)), shape=(n_cells, n))

        ends = one_hot(cells.first, n_entries) - one_hot(cells.second, n_entries)
        everyone = one_hot(np.zeros(n_cells, int), 1)
        who = one_hot(cells.annotator, cells.n_annotators)
        model = np.eye(int(cells.entry_model.max()) + 1)[cells.entry_model]
        kinds = {
            "strength": (0, sp.sparse.csr_array(ends @ model), True),
            "item": (0, ends, form.item_effects),
            "discrimination_by": (1, who, form.discrimination == "annotator"),
            "tie": (2, everyone, form.ties is not None),
            "tie_by": (2, who, form.ties == "annotator"),
            "order": (3, everyone, form.order is not None),
            "order_by": (3, who, form.order == "annotator"),
        }
        blocks = {name: (row, block) for name, (row, block, there) in kinds.items() if there}
        self.design = sp.sparse.vstack([
            sp.sparse.hstack([block if of == row else 0 * block for of, block in blocks.values()]) for row in range(4)
        ]).tocsr()  # fmt: skip
        self.to_effects = self.design.T.tocsr()
        self.scale_prior = {
            name: getattr(prior, name.replace("_sd", "_scale"))
            for name, effect in OF_SCALE.items()
            if effect in blocks and not (name == "strength_sd" and prior.strength_sd is not None)
        }
        ends_at = np.cumsum([*(block.shape[1] for _, block in blocks.values()), *(1 for _ in self.scale_prior)])
        self.place = dict(
            zip([*blocks, *self.scale_prior], map(slice, [0, *ends_at[:-1].tolist()], ends_at.tolist()))
        )
        self.size = int(ends_at[-1])
        self.n_normal = self.size - len(self.scale_prior)
        self.slopes = self.place.get("discrimination_by", slice(0, 0))
        fixed = {"strength": prior.strength_sd or 1.0, "tie": prior.tie_sd, "order": prior.order_sd}
        self.fixed = np.ones(self.n_normal)
        for name, sd in fixed.items():
            self.fixed[self.place.get(name, slice(0, 0))] = sd
        # Scale of each coordinate; those with a fixed scale take the last entry, which is a logarithm of 0.
        self.scale_of = np.full(self.n_normal, len(self.scale_prior))
        for s, name in enumerate(self.scale_prior):
            self.scale_of[self.place[OF_SCALE[name]]] = s
        self.of_scale = (self.scale_of[:, None] == np.arange(len(self.scale_prior))).astype(float)
        self.share, self.log_centre = np.zeros((2, len(self.scale_prior) + 1))
        self.scale_priors, self.sizes = np.array([*self.scale_prior.values()]), self.of_scale.sum(axis=0)

    def recentred(self, point: Floats) -> None:
        """Let coordinates follow their scales by as much as comparisons, and not the prior, determine them at a point.

        A coordinate is the effect over s0 (s / s0)^(1 - c) for the scale s, its value s0 at the point, and the share c
        (Papaspiliopoulos, Roberts and Skold, "A general framework for the parametrization of hierarchical models",
        Statistical Science 22, 2007): well-known effects do not depend on their scale, unknown ones are
        proportional to it. The point stays what it is.
        """
        normal = slice(0, self.n_normal)
        variance = np.linalg.inv(self.precision(point)[normal, normal]).diagonal()
        self.share[:-1] = np.clip(1 - variance @ self.of_scale / self.sizes, 0, 1)
        self.log_centre[:-1] = self.log_scales(point)

    def log_scales(self, point: Floats) -> Floats:
        """Return the logarithms of the standard deviations at points (..., parameter)."""
        return point[..., self.n_normal :].clip(-LARGEST, LARGEST)

    def factors(self, point: Floats) -> Pair:
        """Return factors and precisions of the coordinates at points (..., parameter)."""
        logs = self.log_scales(point)
        away = np.concatenate([logs, np.zeros((*logs.shape[:-1], 1))], axis=-1) - self.log_centre
        factor = np.exp(away * (1 - self.share) + self.log_centre)[..., self.scale_of] * self.fixed
        return factor, np.exp(-2 * self.share * away)[..., self.scale_of]

    def relative(self, effects: Floats) -> Floats:
        """Take the mean of the log discriminations, or of slopes by them, off these, in place."""
        if self.slopes.stop:
            effects[..., self.slopes] -= effects[..., self.slopes].mean(axis=-1, keepdims=True)
        return effects

    def of_cells(self, effects: Floats) -> list[Floats]:
        """Return difference of strengths, discrimination, log nu and order, (cell, ...), from effects (..., effect)."""
        quality, log_slope, tie, order = np.split(self.design @ self.relative(effects.copy()).T, 4)
        log_odds = (tie + self.prior.tie_mean).clip(-LARGEST, LARGEST)
        return [quality, np.exp(log_slope.clip(-LARGEST, LARGEST)), log_odds, order]

    def log_likelihood(self, effects: Floats) -> tuple[Any, Floats]:
        """Return the log likelihood and its slopes by effects (..., effect).

        Of a distance d the log weights of the outcomes are d/2, -d/2 and log nu.
        """
        quality, slope, tie, order = self.of_cells(effects)
        wins, losses, ties = self.cells.counts
        half = (slope * quality + order) / 2
        ahead = wins - losses
        n = wins + losses + ties
        far = np.abs(half)
        small = np.exp(-far)
        tied = np.exp(tie) * small if self.form.ties else 0.0 * small
        total = 1 + small * small + tied
        value = ahead @ half - n @ (far + np.log(total)) + ties @ tie
        ahead, n, ties = (of_cell.reshape(-1, *[1] * (effects.ndim - 1)) for of_cell in (ahead, n, ties))
        share = n / total
        by_distance = (ahead - np.sign(half) * share * (1 - small * small)) / 2
        along = slope * by_distance
        by = np.concatenate([along, along * quality, ties - share * tied, by_distance])
        return value, self.relative((self.to_effects @ by).T)

    def variables(self, points: Floats) -> dict[str, Floats]:
        """Return what a result keeps of points (..., parameter)."""
        effects = self.factors(points)[0] * points[..., : self.n_normal]
        effect = {
            name: effects[..., place] for name, place in self.place.items() if name not in self.scale_prior
        }
        strength = effect["strength"]
        found = {"strength": strength - strength.mean(axis=-1, keepdims=True)}
        found |= dict(zip(self.scale_prior, np.moveaxis(np.exp(self.log_scales(points)), -1, 0)))
        for name, mean, kind in (("tie", self.prior.tie_mean, self.form.ties), ("order", 0.0, self.form.order)):
            if kind:
                found[f"average_{name}"] = mean + effect[name][..., 0]
                found[name] = found[f"average_{name}"]
            if kind == "annotator":
                found[name] = found[name][..., None] + effect[f"{name}_by"]
        if self.form.discrimination:
            found["discrimination"] = np.exp(self.relative(effects)[..., self.slopes])
        return found

    def __call__(self, point: Floats) -> tuple[Any, Floats]:
        """Return log densities of points (..., parameter), up to a constant of the normal distributions, and slopes."""
        normal, (factor, precision) = point[..., : self.n_normal], self.factors(point)
        value, by_effect = self.log_likelihood(factor * normal)
        by_normal, pulled = by_effect * factor, precision * normal
        share, logs = self.share[:-1], self.log_scales(point)
        pull = (pulled * normal) @ self.of_scale
        along = (by_normal * normal) @ self.of_scale
        scaled = np.exp(2 * logs) / self.scale_priors**2
        # Half-normal, with the Jacobian of the logarithm.
        of_scales = (1 - share) * along + share * (pull - self.sizes) + 1 - scaled
        value = value + (logs - np.log(self.scale_priors) - 0.5 * scaled + 0.5 * math.log(2 / math.pi)).sum(
            axis=-1
        )
        value = (
            value - (share * (logs - self.log_centre[:-1])) @ self.sizes - 0.5 * (pulled * normal).sum(axis=-1)
        )
        return value, np.concatenate([by_normal - pulled, of_scales], axis=-1)

    def precision(self, point: Floats) -> Floats:
        """Return the expected information of the comparisons plus the precision of the prior: positive definite."""
        factor, precision = self.factors(point)
        effects = factor * point[: self.n_normal]
        quality, slope, tie, order = self.of_cells(effects)
        p = np.stack(outcome_probabilities(slope * quality + order, np.exp(tie) * (self.form.ties is not None)))
        often = self.cells.counts.sum(axis=0) * p
        strength, log_slope, of_tie, first = (
            self.design[kind * quality.size : (kind + 1) * quality.size] for kind in range(4)
        )
        of_distance = strength.multiply(slope[:, None]) + log_slope.multiply((slope * quality)[:, None]) + first
        of_each = ((of_distance.tocsr(), slopes_by_distance(p)), (of_tie, np.stack([-p[2], -p[2], 1 - p[2]])))
        information: Any = sum(
            (left.T @ right.multiply((often * a * b).sum(axis=0)[:, None])).toarray()
            for left, a in of_each
            for right, b in of_each
        )
        information = self.relative(self.relative(information).T)
        by_scale = (effects * (1 - self.share[self.scale_of]))[:, None] * self.of_scale
        half = np.hstack([information * factor, information @ by_scale])
        of_scales = 2 * np.exp(2 * self.log_scales(point)) / self.scale_priors**2
        of_scales += 2 * self.share[:-1] ** 2 * self.sizes
        found = np.vstack([factor[:, None] * half, by_scale.T @ half])
        return found + np.diag(np.concatenate([precision, of_scales]))

    def mode(self, point: Floats) -> Floats:
        """Return the point of highest density with the scales of `point`."""
        scales = point[self.n_normal :]

        def loss(normal: Floats) -> tuple[float, Floats]:
            height, slope = self(np.append(normal, scales))
            return -float(height), -slope[: self.n_normal]

        found = sp.optimize.minimize(loss, point[: self.n_normal], jac=True, method="L-BFGS-B")
        return np.append(found.x, scales)

    def start(self) -> Floats:
        """Return a typical point: scales that fit the mode with half of their prior scales, and their own mode.

        The joint mode has scales that are larger than nearly anywhere.
        """
        point = np.concatenate([np.zeros(self.n_normal), np.log(self.scale_priors / 2)])
        n = self.n_normal
        point = self.mode(point)
        variance = np.linalg.inv(self.precision(point)[:n, :n]).diagonal()
        grown = np.sqrt((point[:n] ** 2 + variance) @ self.of_scale / self.sizes)
        point[:n] /= np.append(grown, 1.0)[self.scale_of]
        point[n:] += np.log(grown)
        return self.mode(point)

    def sample(self, start: Floats, draws: int, chains: int, rng: Rng, progress: Advance) -> Floats:
        """Return draws, shape (chain, draw, parameter): a few walkers in turn make a chain, and all move at once."""
        value, vector = np.linalg.eigh(self.precision(start))
        units = vector / np.sqrt(value)
        walkers = min(WALKERS, -(-draws // FEWEST_DRAWS))
        away = rng.standard_normal((chains * walkers, self.size)) @ units.T
        with np.errstate(over="ignore", invalid="ignore"):  # trajectories that go astray are rejected
            # The curvature vanishes where a scale is small: there one standard deviation may lead out of reach.
            lowest = self(start)[0] - self.size - FARTHEST
            while (far := ~(self(start + away)[0] > lowest)).any():
                away[far] /= 2
            found = walk(self, start + away, units, -(-draws // walkers), rng, progress)
        return found.reshape(chains, -1, self.size)[:, :draws]
