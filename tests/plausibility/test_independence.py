"""Models that depend on the annotations are found, and independent ones are not; a truth does not learn from them."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesagree import (
    Labels,
    Predictions,
    Rankings,
    Ratings,
    annotate_next,
    compare,
    evaluate,
    informed_dirichlet,
    informed_normal,
    pairwise,
)
from bayesagree.blind.scores import blind_scores
from bayesagree.inference.results import settings_of
from bayesagree.judges.rate import corrected_rate
from bayesagree.plausibility.dawid_skene._results import choice_notes
from bayesagree.plausibility.independence import Independence, independence

FEW = {"draws": 50, "chains": 2, "random_seed": 1}
OURS = "ignore:models .* not independent"


def votes_of(items, votes, random_seed, concentration=1.0):
    rng = np.random.default_rng(random_seed)
    share = rng.dirichlet(np.full(3, concentration), items)
    given = (rng.random((items, votes, 1)) > share.cumsum(axis=1)[:, None, :2]).sum(axis=2)
    honest = (np.log(share) + 0.5 * rng.gumbel(size=share.shape)).argmax(axis=1)
    return share, given, honest


def counted(given):
    return np.stack([(given == label).sum(axis=1) for label in range(3)], axis=1)


def planted(given, rng):
    """A voter, the most frequent vote, the same with a tenth replaced, and the shares of the votes."""
    counts = counted(given)
    copy = (counts + rng.random(counts.shape) / 2).argmax(axis=1)
    other = np.where(rng.random(len(copy)) < 0.1, rng.integers(3, size=len(copy)), copy)
    hard = {"voter": given[:, 0], "copy": copy, "noisy copy": other}
    return {name: np.eye(3)[label] for name, label in hard.items()} | {"shares": counts / counts.sum(axis=1)[:, None]}


@pytest.mark.parametrize("votes", [2, 3, 5])
def test_voters_and_copies_are_found_and_independent_models_are_not(votes):
    share, given, honest = votes_of(600, votes, votes)
    rng = np.random.default_rng(votes)
    fourth = (rng.random((600, 1)) > share.cumsum(axis=1)[:, :2]).sum(axis=1)
    hard = {"honest": np.eye(3)[honest], "fourth voter": np.eye(3)[fourth]}
    clean = hard | {"truth": share, "constant": [[1, 0, 0]] * 600}
    found = independence(Labels.from_counts(counted(given)), Predictions.from_scores(planted(given, rng) | clean))
    assert found.models[found.dependent].tolist() == ["voter", "copy", "noisy copy", "shares"]


@pytest.mark.slow
def test_independent_models_are_hardly_ever_found():
    """Of 1,200 models .004 (SE .002) were found in the benchmark's worlds."""
    found = []
    for random_seed in range(200):
        share, given, honest = votes_of(300, 2 + random_seed % 4, [1, random_seed], (0.2, 1.0, 5.0)[random_seed % 3])
        models = {"honest": np.eye(3)[honest], "truth": share}
        found.append(independence(Labels.from_counts(counted(given)), Predictions.from_scores(models)).dependent)
    assert np.mean(found) < 0.02


def test_the_truth_itself_is_as_close_to_the_votes_as_a_model_can_be():
    """In standard errors: standard normal up to the fitted scale, 16 sets give the mean to .25 and the sd to .18."""
    close = []
    for random_seed in range(16):
        share, given, _ = votes_of(100, 3, [2, random_seed])
        close.append(
            independence(Labels.from_counts(counted(given)), Predictions.from_scores({"A": share})).closeness[0]
        )
    assert abs(np.mean(close)) < 0.75 and abs(np.std(close) - 1) < 0.5


