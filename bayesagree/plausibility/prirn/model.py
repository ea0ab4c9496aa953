"""PrIRN as a PyMC model."""

from typing import TYPE_CHECKING, Any

from bayesagree.annotations import Rankings
from bayesagree.plausibility.dirichlet._draws import Prior
from bayesagree.plausibility.prirn.inverse_ranks import PRIOR, RELIABILITY, Ties, concentration

if TYPE_CHECKING:
    import pymc as pm


def prirn_model(
    rankings: Rankings, *, reliability: float = RELIABILITY, prior: Prior = PRIOR, ties: Ties = "split"
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

    dims = ("item", "category")
    with pm.Model(coords={"item": rankings.items, "category": rankings.categories}) as model:
        shape: Any = pm.Data("concentration", concentration(rankings, reliability, prior, ties), dims=dims)
        mass: Any = pm.Gamma("mass", shape + 1, 1, dims=dims)
        log_gamma = pm.math.log(mass) - pm.Exponential("shortfall", 1, dims=dims) / shape
        pm.Deterministic("plausibility", pm.math.softmax(log_gamma, axis=1), dims=dims)
    return model
