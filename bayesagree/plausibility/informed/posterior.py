"""Plausibilities as they would look if many had voted: votes and predictions in one posterior.

Few votes say little of one item, so that its prior counts; and the prior of every item is averaged into a score. Here
it is learnt. An item is open (a Dirichlet distribution around what the predictions say), clear (nearly one-hot), or one
of which the predictions know the best label and nothing of by how much; `family` has the equations. Given the
parameters the posterior of an item is a mixture in closed form, and so is the likelihood of its votes. The parameters
are drawn on elliptical slices (`inference.slices`), then each item given the parameters and its votes. Items
without votes are drawn from the learnt prior. Where predictions say nothing their slopes shrink to zero, and labels
alone teach the prior (empirical Bayes). The annotators count as a random sample of readers, exchangeable within an
item.

How well models know the best label of items on which annotators are split few votes hardly tell: three votes fit none
of these items and most of them alike. So the share of the third kind has a wide prior, and where the votes are silent
the interval of an accuracy holds both answers.

Source: Minka (2000) for the likelihood, Angelopoulos et al. (2023) for predictions in the place of missing gold; see
`informed_dirichlet`.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from bayesagree._types import Advance
from bayesagree.annotations import Labels
from bayesagree.annotations.gold import Gold, gold_codes
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError
from bayesagree.inference.posterior import Posterior, Request, Truths
from bayesagree.inference.streams import Seed
from bayesagree.io.doors import as_annotations, as_predictions
from bayesagree.plausibility.dirichlet.posterior import Dirichlet
from bayesagree.plausibility.independence import Guarded
from bayesagree.plausibility.informed._problem import LabelFrame
from bayesagree.plausibility.informed.annotators import careful
from bayesagree.plausibility.informed.covariates import Excluded, aligned
from bayesagree.plausibility.informed.gold import GoldProblem
from bayesagree.plausibility.informed.model import kind_of, model_of
from bayesagree.plausibility.informed.ordered import OrderedProblem
from bayesagree.plausibility.informed.prior import InformedPrior

if TYPE_CHECKING:
    import pymc as pm

# The meaning of a score with gold.
AGAINST_GOLD = "score against gold (known on items with gold, estimated on the others)"
# Votes an item that leave the shares of classes open: with three, constant predictions are off by .027 on DICES.
FEW = 4
# Metrics that weigh classes by their shares, and what is wrong with them then.
UNSETTLED = (
    ("recall", "precision", "f1", "balanced_accuracy", "cohen_kappa", "matthews"),
    f"depends on the share of items of each class, which {FEW} votes an item or fewer do not settle: it may be off by "
    ".03 where accuracy is right; ask for more votes, or for accuracy",
)


@dataclass(frozen=True)
class InformedDirichlet(Guarded):
    """Specification of the posterior of `informed_dirichlet`, whose arguments it holds.

    `evaluate` gives it the predictions that it scores. With gold every draw is one label for each item.
    """

    predictions: Predictions | None = None
    exclude: Excluded = None
    prior: InformedPrior | None = None
    gold: Gold | None = None
    name = "informed_dirichlet"
    engine = "slices"

    def of_annotations(self) -> Posterior:
        """Return the posterior of labels alone."""
        return Dirichlet()

    def telling(self, annotations: Any, predictions: Predictions) -> Any:
        """Return the labels of annotators who answer about the items, whatever models say."""
        kind = kind_of(annotations, self.prior)
        return careful(kind.of(annotations, predictions, [*map(str, predictions.models)]))

    def truths(
        self,
        annotations: Any,
        predictions: Predictions,
        request: Request,
        reliabilities: Sequence[float] = (1.0,),
    ) -> Truths:
        """Return the truths that models inform, or the one that learns from gold, and that of labels alone."""
        if self.gold is None:
            found = super().truths(annotations, predictions, request)
            n_votes = np.bincount(annotations.item_index, annotations.count)
            few = n_votes.any() and np.median(n_votes[n_votes > 0]) <= FEW
            return replace(found, unsettled=UNSETTLED) if few else found
        if self.exclude is not None:
            raise InputError("with gold= the worth of every model is learnt from gold; leave exclude= out")
        labels, given = aligned(annotations, predictions)
        both = [replace(self, predictions=given), Dirichlet()]
        return Truths(labels, given, both, request, None, (), {})

    def kind(self, annotations: Labels) -> type[LabelFrame]:
        """Return the form of the frame."""
        return kind_of(annotations, self.prior) if self.gold is None else GoldProblem

    def sweeps(self, annotations: Labels, request: Request) -> int:
        """Return how many draws of the parameters count as progress."""
        return self.kind(annotations).sets(request.draws) * request.chains

    def problem(self, annotations: Labels) -> LabelFrame:
        """Return votes, predictions and gold on the items of the predictions."""
        return self.kind(annotations).of(annotations, self.given, self.exclude, self.prior, self.gold)

    def settings(self, annotations: Labels) -> dict[str, Any]:
        """Return the arguments of the model."""
        if self.gold is not None:
            codes = gold_codes(self.gold, annotations.items, annotations.categories)
            return {"target": AGAINST_GOLD, "n_gold": int((codes >= 0).sum())}
        prior = {"prior": None if self.prior is None else asdict(self.prior)}
        form = {"form": "ordered"} if kind_of(annotations, self.prior) is OrderedProblem else {}
        return super().settings(annotations) | prior | form

    def model(self, annotations: Labels) -> "pm.Model":
        """Build the same posterior in PyMC."""
        return model_of(self.problem(annotations))


def informed_dirichlet(
    labels: Labels,
    predictions: Predictions,
    *,
    exclude: Excluded = None,
    prior: InformedPrior | None = None,
    draws: int = 1000,
    chains: int = 4,
    random_seed: Seed = None,
    top_labels: int | None = None,
    client: Any = None,
    progress: Advance | None = None,
) -> xr.DataTree:
    """Plausibilities of each item, as votes and predictions together make them: an estimate of many annotators' shares.

    Of three labels or more that are stated to have an order, neighbours are likely together and a model has one
    parameter (module `ordered`), unless a prior is given. Where an item's labels are nearly equally frequent, this
    makes the mean absolute error of ordered labels too small: its intervals then hold the truth in .75 to .88 (seven
    classes of jokes).

    Parameters
    ----------
    labels
        Single labels, of some or all items of the predictions. Annotators count as exchangeable within an item, but for
        answers of named ones that are habit or chance (module `annotators`); an annotator's repeated labels
        (``duplicates="keep"``) count once each.
    predictions
        Models whose output tells what items look like: probabilities (each row sums to one), scores of any scale, or
        hard labels. A model that was trained on these very votes makes the posterior overconfident about it. Where a
        model may know the best label of items on which annotators are split, the interval of its accuracy is wide:
        more votes on items where models and votes differ make it shorter.
    exclude
        Names of models that are not independent of these votes, one or several: the truth does not learn from them.
    prior
        By default `InformedPrior()`. From three votes its shapes, from ten the family err on distances to the shares of
        all labels of ambiguous items: intervals of a model's total variation hold it in .8 of the cases, of EntCE in
        .4 to .6, and both come out too large, by up to .006 and .014. The votes do not show it.
    draws, chains
        chains x draws draws of all items. Up to five consecutive draws of a chain share one draw of the
        parameters.
    random_seed
        Same seed, same draws, on any number of threads.
    top_labels
        Keep only the L best labels of each draw instead of all plausibilities.
    client
        A `distributed.Client` to draw on instead of threads of this process: the same draws.
    progress
        Called with the number of new draws of the parameters, then of items drawn.

    Returns
    -------
    DataTree
        Group ``posterior``: ``plausibility`` (chain, draw, item, category), which sums to one over category, or
        ``top_label`` (chain, draw, item, rank), positions of categories; items are those of the predictions. Group
        ``posterior_parameters``: ``estimate`` (mean) and ``sd`` (parameter) of the parameters that all items share.
        Group ``diagnostics``: ``r_hat`` and ``ess`` (parameter) of their chains; ``annotator_weight`` (annotator), the
        share of the answers of each named annotator that are about the items. Group ``constant_data``: ``n_votes``
        (item) and ``n_votes_of_label`` (category).

    Raises
    ------
    InputError
        Items with labels and without predictions, other labels, an unknown model in `exclude`.
    SizeError
        A result too large for memory, with its size and the way out.

    Warns
    -----
    UserWarning
        Models that are not independent of the votes; annotators of a weight below .3.
        From 1000 draws a chain: parameters whose chains disagree.

    See Also
    --------
    dirichlet : the same from votes alone; the score from these annotations alone.
    evaluate : scores models under this posterior, and beside it under the labels alone.

    References
    ----------
    T. P. Minka, "Estimating a Dirichlet distribution" (2000), section 4: the likelihood of votes. A. N. Angelopoulos
    et al., "Prediction-powered inference", Science 382 (2023), https://doi.org/10.1126/science.adi6000.

    Examples
    --------
    >>> votes = Labels.from_counts([[3, 0], [0, 3], [2, 1]] * 30, labels=["no", "yes"])
    >>> models = Predictions.from_scores({"A": [[0.8, 0.2], [0.3, 0.7], [0.4, 0.6]] * 30}, labels=["no", "yes"])
    >>> tree = informed_dirichlet(votes, models, random_seed=1)
    >>> tree["posterior"]["plausibility"].mean(("chain", "draw")).values[:3].argmax(axis=1).tolist()
    [0, 1, 0]
    >>> dict(tree["posterior"]["plausibility"].sizes)
    {'chain': 4, 'draw': 1000, 'item': 90, 'category': 2}
    """
    labels = as_annotations(labels, (Labels,), "labels")
    predictions = as_predictions(predictions, labels)
    request = Request(draws, chains, random_seed, top_labels, client, progress=progress)
    return InformedDirichlet(predictions, exclude, prior).draw(labels, request)
