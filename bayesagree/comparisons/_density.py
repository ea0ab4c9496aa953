"""The posterior of strengths and effects of annotators: its density, its mode, its curvature."""

import math
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy as sp

from bayesagree._types import Floats, Rng
from bayesagree.annotations.comparisons import TIE, Comparisons
from bayesagree.comparisons._cells import Cells, Natural
from bayesagree.comparisons.prior import DavidsonPrior
from bayesagree.errors import InputError
from bayesagree.inference.hamiltonian import Chain

Effect = Literal["common", "annotator"] | None

# Logarithms of scales and odds beyond this are this: trajectories that went astray.
LARGEST = 50.0
# Most steps of Newton's method; gains in log density below which it stops; share of a step below which it gives up.
NEWTON, CLOSE, CLOSE_IN_EM, SHORTEST_STEP = 50, 1e-6, 0.1, 1e-6
# Rounds in which the scales are fitted to start from.
EM = 10
# Prior scales up to which that of discriminations grows there, without and with item effects: beyond, at the mode, the
# strengths and a few annotators' discriminations vanish while the others grow, from where chains seldom return.
WIDEST = {False: 1.0, True: 0.5}
# A chain starts at most this and one per parameter below the centre, in log density: a normal one has half of it.
FARTHEST = 10.0
# The effects that each scale is of.
OF_SCALE = {
    "strength_sd": "strength",
    "item_sd": "item",
    "tie_sd": "tie_by",
    "order_sd": "order_by",
    "discrimination_sd": "discrimination_by",
}
# A quarter of a circle, pi / 2, makes a draw of a normal target independent; random lengths meet no period.
SHORTEST, LONGEST = 0.8, 2.0
# Trajectories that set the step of each chain, and the acceptance that it leads to, without and with item effects: with
# them strengths hardly vary where the items explain them, and a long step keeps a chain there for hundreds of draws.
TUNE, ACCEPTANCE = 150, {False: 0.8, True: 0.9}
# The effects, in the order of their coordinates.
PARTS = ("strength", "item", "discrimination_by", "tie", "tie_by", "order", "order_by", "covariate")


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


