"""Gates for continuous integration: whether the annotations support the claim that a new model is better."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy as sp
import xarray as xr

from bayesagree.annotations import Annotations
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, positive_int, say, shorten
from bayesagree.errors import probability as checked_probability
from bayesagree.evaluation.comparison import ModelScores, pairwise
from bayesagree.evaluation.scoring import evaluate
from bayesagree.evaluation.tables import ITEMS_ARE
from bayesagree.inference.results import settings_of
from bayesagree.inference.streams import Seed
from bayesagree.io.doors import as_annotations, as_predictions

# Random walks by which the requirement of several looks is found.
WALKS = 200_000


class Claim(NamedTuple):
    """A claim about two models, and what the annotations say of it."""

    # Whether the claim has the required probability.
    supported: bool
    # Probability of the claim.
    found: float
    # The claim, its probability, the required one, and the difference of the scores.
    sentence: str
    # What `pairwise` says of the two models: model, other_model, prob_better, difference, lower, upper.
    table: pd.DataFrame


def assert_better(
    annotations: Annotations,
    predictions: Predictions,
    new: Any,
    old: Any,
    *,
    probability: float = 0.95,
    looks: int = 1,
    margin: float = 0.0,
    metric: str = "accuracy",
    random_seed: Seed = None,
    **options: Any,
) -> None:
    """Fail unless the annotations support the claim that a new model is better than an old one.

    The probability is that of `pairwise` on one evaluation of all models, with the posterior that `evaluate` takes by
    default. A gate in continuous integration passes a seed, so that it does not change between runs of equal data.

    Parameters
    ----------
    annotations, predictions
        As in `evaluate`; of more than two models all are scored, and two are compared.
    new, old
        Names of the models.
    probability
        Required probability of the claim.
    looks
        How often the claim will be checked while annotations are added, about as many each time. Two equal models
        pass one check in twenty, but at least one of ten checks in one study of six; with ``looks=10`` in one of
        twenty, because each check requires a larger probability (Pocock 1977).
    margin
        The new model must be better by more than this. Below 0: it may be worse by as much, so ``margin=-0.01`` claims
        "not worse by .01". In the units of the metric; an improvement is positive also where lower is better. A
        difference equal to the margin counts one half, as ties do in `pairwise`.
    metric, random_seed, options
        As in `evaluate`, such as ``plausibility=``, ``items=`` and ``draws=``.

    Raises
    ------
    AssertionError
        The claim is not supported; the message has the probability and what `pairwise` says of the two.
    InputError
        An unknown model, the same model twice, a probability outside (0, 1), a margin that is not finite.

    See Also
    --------
    compare : all pairs of models, as a table.

    References
    ----------
    S. J. Pocock, "Group sequential methods in the design and analysis of clinical trials", Biometrika 64 (1977),
    doi:10.1093/biomet/64.2.191: one boundary for all looks.

    Examples
    --------
    >>> from bayesagree import Labels, Predictions
    >>> votes = Labels.from_counts([[3, 0], [0, 3], [3, 0], [0, 3]] * 5)
    >>> models = Predictions.from_labels({"new": [0, 1, 0, 1] * 5, "old": [0, 1, 0, 0] * 5})
    >>> assert_better(votes, models, "new", "old", plausibility="dirichlet", random_seed=1)
    >>> try:
    ...     assert_better(votes, models, "old", "new", plausibility="dirichlet", margin=-0.01, random_seed=1)
    ... except AssertionError as error:
    ...     print(str(error).partition(" (")[0])
    old is not worse than new by .01 with probability 0.00, and 0.95 is required
    """
    required = required_probability(probability, looks)
    found = claim(
        annotations, predictions, new, old, required, margin, metric, random_seed=random_seed, **options
    )
    if not found.supported:
        raise AssertionError(
            f"{found.sentence}\n{found.table.to_string(index=False, float_format='{:.3f}'.format)}"
        )


def required_probability(probability: float, looks: int) -> float:
    """Return what each of several looks requires, so that equal models pass any of them with 1 - probability.

    Leads of equal models, in standard errors, are a random walk over the root of the time.

    Examples
    --------
    >>> [round(required_probability(0.95, looks), 3) for looks in (1, 2, 10)]
    [0.95, 0.969, 0.989]
    """
    if positive_int(looks, "looks") == 1:
        return probability
    steps = np.random.default_rng(0).standard_normal((WALKS, looks))
    lead = (np.cumsum(steps, axis=1) / np.sqrt(np.arange(1, looks + 1))).max(axis=1)
    return float(sp.special.ndtr(np.quantile(lead, checked_probability(probability, "probability"))))


def claim(
    annotations: Annotations,
    predictions: Predictions,
    new: Any,
    old: Any,
    probability: float,
    margin: float,
    metric: str,
    **options: Any,
) -> Claim:
    """Evaluate, and return what is found about the claim of `assert_better`."""
    annotations = as_annotations(annotations)
    predictions = as_predictions(predictions, annotations, may_lack=True, runs=True)
    models = predictions.model_names.tolist()
    for name, role in ((new, "new"), (old, "old")):
        if name not in models:
            raise InputError(f"{say(role, name)} is not one of the models, {shorten(models)}")
    if new == old:
        raise InputError(f"new and old are both {new!r}; a comparison needs two models")
    checked_probability(probability, "probability")
    if not np.isfinite(margin):
        raise InputError(f"margin={margin!r} must be a difference of scores, such as -0.01")
    tree = evaluate(annotations, predictions, metrics=(metric,), **options)
    return claim_of(tree, new, old, probability, margin, metric)


def claim_of(result: xr.DataTree, new: Any, old: Any, probability: float, margin: float, metric: str) -> Claim:
    """Return what an evaluation says of the claim."""
    scores = ModelScores.of(result, metric, None)
    first, second = (scores.models.tolist().index(name) for name in (new, old))
    # Scores are shares of the items: their difference equals a margin such as .01 only up to rounding.
    gaps = [np.round(merit[:, first] - merit[:, second] - margin, 12) for merit in scores.merits]
    found = float(np.mean([(gap > 0).mean() + (gap == 0).mean() / 2 for gap in gaps]))
    pair = pairwise(result, metric).sel(model=[new], other_model=[old]).drop_dims("rank")
    row = pair.to_dataframe().reset_index()
    by = f" by {f'{abs(margin):g}'.removeprefix('0')}" * (margin != 0)
    claimed = f"{'not worse' if margin < 0 else 'better'} than {old}{by}"
    difference, lower, upper = (float(row[name].iloc[0]) for name in ("difference", "lower", "upper"))
    supported = found >= probability
    sentence = (
        f"{new} is {claimed} with probability {found:.2f}, {'as' if supported else 'and'} {probability:.3g} is "
        f"required ({metric} {ITEMS_ARE[settings_of(result)['items']]}: difference {difference:+.3f}, 95 % interval "
        f"{lower:.3f} to {upper:.3f})"
    )
    return Claim(supported, found, sentence, row)
