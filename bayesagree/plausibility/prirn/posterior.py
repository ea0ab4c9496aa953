"""Plausibilities from partial rankings: the probabilistic version of inverse rank normalisation (IRN).

    PrIRN:   lambda_i ~ Dirichlet(gamma * IRN_i + prior).

IRN is normalised, so the reliability gamma alone sets the concentration: one annotator counts as much as ten. (The
Dirichlet posterior of single labels does not behave so: there every annotator adds gamma.) PrIRN has no sampling model
of the annotations, hence no posterior predictive check.

Source: Stutz et al., "Evaluating AI systems under uncertain ground truth", appendix B.3.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import xarray as xr

from bayesagree._types import Floats
from bayesagree.annotations import Rankings
from bayesagree.inference.posterior import OF_RANKINGS, Request
from bayesagree.inference.streams import Seed
from bayesagree.io.doors import as_annotations
from bayesagree.plausibility.dirichlet._draws import DirichletItems, Prior
from bayesagree.plausibility.prirn.inverse_ranks import PRIOR, RELIABILITY, Ties, concentration
from bayesagree.plausibility.prirn.model import prirn_model

if TYPE_CHECKING:
    import pymc as pm


@dataclass(frozen=True)
class PrIRN(DirichletItems):
    """Specification of the posterior of `prirn`, whose arguments it holds."""

    reliability: float = RELIABILITY
    prior: Prior = PRIOR
    ties: Ties = "split"
    name = "prirn"
    target = OF_RANKINGS

    def problem(self, annotations: Rankings) -> Floats:
        """Return the shapes of all items."""
        return concentration(annotations, self.reliability, self.prior, self.ties)

    def model(self, annotations: Rankings) -> "pm.Model":
        """Build the same posterior in PyMC."""
        return prirn_model(annotations, **vars(self))


def prirn(
    rankings: Rankings,
    *,
    reliability: float = RELIABILITY,
    prior: Prior = PRIOR,
    ties: Ties = "split",
    draws: int = 1000,
    chains: int = 4,
    random_seed: Seed = None,
    top_labels: int | None = None,
    client: Any = None,
) -> xr.DataTree:
    """Draw plausibilities from the Dirichlet distribution around the inverse rank normalisation.

    Parameters
    ----------
    rankings
        Partial rankings with ties.
    reliability
        Concentration gamma >= 0 around IRN: all annotators of an item together count as so many, however many they
        are.
    prior
        Shape of every label before any annotation, 0.01 by default as in the released code.
    ties
        As in `irn`.
    draws, chains, random_seed, top_labels, client
        As in `dirichlet`.

    Returns
    -------
    DataTree
        As `dirichlet`.

    Examples
    --------
    >>> rankings = Rankings.from_blocks([[[["eczema"], ["psoriasis"]]]], labels=["acne", "eczema", "psoriasis"])
    >>> tree = prirn(rankings, reliability=30, random_seed=1)
    >>> tree["posterior_parameters"]["concentration"].values.round(2).tolist()
    [[0.01, 20.01, 10.01]]
    """
    rankings = as_annotations(rankings, (Rankings,), "rankings")
    request = Request(draws, chains, random_seed, top_labels, client)
    return PrIRN(reliability, prior, ties).draw(rankings, request)
