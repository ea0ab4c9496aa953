"""Is A better than B? Probabilities that compare models on the same draws of the truth."""

from difflib import get_close_matches
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree.errors import InputError, shorten
from bayesagree.inference.group_scores import WITHOUT_UNSURE
from bayesagree.inference.intervals import column_hdi, hdi
from bayesagree.inference.ranks import rank_probabilities, rank_sets
from bayesagree.inference.results import settings_of
from bayesagree.metrics.registry import full_name

PAIR = ("model", "other_model")


def compare(result: xr.DataTree, *, metric: str, reliability: float | None = None, ci_prob: float = 0.95) -> xr.Dataset:
    """Compare all models of an evaluation, draw by draw.

    Parameters
    ----------
    result
        Result of `evaluate`, or any posterior of scores with dims (chain, draw, model), such as `auc_posterior`.
    metric
        Name of one of its metrics, as `evaluate` takes it. Higher is better unless ``attrs["higher_is_better"]`` of the
        scores is 0; nearest is better where they have ``attrs["best"]`` (bias, coverage of intervals).
    reliability
        Which reliability; may be left out when there is only one.
    ci_prob
        Probability of the highest density intervals.

    Returns
    -------
    Dataset
        ``prob_better`` (model, other_model): probability that the first is better, a tie counting one half, so that
        both directions add up to one; NaN on the diagonal. ``difference``, ``lower``, ``upper``
        (model, other_model): expected difference and its HDI. ``rank_probability`` (model, rank): probability of each
        place, equal scores sharing theirs; ``rank_lower``, ``rank_upper`` (model): the smallest interval of places that
        holds `ci_prob`. ``score``, ``score_lower``, ``score_upper`` (model): mean and HDI; where annotations cannot
        tell whether a model is independent of them, the interval also holds the HDI under a truth that does not learn
        from it. ``warning`` (model) says so, or that a model is not independent of the annotations; else it is empty.

    Examples
    --------
    >>> from bayesagree import Labels, Predictions, evaluate
    >>> votes = Labels.from_counts([[3, 1], [0, 4], [2, 2]])
    >>> models = Predictions.from_labels({"A": [0, 1, 0], "B": [1, 0, 1]})
    >>> result = compare(evaluate(votes, models, random_seed=1), metric="top_1_accuracy")
    >>> bool(result["prob_better"].sel(model="A", other_model="B") > 0.9)
    True
    """
    draws, scores, sign = metric_draws(result, metric, reliability)
    best = {name: value for name, value in scores.attrs.items() if name == "best"}
    merit = sign * draws if not best else -np.abs(draws - best["best"])
    models, n_models = scores["model"].values, scores.sizes["model"]
    ends, warning = _doubts(result, metric, reliability, ci_prob, models, column_hdi(draws, ci_prob))
    places = rank_probabilities(merit)
    first, last = rank_sets(places, ci_prob)
    return xr.Dataset(
        {
            **_differences(draws, ci_prob, merit),
            "rank_probability": (("model", "rank"), places),
            "rank_lower": ("model", first),
            "rank_upper": ("model", last),
            "score": ("model", draws.mean(axis=0)),
            "score_lower": ("model", ends[0]),
            "score_upper": ("model", ends[1]),
            "warning": ("model", warning),
        },
        coords={"model": models, "other_model": models, "rank": np.arange(1, n_models + 1)},
        attrs={"metric": scores.name, "higher_is_better": int(sign > 0), "ci_kind": "hdi", "ci_prob": ci_prob} | best,
    )


def practical_equivalence(
    result: xr.DataTree,
    *,
    metric: str,
    rope: float = 0.01,
    reliability: float | None = None,
    ci_prob: float = 0.95,
) -> xr.Dataset:
    """Posterior probability that a difference exceeds the region of practical equivalence (ROPE).

    Parameters
    ----------
    result, metric, reliability
        As in `compare`; or a result of `blind_posterior`.
    rope
        Differences of at most this size, either way, make no practical difference.
    ci_prob
        Probability of the highest density intervals of the differences.

    Returns
    -------
    Dataset
        ``better``, ``equivalent``, ``worse`` (model, other_model): probabilities that the first is better than the
        second by more than `rope`, that they are equivalent, that it is worse; they add up to one, NaN on the diagonal.
        ``difference``, ``lower``, ``upper`` (model, other_model) as `compare` gives them: an
        interval inside the region says that the models are equivalent.

    References
    ----------
    .. [1] A. Benavoli, G. Corani, J. Demsar, M. Zaffalon, "Time for a change", JMLR 18 (2017).

    Examples
    --------
    >>> from bayesagree import Labels, Predictions, evaluate
    >>> votes = Labels.from_counts([[30, 1], [0, 40], [20, 20]])
    >>> models = Predictions.from_labels({"A": [0, 1, 0], "B": [0, 1, 0]})
    >>> result = practical_equivalence(evaluate(votes, models, random_seed=1), metric="top_1_accuracy")
    >>> float(result["equivalent"].sel(model="A", other_model="B"))
    1.0
    """
    if not rope >= 0:
        raise InputError(f"rope={rope!r} must be a difference of at least 0")
    draws, scores, sign = metric_draws(result, metric, reliability)
    draws = sign * draws[np.isfinite(draws).all(axis=1)]
    gap = draws[:, :, None] - draws[:, None, :]
    better, worse = (gap > rope).mean(axis=0), (gap < -rope).mean(axis=0)
    shares = {"better": better, "equivalent": 1 - better - worse, "worse": worse}
    for share in shares.values():
        np.fill_diagonal(share, np.nan)
    differences = _differences(draws, ci_prob)
    del differences["prob_better"]
    return xr.Dataset(
        {name: (PAIR, share) for name, share in shares.items()} | differences,
        coords={"model": scores["model"].values, "other_model": scores["model"].values},
        attrs={"metric": scores.name, "rope": rope, "ci_kind": "hdi", "ci_prob": ci_prob},
    )


