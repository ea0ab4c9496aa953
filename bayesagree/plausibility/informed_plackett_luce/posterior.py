"""Plausibilities as they would look if many readers had ranked: rankings and predictions in one posterior.

Few rankings leave open which label is best, so that its prior counts; and the prior of every item is averaged into a
score. Here it is learnt. The models' predictions, in a regression that readers' first choices teach, order up to five
likely labels y_1, ..., y_5 of each item. With theta the plausibilities, Dirichlet(a, ..., a) without predictions,

    p(theta | predictions)  ~  Dirichlet(theta; a + r_d at y_d, d = 1, ..., 5) exp(w_best),

best the place of the largest plausibility among the five (w = 0 elsewhere): the predictions count as r further readers
of a label, and know beyond that which label is best. log r_d and w_d depend on how many models put the label first, and
of the first on how sure the models are. A model that finds the best label as often on open items as on clear ones has
r = 0; a model that is one more noisy reader has w = 0. The constant is exact, and learnt with normal priors.

Given the parameters items are independent, and a + r_d are shapes of gamma variables, which the Gibbs sweep of
`plackett_luce` takes. Draws at the mode of the parameters teach these, which are drawn on elliptical slices
(`inference.slices`); draws at their mean, weighted by exp(w_best) and by the readers that a set of parameters has more,
are those of the items. a is that of labels that no model names: readers' first choices are Dirichlet-multinomial around
the mean shares of y_1, ..., y_5 and of the others.

Source: Stutz et al., appendix B.4, for the likelihood; Angelopoulos et al. (2023) for predictions in the place of gold.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import xarray as xr

from bayesagree._types import Advance
from bayesagree.annotations import Rankings
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, positive_int
from bayesagree.inference.posterior import Posterior, Request
from bayesagree.inference.streams import Seed
from bayesagree.io.doors import as_annotations, as_predictions
from bayesagree.plausibility.independence import Guarded
from bayesagree.plausibility.informed.covariates import Excluded
from bayesagree.plausibility.informed_plackett_luce._problem import InformedRankings
from bayesagree.plausibility.informed_plackett_luce.model import informed_model
from bayesagree.plausibility.plackett_luce.posterior import PlackettLuce

if TYPE_CHECKING:
    import pymc as pm


@dataclass(frozen=True)
class InformedPlackettLuce(Guarded):
    """Specification of the posterior of `informed_plackett_luce`, whose arguments it holds.

    `evaluate` gives it the predictions that it scores.
    """

    predictions: Predictions | None = None
    exclude: Excluded = None
    shape: float | None = None
    tune: int = 200
    name = "informed_plackett_luce"
    engine = "gibbs, weighted"

    def __post_init__(self) -> None:
        positive_int(self.tune, "tune")

    def problem(self, annotations: Rankings) -> InformedRankings:
        """Return rankings and what the models say of their items."""
        if annotations.offered is not None:
            raise InputError(
                "informed_plackett_luce takes all labels as on offer; these rankings have offered="
            )
        return InformedRankings.of(annotations, self.given, self.exclude, self.shape, self.tune)

    def sweeps(self, annotations: Rankings, request: Request) -> int:
        """Return how many draws of the parameters count as progress."""
        return InformedRankings.sets(request.draws) * request.chains

    def settings(self, annotations: Rankings) -> dict[str, Any]:
        """Return the arguments of the model."""
        return super().settings(annotations) | {"tune": self.tune}

    def model(self, annotations: Rankings) -> "pm.Model":
        """Build the same posterior in PyMC."""
        return informed_model(self.problem(annotations))

    def of_annotations(self) -> Posterior:
        """Return the posterior of rankings alone."""
        return PlackettLuce()

    def advice(self, request: Request) -> str:
        """Return the way out where chains disagree."""
        return f"raise tune={self.tune} or draws={request.draws}"


def informed_plackett_luce(
    rankings: Rankings,
    predictions: Predictions,
    *,
    exclude: Excluded = None,
    shape: float | None = None,
    draws: int = 1000,
    chains: int = 4,
    tune: int = 200,
    random_seed: Seed = None,
    top_labels: int | None = None,
    client: Any = None,
    progress: Advance | None = None,
) -> xr.DataTree:
    """Plausibilities of each item, as rankings and predictions together make them: an estimate of many readers' shares.

    Parameters
    ----------
    rankings
        Partial rankings with ties, all labels on offer; annotators count as exchangeable within an item.
    predictions
        Models whose output tells what items look like, on the same items and labels. A model that was trained on these
        very rankings makes the posterior overconfident about it.
    exclude
        Names of models that are not independent of these rankings: the truth does not learn from them.
    shape
        Shape of the worths' gamma prior of labels that no model names, by default the one under which readers' first
        choices are most probable.
    draws, chains, tune, random_seed, top_labels, client
        As in `plackett_luce`; up to a hundred draws of the parameters are shared by the draws of items.
    progress
        Called with the number of new draws of the parameters, then of items drawn.

    Returns
    -------
    DataTree
        Group ``posterior`` as `plackett_luce`. Group ``posterior_parameters``: ``estimate`` and ``sd`` (parameter): log
        of the readers that each likely label counts as, log weight of being best, and what agreement and confidence of
        the models add. Group ``diagnostics``: ``r_hat`` and ``ess`` (item). Group ``constant_data``: ``n_rankings``
        (item), ``shape``.

    Raises
    ------
    InputError
        Other items or labels, rankings with `offered`, an unknown model in `exclude`.

    Warns
    -----
    UserWarning
        Models that are not independent of the rankings; items whose chains disagree.

    See Also
    --------
    plackett_luce : the same from rankings alone; it shows what these rankings prove.

    References
    ----------
    D. Stutz et al., "Evaluating AI systems under uncertain ground truth", appendix B.4.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> theta = rng.dirichlet(np.full(5, 0.3), 60)
    >>> order = (rng.standard_exponential((60, 3, 5)) / theta[:, None]).argsort(axis=2)[:, :, :2]
    >>> readers = Rankings.from_blocks(np.expand_dims(order, 3).tolist(), labels=5)
    >>> model = Predictions.from_scores({"A": theta + rng.normal(0, 0.1, theta.shape)}, labels=range(5))
    >>> tree = informed_plackett_luce(readers, model, draws=250, random_seed=1)
    >>> tree["posterior"]["plausibility"].dims
    ('chain', 'draw', 'item', 'category')
    """
    rankings = as_annotations(rankings, (Rankings,), "rankings")
    specification = InformedPlackettLuce(as_predictions(predictions), exclude, shape, tune)
    request = Request(draws, chains, random_seed, top_labels, client, progress=progress)
    return specification.draw(rankings, request)
