"""The alternative annotator test against published numbers, a plain version of itself, and quadrature."""

import json

import numpy as np
import pytest
import scipy as sp
from _paths import ROOT

from bayesagree import InputError, Labels, Predictions, Ratings, alternative_annotator_test
from bayesagree.judges._win_rates import _shared_draws, log_posterior, win_draws
from bayesagree.judges.annotator_test import exact_test, posterior_test

GOLDEN = json.loads((ROOT / "tests" / "golden" / "judges.json").read_text())["annotator_test"]


def wins_of(cell):
    """Return the counts behind published shares."""
    n, judge, person = (np.array(cell[k]) for k in ("n_items", "judge_wins", "annotator_wins"))
    judge, person = np.round(n * judge).astype(int), np.round(n * person).astype(int)
    ties = judge + person - n
    return np.stack([ties, judge - ties, person - ties], axis=1)


@pytest.mark.parametrize("name", GOLDEN)
def test_published_cells(name):
    cell = GOLDEN[name]
    found = exact_test(wins_of(cell), 0.2)
    np.testing.assert_allclose(found["p_value"], cell["p_value"], rtol=5e-3)
    assert found["winning_rate"] == cell["winning_rate"]
    assert found["advantage_probability"] == pytest.approx(cell["advantage_probability"], abs=1e-6)


def test_the_posterior_passes_where_few_annotators_keep_the_exact_test_from_it():
    # Of three annotators Benjamini and Yekutieli ask .009 of the smallest p-value: .019 and .026 are not enough.
    said = [posterior_test(wins_of(cell), 0.2, 4000, np.random.default_rng(1), 0.95) for cell in GOLDEN.values()]
    assert all(float(one["prob_passes"]) > 0.95 for one in said)
    for cell, one in zip(GOLDEN.values(), said):
        assert one["lower"] < cell["advantage_probability"] < one["upper"]


def crowd(random_seed=1, n=60):
    """Four people and a judge of known quality, some labels missing."""
    rng = np.random.default_rng(random_seed)
    truth = rng.integers(0, 3, n)
    wrong = rng.random((n, 5)) < [0.2, 0.25, 0.3, 0.2, 0.15]
    said = np.where(wrong, rng.integers(0, 3, (n, 5)), truth[:, None]).astype(object)
    said[:, :4][rng.random((n, 4)) < 0.2] = None
    return said[:, :4], said[:, 4]


def plain(people, judge, score):
    """Return W^f and W^h of each annotator by loops over the definition."""
    wins = []
    for h in range(people.shape[1]):
        rows = []
        for i, row in enumerate(people):
            others = [row[k] for k in range(len(row)) if k != h and row[k] is not None]
            if row[h] is not None and others:
                f, own = score(judge[i], others), score(row[h], others)
                rows.append((f >= own - 1e-12, own >= f - 1e-12))
        wins.append(np.mean(rows, axis=0))
    return np.array(wins).T


def equal(said, others):
    return np.mean([o == said for o in others])


def closeness(said, others):
    return -np.sqrt(np.mean([(o - said) ** 2 for o in others]))


@pytest.mark.parametrize("kind", ["labels", "ratings"])
def test_winning_shares_are_those_of_the_definition(kind):
    people, judge = crowd()
    judges = Predictions.from_labels({"judge": judge}, labels=[0, 1, 2])
    if kind == "labels":
        given = Labels.from_matrix(people, labels=[0, 1, 2])
    else:
        given = Ratings.from_matrix(np.where(people == None, np.nan, people).astype(float), scale=(0, 2), step=1)  # noqa: E711
    found = alternative_annotator_test(given, judges, draws=5, random_seed=1, min_items=10)
    expected = plain(people, judge, equal if kind == "labels" else closeness)
    np.testing.assert_allclose(found["judge_wins"].values[0], expected[0])
    np.testing.assert_allclose(found["annotator_wins"].values[0], expected[1])


