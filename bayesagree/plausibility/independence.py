"""Is a model independent of the annotations that it is scored against? One test of all posteriors and scores.

Of an item's n annotations x hit the model: they give its label, rank it best, or lie as near to its number as half of
all do. If the model is independent of the annotations given the item, these are exchangeable draws, and x is a mixture
of Binomial(n, p) over the items, whatever they, the model and its errors are. A model that was trained on these votes,
was made from them, or is one of the annotators breaks that. The mixture is fitted (nonparametric maximum likelihood,
`_fitted`), and the deviance of x from it stands `z` standard deviations above what it is in sets drawn from the fit.
The second test: predictions that are independent of the votes cannot come closer to them than the truth does, which
pairs of votes estimate without bias (`_closeness`). The third: a model that equals one annotator far more than any
other annotator does is that annotator (`_named`).

What the data can show is measured on them: `seen` is the z of a planted model, a copy of the most frequent vote with
`REPLACED` at random. Where it stays below `SURE`, or z lies between 2 and 4, the data cannot
tell. Where the votes for one label are no mixture of binomials themselves (annotators of fixed, different habits; votes
that were collected until they agreed), hits prove nothing either.

Source: Lindsay, "The geometry of mixture likelihoods", Annals of Statistics 11 (1983), for the fit; Peters and Walker,
"An iterative procedure for obtaining maximum-likelihood estimates", SIAM Journal on Applied Mathematics 35 (1978), for
long steps.
"""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
import scipy as sp
import xarray as xr

from bayesagree._types import Array, Booleans, Floats, Integers, Named, Places, Triple
from bayesagree.annotations import Annotations, Rankings, Ratings
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, shorten, warn
from bayesagree.inference.cells import row_shares
from bayesagree.inference.posterior import Groups, ItemPosterior, Posterior, Request, Truths
from bayesagree.plausibility.informed.covariates import Excluded, aligned, excluded_names, is_probability

# z from which a model is known to depend on the votes, and is under suspicion: of independent ones .004 and .05 are
# above, of those on items of one and the same ambiguity .02 and .1.
SURE, UNSURE = 4.0, 2.0
# The same for standard errors by which a model lies closer to the votes than the truth does.
CLOSE, RATHER_CLOSE = -3.0, -2.0
# Fewest items that tell anything; votes of an item that are looked at; labels whose votes are tested for themselves.
FEWEST_ITEMS, MOST_VOTES, MOST_LABELS = 30, 12, 4
# Places of the fit, its steps where sets are drawn from it and where a deviance is taken, and these sets.
GRID, STEPS, FEW_STEPS, SETS = np.linspace(0, 1, 51), 800, 32, 60
# Power of a step of EM; all below 2 climb.
LENGTH = 1.8
# z of the votes themselves from which hits prove nothing; standard deviation of a deviance of one degree of freedom.
FIXED, LEAST_SD = 6.0, 2**0.5
# No votes are quite exchangeable: a deviance of a thousandth of an item's votes is none.
SD_PER_ITEM = 5e-4
# Chance with which an independent model equals an annotator so often; share of a planted copy that is replaced.
BY_CHANCE, REPLACED = 1e-4, 0.5
# Standard deviation of annotators' rates of agreement with a model.
UNEVEN = 0.1
# Ratings of an annotator from which the habit of rating high or low is taken off.
HABIT = 10


@dataclass(frozen=True, eq=False)
class Independence:
    """What annotations say of whether models are independent of them.

    `z` and `closeness` (model,) as in the module, NaN where there is too little; `annotator`: whom a model equals, or
    None; `uneven` (model,): whether a few annotators of everything hit so differently that z means nothing; `seen`:
    z of a planted model; `votes_z`: largest z of the votes themselves.
    """

    models: Array
    z: Floats
    closeness: Floats
    annotator: list[Any]
    uneven: Booleans
    seen: float
    votes_z: float

    @cached_property
    def dependent(self) -> Booleans:
        """Whether a model is known not to be independent of the annotations, shape (model,)."""
        named = np.array([one is not None for one in self.annotator], bool)
        own = self.votes_z if self.votes_z > UNSURE else 0.0
        odd = ((self.z - own > SURE) & ~self.uneven) | (self.closeness < CLOSE)
        return named | (odd & (own <= FIXED))

    @cached_property
    def unsure(self) -> Booleans:
        """Whether the annotations cannot tell it of a model, shape (model,)."""
        blind = not self.seen >= SURE or self.votes_z > FIXED
        return ~self.dependent & (blind | ~(self.z <= UNSURE) | (self.closeness < RATHER_CLOSE))

    def left_out(self, exclude: Excluded) -> Excluded:
        """Return the models from which a truth does not learn, by default the dependent ones; warn of these.

        Who excludes models, or none, says that the others are independent.
        """
        if exclude is None and self.dependent.any():
            self.warn("the truth does not learn from them")
            return tuple(self.models[self.dependent].tolist())
        self.warn("leave them out (exclude=), or all scores are wrong", exclude)
        return exclude

    def warn(self, way_out: str, exclude: Excluded = None) -> None:
        """Warn of dependent models that are not excluded."""
        which = self.dependent & ~np.isin(self.models.astype(str), excluded_names(exclude))
        if which.any():
            named = zip(self.models[which], np.array(self.annotator, object)[which])
            who = "".join(f"; {m!s} equals annotator {a!s}" for m, a in named if a is not None)
            warn(
                f"models {shorten(self.models[which])} are not independent of these annotations (trained on them, made "
                f"from them, or among the annotators{who}); {way_out}"
            )