RULES = {
    "nothing": ({}, False, False),
    "hits as unlike a mixture as may be": ({"z": 4.0}, False, True),
    "hits more unlike it": ({"z": 4.1}, True, False),
    "hits as far as leaves no doubt": ({"z": 2.0}, False, False),
    "hits of too few items": ({"z": np.nan}, False, True),
    "votes that are no mixture either": ({"z": 4.1, "votes_z": 2.1}, False, True),
    "votes that hardly are": ({"z": 4.1, "votes_z": 2.0}, True, False),
    "hits more unlike than such votes": ({"z": 6.2, "votes_z": 2.1}, True, False),
    "votes that are none, hits beyond": ({"z": 10.5, "votes_z": 6.0}, True, False),
    "votes that prove nothing": ({"z": 12.0, "votes_z": 6.1}, False, True),
    "uneven annotators": ({"z": 9.0, "uneven": True}, False, True),
    "closer than the truth": ({"closeness": -3.1}, True, False),
    "closer, perhaps": ({"closeness": -3.0}, False, True),
    "as close as the truth may be": ({"closeness": -2.0}, False, False),
    "closer, of uneven annotators": ({"closeness": -3.1, "uneven": True}, True, False),
    "a copy would be seen": ({"seen": 4.0}, False, False),
    "a copy would not be seen": ({"seen": 3.9}, False, True),
    "no copy could be planted": ({"seen": np.nan}, False, True),
    "an annotator": ({"annotator": "x", "votes_z": 9.0, "seen": 0.0}, True, False),
}


@pytest.mark.parametrize("name", RULES)
def test_what_is_known_of_a_model_begins_at_its_limits(name):
    given, dependent, unsure = RULES[name]
    of = {"z": 0.0, "closeness": 0.0, "annotator": None, "uneven": False, "seen": 5.0, "votes_z": 0.0} | given
    lists = {key: np.array([of.pop(key)]) for key in ("z", "closeness", "uneven")}
    found = Independence(models=np.array(["m"]), annotator=[of.pop("annotator")], **lists, **of)
    assert (found.dependent.tolist(), found.unsure.tolist()) == ([dependent], [unsure])


def test_closeness_is_the_excess_of_the_squared_distance_over_the_scatter_of_the_votes():
    """In standard errors, over items of two votes or more, on the scale that fits the votes best."""
    rng = np.random.default_rng(6)
    counts = rng.multinomial(rng.integers(1, 5, 60), rng.dirichlet(np.ones(3), 60))
    p = rng.dirichlet(np.ones(3), 60)
    often = counts.sum(axis=1) > 1
    mean = [row / row.sum() for row in counts[often]]
    scatter = [
        sum(k * ((np.eye(3)[label] - m) ** 2).sum() for label, k in enumerate(row)) / (row.sum() - 1) / row.sum()
        for row, m in zip(counts[often], mean)
    ]
    seen, said = (np.array([one - one.mean() for one in of]) for of in (mean, p[often]))
    slope = (seen * said).sum() / (said**2).sum()
    excess = ((seen - slope * said) ** 2).sum(axis=1) - scatter
    found = independence(Labels.from_counts(counts), Predictions.from_scores({"A": p}))
    assert found.closeness[0] == pytest.approx(excess.mean() / (excess.std() / np.sqrt(excess.size)))


def test_closeness_of_numbers_is_of_their_distance_from_mean_ratings():
    """Also how many standard errors half of their variance is: so far from it is a near copy of the means."""
    rng = np.random.default_rng(7)
    place = rng.normal(5, 1, 50)
    given = [place[i] + rng.normal(0, 0.6, size=i % 4 + 1) for i in range(50)]
    rows = [[*of, *[np.nan] * (4 - of.size)] for of in given]
    number = place + rng.normal(0, 0.3, 50)
    several = [i for i in range(50) if given[i].size > 1]
    mean = np.array([given[i].mean() for i in several])
    scatter = np.array([given[i].var(ddof=1) / given[i].size for i in several])
    seen, said = mean - mean.mean(), number[several] - number[several].mean()
    excess = (seen - (seen @ said) / (said @ said) * said) ** 2 - scatter
    ratings = Ratings.from_long(
        pd.DataFrame([(i, x) for i, of in enumerate(rows) for x in of if x == x], columns=["item", "rating"]),
        annotator=None, scale=(-20, 20),
    )  # fmt: skip
    found = independence(ratings, Predictions.from_numbers({"A": number}))
    assert found.closeness[0] == pytest.approx(excess.mean() / (excess.std() / np.sqrt(excess.size)))
    n = np.array([given[i].size for i in several])
    half = 0.5 * np.sqrt(n.size / (0.5 + np.mean(2 / (n - 1))))
    assert found.seen == pytest.approx(half)  # less than a planted copy of ratings that never repeat