def test_items_without_a_verdict_do_not_count():
    """They were given the verdict on the last item of the judge's table."""
    people, judge = crowd()
    given = Labels.from_matrix(people, labels=[0, 1, 2])
    table = Labels.from_matrix(judge[10:, None], items=range(10, 60), annotators=["judge"], labels=[0, 1, 2])
    same = Predictions.from_labels({"judge": [None] * 10 + judge[10:].tolist()}, labels=[0, 1, 2])
    one, other = (alternative_annotator_test(given, j, draws=5, random_seed=1, min_items=10) for j in (table, same))
    assert one.identical(other)


def test_draws_of_shared_parameters_are_those_of_a_grid():
    counts = np.array([[43, 14, 17], [59, 9, 16], [57, 8, 23]])
    axes = [np.linspace(-1, 3, 60), np.linspace(-3, 1.5, 60), np.linspace(-9, 2, 60)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    height = log_posterior(grid, counts)
    weight = np.exp(height - height.max())
    mean = sp.special.softmax(np.column_stack([grid[:, :2], np.zeros(len(grid))]), axis=1)
    expected = weight @ mean / weight.sum()
    _, new = win_draws(counts, 20_000, np.random.default_rng(1))
    np.testing.assert_allclose(new.mean(axis=0), expected, atol=0.004)


def test_input_is_refused_with_a_way_out():
    people, judge = crowd()
    judges = Predictions.from_labels({"judge": judge}, labels=[0, 1, 2])
    with pytest.raises(InputError, match="annotators are unknown"):
        alternative_annotator_test(Labels.from_counts(np.ones((60, 3), int)), judges)
    with pytest.raises(InputError, match="no annotator has 100 items"):
        alternative_annotator_test(Labels.from_matrix(people, labels=[0, 1, 2]), judges, min_items=100)


@pytest.mark.parametrize(("people", "items"), [(2, 30), (3, 82), (3, 6400), (13, 1698)])
def test_proposals_are_where_the_posterior_is(people, items):
    # The more annotators may differ, the wider their mean is: a normal approximation of both together had one of a
    # thousand proposals there, and the same few points were drawn again and again.
    for random_seed in range(2):
        rng = np.random.default_rng(random_seed)
        counts = rng.multinomial(items, (0.34, 0.26, 0.4), people)
        drawn = win_draws(counts, 1000, rng)[1]
        assert np.isfinite(drawn).all()
        assert np.unique(_shared_draws(counts, 1000, rng), axis=0).shape[0] > 850


def test_a_judge_of_one_answer_is_named():
    people, judge = crowd()
    labels = Labels.from_matrix(people, labels=[0, 1, 2])
    judges = Predictions.from_labels({"idle": np.ones_like(judge), "able": judge}, labels=[0, 1, 2])
    with pytest.warns(UserWarning, match="judges 'idle' give one answer to all items"):
        alternative_annotator_test(labels, judges, draws=10, random_seed=1)
    cells = np.where(np.equal(people, None), np.nan, people).astype(float)
    ratings = Ratings.from_matrix(cells, scale=(0, 2), step=1)
    numbers = Predictions.from_numbers({"able": judge.astype(float), "idle": np.full(judge.size, 1.5)})
    with pytest.warns(UserWarning, match="judges 'idle' give"):
        alternative_annotator_test(ratings, numbers, draws=10, random_seed=1)


def test_progress_counts_the_draws_of_each_judge():
    people, judge = crowd()
    judges = Predictions.from_labels({"one": judge, "other": np.roll(judge, 1)}, labels=[0, 1, 2])
    labels, done = Labels.from_matrix(people, labels=[0, 1, 2]), []
    alternative_annotator_test(labels, judges, draws=50, chains=2, random_seed=1, progress=done.append)
    assert sum(done) >= 200 and sum(done) < 2 * (100 + 48)  # whole rounds of 48 chains