def warn_of_dependent(annotations: Any, predictions: Predictions) -> None:
    """Warn of models that are scored against annotations on which they depend."""
    if not isinstance(annotations, Ratings) or predictions.numbers is not None:
        independence(annotations, predictions).warn("against these annotations their scores are flattered")


class Guarded(ItemPosterior):
    """A posterior that learns from predictions, a dataclass with these fields: from which models it learns."""

    predictions: Predictions | None
    exclude: Excluded
    takes_predictions = True
    target = "score against a well-annotated truth (estimate)"

    @property
    def given(self) -> Predictions:
        """The predictions, which only `evaluate` may leave out."""
        if self.predictions is None:
            raise InputError(f"{self.name} learns from predictions; give them as predictions=")
        return self.predictions

    @abstractmethod
    def of_annotations(self) -> Posterior:
        """Return the posterior of annotations alone, beside which `evaluate` shows this one."""

    def telling(self, annotations: Any, predictions: Predictions) -> Any:
        """Return the annotations that tell whether models are independent of them."""
        return annotations

    def known(self, problem: Any, request: Request) -> Groups:
        """Return what the problem knows before any draw of items."""
        return problem.known(request)

    def diagnostics(self, problem: Any, request: Request) -> Named:
        """Return how well chains of parameters that all items share mixed."""
        return problem.diagnostics(request)

    def coords(self, problem: Any) -> Named:
        """Return the names of the parameters."""
        return problem.coords()

    def settings(self, annotations: Any) -> Named:
        """Return the arguments of the model."""
        return {"target": self.target, "exclude": self.exclude}

    def sweeps(self, annotations: Any, request: Request) -> int:
        """Return how many sweeps of the parameters count as progress, before any item."""
        return 0

    def draw(self, annotations: Any, request: Request) -> xr.DataTree:
        """Draw a result on the items of the predictions; warn of models that depend on the annotations."""
        annotations, predictions = aligned(annotations, self.given)
        found = independence(self.telling(annotations, predictions), predictions)
        found.warn("the posterior is overconfident: leave them out (exclude=)", self.exclude)
        return super().draw(annotations, request)

    def truths(
        self,
        annotations: Any,
        predictions: Predictions,
        request: Request,
        reliabilities: Sequence[float] = (1.0,),
    ) -> Truths:
        """Return the truth that the models inform, that of annotations alone, and one without models in doubt, if any.

        By default nothing is learnt from models that depend on the annotations. A model's own output is part of what is
        known of an item: without it the best model, which knows what the others do not, would have that counted as its
        errors.
        """
        if self.predictions is not None:
            raise InputError(
                "evaluate learns from the predictions that it scores, without the models of exclude=; for other "
                f"predictions= score the result of {self.name} with a metric"
            )
        annotations, given = aligned(annotations, predictions)
        found = independence(self.telling(annotations, given), given)
        informed = replace(self, predictions=given, exclude=found.left_out(self.exclude))
        doubted = {"left_out": excluded_names(informed.exclude), "unsure": []}
        posteriors = [informed, self.of_annotations()]
        if self.exclude is None and found.unsure.any():
            doubted["unsure"] = found.models[found.unsure].astype(str).tolist()
            posteriors.append(replace(informed, exclude=[*doubted["left_out"], *doubted["unsure"]]))
        settings = {name: models for name, models in doubted.items() if models}
        return Truths(annotations, given, posteriors, request, None, (), settings)


