"""The posterior of strengths and effects of annotators: its density, its mode, its curvature."""

import math
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from bayesagree._numerics.hamiltonian import Chain
from bayesagree._numerics.types import Floats, Rng
from bayesagree.comparisons._cells import Cells, Likelihood, Natural
from bayesagree.errors import positive

type Effect = Literal["common", "annotator"] | None

LARGEST = 50.0
"""Logarithms of scales and odds beyond this are this: trajectories that went astray."""
NEWTON, CLOSE, CLOSE_IN_EM, SHORTEST_STEP = 50, 1e-6, 0.1, 1e-6
"""Most steps of Newton's method; gains in log density below which it stops; share of a step below which it gives up."""
EM = 10
"""Rounds in which the scales are fitted to start from."""
OF_SCALE = {
    "strength_sd": "strength",
    "item_sd": "item",
    "tie_sd": "tie_by",
    "order_sd": "order_by",
    "discrimination_sd": "discrimination_by",
}
"""The effects that each scale is of."""
# A quarter of a circle, pi / 2, makes a draw of a normal target independent; random lengths meet no period.
SHORTEST, LONGEST = 0.8, 2.0
TUNE = 150
"""Trajectories that set the step of each chain."""


@dataclass(frozen=True)
class DavidsonPrior:
    """Prior of strengths, ties, order and annotators, on the scale of log odds.

    Attributes
    ----------
    strength_sd
        Standard deviation of the strengths; None: it is learnt.
    strength_scale
        Scale of its half-normal prior where it is learnt.
    tie_mean, tie_sd
        Normal prior of the log of nu: two equal models tie with probability nu / (2 + nu).
    order_sd
        Standard deviation of the advantage of the first place.
    covariate_sd
        Standard deviation of the coefficient of each covariate.
    tie_scale, order_scale, discrimination_scale
        Scales of the half-normal priors of the standard deviations over annotators: of log nu, of the advantage of the
        first place, and of the log of the discrimination.
    item_scale
        Scale of the half-normal prior of the standard deviation of a model's strength over items.

    Examples
    --------
    >>> DavidsonPrior(strength_sd=1).order_sd
    0.5
    """

    strength_sd: float | None = None
    strength_scale: float = 1.0
    tie_mean: float = 0.0
    tie_sd: float = 1.0
    order_sd: float = 0.5
    covariate_sd: float = 1.0
    tie_scale: float = 1.0
    order_scale: float = 0.5
    discrimination_scale: float = 0.5
    item_scale: float = 0.5

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if name != "tie_mean" and value is not None:
                positive(value, f"DavidsonPrior({name}=...)")


class Form(NamedTuple):
    """Which effects a model has."""

    ties: Effect
    order: Effect
    discrimination: Effect
    item_effects: bool
    likelihood: Likelihood