def test_habits_of_annotators_make_no_honest_model_suspect():
    rng = np.random.default_rng(3)
    place, strict = rng.normal(0, 2, 500), np.array([-1.0, 0.0, 1.0])
    chance = 1 / (1 + np.exp(-place[:, None] - strict))
    labels = Labels.from_matrix((rng.random(chance.shape) < chance).astype(int))
    yes = chance.mean(axis=1)
    found = independence(labels, Predictions.from_scores({"truth": np.column_stack([1 - yes, yes])}))
    assert not found.dependent.any() and abs(found.closeness[0]) < 2
    level = place[:, None] + strict + rng.normal(0, 0.5, (500, 3))
    ratings = Ratings.from_matrix(level, scale=(-20, 20))
    assert not independence(ratings, Predictions.from_numbers({"truth": place})).dependent.any()


def test_votes_collected_until_they_agree_prove_nothing():
    """Two votes, and a third where they differ: no mixture of binomials, whatever the model."""
    _, given, honest = votes_of(900, 3, 4)
    agreed = given[:, 0] == given[:, 1]
    counts = counted(given) - np.eye(3, dtype=int)[given[:, 2]] * agreed[:, None]
    found = independence(Labels.from_counts(counts), Predictions.from_labels({"honest": honest}, labels=[0, 1, 2]))
    assert found.z[0] > 4 and found.votes_z > 4
    assert found.unsure.all() and not found.dependent.any()


@pytest.mark.parametrize(("part", "named"), [(1.0, True), (0.9, True), (0.0, False)])
def test_a_model_equal_to_an_annotator_is_that_annotator(part, named):
    """By name it is found among ten, where the counts of votes hardly show it; an able annotator is not the model."""
    rng = np.random.default_rng(5)
    share, given, honest = votes_of(400, 10, 5, 0.3)
    given[:, 7] = share.argmax(axis=1)
    model = np.where(rng.random(400) < part, given[:, 3], honest)
    found = independence(
        Labels.from_matrix(given, annotators=list("abcdefghij")), Predictions.from_labels({"m": model})
    )
    assert found.annotator == (["d"] if named else [None])
    assert found.dependent.tolist() == [named]


@pytest.mark.parametrize(("answers", "named"), [(14, None), (15, "x")])
def test_an_annotator_is_named_from_fifteen_answers_on(answers, named):
    """Who equals a model of three labels in all of his answers; the others know nothing of it."""
    rng = np.random.default_rng(11)
    model, others = rng.integers(0, 3, 60), rng.integers(0, 3, (60, 2)).astype(object)
    mine = np.where(np.arange(60) < answers, model, None)
    labels = Labels.from_matrix(np.column_stack([mine, others]), annotators=list("xyz"), labels=[0, 1, 2])
    assert independence(labels, Predictions.from_labels({"m": model})).annotator == [named]


@pytest.mark.parametrize(
    ("second", "answers", "uneven"),
    [(132, 200, True), (129, 200, False), (128, 200, False), (40, 50, True), (40, 49, False)],
)
def test_annotators_hit_unevenly_where_their_rates_differ_by_more_than_chance(second, answers, uneven):
    """One hits a model on 100 of 200 items, the other on some of a quarter of the items or more."""
    model, at = np.arange(200) % 3, np.random.default_rng(1).permutation(200)
    said = np.tile(((model + 1) % 3)[:, None], (1, 2)).astype(object)
    said[::2, 0] = model[::2]
    said[at[:second], 1] = model[at[:second]]
    said[at[answers:], 1] = None
    rates, sizes = np.array([0.5, second / answers]), np.array([200, answers])
    spread = rates.var(ddof=1) - (rates * (1 - rates) / sizes).mean()
    assert (spread > 0.01 and answers >= 50) == uneven
    labels = Labels.from_matrix(said, annotators=["x", "y"], labels=[0, 1, 2])
    assert independence(labels, Predictions.from_labels({"m": model})).uneven.tolist() == [uneven]


@pytest.mark.parametrize("step", [None, 1])
def test_raters_and_means_of_ratings_are_found(step):
    rng = np.random.default_rng(16)
    mean = rng.normal(3, 0.7, 300)
    given = np.clip(mean[:, None] + rng.normal(0, 0.8, (300, 3)), 1, 5)
    given = given if step is None else np.round(given)
    numbers = {"rater": given[:, 1], "mean": given.mean(axis=1), "noisy": given.mean(axis=1) + rng.normal(0, 0.2, 300)}
    honest = {"honest": mean + rng.normal(0, 0.5, 300), "truth": mean, "sharp": 2 * mean}
    found = independence(
        Ratings.from_matrix(given, scale=(1, 5), step=step), Predictions.from_numbers(numbers | honest)
    )
    assert found.dependent.tolist() == [True] * 3 + [False] * 3
    assert found.annotator[0] == 1