class _Hits(NamedTuple):
    """Hits x of n votes of each item; with `weight` they are an average over sets, of a planted model."""

    n: Integers
    x: Integers
    weight: Floats | None = None

    def histograms(self) -> dict[int, Floats]:
        """Return the histogram of hits, 0 .. m, of the items of each number of votes m.

        Items of more than `MOST_VOTES`, or of a number that few items have, count with hits of fewer of their votes.
        """
        weight = (self.n >= 2) * (1.0 if self.weight is None else self.weight)
        pair, at = np.unique(np.column_stack([self.n, self.x]), axis=0, return_inverse=True)
        total = np.bincount(at.ravel(), weight, len(pair))
        size = np.minimum(pair[:, 0], MOST_VOTES)
        found, waiting = {}, np.zeros(len(pair), bool)
        for m in np.unique(size[size >= 2])[::-1].tolist():
            waiting |= size == m
            if total[waiting].sum() > FEWEST_ITEMS - 0.5:
                n, x = pair[waiting].T[:, :, None]
                hits, ways = np.arange(m + 1), sp.special.binom
                found[m] = total[waiting] @ (ways(x, hits) * ways(n - x, m - hits) / ways(n, m))
                waiting[:] = False
        return found


class CodedVotes(NamedTuple):
    """Annotations as codes, one row each: labels, best labels of rankings, distinct ratings; an annotator may be -1."""

    item: Array
    annotator: Array
    code: Array
    times: Array
    n_codes: int
    n_items: int

    @classmethod
    def of(cls, annotations: Annotations) -> Self:
        """Read annotations; rankings whose first place is shared say nothing here."""
        item = annotations.item_index
        who = annotations.annotator_index
        sizes = (annotations.categories.size,)
        if isinstance(annotations, Ratings):
            values, code = np.unique(annotations.rating, return_inverse=True)
            code, sizes = code.ravel(), (values.size,)
        elif isinstance(annotations, Rankings):
            ranking, first = annotations.ranking_index(), annotations.block == 0
            first &= np.bincount(ranking, first)[ranking] == 1
            at, code = ranking[first], annotations.label_index[first]
            item, who = item[at], who[at]
        else:
            return cls(item, who, annotations.label_index, annotations.count, *sizes, annotations.items.size)
        return cls(item, who, code, np.ones(code.size, int), *sizes, annotations.items.size)

    def sum(self, hit: Any = True) -> Integers:
        """Number of votes of each item, of those that hit."""
        return np.bincount(self.item, self.times * hit, self.n_items).astype(int)

    def planted(self) -> _Hits:
        """Return the hits of a planted model: the most frequent code of each item, partly replaced."""
        table = sp.sparse.csr_array((self.times, (self.item, self.code)), (self.n_items, self.n_codes)).tocoo()
        n, item, number = self.sum(), table.row, table.data.astype(int)
        most = table.max(axis=1).toarray().ravel().astype(int)
        # A code at random has the votes of a cell with probability 1 / n_codes, and else none.
        missed = 1 - np.bincount(item, minlength=n.size) / self.n_codes
        weight = np.repeat([1 - REPLACED, REPLACED / self.n_codes], [n.size, item.size])
        copied = np.concatenate([n, n[item], n]), np.concatenate([most, number, np.zeros_like(n)])
        return _Hits(*copied, np.concatenate([weight, REPLACED * missed]))

    def own(self) -> list[_Hits]:
        """Return the votes for one label, of the most frequent labels."""
        often = np.argsort(-np.bincount(self.code, self.times, self.n_codes), kind="stable")[:MOST_LABELS]
        return [_Hits(self.sum(), self.sum(self.code == one)) for one in often]


def independence(annotations: Annotations, predictions: Predictions) -> Independence:
    """Test every model of predictions on the items and labels of the annotations; the order of items is no matter.

    Examples
    --------
    >>> from bayesagree import Labels, Predictions
    >>> votes = np.random.default_rng(1).integers(2, size=(200, 3))
    >>> models = Predictions.from_labels({"voter": votes[:, 0], "coin": np.arange(200) % 2})
    >>> independence(Labels.from_matrix(votes), models).dependent.tolist()
    [True, False]
    """
    votes, annotator, uneven, cases, model = CodedVotes.of(annotations), [], [], [], []
    n = votes.sum()
    for m, (given, looks) in enumerate(_hits(annotations, predictions, votes)):
        cases += [_Hits(np.where(given, n, 0), votes.sum(hit)) for hit in looks]
        model += [m] * len(looks)
        who = _named(votes, looks[0] & given[votes.item], n)
        uneven.append(any(_uneven(votes, hit) for hit in looks))
        annotator.append(None if who is None else annotations.annotators[who])
    of_models, seen, of_own = np.split(
        _z([*cases, votes.planted(), *votes.own()]), [len(cases), len(cases) + 1]
    )
    z = np.full(predictions.models.size, np.nan)
    np.fmax.at(z, model, of_models)
    close, half = _closeness(annotations, predictions, votes, n)
    seen, votes_z = float(np.fmin(seen[0], half)), float(np.fmax.reduce(of_own))
    return Independence(predictions.models, z, close, annotator, np.array(uneven), seen, votes_z)


