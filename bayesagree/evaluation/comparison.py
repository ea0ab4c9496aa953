"""Is A better than B? Models compared on the same draws of the truth: a table, and every pair."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import NamedTuple, Self

import numpy as np
import pandas as pd
import xarray as xr

from bayesagree._types import Array, Floats, Named, Pair
from bayesagree.errors import InputError, shorten
from bayesagree.evaluation._truths import WITHOUT_UNSURE
from bayesagree.inference.intervals import column_hdi
from bayesagree.inference.results import settings_of, variable
from bayesagree.inference.tiers import rank_probabilities, standing
from bayesagree.metrics.registry import full_name

PAIR = ("model", "other_model")
# Scores of models, or one of them.
type Scores = xr.DataTree | xr.DataArray


class ModelScores(NamedTuple):
    """Draws of one score of models that stand best first."""

    name: str
    models: Array
    # Draws (sample, model), and merits, of which higher is better: under the posterior, and under a truth that models
    # of doubtful independence do not inform, where there is one.
    draws: Sequence[Floats]
    merits: Sequence[Floats]
    attrs: Named

    @classmethod
    def of(cls, result: Scores, metric: str | None, reliability: float | None) -> Self:
        """Read the scores of a result, or one score by itself, in its draws that are known."""
        if alone := isinstance(result, xr.DataArray):
            result = xr.DataTree.from_dict({"posterior": result.rename(result.name or "score").to_dataset()})
        draws, scores, sign = metric_draws(result, metric, reliability)
        if alone and (known := ~np.isnan(draws).any(axis=1)).any():
            draws = draws[known]
        every, name = [draws], str(scores.name)
        if WITHOUT_UNSURE in result:
            every.append(metric_draws(result, name, reliability, WITHOUT_UNSURE)[0])
        best = scores.attrs.get("best")
        merits = [sign * one if best is None else -np.abs(one - best) for one in every]
        mean = draws.mean(axis=0)
        order = np.argsort(-sign * mean if best is None else np.abs(mean - best), kind="stable")
        attrs = {"metric": name, "higher_is_better": int(sign > 0)} | ({} if best is None else {"best": best})
        models = scores["model"].values[order]
        return cls(name, models, [one[:, order] for one in every], [one[:, order] for one in merits], attrs)

    def interval(self, values: Sequence[Floats], ci_prob: float) -> Pair:
        """Return the HDI of each column; of two truths the interval that holds both."""
        ends = [column_hdi(one, ci_prob) for one in values]
        return np.fmin.reduce([low for low, _ in ends]), np.fmax.reduce([high for _, high in ends])

    def pairs(self, ci_prob: float) -> dict[str, Floats]:
        """Return what `pairwise` says of each pair, (model, other_model); a pair reversed is its mirror image."""
        n = self.models.size
        found = {name: np.full((n, n), np.nan) for name in ("prob_better", "difference", "lower", "upper")}
        for a in range(n - 1):
            rest = slice(a + 1, None)
            gaps, ahead = ([one[:, [a]] - one[:, rest] for one in of] for of in (self.draws, self.merits))
            better = np.mean([(1 + np.sign(gap)).mean(axis=0) / 2 for gap in ahead], axis=0)
            mean, (low, high) = gaps[0].mean(axis=0), self.interval(gaps, ci_prob)
            sides = (better, 1 - better), (mean, -mean), (low, -high), (high, -low)
            for values, (here, mirrored) in zip(found.values(), sides):
                values[a, rest], values[rest, a] = here, mirrored
        return found

    def equivalence(self, rope: float) -> dict[str, Floats]:
        """Return the probability that each pair differs by more than a size, either way, or not."""
        if not rope >= 0:
            raise InputError(f"rope={rope!r} must be a difference of at least 0")
        merit = self.merits[0][np.isfinite(self.merits[0]).all(axis=1)]
        gap = merit[:, :, None] - merit[:, None, :]
        better = np.where(np.eye(self.models.size), np.nan, (gap > rope).mean(axis=0))
        return {"better": better, "equivalent": 1 - better - better.T, "worse": better.T}

    def places(self) -> Floats:
        """Return the probability of each place for each model, each on its own, (model, rank)."""
        return np.mean([rank_probabilities(one) for one in self.merits], axis=0)


def compare(
    result: Scores, metric: str | None = None, *, reliability: float | None = None, ci_prob: float = 0.95
) -> pd.DataFrame:
    """Compare all models of an evaluation, draw by draw: a table of them, best first.

    Parameters
    ----------
    result
        Result of `evaluate`, or any posterior of scores with dims (chain, draw, model), such as `davidson`; or one such
        score, as of `accuracy_given_risk`.
    metric
        Name of one of its metrics, as `evaluate` takes it; may be left out where there is one. Higher is better unless
        ``attrs["higher_is_better"]`` of the scores is 0; nearest is better where they have ``attrs["best"]`` (bias,
        coverage of intervals).
    reliability
        Which reliability; may be left out where there is one.
    ci_prob
        Probability of the highest density intervals, of the places and of the tiers.

    Returns
    -------
    DataFrame
        One row per model, index ``model``, best first; in the units of the metric:

        ``score, lower, upper``
            Mean and HDI. Where annotations cannot tell whether a model is independent of them, every interval here
            also holds that under a truth which does not learn from it, and probabilities are the mean of both.
        ``prob_best``
            Probability of the first place; equal scores share theirs.
        ``rank_lower, rank_upper``
            First and last place that the model may have: the true places of all models lie in these sets together
            with probability `ci_prob`.
        ``tier``
            Neighbours whose order is open share a tier: that of all tiers holds with probability `ci_prob`. Scores are
            shrunk towards each other first (`bayesagree.inference.tiers`), so that equal models share a tier.
        ``difference, difference_lower, difference_upper``
            Score less that of the best model, mean and HDI.
        ``prob_better``
            Probability to be better than the model in the next row, of this pair on its own; NaN for the last one.
        ``warning``
            Why the row is in doubt, or empty.

    Raises
    ------
    InputError
        A metric or reliability that was not computed, or none named where there are several.

    See Also
    --------
    pairwise, assert_better

    Examples
    --------
    >>> from bayesagree import Labels, Predictions, evaluate
    >>> votes = Labels.from_counts([[30, 1], [0, 40], [20, 2]])
    >>> models = Predictions.from_labels({"A": [0, 1, 0], "B": [1, 0, 1]})
    >>> table = compare(evaluate(votes, models, random_seed=1))
    >>> table[["score", "rank_lower", "rank_upper", "tier"]].round(2).values.tolist()
    [[1.0, 1.0, 1.0, 1.0], [0.0, 2.0, 2.0, 2.0]]
    """
    found = ModelScores.of(result, metric, reliability)
    lower, upper = found.interval(found.draws, ci_prob)
    pairs = found.pairs(ci_prob)
    to_best = {name: np.append(0.0, pairs[name][1:, 0]) for name in ("difference", "lower", "upper")}
    table = pd.DataFrame(
        {
            "score": found.draws[0].mean(axis=0),
            "lower": lower,
            "upper": upper,
            "prob_best": found.places()[:, 0],
            **standing(*found.merits, prob=ci_prob)._asdict(),
            "difference": to_best["difference"],
            "difference_lower": to_best["lower"],
            "difference_upper": to_best["upper"],
            "prob_better": np.append(np.diagonal(pairs["prob_better"], offset=1), np.nan),
            "warning": _warnings(result, found, ci_prob),
        },
        index=pd.Index(found.models, name="model"),
    )
    table.attrs |= found.attrs | {"ci_kind": "hdi", "ci_prob": ci_prob}
    return table


def pairwise(
    result: Scores,
    metric: str | None = None,
    *,
    rope: float | None = None,
    reliability: float | None = None,
    ci_prob: float = 0.95,
) -> xr.Dataset:
    """Compare every pair of models of an evaluation, each pair on its own.

    Of many pairs that are better with probability .95 some are wrong; the tiers of `compare` hold together.

    Parameters
    ----------
    result, metric, reliability, ci_prob
        As in `compare`.
    rope
        Differences of at most this size, either way, make no practical difference (region of practical equivalence).

    Returns
    -------
    Dataset
        ``prob_better`` (model, other_model): probability that the first is better, a tie counting one half.
        ``difference``, ``lower``, ``upper`` (model, other_model): mean difference, first less second, and its HDI. NaN
        on the diagonal; a pair reversed has the probability 1 - p and the interval mirrored. ``rank_probability``
        (model, rank): probability of each place, equal scores sharing theirs. Models stand best first. With `rope` also
        ``better``, ``equivalent``, ``worse`` (model, other_model): probabilities that the first is better than the
        second by more than that, that they are equivalent, that it is worse; they add up to one.

    Raises
    ------
    InputError
        As `compare`; a `rope` below 0.

    References
    ----------
    .. [1] A. Benavoli, G. Corani, J. Demsar, M. Zaffalon, "Time for a change", JMLR 18 (2017): `rope`.

    Examples
    --------
    >>> from bayesagree import Labels, Predictions, evaluate
    >>> votes = Labels.from_counts([[3, 1], [0, 4], [2, 2]])
    >>> models = Predictions.from_labels({"A": [0, 1, 0], "B": [1, 0, 1]})
    >>> result = pairwise(evaluate(votes, models, random_seed=1), rope=0.1)
    >>> bool(result["prob_better"].sel(model="A", other_model="B") > 0.7)
    True
    """
    found = ModelScores.of(result, metric, reliability)
    pairs = found.pairs(ci_prob) | ({} if rope is None else found.equivalence(rope))
    places = {"rank_probability": variable(("model", "rank"), found.places())}
    coords = dict.fromkeys(PAIR, found.models) | {"rank": np.arange(1, found.models.size + 1)}
    return xr.Dataset(
        {name: variable(PAIR, values) for name, values in pairs.items()} | places,
        coords={dim: variable(dim, names) for dim, names in coords.items()},
        attrs=found.attrs | {"ci_kind": "hdi", "ci_prob": ci_prob} | ({} if rope is None else {"rope": rope}),
    )


def _warnings(result: Scores, found: ModelScores, ci_prob: float) -> list[str]:
    """Return of each model why its row is in doubt, or nothing."""
    made = settings_of(result) if isinstance(result, xr.DataTree) and "settings" in result.attrs else {}
    warning = dict.fromkeys(
        made.get("left_out", []), "not independent of these annotations: no truth learns from it"
    )
    some = np.isnan(found.draws[0]).any(axis=0)
    warning |= dict.fromkeys(found.models[some].astype(str), f"{found.name} does not exist in some draws")
    for draws in found.draws[1:]:
        low, high = column_hdi(draws, ci_prob)
        for m, name in enumerate(found.models.astype(str)):
            if name in made.get("unsure", []):
                warning[name] = (
                    "too few annotations to tell whether it depends on them; by a truth that ignores it "
                    f"{draws[:, m].mean():.3g} [{low[m]:.3g}, {high[m]:.3g}]"
                )
    return [warning.get(str(model), "") for model in found.models]


def computed_name(metric: str | None, scores: xr.Dataset) -> str:
    """Return the variable of a metric, which may have another name there: k = 3, ten bins, accuracy.

    Raises
    ------
    InputError
        A metric that was not computed, or none of several.
    """
    if metric is None:
        names = [str(name) for name, values in scores.items() if "model" in values.dims]
        if len(names) != 1:
            raise InputError(f"this result has {len(names)} metrics; name one of {shorten(names)}")
        return names[0]
    name = next((name for name in (metric, full_name(metric)) if name in scores), None)
    if name is None:
        near = get_close_matches(metric, list(map(str, scores.data_vars)), 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise InputError(f"metric {metric!r} was not computed{hint}; there is {shorten(scores.data_vars)}")
    return name


def metric_draws(
    result: xr.DataTree, metric: str | None, reliability: float | None, group: str = "posterior"
) -> tuple[Floats, xr.DataArray, int]:
    """Return draws (sample, model), the scores that they are of, and 1 where higher is better, else -1."""
    posterior = result[group].to_dataset()
    if "group" in posterior.dims:
        raise InputError("this result has scores for each group; compare models for one: result.sel(group=...)")
    scores = posterior[computed_name(metric, posterior)]
    # Of several that a user took one of, a coordinate is left.
    levels = np.atleast_1d(scores.coords.get("reliability", settings_of(result).get("reliability", 1.0)))
    if reliability is None and levels.size > 1:
        raise InputError(
            f"there are {levels.size} reliabilities ({shorten(levels)}); pass reliability= to choose one"
        )
    chosen = levels[0] if reliability is None else reliability
    at = np.flatnonzero(np.isclose(levels, chosen, rtol=1e-9, atol=0))
    if at.size == 0:
        raise InputError(f"reliability {chosen!r} was not computed; there is {shorten(levels)}")
    if "reliability" in scores.dims:
        scores = scores.isel(reliability=at[0])
    values = scores.transpose("chain", "draw", "model").values
    sign = 1 if scores.attrs.get("higher_is_better", 1) else -1
    drawn = values.reshape(-1, values.shape[-1])
    known = ~np.isnan(drawn).all(axis=1)  # draws without an item of a risk level have no score of it
    return drawn[known] if known.any() else drawn, scores, sign
