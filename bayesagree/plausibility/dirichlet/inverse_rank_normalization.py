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
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree._inference.nuts import sample_plausibility
from bayesagree._inference.results import MAX_BYTES
from bayesagree._inference.storage import Destination, Store, refuse_nuts
from bayesagree._inference.streams import Seed
from bayesagree.annotations import Rankings
from bayesagree.errors import InputError, positive, positive_int
from bayesagree.plausibility._draws.blocks import HERE, Schedule
from bayesagree.plausibility.dirichlet._draws import Concentration, check_depth, concentration_tree
from bayesagree.plausibility.dirichlet.posterior import Prior, prior_shape

if TYPE_CHECKING:
    import pymc as pm

type Ties = Literal["split", "full"]
PRIOR = 0.01
"""Prior shape of each label in the authors' released code."""


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
    >>> tree["constant_data"]["concentration"].values.round(2).tolist()
    [[0.01, 20.01, 10.01]]
    """
    settings = {"reliability": reliability, "prior": prior, "ties": ties}
    concentration = _concentration(rankings, reliability, prior, ties)
    if engine == "nuts":
        refuse_nuts(client, to)
        model = prirn_model(rankings, reliability=reliability, prior=prior, ties=ties)
        return sample_plausibility(
            model, concentration.dense(), name="prirn", draws=draws, chains=chains, seed=seed, settings=settings
        )
    if engine != "exact":
        raise InputError(f"engine={engine!r} is not one of 'exact', 'nuts'")
    return concentration_tree(
        concentration,
        rankings.items,
        rankings.categories,
        draws=draws,
        chains=chains,
        seed=seed,
        top_labels=top_labels,
        max_bytes=max_bytes,
        model="prirn",
        settings=settings,
        client=client,
        store=Store.at(
            to, seed, model="prirn", **settings, annotations=rankings, draws=draws, chains=chains, top_labels=top_labels
        ),
    )


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
    schedule: Schedule = HERE,
) -> Iterator[Any]:
    """Stream the `depth` best labels of each draw, block of items by block: `prirn` for any number of items."""
    depth = check_depth(depth, rankings.categories.size)
    n_samples = positive_int(draws, "draws") * positive_int(chains, "chains")
    return _concentration(rankings, reliability, prior, ties).top_label_blocks(depth, n_samples, seed, schedule)


def prirn_model(
    rankings: Rankings, *, reliability: float = 1.0, prior: Prior = PRIOR, ties: Ties = "split"
) -> "pm.Model":
    """Build PrIRN as a PyMC model: a Dirichlet prior that already contains the annotations.

    Returns
    -------
    pymc.Model
        Free variable ``plausibility`` (item, category); nothing is observed, for PrIRN has no sampling model.

    Examples
    --------
    >>> rankings = Rankings.from_blocks([[[[0, 2], [1]], [[2]]]], labels=3)
    >>> [v.name for v in prirn_model(rankings).free_RVs]
    ['plausibility']
    """
    import pymc as pm

    shape = _concentration(rankings, reliability, prior, ties).dense()
    with pm.Model(coords={"item": rankings.items, "category": rankings.categories}) as model:
        pm.Dirichlet("plausibility", shape, dims=("item", "category"))
    return model


def inverse_ranks(rankings: Rankings, *, ties: Ties = "split") -> NDArray[np.float64]:
    """Return what each ranked label earns from its annotator, 1/(m |B_m|) or 1/m, shape (entry,)."""
    if ties not in ("split", "full"):
        raise InputError(f"ties={ties!r} is not one of 'split', 'full'")
    score = 1.0 / (rankings.block + 1)
    return score / rankings.block_sizes() if ties == "split" else score


def _scores(rankings: Rankings, ties: Ties) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the item of each ranked label and its share of the item's inverse ranks, both of shape (entry,)."""
    item = rankings.item_index[rankings.ranking_index()].astype(np.int64)
    score = inverse_ranks(rankings, ties=ties)
    return item, score / np.bincount(item, weights=score, minlength=rankings.items.size)[item]


def _concentration(rankings: Rankings, reliability: float, prior: Prior, ties: Ties) -> Concentration:
    gamma = positive(reliability, "reliability", zero=True)
    item, score = _scores(rankings, ties)
    return Concentration.of(
        item,
        rankings.label_index,
        gamma * score,
        n_items=rankings.items.size,
        prior=prior_shape(prior, rankings.categories.size),
    )
