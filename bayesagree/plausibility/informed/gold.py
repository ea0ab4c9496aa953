"""The true label of items, learnt from items whose label is known: gold.

Gold is one label per item. What annotators and models say of it is learnt where it is known, and predicts it elsewhere:

    e_ik = a log v_ik + sum_l C_lk v_il + sum_j (s_j [k is j's top label] + s'_j log P_ijk + s''_j P_ijk)
    z_i ~ Categorical(softmax(e_i)),          v_ik = (n_ik + 1/K) / (n_i + 1),

where C says for what the annotators' answer l stands (up to sixteen labels; as Dawid and Skene's confusion matrix, of
the crowd as a whole). At the mode the expected number of right answers of every model on the items with gold is about
the true one (the score equations of the s_j), so that the estimate for the other items is right for any model,
however wrong annotators are, as long as the items with gold were chosen without regard to their label: a regression
estimator of a survey, in which votes and predictions of all items are the auxiliary information.

Source: Wu and Sitter, "A model-calibration approach to using complete auxiliary information from survey data", JASA 96
(2001), section 2, with a posterior in the place of their variance; its use for scores of models is Angelopoulos et al.
(2023).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import scipy as sp
from numpy.typing import NDArray

from bayesagree._types import Floats
from bayesagree.annotations import Labels
from bayesagree.annotations.gold import Gold, gold_codes
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError
from bayesagree.inference.blocks import label_dtype
from bayesagree.inference.posterior import Drawer, Drawn, Groups, ItemPosterior, Request
from bayesagree.inference.slices import Fit, Prior, chains_of, climb, posterior
from bayesagree.inference.streams import Seed, one_blas_thread, stream_apart
from bayesagree.plausibility.dirichlet.posterior import Dirichlet
from bayesagree.plausibility.informed.covariates import Covariates

if TYPE_CHECKING:
    import pymc as pm

# Prior standard deviations. A model that is always right needs a large slope of its label: one of 4 lets two hundred
# right answers of two hundred predict six hundred of six hundred about half of the time, as a beta distribution would.
SLOPE_SD, CONFUSION_SD, HIT_SD = 1.0, 1.5, 4.0
# Labels up to which each pair has a confusion of its own; of more, votes would say too little about a pair.
MOST_CONFUSED = 16
# Most consecutive draws of a chain that share their parameters, and the fewest sets of these: an interval from 4 x 5
# sets holds adult2's score in .80 to .85, from 4 x 50 in .90.
SHARED, FEWEST_SETS = 10, 100


@dataclass(frozen=True, eq=False)
class GoldRegression:
    """What votes and predictions say of gold."""

    counts: Floats
    covariates: Covariates
    gold: NDArray[np.int64]

    def columns(self, items: Any) -> Floats:
        """Return the columns of some items, shape (item, label, column)."""
        n, given = self.counts[items], self.covariates.rows(items)
        n_labels = n.shape[1]
        share = (n + 1 / n_labels) / (n.sum(axis=1, keepdims=True) + 1)
        logs = np.log(share)
        every = np.eye(n_labels)
        parts = [(logs - logs.mean(axis=1, keepdims=True))[..., None], np.moveaxis(given.dense, 1, 2)]
        parts.append((given.hit[:, None, :] == np.arange(n_labels)[:, None]).astype(np.float64))
        if n_labels <= MOST_CONFUSED:
            parts.append((share[:, None, :, None] * every[:, None, :]).reshape(len(n), n_labels, -1))
        return np.concatenate(parts, axis=2)

    @cached_property
    def prior(self) -> Prior:
        """Mean and standard deviation of every slope: of the votes one, as if they were probabilities."""
        n_labels, n_dense = self.counts.shape[1], self.covariates.dense.shape[1]
        n_pairs = n_labels**2 if n_labels <= MOST_CONFUSED else 0
        sizes = (1 + n_dense, self.covariates.hit.shape[1], n_pairs)
        sd = np.repeat((SLOPE_SD, HIT_SD, CONFUSION_SD), sizes)
        return Prior(np.eye(1, sd.size)[0], sd)

    @cached_property
    def known(self) -> tuple[Floats, NDArray[np.int64]]:
        """Columns and label of the items with gold."""
        at = np.flatnonzero(self.gold >= 0)
        return self.columns(at), self.gold[at]

    def log_gold(self, theta: Floats) -> Floats:
        """Log probability of the label of each item with gold at slopes (vector, slope), shape (item, vector)."""
        rows, truth = self.known
        return sp.special.log_softmax(rows @ theta.T, axis=1)[np.arange(truth.size), truth]

    @cached_property
    def fit(self) -> Fit:
        """The most probable slopes, and a root of their covariance."""
        return climb(self.log_gold, self.prior, np.ones(self.known[1].size))

    def parameters(self, draws: int, chains: int, random_seed: Seed) -> Floats:
        """Draw the slopes, shape (chain, draw, slope)."""
        rng = np.random.default_rng(stream_apart(random_seed, "parameters"))
        density = posterior(lambda theta: self.log_gold(theta).sum(axis=0), self.prior)
        with one_blas_thread():
            return chains_of(density, [self.fit], draws, chains, rng)


@dataclass(frozen=True)
class GoldTruth(ItemPosterior):
    """Specification: the truth is a label, known where there is gold, else predicted from votes and predictions.

    `evaluate` takes it for ``plausibility="informed_dirichlet"`` with gold. Every draw is one label for each item.
    """

    predictions: Predictions | None = None
    gold: Gold | None = None
    name = "informed_dirichlet"
    engine = "slices"
    target = "score against gold (known on items with gold, estimated on the others)"
    takes_predictions = True

    def problem(self, annotations: Labels) -> GoldRegression:
        """Return counts, covariates and gold of the items of the labels, which are those of the predictions."""
        codes = gold_codes(self.gold, annotations.items, annotations.categories)
        if self.predictions is None:
            raise InputError("gold is learnt from with predictions; give them as predictions=")
        predictions = self.predictions.aligned(annotations.items, annotations.categories)
        return GoldRegression(annotations.counts().astype(np.float64), Covariates.of(predictions), codes)

    def settings(self, annotations: Labels) -> dict[str, Any]:
        """Return how many items have gold."""
        return {"n_gold": int((gold_codes(self.gold, annotations.items, annotations.categories) >= 0).sum())}

    def model(self, annotations: Labels) -> "pm.Model":
        """Build the regression in PyMC."""
        import pymc as pm

        problem = self.problem(annotations)
        (mean, sd), (rows, truth) = problem.prior, problem.known
        with pm.Model() as model:
            slopes: Any = pm.Normal("slopes", mean, sd)
            eta: Any = pm.math.dot(rows, slopes)
            pm.Categorical("gold", logit_p=eta, observed=truth)
        return model

    def known(self, problem: GoldRegression, request: Request) -> Groups:
        """Return the votes, which name the labels."""
        return {"constant_data": {"votes": (("item", "category"), problem.counts)}}

    def drawer(self, problem: GoldRegression, request: Request) -> Drawer:
        """Return the function that draws the label of each item of a block."""
        if (request.top_labels or 1) > 1:
            raise InputError(
                "gold is one label per item; metrics of several best labels need more: leave gold out"
            )
        most = max(1, min(SHARED, request.draws // FEWEST_SETS))
        each = next(d for d in range(most, 0, -1) if request.draws % d == 0)
        slopes = problem.parameters(request.draws // each, request.chains, request.random_seed)
        slopes = slopes.reshape(-1, slopes.shape[-1]).T
        n_labels = problem.counts.shape[1]

        def draw(items: slice, rng: np.random.Generator) -> Drawn:
            odds = np.repeat(problem.columns(items) @ slopes, each, axis=2)
            # The largest of log weights plus Gumbel noise is a draw by these weights.
            label = (odds + rng.gumbel(size=odds.shape)).argmax(axis=1).astype(label_dtype(n_labels))
            known = problem.gold[items]
            label = np.where(known[:, None] >= 0, known[:, None].astype(label.dtype), label)
            if request.top_labels is None:
                return Drawn(items, {"plausibility": np.eye(n_labels)[label]})
            return Drawn(items, {"top_label": label[..., None]})

        return draw


def vote_against_gold(labels: Any, gold: Mapping[Any, Any], random_seed: Seed) -> dict[str, Any]:
    """Return how many items have gold, on what share the vote agrees, and whether the votes prefer it to gold.

    Examples
    --------
    >>> votes = Labels.from_counts([[9, 0], [8, 1], [0, 9]], labels=["no", "yes"])
    >>> found = vote_against_gold(votes, {0: "yes", 1: "no", 2: "yes"}, random_seed=1)
    >>> found["n_gold"], round(found["vote_agrees"], 3), found["vote_beats_gold"] > 0.95
    (3, 0.667, True)
    """
    votes = labels.select(np.isin(labels.items, [*gold])[labels.item_index])
    found: dict[str, Any] = {"n_gold": len(gold)}
    if votes.items.size == 0:  # nobody annotated an item with gold
        return found
    codes = pd.Index(votes.categories).get_indexer(pd.Index([gold[item] for item in votes.items.tolist()]))
    counts, at = votes.counts(), np.arange(codes.size)
    most = counts == counts.max(axis=1, keepdims=True)
    vote = most / most.sum(axis=1, keepdims=True)  # a tied vote is right by the share of its labels
    tree = Dirichlet().draw(votes, Request(random_seed=random_seed, top_labels=1))
    top = np.asarray(tree["posterior"]["top_label"]).reshape(-1, codes.size)
    gap = (vote[at, top] - (top == codes)).sum(axis=1)
    better = float((gap > 1e-9).mean() + (np.abs(gap) <= 1e-9).mean() / 2)
    return found | {"vote_agrees": float(vote[at, codes].mean()), "vote_beats_gold": better}
