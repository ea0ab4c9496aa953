"""Designs of a study: so many items, so many annotators per item; what it would cost and what it would show."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import scipy as sp
import xarray as xr

from bayesagree._types import Advance, Floats, Integers, silent
from bayesagree.annotations import Labels
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, one_of, positive, positive_int, probability, refuse, shorten
from bayesagree.inference.streams import Seed, seed_sequence
from bayesagree.io.doors import as_annotations, as_predictions
from bayesagree.metrics.registry import Metric
from bayesagree.planning._worlds import CI_PROB, Studies
from bayesagree.plausibility.registry import POSTERIORS

# Coefficients of `agreement_table` that need no names of annotators.
COEFFICIENTS = ("fleiss_kappa", "alpha_nominal", "gwet_ac1", "brennan_prediger")
KNOWN = f"it is one of {shorten(COEFFICIENTS)}"
# Scores from -1 to 1, as these coefficients; others of which more is better are from 0 to 1.
SIGNED = ("matthews_corrcoef", "cohen_kappa", "quadratic_kappa")
# Widths fall with the root of the number of items, so that one size is enough: larger studies cost more than they add.
# Items of a simulated study, at most.
MOST_ITEMS = 300
# With one vote per item no two votes show how far people agree on an item, and that uncertainty does not fall with more
# items: there the widths of a small and a large study are joined by a power law.
# Items of the large one, at most.
MOST_ITEMS_OF_ONE_VOTE = 1000
# Draws of estimates of all models, by which the probability of the right choice is found in each world.
RANKINGS = 2000

# Why ``"auto"`` chose the posterior of a study.
REASON = "Votes and predictions together evaluate the studies, as in evaluate() (informed_dirichlet)."


def plan(
    annotations: Labels,
    predictions: Predictions | None = None,
    *,
    plausibility: str = "auto",
    items: Sequence[int],
    annotators: Sequence[int],
    runs: Sequence[int] | None = None,
    metric: str = "accuracy",
    target: float | None = None,
    difference: float | None = None,
    power: float | None = None,
    cost: tuple[float, ...] | None = None,
    replicates: int = 16,
    study_draws: int = 250,
    random_seed: Seed = None,
    progress: Advance | None = None,
) -> xr.Dataset:
    r"""Predict interval, decision and cost of each number of items and annotators, from a pilot.

    The posterior of the pilot says what may be true: `replicates` worlds, each items of the pilot with replacement and
    one draw of their plausibilities. In each world one study is drawn for each
    number of annotators and evaluated as a real one would be. The widths of all designs follow from the variance of a
    two-stage sample, :math:`w^2 = a / N + b / (N n) + c / (N n^2)`, fitted with coefficients that are not negative;
    with one vote an item, from a small and a large study.

    Parameters
    ----------
    annotations
        Labels of the pilot: two items or more, some with two annotations.
    predictions
        Models on the items of the pilot; None plans for agreement. Those that fit the votes better than
        independent voters could do not inform the truth, with a warning.
    plausibility
        Posterior that evaluates a study, as in `evaluate`; by default ``"informed_dirichlet"``, here with a normal
        approximation of its parameters, which with one vote an item is corrected by studies evaluated in full. The
        pilot is always read by the informed posterior: a fixed prior would decide what items look like.
    items, annotators
        The grid: numbers of items, and of votes per item.
    runs
        Numbers of runs of each model on an item, from predictions of a pilot with several: a dim ``runs``.
    metric
        A metric of `evaluate`; without predictions ``"fleiss_kappa"``, ``"alpha_nominal"``, ``"gwet_ac1"`` or
        ``"brennan_prediger"``.
    target
        Full width of the interval that is wanted; the cheapest design that reaches it stands in the attributes.
    difference, power
        Of the two best models of the pilot: a true difference of their scores, whose probability to be found is
        ``power``; or this probability, for which ``smallest_difference`` is returned. It is found where the interval of
        the difference lies on its side of 0.
    cost
        Cost of an item without votes, of a vote, and of a run of an item; by default (0, 1, 0): cost counts votes.
    replicates
        Worlds, two or more.
    study_draws
        Draws of each of the two chains of a simulated evaluation.
    random_seed
        Same seed, same plan.
    progress
        Called with the number of studies done.

    Returns
    -------
    Dataset
        Over dims (items, annotators): ``width``, expected full width of the interval (0.95, items a sample; mean over
        models); ``width_lower``, ``width_upper``, the interval (0.95) in which the width of one such study will lie:
        what the pilot leaves open, chance, and simulation; ``prob_right``, the probability that the model that scores
        best is the best one (NaN without two models) and ``prob_right_error``, its standard error; ``cost``; on request
        ``power`` and ``smallest_difference``; with `runs` also ``worth``, how many times as many items of one run give
        the same width. attrs
        ``choice`` (why the posterior was chosen), ``best_items`` and ``best_annotators``: the cheapest design with a
        width of at most `target`, where there is one.

    Notes
    -----
    Widths are those of an interval over items, about these annotators.

    Raises
    ------
    InputError
        An empty grid, a pilot of one item, an unknown metric, one annotator without predictions; with `difference` or
        `power` two best models that are alike.

    References
    ----------
    W. G. Cochran, "Sampling Techniques", 1977, chapter 10 (variance of a two-stage sample).
    C. Wein et al., "Follow the leader(board) with confidence", Findings of ACL 2023 (simulation of responses).

    See Also
    --------
    annotate_next : which item to label next.

    Examples
    --------
    >>> from bayesagree import Labels
    >>> pilot = Labels.from_counts([[3, 0], [2, 1], [0, 3], [3, 0], [1, 2], [0, 3]] * 5)
    >>> found = plan(pilot, items=[50, 200], annotators=[3, 5], metric="fleiss_kappa", target=0.15, random_seed=1)
    >>> bool((found["width"].sel(items=200) < found["width"].sel(items=50)).all())
    True
    >>> found["cost"].values.tolist()
    [[150.0, 250.0], [600.0, 1000.0]]
    """
    annotations = as_annotations(annotations, (Labels,))
    predictions = as_predictions(predictions, annotations, runs=True)
    sizes, votes = _grid(items, "items"), _grid(annotators, "annotators")
    several = [None] if runs is None else _grid(runs, "runs").tolist()
    n_models = 0 if predictions is None else predictions.model_names.size
    answered = predictions is not None and predictions.runs is not None
    alone, auto, two = predictions is None, plausibility == "auto", (difference, power)
    n_pilot, costs = annotations.items.size, (0.0, 1.0) if cost is None else cost
    for wrong, text in (
        (runs is not None and not answered, "runs= needs a pilot with several: predictions with a column run"),
        (n_pilot < 2, "a pilot of one item does not show how items differ; pass two or more, better 30"),
        (alone and metric not in COEFFICIENTS, f"metric={metric!r} needs predictions; without them {KNOWN}"),
        (alone and votes.min() < 2, "annotators=1: agreement needs two per item; leave the 1 out"),
        (replicates < 2, "replicates=1: pass 2 or more, to show what the pilot leaves open"),
        (n_models < 2 and two != (None, None), "difference= and power= are of two models; pass both models"),
        (np.size(costs) not in (2, 3), f"cost={cost!r} must be of an item, a vote and, if wanted, a run"),
    ):
        if wrong:
            raise InputError(text)
    one_of(plausibility, "plausibility", ("auto", *POSTERIORS))
    of_item, of_vote, of_run = (*costs, 0.0)[:3]
    prices = positive(of_item, "cost of an item", zero=True) + positive(of_vote, "cost of a vote") * votes
    positive(of_run, "cost of a run", zero=True)
    designs = designs_to_simulate(n_pilot, sizes.tolist(), votes.tolist())
    how = {"items": "bootstrap", "chains": 2, "draws": positive_int(study_draws, "study_draws")}
    how |= {"plausibility": "informed_dirichlet" if auto else plausibility, "progress": progress or silent}
    root = seed_sequence(random_seed)
    studies = Studies.of(annotations, predictions, designs, replicates, root, metric, **how)
    coords = {"items": sizes, "annotators": votes}
    choice = REASON if auto and not alone else ""
    record = None if alone else Metric.of(metric).record
    bounded = record is None or (record.higher_is_better and not record.by_user)
    widest = (2.0 if record is None or record.pattern in SIGNED else 1.0) if bounded else np.inf
    attrs = {"metric": metric, "replicates": replicates, "ci_prob": CI_PROB, "choice": choice}
    plans = []
    for number in several:
        shown = _shown(studies if number is None else studies.of_runs(number), sizes, votes, two, root)
        shown |= {name: np.minimum(shown[name], widest) for name in ("width", "width_lower", "width_upper")}
        shown["cost"] = sizes[:, None] * (prices + of_run * (number or 0))
        if number is not None:
            shown["worth"] = (studies.of_runs(1).widths(sizes, votes)[0] / shown["width"]) ** 2
        plans.append(xr.Dataset({name: (tuple(coords), value) for name, value in shown.items()}, coords, attrs))
    found = plans[0]
    if runs is not None:
        found = xr.concat(plans, pd.Index(several, name="runs"), combine_attrs="override")
        found = found.transpose("items", "annotators", "runs")
    if target is None:
        return found
    found.attrs["target"] = positive(target, "target")
    reached = found["cost"].where(found["width"] <= target).to_series()
    if reached.notna().any():
        best = zip(reached.index.names, reached.idxmin())
        found.attrs |= {f"best_{name}": int(value) for name, value in best}
    return found


def _shown(studies: Studies, sizes: Integers, votes: Integers, two: Any, root: Any) -> dict[str, Floats]:
    """Return the variables of a plan over (items, annotators), from studies of one number of runs.

    Of (difference, power) `two`, the difference of the two models that are best in the mean of the worlds is found
    where it is as many standard deviations from 0 as the end of its interval from its mean.
    """
    width, reach = studies.widths(sizes, votes)
    design = [np.flatnonzero(studies.annotators == number)[-1] for number in votes]
    typical = np.exp(np.log(np.maximum(studies.width[design], 1e-12)).mean(axis=1))
    covariance = studies.covariance[design] * ((width / typical) ** 2)[..., None, None]
    shown = {"width": width, "width_lower": width * np.exp(-reach), "width_upper": width * np.exp(reach)}
    right = _right_choices(studies.truth, covariance, root)
    shown["prob_right"] = right.mean(axis=2)
    shown["prob_right_error"] = right.std(axis=2, ddof=1) / np.sqrt(right.shape[2])
    if two != (None, None):
        sign = np.zeros(studies.truth.shape[1])
        sign[np.argsort(-studies.truth.mean(axis=0))[:2]] = 1, -1
        sd, border = np.sqrt(sign @ covariance @ sign), sp.special.ndtri((1 + CI_PROB) / 2)
        refuse(~(sd > 1e-9), lambda _: "difference= and power= need models that differ; the best two are alike")
        if two[0] is not None:
            shown["power"] = sp.special.ndtr(positive(two[0], "difference") / sd - border)
        if two[1] is not None:
            shown["smallest_difference"] = sd * (border + sp.special.ndtri(probability(two[1], "power")))
    return shown


def _right_choices(truth: Floats, covariance: Floats, root: Any) -> Floats:
    """Pr(the best model scores best) in each design and world; what a study finds is normal around the truth.

    All designs share the normal draws: where more items leave less variance, they never make it less.
    """
    right, n_models = np.full((*covariance.shape[:2], len(truth)), np.nan), truth.shape[1]
    for design in np.ndindex(covariance.shape[:2] if n_models > 1 else (0,)):
        rng = np.random.default_rng(root)
        noise = rng.multivariate_normal(np.zeros(n_models), covariance[design], RANKINGS, method="eigh")
        chosen = (truth[:, None] + noise).argmax(axis=2)
        best = truth.max(axis=1, keepdims=True)
        right[design] = (np.take_along_axis(truth, chosen, axis=1) == best).mean(axis=1)
    return right


def designs_to_simulate(n_pilot: int, items: Sequence[int], annotators: Sequence[int]) -> list[tuple[int, int]]:
    """Items and votes of the studies that `plan` draws in each world."""
    of_one = sorted({min(size, MOST_ITEMS_OF_ONE_VOTE) for size in (min(items), max(items))})
    of_more = [min(n_pilot, MOST_ITEMS)]
    return [(size, n) for n in annotators for size in (of_more if n > 1 else of_one)]


def _grid(values: Sequence[int], name: str) -> Integers:
    numbers = np.unique([positive_int(value, name) for value in values])
    if not 0 < numbers.size == len(values):
        raise InputError(f"{name}={values!r} must be one or several different numbers")
    return numbers