def form_of(comparisons: Comparisons, requested: dict[str, Any], item_effects: bool) -> Form:
    """Return the effects that were requested, after checks; of "auto" those that the comparisons can tell."""
    n, several = comparisons.n_comparisons, 2 <= comparisons.annotators.size <= MOST_ANNOTATORS
    rich = several and n >= ENOUGH * comparisons.annotators.size
    ties = int((comparisons.outcome == TIE).sum())
    # Chains with discriminations and a strength for each item mix slowly.
    there = {"ties": ties > 0, "order": comparisons.order_known, "discrimination": rich and not item_effects}
    effects: dict[str, Any] = {}
    for name, value in requested.items():
        if value not in ("auto", "common", "annotator", None):
            raise InputError(f"{name}={value!r} is not one of 'auto', 'common', 'annotator', None")
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
    """Log posterior of one model. The point holds coordinates of the effects, then logarithms of the scales.

    The natural parameters, of discriminations the logarithms, are linear: constant + matrix (factor * coordinates). A
    factor is the standard deviation, and the prior of the coordinates standard normal, as long as they are not
    `recentred`.
    """

    def __init__(self, cells: Cells, form: Form, prior: DavidsonPrior) -> None:
        self.cells, self.form, self.prior = cells, form, prior
        n, n_entries, n_covariates = cells.n_annotators, cells.entry_model.size, cells.covariates.shape[0]
        self.n_models = int(cells.entry_model.max()) + 1
        sizes = (n_entries, n, n, n, n_covariates)
        by = {name: getattr(form, name) == "annotator" for name in ("ties", "order", "discrimination")}
        self.parts = [slice(end - k, end) for k, end in zip(sizes, np.cumsum(sizes).tolist())]
        self.slopes = slice(n_entries, n_entries + n)
        # First natural parameter that an effect adds to, the coordinate that each of them takes, number of coordinates.
        who, one, entry = np.arange(n), np.zeros(n, np.int64), np.arange(n_entries)
        blocks = {
            "strength": (0, cells.entry_model, self.n_models),
            "item": (0, entry, n_entries * form.item_effects),
            "discrimination_by": (n_entries, who, n * by["discrimination"]),
            "tie": (n_entries + n, one, int(form.ties is not None)),
            "tie_by": (n_entries + n, who, n * by["ties"]),
            "order": (n_entries + 2 * n, one, int(form.order is not None)),
            "order_by": (n_entries + 2 * n, who, n * by["order"]),
            "covariate": (n_entries + 3 * n, np.arange(n_covariates), n_covariates),
        }
        scales = {
            "strength_sd": prior.strength_scale if prior.strength_sd is None else None,
            "item_sd": prior.item_scale if form.item_effects else None,
            "tie_sd": prior.tie_scale if by["ties"] else None,
            "order_sd": prior.order_scale if by["order"] else None,
            "discrimination_sd": prior.discrimination_scale if by["discrimination"] else None,
        }
        self.scale_prior = {name: scale for name, scale in scales.items() if scale is not None}
        ends = np.cumsum([*(size for *_, size in blocks.values()), *(1 for _ in self.scale_prior)]).tolist()
        self.place = dict(zip([*blocks, *self.scale_prior], map(slice, [0, *ends[:-1]], ends)))
        self.size, self.n_normal = ends[-1], ends[-1] - len(self.scale_prior)
        n_natural = n_entries + 3 * n + n_covariates
        used = [(row + np.arange(c.size), c + self.place[name].start) for name, (row, c, k) in blocks.items() if k]
        self.rows, self.columns = (np.concatenate(part) for part in zip(*used))
        shape = (n_natural, self.n_normal)
        self.matrix = sp.sparse.csr_array((np.ones(self.rows.size), (self.rows, self.columns)), shape=shape)
        self.constant = np.zeros(n_natural)
        self.constant[n_entries + n : n_entries + 2 * n] = -math.inf if form.ties is None else prior.tie_mean
        self.fixed = np.ones(self.n_normal)
        for name, sd in (("strength", prior.strength_sd or 1.0), ("tie", prior.tie_sd), ("order", prior.order_sd)):
            self.fixed[self.place[name]] = sd
        self.fixed[self.place["covariate"]] = prior.covariate_sd
        # Scale of each coordinate; those with a fixed scale take the last entry, which is a logarithm of 0.
        self.scale_of = np.full(self.n_normal, len(self.scale_prior))
        for s, name in enumerate(self.scale_prior):
            self.scale_of[self.place[OF_SCALE[name]]] = s
        self.share, self.log_centre = np.zeros(len(self.scale_prior) + 1), np.zeros(len(self.scale_prior) + 1)
        self.scale_priors = np.array(list(self.scale_prior.values()))
        self.sizes = np.bincount(self.scale_of, minlength=len(self.scale_prior) + 1)[:-1]

    def recentred(self, point: Floats) -> None:
        """Let coordinates follow their scales by as much as comparisons, and not the prior, determine them at a point.

        A coordinate is the effect over s0 (s / s0)^(1 - c) for the scale s, its value s0 at the point, and the share c
        (Papaspiliopoulos, Roberts and Skold, "A general framework for the parametrization of hierarchical models",
        Statistical Science 22, 2007): well-known effects do not depend on their scale, unknown ones are
        proportional to it. The point stays what it is.
        """
        normal = slice(0, self.n_normal)
        variance = np.linalg.inv(self.precision(point)[normal, normal]).diagonal()
        left = np.bincount(self.scale_of, variance, self.share.size)[:-1] / self.sizes
        self.share[:-1], self.log_centre[:-1] = np.clip(1 - left, 0, 1), self.log_scales(point)

    def log_scales(self, point: Floats) -> Floats:
        """Return the logarithms of the standard deviations at points (..., parameter)."""
        return point[..., self.n_normal :].clip(-LARGEST, LARGEST)

    def effects(self, point: Floats) -> tuple[Floats, Floats]:
        """Return effects, factors times coordinates, and precisions of the coordinates at points (..., parameter)."""
        logs = self.log_scales(point)
        away = np.concatenate([logs, np.zeros((*logs.shape[:-1], 1))], axis=-1) - self.log_centre
        factor = np.exp(away * (1 - self.share) + self.log_centre)[..., self.scale_of] * self.fixed
        return factor, np.exp(-2 * self.share * away)[..., self.scale_of]

    def natural(self, point: Floats, factor: Floats | None = None) -> Natural:
        """Return the parameters of the likelihood."""
        effect = (self.effects(point)[0] if factor is None else factor) * point[: self.n_normal]
        at = np.bincount(self.rows, effect[self.columns], self.constant.size) + self.constant
        at[self.slopes] -= at[self.slopes].mean()  # discriminations are relative to their mean
        strength, slope, tie, order, covariate = (at[part] for part in self.parts)
        tie = tie.clip(-LARGEST, LARGEST) if self.form.ties else tie
        return Natural(strength, np.exp(slope.clip(-LARGEST, LARGEST)), tie, order, covariate)

    def variables(self, points: Floats) -> dict[str, Floats]:
        """Return what a result keeps of points (..., parameter)."""
        factor, _ = self.effects(points)
        effect = {name: (factor * points[..., : self.n_normal])[..., self.place[name]] for name in PARTS}
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
            log_slope = effect["discrimination_by"]
            found["discrimination"] = np.exp(log_slope - log_slope.mean(axis=-1, keepdims=True))
        if effect["covariate"].size:
            found["covariate_effect"] = effect["covariate"]
        return found

    def __call__(self, point: Floats) -> tuple[float, Floats]:
        """Return the log density, up to a constant of the normal distributions, and its gradient."""
        normal, slope = point[: self.n_normal], np.empty(point.size)
        factor, precision = self.effects(point)
        at = self.natural(point, factor)
        value, by = self.cells.log_likelihood(at)
        by_natural = np.concatenate([by.strength, by.discrimination * at.discrimination, *by[2:]])
        by_natural[self.slopes] -= by_natural[self.slopes].mean()
        by_normal = np.bincount(self.columns, by_natural[self.rows], self.n_normal) * factor
        slope[: self.n_normal] = by_normal - precision * normal
        of_scale = slice(0, len(self.scale_prior))
        share, logs = self.share[:-1], self.log_scales(point)
        pull = np.bincount(self.scale_of, precision * normal**2, share.size + 1)[of_scale]
        along = np.bincount(self.scale_of, by_normal * normal, share.size + 1)[of_scale]
        scaled = np.exp(2 * logs) / self.scale_priors**2
        # Half-normal, with the Jacobian of the logarithm.
        slope[self.n_normal :] = (1 - share) * along + share * (pull - self.sizes) + 1 - scaled
        value += float((logs - np.log(self.scale_priors) - 0.5 * scaled + 0.5 * math.log(2 / math.pi)).sum())
        value -= float(self.sizes @ (share * (logs - self.log_centre[:-1])) + 0.5 * (precision * normal) @ normal)
        return value, slope

    def precision(self, point: Floats) -> Floats:
        """Return the expected information of the comparisons plus the precision of the prior: positive definite."""
        (factor, precision), n_scales = self.effects(point), len(self.scale_prior)
        along = factor * point[: self.n_normal] * (1 - self.share[self.scale_of])
        by_scale = self.matrix @ (along[:, None] * (self.scale_of[:, None] == np.arange(n_scales)))
        by_point = sp.sparse.hstack([self.matrix * factor, sp.sparse.csr_array(by_scale)]).tocsr()
        information = self.cells.information(self.natural(point))
        for part in (information, information.T):
            part[self.slopes] -= part[self.slopes].mean(axis=0)
        of_scales = 2 * np.exp(2 * self.log_scales(point)) / self.scale_priors**2
        of_scales += 2 * self.share[:-1] ** 2 * self.sizes
        found = by_point.T @ (by_point.T @ information).T
        return found + np.diag(np.concatenate([precision, of_scales]))

    def mode(self, point: Floats, close: float = CLOSE) -> Floats:
        """Return the point of highest density with the scales of `point`, by Newton's method."""
        normal = slice(0, self.n_normal)
        height, slope = self(point)
        for _ in range(NEWTON):
            step = np.linalg.solve(self.precision(point)[normal, normal], slope[normal])
            gain, length = float(step @ slope[normal]), 1.0
            while True:
                new = point.copy()
                new[normal] += length * step
                new_height, new_slope = self(new)
                if new_height >= height + 1e-4 * length * gain or length < SHORTEST_STEP:
                    break
                length /= 2
            if not new_height >= height:
                break
            point, height, slope = new, new_height, new_slope
            if gain < close:
                break
        return point

    def start(self) -> Floats:
        """Return a typical point: scales that fit, by the algorithm EM with a normal approximation, and their mode.

        The joint mode has scales that are larger than nearly anywhere.
        """
        point = np.zeros(self.size)
        point[self.n_normal :] = np.log([scale / 2 for scale in self.scale_prior.values()])
        point = self.mode(point, CLOSE_IN_EM)
        for _ in range(EM if self.scale_prior else 0):
            variance = np.linalg.inv(self.precision(point)[: self.n_normal, : self.n_normal]).diagonal()
            for name, scale in self.scale_prior.items():
                place = self.place[OF_SCALE[name]]
                widest = WIDEST[self.form.item_effects] if name == "discrimination_sd" else math.inf
                most = widest * scale / math.exp(point[self.place[name]][0])
                grown = min(float(np.sqrt(np.mean(point[place] ** 2 + variance[place]))), most)
                point[place] /= grown
                point[self.place[name]] += math.log(grown)
            point = self.mode(point, CLOSE_IN_EM)
        return self.mode(point)

    def units(self, point: Floats) -> tuple[Floats, float]:
        """Return directions of one standard deviation each at a point, and the logarithm of the volume they span."""
        value, vector = np.linalg.eigh(self.precision(point))
        return vector / np.sqrt(value), -0.5 * float(np.log(value).sum())

    def sample(self, start: Floats, units: Floats, draws: int, rng: Rng) -> Floats:
        """Return the draws of one chain, shape (draw, parameter)."""
        with np.errstate(over="ignore", invalid="ignore"):  # trajectories that go astray are rejected
            chain = self.chain(start, units, rng)
            chain.adapt(TUNE, ACCEPTANCE[self.form.item_effects])
            return chain.run(draws)

    def chain(self, start: Floats, units: Floats, rng: Rng) -> Chain:
        """Return a chain that starts around a point."""
        away = units @ rng.standard_normal(self.size)
        # The curvature vanishes where a scale is small: there one standard deviation may lead out of reach.
        lowest = self(start)[0] - self.size - FARTHEST
        while not self(start + away)[0] > lowest:
            away /= 2
        return Chain(self, start + away, units, rng, shortest=SHORTEST, longest=LONGEST, centre=start)