def test_a_reader_of_rankings_is_found():
    _, given, honest = votes_of(400, 3, 7)
    readers = Rankings.from_blocks([[[[v], [(v + 1) % 3]] for v in row] for row in given.tolist()], labels=3)
    models = Predictions.from_labels({"reader": given[:, 2], "honest": honest}, labels=[0, 1, 2])
    assert independence(readers, models).dependent.tolist() == [True, False]


@settings(max_examples=5, deadline=None)
@given(st.randoms(use_true_random=False))
def test_order_of_items_labels_and_models_is_no_matter(random):
    share, given, honest = votes_of(80, 3, 8)
    items, labels = list(range(80)), [0, 1, 2]
    random.shuffle(items)
    random.shuffle(labels)
    one = independence(
        Labels.from_counts(counted(given)), Predictions.from_scores({"A": np.eye(3)[honest], "B": share})
    )
    order = np.ix_(items, labels)
    other = independence(
        Labels.from_counts(counted(given)[order]),
        Predictions.from_scores({"B": share[order], "A": np.eye(3)[honest][order]}),
    )
    np.testing.assert_allclose(other.z, one.z[::-1], atol=1e-9)
    np.testing.assert_allclose(other.closeness, one.closeness[::-1], atol=1e-9)
    assert (other.seen, other.votes_z) == pytest.approx((one.seen, one.votes_z))


def test_the_most_votes_and_odd_numbers_of_votes_are_thinned():
    """A mixture of binomials stays one, and a copy one that is none."""
    rng = np.random.default_rng(9)
    share = rng.dirichlet(np.ones(3), 800)
    counts = np.array([rng.multinomial(n, p) for n, p in zip(rng.integers(2, 40, 800), share)])
    models = Predictions.from_scores({"truth": share, "copy": counts / counts.sum(axis=1)[:, None]})
    assert independence(Labels.from_counts(counts), models).dependent.tolist() == [False, True]


@pytest.mark.filterwarnings(OURS)
def test_a_voter_gets_the_score_of_a_truth_that_the_others_make():
    """It was said to be right in .998 [.982, 1.000]."""
    share, given, honest = votes_of(300, 3, 10)
    labels = Labels.from_counts(counted(given))
    models = Predictions.from_labels({"voter": given[:, 0], "honest": honest}, labels=[0, 1, 2])
    with pytest.warns(UserWarning, match="models 'voter' are not independent of these annotations") as told:
        found = evaluate(labels, models, **FEW)
    assert told[0].filename == __file__, "the line of the caller, not one of the package"
    rows = compare(found).loc["voter"]
    right = (given[:, 0] == share.argmax(axis=1)).mean()
    assert rows["lower"] < right < rows["upper"]
    assert rows["warning"].startswith("not independent")
    assert settings_of(found)["left_out"] == ["voter"]
    assert choice_notes(settings_of(found))[1].startswith("The predictions of 'voter' inform no truth")
    by_hand = evaluate(labels, models, exclude="voter", **FEW)
    np.testing.assert_array_equal(found["posterior"]["accuracy"].values, by_hand["posterior"]["accuracy"].values)
    # Who says that every model is independent has the voter's score flattered.
    vouched = evaluate(labels, models, exclude=(), **FEW)
    assert vouched["posterior"]["accuracy"].sel(model="voter").min() > right + 0.1


@pytest.mark.long
def test_where_votes_cannot_tell_the_interval_holds_both_truths():
    share, given, honest = votes_of(100, 10, 11)
    labels = Labels.from_counts(counted(given))
    models = Predictions.from_labels({"voter": given[:, 0], "honest": honest}, labels=[0, 1, 2])
    found = evaluate(labels, models, **FEW)
    assert settings_of(found)["unsure"] == ["voter", "honest"]
    rows = compare(found)
    trees = [evaluate(labels, models, exclude=e, **FEW) for e in ((), ["voter", "honest"])]
    both = [compare(tree).loc[rows.index] for tree in trees]
    np.testing.assert_allclose(rows["score"], both[0]["score"])
    np.testing.assert_allclose(rows["lower"], np.fmin(both[0]["lower"], both[1]["lower"]))
    np.testing.assert_allclose(rows["upper"], np.fmax(both[0]["upper"], both[1]["upper"]))
    first, second = rows.index
    ours, *others = (pairwise(tree).sel(model=first, other_model=second) for tree in (found, *trees))
    np.testing.assert_allclose(ours["lower"], min(float(one["lower"]) for one in others))
    np.testing.assert_allclose(ours["prob_better"], np.mean([float(one["prob_better"]) for one in others]))
    right = (given[:, 0] == share.argmax(axis=1)).mean()
    voter = rows.loc["voter"]
    assert voter["lower"] < right < voter["upper"]
    assert "too few annotations to tell" in voter["warning"]
    assert "without_unsure" in choice_notes(settings_of(found))[-1]
    assert (both[0]["warning"] == "").all()


