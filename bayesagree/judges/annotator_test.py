"""The alternative annotator test: whether a judge may stand in for people.

For every person h and every item of theirs, S(f) is how far the judge f agrees with the *other* people, S(h) how far h
does: the share of equal labels, or minus the root mean square distance of ratings.
W^f = 1[S(f) >= S(h)] and W^h = 1[S(h) >= S(f)]; a tie counts for both. The judge may replace h if the mean of W^h - W^f
is below epsilon.

The posterior side counts, for each person, the items that the judge alone wins, that the person alone wins, and ties:

    (ties, judge's, person's)_h ~ Multinomial(n_h, p_h),  p_h ~ Dirichlet(kappa m),
    m ~ Dirichlet(1, 1, 1),  (1 + kappa)^(-1/2) ~ U(0, 1)

so that it speaks of the people who annotated, and of a new one from where they came.

Source: Calderon, Reichart and Dror, "The alternative annotator test for LLM-as-a-judge", ACL 2025, arXiv:2501.10970.
The posterior is ours.
"""

from typing import Any

import numpy as np
import pandas as pd
import scipy as sp
import xarray as xr
from numpy.typing import NDArray

from bayesagree._types import Advance, Booleans, Floats, Integers, Named, Pair, Rng, silent
from bayesagree.annotations import Labels, Ratings
from bayesagree.annotations._model_outputs import positions
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, positive, positive_int, shorten, warn
from bayesagree.inference.intervals import hdi
from bayesagree.inference.streams import Seed, seed_sequence
from bayesagree.io.doors import as_annotations, as_predictions
from bayesagree.judges._panel import Verdicts, verdict_codes, warn_of_one_answer
from bayesagree.judges._win_rates import win_draws

# The level and the share of annotators of Calderon et al., section 3.
# False discovery rate over annotators.
LEVEL = 0.05
# A judge passes if it may replace at least this share of the annotators.
ENOUGH = 0.5


