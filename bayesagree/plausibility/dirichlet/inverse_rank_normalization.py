"""Plausibilities from partial rankings: inverse rank normalisation, and its probabilistic version.

An annotator r gives blocks B_1 > B_2 > ... of tied labels. A label in block m earns 1/(m |B_m|), an unranked label
nothing; the scores of all annotators are summed and normalised over the labels: that is IRN, one plausibility per item.

    PrIRN:   lambda_i ~ Dirichlet(gamma * IRN_i + prior).

IRN is normalised, so the reliability gamma alone sets the concentration: one annotator counts as much as ten. (The
Dirichlet posterior of single labels does not behave so: there every annotator adds gamma.) PrIRN has no sampling model
of the annotations, hence no posterior predictive check.

Source: Stutz et al., "Evaluating AI systems under uncertain ground truth", appendix B.2 (IRN) and B.3 (PrIRN).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree._inference.arguments import checked
from bayesagree._inference.nuts import Sampler
from bayesagree._inference.results import MAX_BYTES
from bayesagree._inference.storage import Destination
from bayesagree._inference.streams import Seed
from bayesagree.annotations import Rankings
from bayesagree.draws.blocks import LOCAL, Schedule
from bayesagree.draws.run import Request, draw_posterior
from bayesagree.errors import InputError, positive, positive_int
from bayesagree.plausibility.dirichlet._draws import Concentration, DirichletItems, Prior, prior_shape

if TYPE_CHECKING:
    import pymc as pm

type Ties = Literal["split", "full"]
PRIOR = 0.01
"""Prior shape of each label in the authors' released code."""