def _doubts(
    result: xr.DataTree,
    metric: str,
    reliability: float | None,
    ci_prob: float,
    models: NDArray[Any],
    ends: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> tuple[tuple[NDArray[np.float64], NDArray[np.float64]], list[str]]:
    """Widen the intervals of scores where annotations cannot tell whether a model is independent of them; say so."""
    made = settings_of(result) if "settings" in result.attrs else {}
    warning = dict.fromkeys(made.get("left_out", []), "not independent of these annotations: no truth learns from it")
    if WITHOUT_UNSURE in result:
        draws, _, _ = metric_draws(result, metric, reliability, WITHOUT_UNSURE)
        low, high = column_hdi(draws, ci_prob)
        for m, name in enumerate(models.astype(str)):
            if name in made.get("unsure", []):
                score = f"{draws[:, m].mean():.3g} [{low[m]:.3g}, {high[m]:.3g}]"
                warning[name] = (
                    f"too few annotations to tell whether it depends on them; by a truth that ignores it {score}"
                )
        ends = np.fmin(ends[0], low), np.fmax(ends[1], high)
    return ends, [warning.get(str(model), "") for model in models]


def _differences(
    draws: NDArray[np.float64], ci_prob: float, merit: NDArray[np.float64] | None = None
) -> dict[str, Any]:
    """Return probability that the first of each pair is better, mean difference and its HDI, NaN on the diagonal."""
    merit = draws if merit is None else merit
    n_models = draws.shape[1]
    names = ("prob_better", "difference", "lower", "upper")
    found: dict[str, Any] = {name: (PAIR, np.full((n_models, n_models), np.nan)) for name in names}
    for a in range(n_models):
        for b in range(n_models):
            if a != b:
                gap = draws[:, a] - draws[:, b]
                ahead = merit[:, a] - merit[:, b]
                better = (ahead > 0).mean() + (ahead == 0).mean() / 2
                for name, value in zip(names, (better, gap.mean(), *hdi(gap, ci_prob))):
                    found[name][1][a, b] = value
    return found


def computed_name(metric: str, scores: xr.Dataset) -> str:
    """Return the variable of a metric, which may lack the number that `evaluate` gave it: k = 3, ten bins.

    Raises
    ------
    InputError
        A metric that was not computed.
    """
    name = next((name for name in (metric, full_name(metric)) if name in scores), None)
    if name is None:
        near = get_close_matches(metric, list(map(str, scores.data_vars)), 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise InputError(f"metric {metric!r} was not computed{hint}; there is {shorten(scores.data_vars)}")
    return name


def metric_draws(
    result: xr.DataTree, metric: str, reliability: float | None, group: str = "posterior"
) -> tuple[NDArray[np.float64], xr.DataArray, int]:
    """Return draws (sample, model), the scores that they are of, and 1 where higher is better, else -1."""
    posterior = result[group].to_dataset()
    if "group" in posterior.dims:
        raise InputError("this result has scores for each group; compare models for one: result.sel(group=...)")
    scores = posterior[computed_name(metric, posterior)]
    if "reliability" not in scores.dims:
        scores = scores.expand_dims(reliability=[1.0])
    levels = np.asarray(scores["reliability"])
    if reliability is None and levels.size > 1:
        raise InputError(f"there are {levels.size} reliabilities ({shorten(levels)}); pass reliability= to choose one")
    chosen = levels[0] if reliability is None else reliability
    at = np.flatnonzero(np.isclose(levels, chosen, rtol=1e-9, atol=0))
    if at.size == 0:
        raise InputError(f"reliability {chosen!r} was not computed; there is {shorten(levels)}")
    values = scores.isel(reliability=int(at[0])).transpose("chain", "draw", "model").values
    sign = 1 if scores.attrs.get("higher_is_better", 1) else -1
    return values.reshape(-1, values.shape[-1]), scores, sign