def _hits(
    annotations: Any, predictions: Predictions, votes: CodedVotes
) -> Iterator[tuple[Booleans, list[Booleans]]]:
    """Yield of each model which items it predicts, and which votes hit it, in one way or two."""
    if not isinstance(annotations, Ratings):
        for label in predictions.hard_labels():
            yield label >= 0, [votes.code == label[votes.item]]
        return
    rating = annotations.rating - _scatter(votes, annotations.rating)[2]
    low, high = annotations.scale
    for number in predictions.points():
        away = np.abs(annotations.rating - number[votes.item]), np.abs(rating - number[votes.item])
        yield np.isfinite(number), [away[0] <= 1e-9 * (high - low), away[1] <= np.nanmedian(away[1])]


def _z(cases: list[_Hits]) -> Floats:
    """Return how far the hits of each case are from a mixture of binomials; NaN where there are too few items."""
    deviance, items = np.zeros((2, len(cases)))
    drawn = np.zeros((len(cases), SETS))
    all_histograms = [case.histograms() for case in cases]
    for m in range(2, MOST_VOTES + 1):
        which = [c for c, of_case in enumerate(all_histograms) if m in of_case]
        if not which:
            continue
        histograms = np.stack([all_histograms[c][m] for c in which])
        fitted = _fitted(histograms, STEPS)
        deviance[which] += _deviance(histograms)
        items[which] += histograms.sum(axis=1)
        # Each case draws the same sets whatever stands beside it.
        sets = np.concatenate(
            [np.random.default_rng(60).multinomial(round(h.sum()), f, SETS) for h, f in zip(histograms, fitted)]
        )
        drawn[which] += _deviance(sets).reshape(-1, SETS)
    planted = np.array([case.weight is not None for case in cases])
    least = np.maximum(LEAST_SD, SD_PER_ITEM * items)
    z = (deviance - np.where(planted, 0.0, drawn.mean(axis=1))) / np.maximum(drawn.std(axis=1), least)
    return np.where(items > 0, z, np.nan)


def _deviance(histograms: Array) -> Floats:
    """Return the deviance of histograms (set, hits) from mixtures of binomials, after a few steps of fitting."""
    fitted = np.maximum(_fitted(histograms, FEW_STEPS), 1e-300)
    return 2 * sp.special.xlogy(histograms, row_shares(histograms) / fitted).sum(axis=1)


def _fitted(histograms: Array, steps: int) -> Floats:
    """Return the mixtures of binomials that fit histograms (set, hits) best, by EM whose steps are lengthened.

    EM alone hardly reaches mixtures of few parts: sets drawn from where it stops scatter more than these votes may.
    """
    m = histograms.shape[1] - 1
    hits, p = np.arange(m + 1), GRID[:, None]
    binomial = sp.special.binom(m, hits) * p**hits * (1 - p) ** (m - hits)
    share = row_shares(histograms)
    weight = np.full((len(histograms), GRID.size), 1 / GRID.size)
    for _ in range(steps):
        weight = row_shares(weight * ((share / np.maximum(weight @ binomial, 1e-300)) @ binomial.T) ** LENGTH)
    return weight @ binomial


def _uneven(votes: CodedVotes, hit: Booleans) -> bool:
    """Return whether the annotators of a quarter of the items or more hit at rates whose sd is above `UNEVEN`."""
    who = votes.annotator[votes.annotator >= 0]
    size, hits = np.bincount(who), np.bincount(who, hit[votes.annotator >= 0])
    panel = size >= max(FEWEST_ITEMS, votes.n_items / 4)
    if panel.sum() < 2:
        return False
    rate = hits[panel] / size[panel]
    return bool(rate.var(ddof=1) - (rate * (1 - rate) / size[panel]).mean() > UNEVEN**2)


