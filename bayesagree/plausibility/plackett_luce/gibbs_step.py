"""The Gibbs sweep of Plackett-Luce worths as a PyMC step method, to sit beside NUTS in a larger model."""

from typing import Any, Literal

import numpy as np
import pymc as pm
from numpy.typing import ArrayLike, NDArray
from pymc.distributions.transforms import LogTransform
from pymc.step_methods.compound import BlockedStep, Competence, StepMethodState
from pymc.step_methods.state import dataclass_state
from pymc.util import get_random_generator

from bayesagree.errors import InputError
from bayesagree.plausibility.plackett_luce._cases import Cases
from bayesagree.plausibility.plackett_luce._gibbs_kernels import sweep_items


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
        The one variable of worths, a ``pm.Gamma`` of shape (label,) or (item, category).
    ranks
        Observed ranks, shape (ranking, label), as `PartialRanking` takes them.
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
    """

    name = "plackett_luce_gibbs"
    stats_dtypes_shapes = {"tune": (bool, [])}  # noqa: RUF012 (PyMC declares it so)
    _state_class = PlackettLuceGibbsState

    def __init__(
        self,
        vars: list[Any],
        *,
        ranks: ArrayLike,
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
        self.cases = _cases(np.atleast_2d(np.asarray(ranks)), item, tuple(worth.shape.eval()))

    def step(self, point: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Redraw the worths given everything else."""
        value = np.asarray(point[self.value_name])
        shape, rate = self.parameters(point)
        worth = np.atleast_2d(np.exp(value) if self.on_log_scale else value.copy())
        sweep_items(worth, np.atleast_2d(shape), np.atleast_2d(rate), self.cases, self.rng)
        worth = worth.reshape(value.shape)
        new = dict(point)
        new[self.value_name] = np.log(worth) if self.on_log_scale else worth
        return new, [{"tune": self.tune}]

    @staticmethod
    def competence(var: Any, has_grad: bool) -> Literal[Competence.INCOMPATIBLE]:
        """Refuse to be chosen automatically: the step must be told the rankings."""
        return Competence.INCOMPATIBLE


def _random_variable(model: pm.Model, vars: list[Any]) -> Any:
    """Return the one Gamma variable the step is for (PyMC may hand over its value variable)."""
    found = [model.values_to_rvs.get(v, v) for v in vars]
    if len(found) != 1 or not isinstance(getattr(found[0].owner, "op", None), _GAMMA):
        raise InputError("PlackettLuceGibbs samples one pm.Gamma variable of worths, (label,) or (item, category)")
    return found[0]


_GAMMA = type(pm.Gamma.dist(1.0, 1.0).owner.op)


def _cases(ranks: NDArray[Any], item: ArrayLike | None, shape: tuple[int, ...]) -> Cases:
    """Rankings over all labels, sorted by item; the last block of each is what remains."""
    n_items, n_labels = (1, *shape)[-2:]
    row = np.zeros(ranks.shape[0], np.int64) if item is None else np.asarray(item, dtype=np.int64)
    if ranks.shape[1] != n_labels or row.shape != ranks.shape[:1]:
        raise InputError(f"ranks {ranks.shape} and item {row.shape} do not fit worths of shape {shape}")
    if row.min() < 0 or row.max() >= n_items:
        raise InputError(f"item holds {row.min()} .. {row.max()}, but the worths have the rows 0 .. {n_items - 1}")
    arrivals, rank_sum = np.zeros((n_items, n_labels), np.int64), np.zeros((n_items, n_labels))
    block_start, entry_start, entry = [0], [0], []
    for r in np.argsort(row, kind="stable"):
        rank_sum[row[r]] += ranks[r]
        for level in np.unique(ranks[r])[:-1]:
            members = np.flatnonzero(ranks[r] == level)
            arrivals[row[r], members] += 1
            entry.extend(members.tolist())
            entry_start.append(len(entry))
        block_start.append(len(entry_start) - 1)
    return Cases(
        label_start=np.arange(n_items + 1) * n_labels,
        label=np.tile(np.arange(n_labels), n_items),
        ranking_start=np.searchsorted(np.sort(row), np.arange(n_items + 1)),
        multiplicity=np.ones(row.size, np.int64),
        block_start=np.asarray(block_start),
        entry_start=np.asarray(entry_start),
        entry=np.asarray(entry, dtype=np.int64),
        arrivals=arrivals.ravel(),
        mean_rank_order=rank_sum.argsort(axis=1, kind="stable").argsort(axis=1, kind="stable").ravel(),
        n_labels=n_labels,
        offered_start=np.zeros(1, np.int64),
        offered=np.empty(0, np.int64),
    )