@dataclass(frozen=True, eq=False)
class PrIRNPosterior(DirichletItems):
    """The posterior of `prirn`, with its data and prior."""

    annotations: Rankings
    reliability: float = 1.0
    prior: Prior = PRIOR
    ties: Ties = "split"
    name = "prirn"

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments that define the model."""
        return {"reliability": self.reliability, "prior": self.prior, "ties": self.ties}

    @cached_property
    def concentration(self) -> Concentration:
        """The shapes of all items: gamma times the inverse rank normalisation plus the prior."""
        item, score = _scores(self.annotations, self.ties)
        return Concentration.of(
            item,
            self.annotations.label_index,
            positive(self.reliability, "reliability", zero=True) * score,
            n_items=self.annotations.items.size,
            prior=prior_shape(self.prior, self.annotations.categories.size),
        )

    def model(self) -> "pm.Model":
        """Build the same posterior in PyMC."""
        return prirn_model(self.annotations, **self.settings)


@checked
def irn(rankings: Rankings, *, ties: Ties = "split") -> xr.DataArray:
    """Average partial rankings into one plausibility per item by inverse ranks.

    Parameters
    ----------
    rankings
        Partial rankings with ties.
    ties
        ``"split"`` (the paper): the labels of block m share 1/m. ``"full"`` (the authors' released code): each of
        them gets 1/m.

    Returns
    -------
    DataArray
        Plausibilities (item, category), which sum to one over label: a point estimate that the metrics accept.

    References
    ----------
    Stutz et al., appendix B.2.

    Examples
    --------
    >>> rankings = Rankings.from_blocks([[[[0, 3], [2]], [[1], [0]]]], labels=4)
    >>> irn(rankings, ties="full").values.tolist()
    [[0.375, 0.25, 0.125, 0.25]]
    """
    item, score = _scores(rankings, ties)
    table = np.zeros((rankings.items.size, rankings.categories.size))
    np.add.at(table, (item, rankings.label_index), score)
    return xr.DataArray(
        table, dims=("item", "category"), coords={"item": rankings.items, "category": rankings.categories}, name="irn"
    )


@checked
def prirn(
    rankings: Rankings,
    *,
    reliability: float = 1.0,
    prior: Prior = PRIOR,
    ties: Ties = "split",
    draws: int = 1000,
    chains: int = 4,
    seed: Seed = None,
    engine: Literal["exact", "nuts"] = "exact",
    sampler: Sampler = None,
    top_labels: int | None = None,
    max_bytes: int = MAX_BYTES,
    client: Any = None,
    to: Destination = None,
) -> xr.DataTree:
    """Draw plausibilities from the Dirichlet distribution around the inverse rank normalisation.

    Parameters
    ----------
    rankings
        Partial rankings with ties.
    reliability
        Concentration gamma >= 0 around IRN, whatever the number of annotators.
    prior
        Shape of every label before any annotation, 0.01 by default as in the released code.
    ties
        As in `irn`.
    draws, chains, seed, engine, top_labels, max_bytes, client, to
        As in `dirichlet`.

    Returns
    -------
    DataTree
        As `dirichlet`.

    Examples
    --------
    >>> rankings = Rankings.from_blocks([[[["eczema"], ["psoriasis"]]]], labels=["acne", "eczema", "psoriasis"])
    >>> tree = prirn(rankings, reliability=30, seed=1)
    >>> tree["posterior_parameters"]["concentration"].values.round(2).tolist()
    [[0.01, 20.01, 10.01]]
    """
    posterior = PrIRNPosterior(rankings, reliability, prior, ties)
    return draw_posterior(posterior, Request(draws, chains, seed, engine, sampler, top_labels, max_bytes, client, to))


def prirn_blocks(
    rankings: Rankings,
    *,
    depth: int,
    reliability: float = 1.0,
    prior: Prior = PRIOR,
    ties: Ties = "split",
    draws: int = 1000,
    chains: int = 4,
    seed: Seed = None,
    plausibility: bool = False,
    schedule: Schedule = LOCAL,
) -> Iterator[Any]:
    """Yield the `depth` best labels of each draw, block of items by block: `prirn` for any number of items."""
    n_samples = positive_int(draws, "draws") * positive_int(chains, "chains")
    return PrIRNPosterior(rankings, reliability, prior, ties).label_blocks(
        depth, n_samples, seed, schedule, plausibility=plausibility
    )


@checked
def prirn_model(
    rankings: Rankings, *, reliability: float = 1.0, prior: Prior = PRIOR, ties: Ties = "split"
) -> "pm.Model":
    """Build PrIRN as a PyMC model: a Dirichlet prior that already contains the annotations.

    Returns
    -------
    pymc.Model
        ``plausibility`` (item, category), a Dirichlet distribution whose ``concentration`` (item, category) is data;
        nothing is observed, for PrIRN has no sampling model. Its shapes c, 0.01 for labels that nobody ranked, leave
        NUTS no usable geometry on the simplex, so that the free variables are independent: ``mass`` ~ Gamma(c + 1, 1)
        and ``shortfall`` ~ Exp(1), and the plausibility is the normalised mass x exp(-shortfall / c), a Gamma(c, 1)
        variable.

    References
    ----------
    Stutz et al., appendix B.3. Gamma(c) from Gamma(c + 1): L. Devroye, Non-uniform random variate generation, 1986,
    section IX.3.5.

    Examples
    --------
    >>> rankings = Rankings.from_blocks([[[[0, 2], [1]], [[2]]]], labels=3)
    >>> [v.name for v in prirn_model(rankings).free_RVs]
    ['mass', 'shortfall']
    """
    import pymc as pm

    concentration, dims = PrIRNPosterior(rankings, reliability, prior, ties).concentration.dense(), ("item", "category")
    with pm.Model(coords={"item": rankings.items, "category": rankings.categories}) as model:
        shape: Any = pm.Data("concentration", concentration, dims=dims)
        mass: Any = pm.Gamma("mass", shape + 1, 1, dims=dims)
        shortfall: Any = pm.Exponential("shortfall", 1, dims=dims)
        log_gamma: Any = pm.math.log(mass) - shortfall / shape
        pm.Deterministic("plausibility", pm.math.softmax(log_gamma, axis=1), dims=dims)
    return model


def inverse_ranks(rankings: Rankings, *, ties: Ties = "split") -> NDArray[np.float64]:
    """Return the inverse rank of each ranked label, 1/(m |B_m|) or 1/m, shape (entry,)."""
    if ties not in ("split", "full"):
        raise InputError(f"ties={ties!r} is not one of 'split', 'full'")
    if rankings.offered is not None:
        raise InputError("inverse ranks know nothing of labels that were not on offer; use plackett_luce")
    score = 1.0 / (rankings.block + 1)
    return score / rankings.block_sizes() if ties == "split" else score


def _scores(rankings: Rankings, ties: Ties) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the item of each ranked label and its share of the item's inverse ranks, both of shape (entry,)."""
    item = rankings.item_index[rankings.ranking_index()].astype(np.int64)
    score = inverse_ranks(rankings, ties=ties)
    return item, score / np.bincount(item, weights=score, minlength=rankings.items.size)[item]
