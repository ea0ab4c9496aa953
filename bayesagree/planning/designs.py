"""Designs of a study: so many items, so many annotators an item; what it would cost and what it would show."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy as sp
import xarray as xr
from numpy.typing import NDArray

from bayesagree._arguments import checked
from bayesagree._inference.streams import Seed, seed_sequence
from bayesagree._numerics.intervals import hdi
from bayesagree.agreement.coefficients import agreement_table
from bayesagree.annotations import Labels
from bayesagree.errors import InputError, positive, positive_int, shorten
from bayesagree.planning._simulation import World, scores, true_scores, worlds
from bayesagree.predictions import Predictions

type Floats = NDArray[np.float64]

COEFFICIENTS = ("fleiss_kappa", "alpha_nominal", "gwet_ac1", "brennan_prediger")
"""Coefficients of `agreement_table` that need no names of annotators."""
CI_PROB = 0.95


@checked
def plan(
    annotations: Labels,
    predictions: Predictions | None = None,
    *,
    plausibility: str | None = None,
    items: Sequence[int],
    annotators: Sequence[int],
    metric: str = "top_1_accuracy",
    target: float | None = None,
    cost: tuple[float, float] | None = None,
    replicates: int = 16,
    study_draws: int = 250,
    seed: Seed = None,
    progress: Callable[[int], None] | None = None,
) -> xr.Dataset:
    r"""Expected interval, decision and cost of each number of items and annotators, from a pilot.

    A study of N items with n votes each is drawn from the posterior of the pilot `replicates` times (items of the pilot
    with replacement, their plausibilities one draw of the posterior, votes from these) and evaluated as a real one
    would be. The widths of all designs are smoothed together by the variance of a two-stage sample,
    :math:`w^2 = a / N + b / (N n) + c / (N n^2)`, with coefficients that are not negative.

    Parameters
    ----------
    annotations
        Labels of the pilot; at least some items need two votes.
    predictions
        Models on the items of the pilot; None plans for a coefficient of agreement.
    plausibility
        Posterior of pilot and studies, by default ``"informed_dirichlet"`` with predictions and ``"dirichlet"``
        without.
    items, annotators
        The grid: numbers of items, and of votes an item.
    metric
        A metric of `evaluate`; without predictions ``"fleiss_kappa"``, ``"alpha_nominal"``,
        ``"gwet_ac1"`` or ``"brennan_prediger"``.
    target
        Full width of the interval that is wanted; the cheapest design that reaches it stands in the attributes.
    cost
        Cost of an item without votes, and of a vote; by default (0, 1): cost counts votes.
    replicates
        Simulated studies of each design.
    study_draws
        Draws of each of the two chains of a simulated evaluation.
    seed
        Same seed, same plan.
    progress
        Called with the number of studies done.

    Returns
    -------
    Dataset
        Over dims (items, annotators): ``width``, expected full width of the interval (HDI 0.95, items a sample; mean
        over models); ``width_lower``, ``width_upper``, its Monte-Carlo interval (95 %); ``width_sd``, the spread of a
        single study around it; ``prob_right``, the probability that the model that scores best is the best one (NaN
        without two models) and ``prob_right_error``, its standard error; ``cost``. attrs ``best_items`` and
        ``best_annotators``: the cheapest design with a width of at most `target`, where there is one.

    Raises
    ------
    InputError
        Not labels, an empty grid, an unknown metric, a pilot without repeated votes.

    References
    ----------
    W. G. Cochran, "Sampling Techniques", 1977, chapter 10 (variance of a two-stage sample).
    C. Wein et al., "Follow the leader(board) with confidence", Findings of ACL 2023 (simulation of responses).

    See Also
    --------
    annotate_next : which item deserves the next label.

    Examples
    --------
    >>> from bayesagree import Labels
    >>> pilot = Labels.from_counts([[3, 0], [2, 1], [0, 3], [3, 0], [1, 2], [0, 3]] * 5)
    >>> found = plan(pilot, items=[50, 200], annotators=[3, 5], metric="fleiss_kappa", target=0.15, seed=1)
    >>> bool((found["width"].sel(items=200) < found["width"].sel(items=50)).all())
    True
    >>> found["cost"].values.tolist()
    [[150.0, 250.0], [600.0, 1000.0]]
    """
    sizes, votes = (_grid(values, name) for values, name in ((items, "items"), (annotators, "annotators")))
    of_item, of_vote = (0.0, 1.0) if cost is None else cost
    prices = positive(of_item, "cost of an item", zero=True) + positive(of_vote, "cost of a vote") * votes
    width, right = _simulated(
        annotations, predictions, sizes, votes, metric, plausibility, positive_int(replicates, "replicates"),
        positive_int(study_draws, "study_draws"), seed, progress or (lambda done: None),
    )  # fmt: skip
    smooth = _smoothed(width.mean(axis=2), sizes, votes)
    error = np.full(smooth.shape, np.nan)
    if replicates > 1:
        error = width.std(axis=2, ddof=1) / np.sqrt(replicates)
    z = float(sp.stats.norm.isf((1 - CI_PROB) / 2))
    grid = ("items", "annotators")
    found = xr.Dataset(
        {
            "width": (grid, smooth),
            "width_lower": (grid, np.maximum(smooth - z * error, 0)),
            "width_upper": (grid, smooth + z * error),
            "width_sd": (grid, error * np.sqrt(replicates)),
            "prob_right": (grid, right.mean(axis=2)),
            "prob_right_error": (grid, np.sqrt(right.mean(axis=2) * (1 - right.mean(axis=2)) / replicates)),
            "cost": (grid, sizes[:, None] * prices),
        },
        coords={"items": sizes, "annotators": votes},
        attrs={"metric": metric, "replicates": replicates, "ci_kind": "hdi", "ci_prob": CI_PROB},
    )
    return found if target is None else _with_best(found, positive(target, "target"))


def _simulated(
    pilot: Labels, predictions: Predictions | None, sizes: NDArray[np.int64], votes: NDArray[np.int64], metric: str,
    plausibility: str | None, replicates: int, draws: int, seed: Seed, progress: Callable[[int], None],
) -> tuple[Floats, Floats]:  # fmt: skip
    """Widths and decisions of simulated studies, both of shape (items, annotators, replicate)."""
    name = plausibility or ("dirichlet" if predictions is None else "informed_dirichlet")
    if predictions is None and metric not in COEFFICIENTS:
        raise InputError(f"metric={metric!r} needs predictions; without them it is one of {shorten(COEFFICIENTS)}")
    root = seed_sequence(seed)
    words = root.generate_state(2 + replicates)
    drawn = worlds(pilot, predictions, name, replicates, int(words[0]))
    width = np.empty((sizes.size, votes.size, replicates))
    right = np.full(width.shape, np.nan)
    for r, world in enumerate(drawn):
        streams = np.random.default_rng(int(words[2 + r])).spawn(sizes.size * votes.size)
        for place, rng in zip(np.ndindex(sizes.size, votes.size), streams):
            n_items, n_votes = int(sizes[place[0]]), int(votes[place[1]])
            width[*place, r], right[*place, r] = _one(world, n_items, n_votes, metric, name, draws, rng)
            progress(1)
    return width, right


def _one(
    world: World, items: int, annotators: int, metric: str, plausibility: str, draws: int, rng: np.random.Generator
) -> tuple[float, float]:
    """Width of the interval in one study, and whether it finds the best model."""
    labels, predictions = world.study(items, annotators, rng)
    seed = int(rng.integers(2**31))
    if predictions is None or world.predictions is None:
        table = agreement_table(labels, seed=seed).set_index("coefficient")
        row: Any = table.loc[metric]
        return float(row["upper"] - row["lower"]), np.nan
    drawn = scores(labels, predictions, metric, plausibility, draws, seed)
    ends = np.array([hdi(of_model, CI_PROB) for of_model in drawn.T])
    if predictions.models.size < 2:
        return float(np.diff(ends).mean()), np.nan
    truth = true_scores(world.plausibility, world.predictions)
    return float(np.diff(ends).mean()), float(truth[drawn.mean(axis=0).argmax()] == truth.max())


def _smoothed(width: Floats, sizes: NDArray[np.int64], votes: NDArray[np.int64]) -> Floats:
    """Fit w^2 = a / N + b / (N n) + c / (N n^2), relative errors alike, coefficients at least 0."""
    n_items, n_votes = np.broadcast_arrays(sizes[:, None].astype(float), votes.astype(float))
    terms = np.stack([1 / n_items, 1 / (n_items * n_votes), 1 / (n_items * n_votes**2)], axis=-1).reshape(-1, 3)
    squared = np.maximum(width.ravel(), 1e-12) ** 2
    coefficient, _ = sp.optimize.nnls(terms / squared[:, None], np.ones(squared.size))
    return np.sqrt(terms @ coefficient).reshape(width.shape)


def _with_best(found: xr.Dataset, target: float) -> xr.Dataset:
    reached = found["cost"].where(found["width"] <= target)
    if not bool(reached.notnull().any()):
        return found.assign_attrs(target=target)
    best = reached.argmin(("items", "annotators"))
    where = {f"best_{dim}": int(found[dim].values[int(k)]) for dim, k in best.items()}  # type: ignore[union-attr]
    return found.assign_attrs(target=target, **where)


def _grid(values: Sequence[int], name: str) -> NDArray[np.int64]:
    numbers = [positive_int(int(v) if isinstance(v, np.integer) else v, name) for v in values]
    if not numbers or len(set(numbers)) != len(numbers):
        raise InputError(f"{name}={values!r} must be one or several different numbers")
    return np.array(sorted(numbers))