def _named(votes: CodedVotes, hit: Booleans, n: Array) -> int | None:
    """Return the annotator whose votes hit so often that the model copies all of them, or more than half."""
    known = (votes.annotator >= 0) & (n[votes.item] > votes.times)
    who, item = votes.annotator[known], votes.item[known]
    size, equal = np.bincount(who), np.bincount(who, hit[known])
    rate = np.where(size >= FEWEST_ITEMS / 2, equal / np.maximum(size, 1), 0.0)
    if not rate.any():
        return None  # nobody has labelled enough items
    best = int(np.argmax(rate))
    others = ((votes.sum(hit)[item] - hit[known]) / (n[item] - 1))[who == best].mean()
    # An able annotator agrees with an able model more than the average does, but not more than the next best.
    against = max(others, np.delete(rate, best).max(initial=0.0))
    expected = against if equal[best] == size[best] else (1 + against) / 2
    chance = sp.special.bdtrc(equal[best] - 1, size[best], expected) * (1 + (rate > 0).sum())
    return best if chance < BY_CHANCE else None


def _closeness(annotations: Any, predictions: Predictions, votes: CodedVotes, n: Array) -> tuple[Floats, float]:
    """Return by how many standard errors each model is farther from the votes than the truth, and |it| of a near copy.

    The mean of n votes that are independent of a prediction is off it by no less, squared and on average, than by its
    own variance, which the scatter of an item's votes estimates without bias; by as much where the prediction is the
    truth. Of labels the votes are vectors of 0 and 1, and this is the Brier score. Predictions are first put on the
    scale that fits the votes best, and habits of annotators taken off. A near copy of the mean of ratings is off by
    half of its variance.
    """
    often, half = np.flatnonzero(n >= 2), np.nan
    if often.size < FEWEST_ITEMS or isinstance(annotations, Rankings):
        return np.full(predictions.models.size, np.nan), half
    ratings = isinstance(annotations, Ratings)
    mean, noise, _ = _scatter(votes, annotations.rating if ratings else None)
    truth = mean[often] - mean[often].mean(axis=0 if ratings else 1, keepdims=True)
    if ratings:
        given = [one - np.nanmean(one) for one in predictions.points()[:, often, None]]
        half = float(0.5 * np.sqrt(often.size / (0.5 + np.mean(2 / (n[often] - 1)))))
    else:
        given = [_centred(predictions, j, often) for j in range(predictions.models.size)]
    found = []
    for one in map(np.nan_to_num, given):
        slope = (one * truth).sum() / max((one**2).sum(), 1e-300)
        excess = ((truth - slope * one) ** 2).sum(axis=1) - noise[often]
        error = excess.std() / np.sqrt(often.size)
        found.append(excess.mean() / error if error > 1e-12 else 0.0)
    return np.array(found), half


def _scatter(votes: CodedVotes, rating: Floats | None) -> Triple:
    """Return means (item, column) of ratings, or of 0 and 1 for every label; their variances (item,); habits of votes.

    A habit is how much higher an annotator of many items rates than others do on the same items; it is taken off.
    """
    (at, columns), value = (votes.code, votes.n_codes), np.ones(votes.item.size)
    if rating is not None:
        (at, columns), value = (np.zeros_like(votes.code), 1), rating
    stranger = int(votes.annotator.max(initial=-1)) + 1
    who = np.where(votes.annotator < 0, stranger, votes.annotator)

    def table(rows: Array, places: Array, given: Any, *shape: int) -> Any:
        return sp.sparse.csr_array((votes.times * given, (rows, places)), shape)

    shared = table(votes.item, who, 1.0, votes.n_items, stranger + 1)
    total = table(votes.item, at, value, votes.n_items, columns).toarray()
    n, size = (np.maximum(np.asarray(shared.sum(axis=axis)), 1)[:, None] for axis in (1, 0))
    habit = (table(who, at, value, stranger + 1, columns).toarray() - shared.T @ (total / n)) / size
    habit[(size[:, 0] < HABIT) | (np.arange(stranger + 1) == stranger)] = 0.0
    mean, n = (total - shared @ habit) / n, n[:, 0]
    square = value**2 - 2 * value * habit[who, at] + (habit**2).sum(axis=1)[who]
    within = np.bincount(votes.item, votes.times * square, n.size) - n * (mean**2).sum(axis=1)
    return mean, within / np.maximum(n - 1, 1) / n, habit[who, at]


def _centred(predictions: Predictions, model: int, items: Places) -> Floats:
    """Return the probabilities of a model, or its labels, centred within an item."""
    if predictions.scores is not None and is_probability(scores := predictions.scores[model, items]):
        return scores - scores.mean(axis=1, keepdims=True)
    label = predictions.hard_labels()[model, items, None]
    k = predictions.categories.size
    return np.where(label >= 0, (label == np.arange(k)) - 1 / k, 0.0)
