"""Designs of a study: so many items, so many annotators per item; what it would cost and what it would show."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import scipy as sp
import xarray as xr
from numpy.typing import NDArray

from bayesagree._types import Floats
from bayesagree.agreement.coefficients import interval_of_counts
from bayesagree.annotations import Labels
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, one_of, positive, positive_int, probability, shorten
from bayesagree.evaluation.scoring import evaluate
from bayesagree.inference.intervals import column_hdi
from bayesagree.inference.streams import Seed, seed_sequence
from bayesagree.io.doors import as_annotations, as_predictions
from bayesagree.metrics.registry import Metric
from bayesagree.planning._worlds import CI_PROB, Studies, right_choices, widths_of, worlds
from bayesagree.plausibility.registry import POSTERIORS

# Coefficients of `agreement_table` that need no names of annotators.
COEFFICIENTS = ("fleiss_kappa", "alpha_nominal", "gwet_ac1", "brennan_prediger")
# Widths fall with the root of the number of items, so that one size is enough: larger studies cost more than they add.
# Items of a simulated study, at most.
MOST_ITEMS = 300
# With one vote per item no two votes show how far people agree on an item, and that uncertainty does not fall with more
# items: there the widths of a small and a large study are joined by a power law.
# Items of the large one, at most.
MOST_ITEMS_OF_ONE_VOTE = 1000


# Why ``"auto"`` chose the posterior of a study.
REASON = (
    "Votes and predictions together evaluate the studies, as evaluate() does by default (informed_dirichlet)."
)


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
    progress: Callable[[int], None] | None = None,
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
        An empty grid, a pilot of one item, an unknown metric, one annotator without predictions.

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
    sizes, votes = (_grid(values, name) for values, name in ((items, "items"), (annotators, "annotators")))
    of_item, of_vote, of_run = (*((0.0, 1.0) if cost is None else cost), 0.0)[:3]
    prices = positive(of_item, "cost of an item", zero=True) + positive(of_vote, "cost of a vote") * votes
    several = None if runs is None else _grid(runs, "runs")
    if several is not None and (predictions is None or predictions.runs is None):
        raise InputError(
            "runs= needs a pilot whose models answered several times: predictions with a column run"
        )
    if annotations.items.size < 2:
        raise InputError(
            "a pilot of one item does not show how items differ; pass two items or more, better 30"
        )
    if predictions is None and metric not in COEFFICIENTS:
        raise InputError(
            f"metric={metric!r} needs predictions; without them it is one of {shorten(COEFFICIENTS)}"
        )
    if predictions is None and votes.min() < 2:
        raise InputError("annotators=1: agreement needs two annotators per item; leave the 1 out")
    one_of(plausibility, "plausibility", ("auto", *POSTERIORS))
    if replicates < 2:
        raise InputError("replicates=1: pass 2 or more, to show what the pilot leaves open")
    two = difference, power
    if two != (None, None) and (predictions is None or predictions.model_names.size < 2):
        raise InputError("difference= and power= are of two models; pass predictions of both")
    auto, root = plausibility == "auto", seed_sequence(random_seed)
    designs = designs_to_simulate(annotations.items.size, sizes.tolist(), votes.tolist())
    how: Any = {"metric": metric, "plausibility": "informed_dirichlet" if auto else plausibility}
    how |= {"draws": positive_int(study_draws, "study_draws"), "progress": progress or (lambda number: None)}
    studies = _simulated(annotations, predictions, designs, replicates, root, **how)
    coords = {"items": sizes, "annotators": votes}
    attrs = {"metric": metric, "replicates": replicates, "ci_prob": CI_PROB}
    attrs["choice"] = REASON if auto and predictions is not None else ""
    price = positive(of_run, "cost of a run", zero=True)

    def planned(of: Studies, price: float = 0.0) -> xr.Dataset:
        return xr.Dataset(_outlook(of, sizes, votes, prices + price, two, root), coords, attrs)

    if several is None:
        found = planned(studies)
    else:
        plans = [planned(studies.of_runs(number), price * number) for number in several.tolist()]
        found = xr.concat(plans, pd.Index(several, name="runs"), combine_attrs="override")
        found["worth"] = (widths_of(studies.of_runs(1), sizes, votes)[0] / found["width"]) ** 2
        found = found.transpose("items", "annotators", "runs")
    return found if target is None else _with_best(found, positive(target, "target"))


def _outlook(studies: Studies, sizes: Any, votes: Any, prices: Any, two: Any, root: Any) -> dict[str, Any]:
    """Return the variables of a plan over (items, annotators), from studies of one number of runs.

    Of (difference, power) `two`, the difference of the two models that are best in the mean of the worlds is found
    where it is as many standard deviations from 0 as the end of its interval from its mean.
    """
    width, reach = widths_of(studies, sizes, votes)
    design = [np.flatnonzero(studies.annotators == number)[-1] for number in votes]
    typical = np.exp(np.log(np.maximum(studies.width[design], 1e-12)).mean(axis=1))
    covariance = studies.covariance[design] * ((width / typical) ** 2)[..., None, None]
    right = right_choices(studies.truth, covariance, np.random.default_rng(root))
    values: dict[str, Any] = {
        "width": width,
        "width_lower": width * np.exp(-reach),
        "width_upper": width * np.exp(reach),
        "prob_right": right.mean(axis=2),
        "prob_right_error": right.std(axis=2, ddof=1) / np.sqrt(right.shape[2]),
        "cost": sizes[:, None] * prices,
    }
    if two != (None, None):
        sign = np.zeros(studies.truth.shape[1])
        sign[np.argsort(-studies.truth.mean(axis=0))[:2]] = 1, -1
        sd, border = np.sqrt(sign @ covariance @ sign), sp.special.ndtri((1 + CI_PROB) / 2)
        if two[0] is not None:
            values["power"] = sp.special.ndtr(positive(two[0], "difference") / sd - border)
        if two[1] is not None:
            values["smallest_difference"] = sd * (border + sp.special.ndtri(probability(two[1], "power")))
    return {name: (("items", "annotators"), value) for name, value in values.items()}


def designs_to_simulate(n_pilot: int, items: Sequence[int], annotators: Sequence[int]) -> list[tuple[int, int]]:
    """Items and votes of the studies that `plan` draws in each world."""
    of_one = sorted({min(size, MOST_ITEMS_OF_ONE_VOTE) for size in (min(items), max(items))})
    of_more = min(n_pilot, MOST_ITEMS)
    return [
        design for n in annotators for design in ([(of_more, n)] if n > 1 else [(size, 1) for size in of_one])
    ]


def _simulated(
    pilot: Labels,
    predictions: Predictions | None,
    designs: list[tuple[int, int]],
    replicates: int,
    root: np.random.SeedSequence,
    *,
    metric: str,
    plausibility: str,
    draws: int,
    progress: Callable[[int], None],
) -> Studies:
    """Draw one study of each design in each world."""
    of_worlds, *words = root.generate_state(1 + replicates).tolist()
    n_models = 0 if predictions is None else predictions.model_names.size
    width, truth = np.empty((len(designs), replicates)), np.empty((replicates, n_models))
    covariance, of_run = np.zeros((len(designs), n_models, n_models)), np.zeros(n_models)
    sign = 1 if predictions is None or Metric.of(metric).record.higher_is_better else -1
    for r, (word, world) in enumerate(zip(words, worlds(pilot, predictions, replicates, of_worlds))):
        rng = np.random.default_rng(word)
        truth[r] = sign * world.true_scores(metric)
        of_run += world.run_variance(metric, rng) / replicates
        for d, (items, annotators) in enumerate(designs):
            study, models = world.study(items, annotators, rng)
            word = int(rng.integers(2**31))
            if models is None:
                ends = interval_of_counts(study, metric, ci_prob=CI_PROB, random_seed=word)
            else:
                run: Any = {"draws": draws, "chains": 2, "random_seed": word}
                scores = _scores(study, models, plausibility=plausibility, metrics=[metric], **run)
                covariance[d] += np.atleast_2d(np.cov(scores.T)) / replicates
                # Of skewed scores, near 0 or 1, the shortest interval is narrower than four deviations.
                ends = column_hdi(scores, CI_PROB)
            width[d, r] = np.mean(ends[1] - ends[0])
            progress(1)
    items, annotators = np.array(designs).T
    n_runs = np.ones(n_models)
    if predictions is not None and predictions.runs is not None:
        n_runs[: predictions.runs.models.size] = np.bincount(predictions.runs.code)
    return Studies(items, annotators, width, covariance, truth, of_run, n_runs)


def _scores(study: Labels, models: Predictions, **how: Any) -> Floats:
    """Draw the scores of all models in the posterior of one study, items a sample, shape (draw, model)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the pilot has given this warning already
        posterior = evaluate(study, models, items="bootstrap", **how)["posterior"].to_dataset()
    (drawn,) = posterior.transpose("chain", "draw", "model").data_vars.values()
    return drawn.values.reshape(-1, drawn.shape[2])


def _with_best(found: xr.Dataset, target: float) -> xr.Dataset:
    reached = found["cost"].where(found["width"] <= target)
    if not bool(reached.notnull().any()):
        return found.assign_attrs(target=target)
    best = reached.argmin(reached.dims)
    where = {f"best_{dim}": int(found[dim].values[int(k)]) for dim, k in best.items()}  # type: ignore[union-attr]
    return found.assign_attrs(target=target, **where)


def _grid(values: Sequence[int], name: str) -> NDArray[np.int64]:
    numbers = [positive_int(int(v) if isinstance(v, np.integer) else v, name) for v in values]
    if not numbers or len(set(numbers)) != len(numbers):
        raise InputError(f"{name}={values!r} must be one or several different numbers")
    return np.array(sorted(numbers))
