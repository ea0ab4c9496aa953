"""Scores of batches of items against scores of all items at once."""

import numpy as np
import pytest

from bayesagree.annotations import Labels
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError
from bayesagree.evaluation.comparison import pairwise
from bayesagree.evaluation.scoring import evaluate
from bayesagree.inference.results import settings_of

METRICS = ("accuracy", "total_variation")


@pytest.fixture(scope="module")
def data():
    """Return 300 items of three votes, and two models."""
    rng = np.random.default_rng(5)
    truth = rng.dirichlet([1.0, 1.0, 1.0], 300)
    votes = np.array([rng.multinomial(3, p) for p in truth])
    scores = {name: rng.dirichlet(np.ones(3), 300) * 0.2 + 0.8 * truth for name in "AB"}
    items = list(range(300))
    return Labels.from_counts(votes, items=items), Predictions.from_scores(scores, items=items, probabilities=True)


def cut(data, ends):
    """Return the batches between some ends."""
    votes, models = data
    counts = votes.counts()
    for a, b in zip([0, *ends], [*ends, 300]):
        own = Labels.from_counts(counts[a:b], items=votes.items[a:b].tolist())
        yield own, models.on_items(own.items)


def test_scores_are_those_of_all_items(data):
    whole = evaluate(*data, plausibility="dirichlet", metrics=METRICS, draws=1000, random_seed=1)
    parts = evaluate(cut(data, [90, 120]), plausibility="dirichlet", metrics=METRICS, draws=1000, random_seed=2)
    assert parts["posterior"].sizes == whole["posterior"].sizes
    for name in METRICS:
        one, other = (tree["posterior"][name].stack(sample=("chain", "draw")) for tree in (parts, whole))
        error = np.sqrt((one.var("sample") + other.var("sample")) / 4000)
        assert (abs(one.mean("sample") - other.mean("sample")) < 5 * error).all()
        # The spread too: of 4000 independent draws it is known to 1.1 %, of a difference to 1.6 %.
        np.testing.assert_allclose(one.std("sample"), other.std("sample"), rtol=5 * 0.016)
        assert parts["posterior"][name].attrs["higher_is_better"] == whole["posterior"][name].attrs["higher_is_better"]
    better = [float(pairwise(tree, "total_variation")["prob_better"][0, 1]) for tree in (parts, whole)]
    assert better[0] == pytest.approx(better[1], abs=5 * 0.5 * np.sqrt(2 / 4000))
    certainty = float(whole["certainty"]["annotation_certainty"].mean())
    assert float(parts["certainty"]["annotation_certainty"].squeeze()) == pytest.approx(certainty, abs=0.005)


def test_equal_batches_have_draws_of_their_own(data):
    votes, models = next(cut(data, [100]))
    pairs = iter([(votes, models)] * 2)
    twice = evaluate(pairs, plausibility="dirichlet", draws=1000, random_seed=1)["posterior"]["accuracy"]
    once = evaluate(votes, models, plausibility="dirichlet", draws=1000, random_seed=1)["posterior"]["accuracy"]
    ratio = twice.std(("chain", "draw")) / once.std(("chain", "draw"))
    np.testing.assert_allclose(ratio, np.sqrt(0.5), rtol=5 * 0.016)


def test_the_first_batch_chooses_the_posterior_of_all(data):
    """Models that say the same of every item of the first batch teach nothing; those of the second would."""
    (votes, _), (second, known) = cut(data, [20])
    same = Predictions.from_labels({"A": [0] * 20, "B": [1] * 20}, items=votes.items.tolist(), labels=[0, 1, 2])
    hard = Predictions.from_labels(
        dict(zip("AB", known.hard_labels().tolist())), items=second.items.tolist(), labels=[0, 1, 2]
    )
    found = evaluate(iter([(votes, same), (second, hard)]), draws=50, chains=2, random_seed=1)
    assert found.attrs["model"] == "dirichlet"
    made = settings_of(found)
    assert made["n_items"] == 300 and made["choice"].startswith("Labels alone determine the truth")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": ("f1_macro",)}, "'f1_macro' is not a mean over items"),
        ({"metrics": ()}, "no metric"),
        ({"items": "bootstrap"}, "items= needs all items at once"),
        ({"by": [0] * 300}, "by= needs all items at once"),
    ],
)
def test_what_batches_cannot_do(data, options, message):
    with pytest.raises(InputError, match=message):
        evaluate(cut(data, [100]), draws=10, random_seed=1, **options)


def test_batches_that_differ_are_refused(data):
    batches = list(cut(data, [100]))
    votes, models = batches[1]
    other = Predictions.from_labels(
        {"C": models.hard_labels()[0].tolist()}, items=votes.items.tolist(), labels=[0, 1, 2]
    )
    with pytest.raises(InputError, match="batch 1: the models are"):
        evaluate(iter([batches[0], (votes, other)]), plausibility="dirichlet", draws=10, random_seed=1)
    with pytest.raises(InputError, match="there is no batch"):
        evaluate(iter([]), draws=10, random_seed=1)
    with pytest.raises(InputError, match=r"batch 0: expected a pair \(annotations, predictions\), got Labels"):
        evaluate(iter([votes]), draws=10, random_seed=1)
    with pytest.raises(InputError, match="pass the predictions of the models"):
        evaluate(votes)