@pytest.mark.long
def test_batches_join_their_doubts():
    _, given, honest = votes_of(900, 3, 12)
    cut = [slice(0, 800), slice(800, 900)]
    of = [Labels.from_counts(counted(given[c])) for c in cut]
    found = evaluate(
        iter([(labels, Predictions.from_labels({"A": honest[c]}, labels=[0, 1, 2])) for labels, c in zip(of, cut)]),
        **FEW,
    )
    one, other = (found[g]["accuracy"].mean() for g in ("posterior", "without_unsure"))
    assert settings_of(found)["unsure"] == ["A"] and 0 < abs(one - other) < 0.1


@pytest.mark.filterwarnings("ignore:all ratings of")
def test_a_mean_of_ratings_does_not_inform_its_own_truth():
    """It was said to be off by .04."""
    rng = np.random.default_rng(13)
    mean = rng.normal(3, 0.7, 300)
    ratings = Ratings.from_matrix(np.clip(mean[:, None] + rng.normal(0, 0.8, (300, 3)), 1, 5), scale=(1, 5))
    copy = np.bincount(ratings.item_index, ratings.rating) / 3
    models = Predictions.from_numbers({"copy": copy, "honest": mean + rng.normal(0, 0.5, 300)})
    with pytest.warns(UserWarning, match="'copy' are not independent .* does not learn from them"):
        found = compare(evaluate(ratings, models, annotator_effects=None, **FEW))
    for m, name in enumerate(("copy", "honest")):
        right = np.abs(models.points()[m] - mean).mean()
        assert found["lower"][name] - 0.01 < right < found["upper"][name] + 0.01
    with pytest.warns(UserWarning, match="'copy' are not independent .* leave them out"):
        informed_normal(ratings, models, **FEW, annotator_effects=None)
    assert (
        "slope:copy" not in informed_normal(ratings, models, exclude="copy", **FEW)["posterior_parameters"]["parameter"]
    )


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:2.0 votes per group")
def test_whatever_scores_or_learns_says_so():
    share, given, honest = votes_of(250, 4, 14)
    labels = Labels.from_matrix(given, annotators=list("abcd"), labels=[0, 1, 2])
    models = Predictions.from_scores({"honest": share, "copy": counted(given) / 4}, labels=[0, 1, 2])
    told = "models 'copy' are not independent of these annotations"
    with pytest.warns(UserWarning, match=told):
        informed_dirichlet(labels, models, **FEW)
    with pytest.warns(UserWarning, match=f"{told}.* flattered"):
        evaluate(labels, models, plausibility="dirichlet", **FEW)
    with pytest.warns(UserWarning, match=f"{told}.* flattered"):
        evaluate(labels, models, plausibility="group_dirichlet", groups=dict(zip("abcd", "xxyy")), **FEW)
    with pytest.warns(UserWarning, match=told):
        annotate_next(labels, models, n=5, random_seed=1)
    with pytest.warns(UserWarning, match=f"{told}.* flattered"):
        annotate_next(labels, models, n=5, plausibility="dirichlet", random_seed=1)
    with pytest.warns(UserWarning, match=told):
        blind_scores(models, crowd=labels, method="majority")
    judges = Labels.from_matrix(
        np.column_stack([given[:, 0] == 0, honest == 0]).astype(int), annotators=["copy", "honest"], labels=[0, 1]
    )
    people = Labels.from_matrix((given == 0).astype(int), labels=[0, 1])
    with pytest.warns(UserWarning, match=told):
        corrected_rate(judges, people, positive=1, draws=20, chains=1, random_seed=1)
