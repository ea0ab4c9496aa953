"""The Gibbs sweep of Plackett-Luce worths as a PyMC step method, to sit beside NUTS in a larger model."""

from typing import Any, Literal

import numpy as np
import pymc as pm
from numpy.typing import ArrayLike
from pymc.distributions.transforms import LogTransform
from pymc.step_methods.compound import BlockedStep, Competence, StepMethodState
from pymc.step_methods.state import dataclass_state
from pymc.util import get_random_generator

from bayesagree._numerics.types import Integers
from bayesagree.errors import InputError
from bayesagree.plausibility.plackett_luce._cases import Cases
from bayesagree.plausibility.plackett_luce._gibbs_kernels import sweep_items
from bayesagree.plausibility.plackett_luce._stages import stages_of


@dataclass_state
class PlackettLuceGibbsState(StepMethodState):
    """State of the step between draws: none besides its random stream."""


class PlackettLuceGibbs(BlockedStep):
    """Sample Plackett-Luce worths by Gibbs sweeps, linear in the size of tied blocks, inside any PyMC model.

    The worths must have a Gamma prior, whose shape and rate may depend on other variables of the model, and must act
    on the data only through `PartialRanking`; PyMC assigns NUTS to the rest.

    Parameters
    ----------
    vars
        The one variable of worths, a ``pm.Gamma`` of shape (label,), (item, category) or, in a `plackett_luce_model`,
        (slot,).
    ranks
        Observed ranks, shape (ranking, label), as `PartialRanking` takes them; by default the data of a
        `plackett_luce_model`.
    item
        Which row of the worths each ranking is about, shape (ranking,); by default all rankings are about row 0.
    model, rng
        As in every step method of PyMC.

    Raises
    ------
    InputError
        A variable that is not Gamma, or ranks that do not fit it.

    References
    ----------
    Stutz et al., "Evaluating AI systems under uncertain ground truth", appendix B.4.2.

    Examples
    --------
    Learn the shape of the prior from many items::

        with pm.Model() as model:
            shape = pm.HalfNormal("shape", 1.0)
            worth = pm.Gamma("worth", shape, 1.0, shape=(n_items, n_labels))
            PartialRanking("ranks", worth[item], observed=ranks)
            tree = pm.sample(step=[PlackettLuceGibbs([worth], ranks=ranks, item=item)])

    In a model of the package the rankings are known::

        with plackett_luce_model(rankings) as model:
            tree = pm.sample(step=[PlackettLuceGibbs([model["worth"]])])
    """

    name = "plackett_luce_gibbs"
    stats_dtypes_shapes = {"tune": (bool, [])}  # noqa: RUF012 (PyMC declares it so)
    _state_class = PlackettLuceGibbsState

    def __init__(
        self,
        vars: list[Any],
        *,
        ranks: ArrayLike | None = None,
        item: ArrayLike | None = None,
        model: pm.Model | None = None,
        rng: Any = None,
        initial_point: Any = None,
        compile_kwargs: Any = None,
        blocked: bool = True,
    ) -> None:
        context: Any = pm.modelcontext(model)
        worth = _random_variable(context, vars)
        value = context.rvs_to_values[worth]
        transform = context.rvs_to_transforms[worth]
        if not isinstance(transform, LogTransform | None):
            raise InputError(f"{worth.name} has the transform {transform!r}; leave the one that PyMC gives a Gamma")
        self.vars = [value]
        self.value_name, self.on_log_scale = value.name, transform is not None
        self.tune = True
        self.rng = get_random_generator(rng)
        alpha, scale = worth.owner.op.dist_params(worth.owner)
        parameters = context.replace_rvs_by_values([alpha + 0 * worth, 1 / scale + 0 * worth])
        self.parameters: Any = context.compile_fn(parameters, inputs=list(context.value_vars), on_unused_input="ignore")
        cases = _of_model(context) if ranks is None else _of_table(ranks, item, tuple(worth.shape.eval()))
        self.stages = stages_of(cases, slice(0, cases.n_items))

    def step(self, point: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Redraw the worths given everything else."""
        value = np.asarray(point[self.value_name])
        shape, rate = self.parameters(point)
        worth = (np.exp(value) if self.on_log_scale else value.copy()).ravel()
        sweep_items(worth, shape.ravel(), rate.ravel(), self.stages, self.rng)
        worth = worth.reshape(value.shape)
        new = dict(point)
        new[self.value_name] = np.log(worth) if self.on_log_scale else worth
        return new, [{"tune": self.tune}]

    @staticmethod
    def competence(var: Any, has_grad: bool) -> Literal[Competence.INCOMPATIBLE]:
        """Refuse to be chosen automatically: the step needs the rankings."""
        return Competence.INCOMPATIBLE


def _random_variable(model: pm.Model, vars: list[Any]) -> Any:
    """Return the one Gamma variable the step is for (PyMC may hand over its value variable)."""
    found = [model.values_to_rvs.get(v, v) for v in vars]
    if len(found) != 1 or not isinstance(getattr(found[0].owner, "op", None), _GAMMA):
        raise InputError("PlackettLuceGibbs samples one pm.Gamma variable of worths, (label,) or (item, category)")
    return found[0]


_GAMMA = type(pm.Gamma.dist(1.0, 1.0).owner.op)


def _of_table(ranks: ArrayLike, item: ArrayLike | None, shape: tuple[int, ...]) -> Cases:
    """Rankings of all labels; worth k of item i has the number i n_labels + k."""
    table = np.atleast_2d(np.asarray(ranks))
    n_items, n_labels = (1, *shape)[-2:]
    row = np.zeros(table.shape[0], np.int64) if item is None else np.asarray(item, dtype=np.int64)
    if table.shape[1] != n_labels or row.shape != table.shape[:1]:
        raise InputError(f"ranks {table.shape} and item {row.shape} do not fit worths of shape {shape}")
    if row.min() < 0 or row.max() >= n_items:
        raise InputError(f"item holds {row.min()} .. {row.max()}, but the worths have the rows 0 .. {n_items - 1}")
    numbers = row[:, None] * n_labels + np.arange(n_labels)
    return _cases(table, numbers, np.repeat(np.arange(n_items), n_labels), row)


def _of_model(model: pm.Model) -> Cases:
    """Rankings that are data of a `plackett_luce_model`."""
    names = ("observed_ranks", "competitor", "item_of_slot", "item_of_ranking")
    if missing := [name for name in names if name not in model.named_vars]:
        raise InputError(f"this model has no data {missing[0]!r}, as a plackett_luce_model has: pass ranks=")
    return _cases(*(np.asarray(model[name].get_value()) for name in names))  # pyright: ignore[reportAttributeAccessIssue]


def _cases(ranks: Integers, numbers: Integers, item_of_worth: Integers, item: Integers) -> Cases:
    """Rankings sorted by item, equal ones of an item once; the last block of each is what remains.

    `numbers`, shape (ranking, position), says which worths compete; absent ones are too large.
    """
    n_worths, n_items = item_of_worth.size, int(item_of_worth.max()) + 1
    start = np.searchsorted(item_of_worth, np.arange(n_items + 1))
    present = numbers < n_worths
    distinct, multiplicity = np.unique(
        np.hstack([item[:, None], numbers, np.where(present, ranks, -1)]), axis=0, return_counts=True
    )
    row, width = distinct[:, 0], ranks.shape[1]
    arrivals, rank_sum = np.zeros(n_worths, np.int64), np.zeros(n_worths)
    block_start, entry_start, entry = [0], [0], []
    offered: list[Integers] = []
    for i, count, who, rank in zip(row, multiplicity, distinct[:, 1 : 1 + width], distinct[:, 1 + width :]):
        there, at = who[rank >= 0], rank[rank >= 0]
        rank_sum[there] += count * at
        for level in np.unique(at)[:-1]:
            arrivals[there[at == level]] += count
            entry.extend((there[at == level] - start[i]).tolist())
            entry_start.append(len(entry))
        block_start.append(len(entry_start) - 1)
        offered.append(there - start[i])
    limited = any(one.size < start[i + 1] - start[i] for one, i in zip(offered, row))
    by_mean_rank = np.lexsort((rank_sum, item_of_worth))
    order = np.empty(n_worths, np.int64)
    order[by_mean_rank] = np.arange(n_worths) - start[item_of_worth]
    sizes = [one.size if limited else 0 for one in offered]
    return Cases(
        label_start=start,
        label=np.arange(n_worths) - start[item_of_worth],
        ranking_start=np.searchsorted(row, np.arange(n_items + 1)),
        multiplicity=multiplicity.astype(np.int64),
        block_start=np.asarray(block_start),
        entry_start=np.asarray(entry_start),
        entry=np.asarray(entry, dtype=np.int64),
        arrivals=arrivals,
        mean_rank_order=order,
        n_labels=int(np.diff(start).max()),
        offered_start=np.append(0, np.cumsum(sizes)).astype(np.int64),
        offered=np.concatenate(offered).astype(np.int64) if limited else np.empty(0, np.int64),
    )