def alternative_annotator_test(
    labels: Verdicts,
    judges: Predictions | Verdicts,
    *,
    epsilon: float = 0.2,
    min_items: int = 30,
    ci_prob: float = 0.95,
    draws: int = 1000,
    chains: int = 4,
    random_seed: Seed = None,
    progress: Advance = silent,
) -> xr.Dataset:
    """Test whether each judge may replace a person: winning rate, advantage, exact test and posterior.

    Parameters
    ----------
    labels
        Labels or ratings by people, who must be known by name; only items with at least two of them count.
    judges
        Annotations by the judges, who are the annotators: of labels the first of an item counts, of ratings the mean.
        Or predictions: one hard label an item and judge, or scores, whose best label counts; for ratings numbers, or
        labels that are numbers. Items without a label of a judge do not count for that judge.
    epsilon
        By how much the judge may be worse and still save effort: .2 against experts, .15 against skilled people, .1
        against crowd workers (Calderon et al.).
    min_items
        Annotators with fewer items are left out, with a warning: the t-test needs about 30.
    ci_prob
        Probability of the interval of the advantage.
    draws, chains
        chains x draws posterior draws in all.
    random_seed
        Same seed, same draws.
    progress
        Called with the number of new draws, of each judge.

    Returns
    -------
    Dataset
        By model: ``winning_rate``, share of annotators whom the judge may replace; ``advantage_probability``, mean
        over annotators of the share of items on which the judge is at least as good; ``passes``, a winning rate of at
        least one half. Of the posterior: ``prob_passes``, Pr(the judge is less than epsilon worse than at least half
        of these annotators); ``advantage``, ``lower``, ``upper``, mean and HDI of the advantage probability;
        ``prob_new_annotator``, Pr(it is less than epsilon worse than a new annotator).
        By model and annotator: ``judge_wins`` and ``annotator_wins`` (means of W^f and W^h), ``n_items``, ``p_value``,
        ``replaces`` (Benjamini-Yekutieli at .05), and ``prob_replaces``.

    Notes
    -----
    Of judges that may not replace people, whose margins behind them are spread over 0 to .4, ``prob_passes`` > .95
    passes one in a hundred at most. Of those at `epsilon` behind each of 3 to 13 people it passes about one in twenty
    (.04 to .07, Monte-Carlo error .01), of those .05 beyond one in 600 at most; the exact test passes .003 of those at
    the border: use it where such a judge must be held back.

    Raises
    ------
    InputError
        Unknown annotators, repeated annotations, different items, or no annotator with enough items.

    Warns
    -----
    UserWarning
        Judges who give one answer to all items; annotators who are left out.

    References
    ----------
    Calderon, Reichart and Dror, ACL 2025, arXiv:2501.10970, sections 3.1 to 3.3; Benjamini and Yekutieli, "The control
    of the false discovery rate in multiple testing under dependency", Annals of Statistics 29 (2001),
    https://doi.org/10.1214/aos/1013699998.

    See Also
    --------
    corrected_rate, effective_judges, annotator_agreement

    Examples
    --------
    >>> truth = np.arange(60) % 2
    >>> votes = np.stack([np.where(np.arange(60) % 10 == k, 1 - truth, truth) for k in range(3)], axis=1)
    >>> people = Labels.from_matrix(votes, annotators=["ann", "bob", "cyn"])
    >>> judge = Predictions.from_labels({"judge": truth})
    >>> found = alternative_annotator_test(people, judge, random_seed=1)
    >>> float(found["winning_rate"].sel(model="judge")), bool(found["prob_passes"] > 0.99)
    (1.0, True)
    """
    labels = as_annotations(labels, (Labels, Ratings), "labels")
    given = isinstance(judges, Verdicts)
    answers = _answers(judges, labels) if given else as_predictions(judges, labels, "judges")
    margin = positive(epsilon, "epsilon", zero=True)
    n_draws = positive_int(draws, "draws") * positive_int(chains, "chains")
    counts = win_counts(labels, answers)
    said = answers.hard_labels() if answers.numbers is None else answers.points()
    warn_of_one_answer(answers.models, said.T)
    kept = (counts.sum(axis=2) >= positive_int(min_items, "min_items")).all(axis=0)
    _say_who_is_left_out(labels.annotators, kept, min_items)
    words = seed_sequence(random_seed).generate_state(answers.models.size)
    rngs = [np.random.default_rng([int(word), m]) for m, word in enumerate(words)]
    parts = [exact_test(of[kept], margin) | posterior_test(of[kept], margin, n_draws, rng, ci_prob, progress)
             for of, rng in zip(counts, rngs)]  # fmt: skip
    dims = ("model", "annotator")
    return xr.Dataset(
        {
            name: (dims[: 1 + np.ndim(value)], np.stack([part[name] for part in parts]))
            for name, value in parts[0].items()
        },
        {"model": answers.models, "annotator": labels.annotators[kept]},
        {"epsilon": margin, "ci_kind": "hdi", "ci_prob": ci_prob},
    )


def exact_test(counts: Integers, epsilon: float) -> Named:
    """Test one judge by its counts of ties, own wins and the person's wins, shape (annotator, 3).

    The p-value is one-sided, against a mean of W^h - W^f in {-1, 0, 1} of epsilon or more.
    """
    n, (ties, judge, person) = counts.sum(axis=1), counts.T
    mean = (person - judge) / n
    variance = ((person + judge) / n - mean**2) * n / (n - 1)
    with np.errstate(divide="ignore"):  # all items alike: the mean is known without error
        p_value = sp.special.stdtr(n - 1, (mean - epsilon) / np.sqrt(variance / n))
    replaces = sp.stats.false_discovery_control(p_value, method="by") <= LEVEL
    wins = (ties + judge) / n
    rate = replaces.mean()
    found = {"winning_rate": rate, "advantage_probability": wins.mean(), "passes": rate >= ENOUGH}
    found |= {"judge_wins": wins, "annotator_wins": (ties + person) / n, "p_value": p_value}
    return found | {"replaces": replaces, "n_items": n}


def posterior_test(
    counts: Integers,
    epsilon: float,
    n_draws: int,
    rng: Rng,
    ci_prob: float,
    progress: Advance = silent,
) -> Named:
    """Summarise the posterior of one judge, of these annotators and of a new one."""
    of_each, of_new = win_draws(counts, n_draws, rng, progress)
    below = of_each[:, :, 2] - of_each[:, :, 1] < epsilon
    advantage = (of_each[:, :, 0] + of_each[:, :, 1]).mean(axis=1)
    lower, upper = hdi(advantage, ci_prob)
    found = {"prob_passes": (below.mean(axis=1) >= ENOUGH).mean(), "advantage": advantage.mean()}
    found |= {"lower": lower, "upper": upper, "prob_replaces": below.mean(axis=0)}
    return found | {"prob_new_annotator": (of_new[:, 2] - of_new[:, 1] < epsilon).mean()}


