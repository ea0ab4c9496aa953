import numpy as np
import pytest
from metrics._truths import posterior

from bayesagree import InputError, Labels, Predictions, compare, dirichlet, evaluate, score, simulate
from bayesagree.inference.streams import stream_apart
from bayesagree.inference.top_labels import truth_draws
from bayesagree.metrics._scorer import ANOTHER_ANNOTATOR, picked_labels


@pytest.fixture(scope="module")
def shares():
    return np.random.default_rng(2).dirichlet(np.ones(3), (2, 400, 30))


def another(tree, metric, **how):
    """Return the scores of another annotator, beside those of a model that plays no part."""
    n_items = tree["posterior"].sizes["item"]
    model = Predictions.from_scores({"m": np.tile([1.0, 0.0, 0.0], (n_items, 1))})
    votes = Labels.from_counts(np.ones((n_items, 3), int))
    found = evaluate(votes, model, plausibility=tree, metrics=[metric], another_annotator=True, random_seed=3, **how)
    return found["posterior"][metric].sel(model=ANOTHER_ANNOTATOR).transpose("chain", "draw", ...).squeeze(drop=True)


@pytest.mark.parametrize(
    ("metric", "truth_is", "expected"),
    [
        ("accuracy", "top", lambda q: q.max(axis=-1)),
        ("accuracy", "sampled", lambda q: (q**2).sum(axis=-1)),
        ("agreement", "top", lambda q: (q**2).sum(axis=-1)),
        ("total_variation", "top", lambda q: (q * (1 - q)).sum(axis=-1)),
        ("soft_brier", "top", lambda q: 1 - (q**2).sum(axis=-1)),
    ],
)
def test_expectation_over_labels(shares, metric, truth_is, expected):
    found = another(posterior(shares), metric, truth_is=truth_is)
    gap = found.values - expected(shares).mean(axis=-1)
    assert abs(gap.mean()) < 5 * gap.std() / np.sqrt(gap.size)


def test_a_confusion_metric_is_that_of_the_drawn_labels(shares):
    tree = posterior(shares[:, :5])
    block = next(truth_draws(tree, 1, plausibility=True).blocks)
    said = picked_labels(block, stream_apart(3, "another annotator"))
    found = another(tree, "f1_macro").values.ravel()
    for s in range(10):
        one = posterior(shares[s // 5, s % 5][None, None])
        model = Predictions.from_labels({"m": said[:, s]}, labels=[0, 1, 2])
        assert found[s] == pytest.approx(score(one, model, "f1_macro").item(), abs=1e-12)


def test_evaluate_gives_the_line():
    given = simulate.labelled_test_set(random_seed=1)
    how = {"metrics": ["f1_macro", "accuracy"], "draws": 50, "random_seed": 1, "another_annotator": True}
    how["plausibility"] = "dirichlet"
    tree = evaluate(given.labels, given.predictions, **how)
    assert ANOTHER_ANNOTATOR in compare(tree, "accuracy").index
    weighted = evaluate(given.labels, given.predictions, items="bootstrap", **how)
    spread = [t["posterior"]["accuracy"].std(("chain", "draw")) for t in (tree, weighted)]
    assert (spread[1] > spread[0]).all()
    assert (weighted["variance"]["accuracy"] > 0).all()


def test_orders_are_refused():
    for metric in ("set_2_accuracy", "roc_auc_ovr"):
        with pytest.raises(InputError, match="one label"):
            another(dirichlet(Labels.from_counts([[3, 1, 0]]), draws=5, random_seed=1), metric)