class Density:
    """Log posterior of one model. The point holds standard normal coordinates, then logarithms of the scales."""

    def __init__(self, cells: Cells, form: Form, prior: DavidsonPrior) -> None:
        self.cells, self.form, self.prior = cells, form, prior
        n, self.n_models = cells.n_annotators, int(cells.entry_model.max()) + 1
        by = {name: getattr(form, name) == "annotator" for name in ("ties", "order", "discrimination")}
        sizes = {
            "strength": self.n_models,
            "item": cells.entry_model.size * form.item_effects,
            "tie": int(form.ties is not None),
            "tie_by": n * by["ties"],
            "order": int(form.order is not None),
            "order_by": n * by["order"],
            "discrimination_by": n * by["discrimination"],
            "covariate": cells.covariates.shape[1],
        }
        scales = {
            "strength_sd": prior.strength_scale if prior.strength_sd is None else None,
            "item_sd": prior.item_scale if form.item_effects else None,
            "tie_sd": prior.tie_scale if by["ties"] else None,
            "order_sd": prior.order_scale if by["order"] else None,
            "discrimination_sd": prior.discrimination_scale if by["discrimination"] else None,
        }
        self.scale_prior = {name: scale for name, scale in scales.items() if scale is not None}
        ends = np.cumsum([*sizes.values(), *(1 for _ in self.scale_prior)]).tolist()
        starts = [0, *ends[:-1]]
        self.place = dict(zip([*sizes, *self.scale_prior], map(slice, starts, ends)))
        self.n_normal, self.size = sum(sizes.values()), ends[-1]

    def scales(self, point: Floats) -> dict[str, float]:
        """Return the standard deviations at a point."""
        logs = np.clip(point[self.n_normal :], -LARGEST, LARGEST)
        return dict(zip(self.scale_prior, np.exp(logs).tolist()))

    def natural(self, point: Floats, scales: dict[str, float]) -> Natural:
        """Return the parameters of the likelihood."""
        z = {name: point[place] for name, place in self.place.items()}
        prior, n = self.prior, self.cells.n_annotators
        strength = (z["strength"] * scales.get("strength_sd", prior.strength_sd or 1.0))[self.cells.entry_model]
        if self.form.item_effects:
            strength = strength + scales["item_sd"] * z["item"]
        tie, order = np.full(n, -math.inf), np.zeros(n)
        if self.form.ties is not None:
            tie = np.clip(
                prior.tie_mean + prior.tie_sd * z["tie"] + _of(z["tie_by"], scales, "tie_sd", n), -LARGEST, LARGEST
            )
        if self.form.order is not None:
            order = prior.order_sd * z["order"] + _of(z["order_by"], scales, "order_sd", n)
        log_slope = _of(z["discrimination_by"], scales, "discrimination_sd", n)
        slope = np.exp(np.clip(log_slope - log_slope.mean(), -LARGEST, LARGEST))
        return Natural(strength, slope, tie, order, prior.covariate_sd * z["covariate"])

    def variables(self, point: Floats) -> dict[str, Any]:
        """Return what a result keeps of a point."""
        scales, form, prior = self.scales(point), self.form, self.prior
        at = self.natural(point, scales)
        strength = point[self.place["strength"]] * scales.get("strength_sd", prior.strength_sd or 1.0)
        found: dict[str, Any] = {"strength": strength - strength.mean()} | scales
        if form.ties:
            found["tie"] = at.tie if form.ties == "annotator" else at.tie[0]
            found["average_tie"] = prior.tie_mean + prior.tie_sd * point[self.place["tie"]][0]
        if form.order:
            found["order"] = at.order if form.order == "annotator" else at.order[0]
        if form.discrimination:
            found["discrimination"] = at.discrimination
        if at.covariate.size:
            found["covariate_effect"] = at.covariate
        return found

    def __call__(self, point: Floats) -> tuple[float, Floats]:
        """Return the log density, up to a constant of the normal distributions, and its gradient."""
        scales, prior = self.scales(point), self.prior
        at = self.natural(point, scales)
        value, by = self.cells.log_likelihood(at, self.form.likelihood)
        normal, slope = point[: self.n_normal], np.empty(point.size)
        by_model = np.bincount(self.cells.entry_model, by.strength, self.n_models)
        by_log_slope = by.discrimination * at.discrimination
        of_effect = {
            "strength": by_model,
            "item": by.strength,
            "tie_by": by.tie,
            "order_by": by.order,
            "discrimination_by": by_log_slope - by_log_slope.mean(),
        }
        place = self.place
        slope[place["strength"]] = by_model * (prior.strength_sd or 1.0)
        slope[place["tie"]] = by.tie.sum() * prior.tie_sd
        slope[place["order"]] = by.order.sum() * prior.order_sd
        slope[place["covariate"]] = by.covariate * prior.covariate_sd
        value -= 0.5 * float(normal @ normal)
        for name, scale in scales.items():
            effect = OF_SCALE[name]
            by_effect = of_effect[effect]
            share = (scale / self.scale_prior[name]) ** 2
            slope[place[effect]] = by_effect * scale
            slope[place[name]] = by_effect @ point[place[effect]] * scale + 1 - share
            # Half-normal, with the Jacobian of the logarithm.
            value += 0.5 * math.log(2 / math.pi) + math.log(scale / self.scale_prior[name]) - 0.5 * share
        slope[: self.n_normal] -= normal
        return value, slope

    def precision(self, point: Floats) -> Floats:
        """Return the expected information of the comparisons plus the precision of the prior: positive definite."""
        scales = self.scales(point)
        at = self.natural(point, scales)
        by_distance, by_tie = self._jacobians(point, scales, at)
        of_distance, of_both, of_tie = self.cells.information(at, self.form.likelihood)
        found = by_distance.T @ by_distance.multiply(of_distance[:, None]).tocsr()
        cross = by_distance.T @ by_tie.multiply(of_both[:, None]).tocsr()
        found = found + cross + cross.T + by_tie.T @ by_tie.multiply(of_tie[:, None]).tocsr()
        share = [2 * (scales[name] / prior) ** 2 for name, prior in self.scale_prior.items()]
        found, place = found.toarray(), self.place["discrimination_by"]
        # Discriminations are relative to their mean.
        if place.stop > place.start:
            found[place] -= found[place].mean(axis=0)
            found[:, place] -= found[:, place].mean(axis=1, keepdims=True)
        return found + np.diag(np.append(np.ones(self.n_normal), share))

    def _jacobians(self, point: Floats, scales: dict[str, float], at: Natural) -> tuple[Any, Any]:
        """Return the slopes of each cell's distance and log odds of a tie by the point, shape (cell, parameter)."""
        from scipy.sparse import coo_array, csr_array, hstack

        cells, prior, z = self.cells, self.prior, {name: point[place] for name, place in self.place.items()}
        n_cells, n_entries = cells.first.size, cells.entry_model.size
        row, slope = np.arange(n_cells), at.discrimination[cells.annotator]
        both = np.concatenate([cells.first, cells.second])
        entry = coo_array((np.append(slope, -slope), (np.tile(row, 2), both)), shape=(n_cells, n_entries)).tocsr()
        model = csr_array((np.ones(n_entries), (np.arange(n_entries), cells.entry_model)))
        who = csr_array((np.ones(n_cells), (row, cells.annotator)), shape=(n_cells, cells.n_annotators))
        quality = entry @ at.strength + slope * (cells.covariates @ at.covariate)
        strength = entry @ model * scales.get("strength_sd", prior.strength_sd or 1.0)
        item, one = entry * scales.get("item_sd", 0.0), np.ones((n_cells, 1))
        turned = who.multiply(quality[:, None]).tocsr() * scales.get("discrimination_sd", 0.0)
        tie_by, order_by = (who * scales.get(name, 0.0) for name in ("tie_sd", "order_sd"))
        parts = {
            "strength": strength, "item": item, "order": one * prior.order_sd, "order_by": order_by,
            "discrimination_by": turned, "covariate": cells.covariates * slope[:, None] * prior.covariate_sd,
        }  # fmt: skip
        of_tie = {"tie": one * prior.tie_sd, "tie_by": tie_by}
        found = []
        for some in (parts, of_tie):
            columns = dict(some)
            for scale in scales:
                if (effect := OF_SCALE[scale]) in some:
                    centre = z[effect].mean() if effect == "discrimination_by" else 0.0
                    columns[scale] = (some[effect] @ (z[effect] - centre))[:, None]
            sizes = {name: place.stop - place.start for name, place in self.place.items()}
            blocks = [columns.get(name, np.zeros((n_cells, size))) for name, size in sizes.items() if size]
            found.append(hstack([csr_array(block) for block in blocks]).tocsr())
        return found[0], found[1]

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
            normal = slice(0, self.n_normal)
            variance = np.linalg.inv(self.precision(point)[normal, normal]).diagonal()
            for name in self.scale_prior:
                place = self.place[OF_SCALE[name]]
                z, grown = point[place], float(np.sqrt(np.mean(point[place] ** 2 + variance[place])))
                point[place] = z / grown
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
            chain.adapt(TUNE)
            return chain.run(draws)

    def chain(self, start: Floats, units: Floats, rng: Rng) -> Chain:
        """Return a chain that starts around a point."""
        point = start + units @ rng.standard_normal(self.size)
        return Chain(self, point, units, rng, shortest=SHORTEST, longest=LONGEST)


def _of(normal: Floats, scales: dict[str, float], name: str, n: int) -> Floats:
    """Return the effects of the annotators, zeros where the model has none."""
    return scales[name] * normal if normal.size else np.zeros(n)