def _answers(verdicts: Verdicts, people: Verdicts) -> Predictions:
    """Return what each judge, an annotator of the verdicts, answered on the items of people.

    Of labels the first of an item counts, of ratings the mean.
    """
    if not verdicts.annotators_known:
        raise InputError("the judges are unknown, and each is a model here; give their names")
    items = people.items.tolist()
    if isinstance(verdicts, Ratings):
        means = (
            verdicts.to_long().pivot_table(index="item", columns="annotator", values="rating").reindex(items)
        )
        return Predictions.from_labels({str(judge): means[judge] for judge in means.columns})
    rows = pd.Index(verdicts.items).get_indexer(people.items)
    codes = np.where(rows[:, None] < 0, -1, verdict_codes(verdicts)[rows])
    names = [*verdicts.categories, None]
    predicted = {
        str(judge): [names[code] for code in codes[:, j]] for j, judge in enumerate(verdicts.annotators)
    }
    return Predictions.from_labels(predicted, items=items, labels=verdicts.categories.tolist())


def win_counts(labels: Verdicts, judges: Predictions) -> Integers:
    """Count the items on which each judge and person tie, the judge wins, the person wins: (model, annotator, 3)."""
    if not labels.annotators_known:
        raise InputError("the annotators are unknown, and each is compared with the others; give their names")
    if labels.has_repeats:
        raise InputError('an annotator labelled an item twice; read the table with duplicates="first"')
    scores: Any = _label_scores if isinstance(labels, Labels) else _rating_scores
    enough = np.bincount(labels.item_index)[labels.item_index] > 1
    tables = []
    for of_judge, of_person in [scores(labels, judges, m) for m in range(judges.models.size)]:
        counted = enough & np.isfinite(of_judge) & np.isfinite(of_person)
        # Shares and root mean squares of equal parts may differ in the last digit.
        tied = counted & np.isclose(of_judge, of_person, rtol=0, atol=1e-9)
        better = counted & ~tied & (of_judge > of_person)
        parts = (tied, better, counted & ~tied & ~better)
        tables.append([np.bincount(labels.annotator_index[p], minlength=labels.annotators.size) for p in parts])
    return np.moveaxis(np.array(tables, int), 1, 2)


def _label_scores(labels: Labels, judges: Predictions, model: int) -> Pair:
    """Share of the other people who gave the judge's label, and the person's, of each annotation."""
    verdict = judges.aligned(labels.items, labels.categories).hard_labels()[model][labels.item_index]
    counts = labels.counts()[labels.item_index]
    rows, own = np.arange(verdict.size), labels.label_index
    others = np.maximum(counts.sum(axis=1) - 1, 1)
    of_judge = (counts[rows, verdict] - (verdict == own)) / others
    return np.where(verdict < 0, np.nan, of_judge), (counts[rows, own] - 1) / others


def _rating_scores(ratings: Ratings, judges: Predictions, model: int) -> Pair:
    """Minus the root mean square distance to the other people's ratings, of the judge's and the person's."""
    place = positions(ratings.items, judges.items, "the judges", "item")
    if judges.numbers is None:
        said = np.append(np.asarray(judges.categories, float), np.nan)[judges.hard_labels()[model]]
    else:
        said = judges.points()[model]
    verdict = said[place][ratings.item_index]
    own = ratings.rating
    number = np.bincount(ratings.item_index)[ratings.item_index]
    total, square = (np.bincount(ratings.item_index, own**k)[ratings.item_index] for k in (1, 2))

    def score(given: Floats) -> Floats:
        others = np.maximum(number - 1, 1)
        distance = ((square - own**2) - 2 * given * (total - own)) / others + given**2
        return -np.sqrt(np.maximum(distance, 0))

    return score(verdict), score(own)


def _say_who_is_left_out(names: NDArray[np.generic], kept: Booleans, min_items: int) -> None:
    if not kept.any():
        raise InputError(
            f"no annotator has {min_items} items that another person labelled too; collect more, or pass min_items=..."
        )
    if not kept.all():
        warn(
            f"{(~kept).sum()} of {kept.size} annotators have fewer than {min_items} items that count and are left out: "
            f"{shorten(names[~kept])}"
        )
