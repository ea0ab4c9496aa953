"""Plausibilities as they would look if many had voted: votes and predictions in one posterior.

Few votes say little of one item, so that its prior counts; and the prior of every item is averaged into a score. Here
it is learnt. Item i has votes n_i and covariates x_i, what models predict of it:

    e_ik    = sum_j (a_j log P_ijk + a'_j P_ijk + a''_j [k is j's top label]) + b_k
    eta_ik  = e_ik + sum_l softmax(e_i)_l confusion_lk,                          m_i = softmax(eta_i)
    lambda_i ~ p_0 Dirichlet(s_i m_i)                                            an open item
             + sum_k p_k Dirichlet(S ((1 - blur) e_k + blur m_i))                a clear item, of label k
    n_i     ~ Multinomial(lambda_i),

where a confusion moves plausibility towards k where the models say l (up to sixteen labels), log(p_k / p_0) = odds_i +
log m_ik + clarity_k, and the entropy of m_i moves s_i and odds_i. Given the parameters the posterior of an item is a
mixture of Dirichlet distributions in closed form, and so is the likelihood of its votes. The parameters are drawn by
Hamiltonian Monte Carlo (`sampler`), then each item given the parameters and its votes. Items without votes are drawn
from the learnt prior. Where predictions say nothing their slopes shrink to zero, and labels alone teach the prior
(empirical Bayes). The annotators count as a random sample of readers, exchangeable within an item.

Source: Minka (2000) for the likelihood, Angelopoulos et al. (2023) for predictions in the place of missing gold; see
`informed_dirichlet`.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree._inference.arguments import checked
from bayesagree._inference.checkpoint import fingerprint
from bayesagree._inference.nuts import Sampler
from bayesagree._inference.results import MAX_BYTES, check_size
from bayesagree._inference.storage import Destination
from bayesagree._inference.streams import Seed, stream_apart
from bayesagree.annotations import Labels
from bayesagree.annotations.predictions import Predictions
from bayesagree.draws.blocks import LOCAL, DrawBlock, Schedule, by_chain, check_depth, label_dtype
from bayesagree.draws.convergence import diagnostics
from bayesagree.draws.run import Block, Groups, ItemPosterior, Request, Values, draw_posterior
from bayesagree.plausibility.dirichlet._draws import from_plausibilities, with_best_labels
from bayesagree.plausibility.informed import guards
from bayesagree.plausibility.informed._draw_kernels import plausibility_draws, top_label_draws
from bayesagree.plausibility.informed._kernels import prior_means
from bayesagree.plausibility.informed.covariates import Covariates, Excluded, excluded_names, on_items_of
from bayesagree.plausibility.informed.fit import Fit, Votes, fit_parameters
from bayesagree.plausibility.informed.parameters import InformedPrior, Layout
from bayesagree.plausibility.informed.sampler import draws_per_parameters, parameter_draws

if TYPE_CHECKING:
    import pymc as pm

ESTIMATED = "score against a well-annotated truth (estimate)"
"""The meaning of a score under this posterior."""


@dataclass(frozen=True, eq=False)
class InformedPosterior(ItemPosterior):
    """The posterior of `informed_dirichlet`, with its data.

    Attributes
    ----------
    annotations
        Labels whose items are those of the predictions, voted on or not.
    predictions
        Aligned with them.
    exclude
        Models that are no covariates.
    prior
        Of the parameters.
    """

    annotations: Labels
    predictions: Predictions
    exclude: Excluded = None
    prior: InformedPrior | None = None
    _drawn: dict[Any, NDArray[np.float64]] = field(default_factory=dict, init=False, repr=False)
    name = "informed_dirichlet"
    engine = "hmc"

    @classmethod
    def of(
        cls, labels: Labels, predictions: Predictions, exclude: Excluded = None, prior: InformedPrior | None = None
    ) -> "InformedPosterior":
        """Align labels and predictions."""
        everywhere = on_items_of(labels, predictions)
        return cls(everywhere, predictions.aligned(everywhere.items, everywhere.categories), exclude, prior)

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments that define the model."""
        return {
            "exclude": self.exclude,
            "prior": None if self.prior is None else asdict(self.prior),
            "predictions": fingerprint(self.predictions),
            "target": ESTIMATED,
        }

    @cached_property
    def covariates(self) -> Covariates:
        """The covariates of all items."""
        return Covariates.of(self.predictions, self.exclude)

    @cached_property
    def votes(self) -> Votes:
        """The votes of all items."""
        return Votes.of(self.annotations)

    @cached_property
    def layout(self) -> Layout:
        """Names and priors of the parameters."""
        names = tuple(map(str, self.annotations.categories))
        return Layout(self.covariates.names, names, self.prior or InformedPrior())

    @cached_property
    def fit(self) -> Fit:
        """The parameters."""
        return fit_parameters(self.votes, self.covariates, self.layout)

    def parameters(self, draws: int, chains: int, seed: Seed, engine: str = "hmc") -> NDArray[np.float64]:
        """Draw the parameters, shape (chain, draw, parameter)."""
        seed = stream_apart(seed, "parameters")
        return parameter_draws(self.votes, self.covariates, self.layout, self.fit, draws, chains, seed, engine)

    def drawn(self, request: Request) -> NDArray[np.float64]:
        """Draw the parameters of a request, once."""
        asked = request.draws, request.chains, request.seed, request.engine
        if asked not in self._drawn:
            each = draws_per_parameters(self.votes, request.draws, request.engine)
            self._drawn[asked] = self.parameters(request.draws // each, *asked[1:])
            guards.warn_of_chains(self.layout.names, self._drawn[asked])
        return self._drawn[asked]

    def model(self) -> "pm.Model":
        """Build the same posterior in PyMC."""
        from bayesagree.plausibility.informed.model import informed_dirichlet_model

        return informed_dirichlet_model(self.annotations, self.predictions, exclude=self.exclude, prior=self.prior)

    def draw(self, request: Request, schedule: Schedule) -> Iterator[Block]:
        """Yield draws of all plausibilities, or their best labels."""
        (name,), (last,) = self.variables(request), self.variables(request).values()
        kernel = plausibility_draws if request.top_labels is None else top_label_draws
        for items, values in self._blocks(kernel, next(iter(last[0].values())), last[1], request, schedule):
            yield items, {name: by_chain(values, request.chains)}

    def label_blocks(
        self, depth: int, request: Request, schedule: Schedule, *, plausibility: bool = False
    ) -> Iterator[Any]:
        """Yield the `depth` best labels of each draw, a `DrawBlock` for each block of items, or all plausibilities."""
        n_labels = self.categories.size
        depth, then = check_depth(depth, n_labels), schedule.then
        if plausibility:
            with_best = schedule._replace(then=partial(with_best_labels, depth, then))
            return self._blocks(plausibility_draws, n_labels, np.float64, request, with_best)
        whole = schedule._replace(then=lambda block: then(DrawBlock(*block)) if then else DrawBlock(*block))
        return self._blocks(top_label_draws, depth, label_dtype(n_labels), request, whole)

    def _blocks(self, kernel: Any, width: int, dtype: Any, request: Request, schedule: Schedule) -> Iterator[Any]:
        """Yield items and what a kernel draws for them, shape (item, sample, width)."""
        thetas = self.drawn(request).reshape(-1, self.layout.mean.size)
        n_samples = request.draws * request.chains
        covariates, votes = self.covariates, self.votes

        def draw(items: slice, rng: np.random.Generator) -> tuple[slice, Any]:
            out = np.empty((items.stop - items.start, n_samples, width), dtype)
            dense, hit, _ = covariates.rows(items)
            kernel(rng, thetas, dense, hit, votes.start[items.start : items.stop + 1], votes.label, votes.number, out)
            return items, out

        return schedule.draw(draw, self.annotations.items.size, request.seed)

    def from_nuts(self, sampled: xr.DataTree, request: Request) -> Values:
        """Read plausibilities or best labels from PyMC's draws."""
        return from_plausibilities(sampled, request)

    def groups(self, request: Request) -> Groups:
        """Return the parameters, by name."""
        shape = {"item": self.n_items, "category": self.categories.size}
        check_size(shape, 8, request.max_bytes, "use evaluate(), which streams")
        n_votes = np.bincount(self.annotations.item_index, self.annotations.count, self.n_items)
        thetas = self.drawn(request)
        r_hat, ess = diagnostics(thetas)
        means = np.empty((self.n_items, self.categories.size))
        prior_means(self.fit.mode, self.covariates.dense, self.covariates.hit, means)
        return {
            "posterior_parameters": {
                "prior_mean": (("item", "category"), means),
                "estimate": (("parameter",), self.fit.mode),
                "sd": (("parameter",), thetas.std(axis=(0, 1))),
            },
            "diagnostics": {
                "r_hat": (("parameter",), r_hat),
                "ess": (("parameter",), ess),
                "held_out_log_score": (("prior",), np.array(self.held_out(request.seed))),
                "fit_to_votes": (("model",), self.fit_to_votes),
            },
            "constant_data": {"n_votes": (("item",), n_votes.astype(np.int64))},
        }

    def coords(self) -> dict[str, Any]:
        """Return the names of parameters, models and priors."""
        return {
            "parameter": self.layout.names,
            "model": self.predictions.models,
            "prior": np.array(["informed", "labels_alone"]),
        }

    @cached_property
    def fit_to_votes(self) -> NDArray[np.float64]:
        """Fit of each model to the votes against the best possible without knowing them, in standard errors."""
        return guards.fit_to_votes(self.annotations, self.predictions)

    def held_out(self, seed: Seed) -> guards.HeldOut:
        """Mean log score of votes that were held out."""
        rng, layout = np.random.default_rng(stream_apart(seed, "held-out votes")), self.layout
        return guards.held_out_log_scores(self.votes, self.covariates, layout.categories, layout.prior, rng)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return self.annotations.items.size


@checked
def informed_dirichlet(
    labels: Labels,
    predictions: Predictions,
    *,
    exclude: Excluded = None,
    prior: InformedPrior | None = None,
    draws: int = 1000,
    chains: int = 4,
    seed: Seed = None,
    engine: Literal["hmc", "nuts"] = "hmc",
    sampler: Sampler = None,
    top_labels: int | None = None,
    max_bytes: int = MAX_BYTES,
    client: Any = None,
    to: Destination = None,
) -> xr.DataTree:
    """Plausibilities of each item, as votes and predictions together make them: an estimate of many annotators' shares.

    Parameters
    ----------
    labels
        Single labels, of some or all items of the predictions. Annotators count as exchangeable within an item; an
        annotator's repeated labels (``duplicates="keep"``) count once each.
    predictions
        Models whose output tells what items look like: probabilities (each row sums to one), scores of any scale, or
        hard labels. A model that was trained on these very votes makes the posterior too sure of it.
    exclude
        Names of models that are left out of the covariates, one or several.
    prior
        By default `InformedPrior()`.
    draws, chains
        chains x draws draws of all items. Up to ten consecutive draws of a chain (twenty, of the normal approximation)
        share one draw of the parameters.
    seed
        Same seed, same draws, on any number of threads.
    engine
        ``"hmc"`` draws the parameters by Hamiltonian Monte Carlo, or with more than 5000 annotated items from a normal
        approximation, and everything else exactly; ``"nuts"`` samples `informed_dirichlet_model` with PyMC.
    sampler
        Arguments of PyMC's sampler, for ``engine="nuts"``.
    top_labels
        Keep only the L best labels of each draw instead of all plausibilities.
    max_bytes
        Largest result to keep in memory.
    client
        A `distributed.Client` to draw on instead of threads of this process: the same draws.
    to
        Path of a .zarr store that takes the draws block by block, for results larger than memory.

    Returns
    -------
    DataTree
        Group ``posterior``: ``plausibility`` (chain, draw, item, category), which sums to one over category, or
        ``top_label`` (chain, draw, item, rank), positions of categories; items are those of the predictions. Group
        ``posterior_parameters``: ``prior_mean`` (item, category), the mean of an item before its own votes, be it open
        or clear, and the ``estimate`` (mode) and ``sd`` (parameter) of the parameters that all items share. Group
        ``diagnostics``: ``r_hat`` and ``ess`` (parameter) of their chains; ``held_out_log_score`` (prior), the mean log
        probability of held-out votes with covariates and without; ``fit_to_votes`` (model), how far a model fits the
        votes worse than the best that is possible without knowing them, in standard errors. Group ``constant_data``:
        ``n_votes`` (item).

    Raises
    ------
    InputError
        Items with labels and without predictions, other labels, an unknown model in `exclude`.
    SizeError
        A result above `max_bytes`, with its size and the way out.

    Warns
    -----
    UserWarning
        Models that fit the votes better than independent voters could: they may have been trained on them. From 1000
        draws a chain: parameters whose chains disagree.

    See Also
    --------
    dirichlet : the same from votes alone; it says what these annotations prove.
    evaluate : scores each model without its own output.

    References
    ----------
    T. P. Minka, "Estimating a Dirichlet distribution" (2000), section 4: the likelihood of votes. A. N. Angelopoulos
    et al., "Prediction-powered inference", Science 382 (2023), https://doi.org/10.1126/science.adi6000.

    Examples
    --------
    >>> votes = Labels.from_counts([[3, 0], [0, 3], [2, 1]] * 30, labels=["no", "yes"])
    >>> models = Predictions.from_scores({"A": [[0.8, 0.2], [0.3, 0.7], [0.4, 0.6]] * 30}, labels=["no", "yes"])
    >>> tree = informed_dirichlet(votes, models, seed=1)
    >>> tree["posterior"]["plausibility"].mean(("chain", "draw")).values[:3].argmax(axis=1).tolist()
    [0, 1, 0]
    >>> dict(tree["posterior"]["plausibility"].sizes)
    {'chain': 4, 'draw': 1000, 'item': 90, 'category': 2}
    """
    posterior = InformedPosterior.of(labels, predictions, exclude, prior)
    used = ~np.isin(predictions.models.astype(str), excluded_names(exclude))
    guards.warn_of_knowing(posterior.fit_to_votes[used], predictions.models[used])
    return draw_posterior(posterior, Request(draws, chains, seed, engine, sampler, top_labels, max_bytes, client, to))


def informed_blocks(
    labels: Labels,
    *,
    predictions: Predictions,
    depth: int,
    exclude: Excluded = None,
    prior: InformedPrior | None = None,
    draws: int = 1000,
    chains: int = 4,
    seed: Seed = None,
    engine: Literal["hmc", "normal"] = "hmc",
    plausibility: bool = False,
    schedule: Schedule = LOCAL,
) -> Iterator[Any]:
    """Yield the `depth` best labels of each draw, block of items by block: `informed_dirichlet` for any number.

    Engine ``"normal"``: the normal approximation of the parameters, ten times faster, off by part of a score's sd.
    """
    posterior = InformedPosterior.of(labels, predictions, exclude, prior)
    return posterior.label_blocks(depth, Request(draws, chains, seed, engine), schedule, plausibility=plausibility)
