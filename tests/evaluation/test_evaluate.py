import numpy as np
import pandas as pd
import pytest

from bayesagree import (
    InputError,
    Labels,
    Predictions,
    annotation_certainty,
    compare,
    dirichlet,
    evaluate,
    score,
    simulate,
)
from bayesagree.inference.intervals import hdi
from bayesagree.inference.tiers import rank_probabilities


@pytest.fixture(scope="module")
def crowd():
    return simulate.labelled_test_set(n_items=150, random_seed=3)


def test_it_is_the_metrics_on_the_same_draws(crowd):
    tree = evaluate(
        crowd.labels, crowd.predictions, plausibility="dirichlet", reliability=(0.5, 3),
        metrics=("accuracy", "average_overlap"), draws=60, chains=2, random_seed=5,
    )  # fmt: skip
    for level in (0.5, 3):
        kept = dirichlet(crowd.labels, reliability=level, draws=60, chains=2, random_seed=5, top_labels=3)
        scores = tree["posterior"].to_dataset().sel(reliability=level)
        overlap = score(kept, crowd.predictions, "average_overlap_3")
        np.testing.assert_allclose(scores["average_overlap_3"], overlap, atol=1e-12)
        np.testing.assert_allclose(scores["accuracy"], score(kept, crowd.predictions, "accuracy"), atol=1e-12)
        np.testing.assert_allclose(
            tree["certainty"]["annotation_certainty"].sel(reliability=level), annotation_certainty(kept)
        )
    assert tree["posterior"]["accuracy"].dims == ("chain", "draw", "reliability", "model")


@pytest.mark.long
def test_bootstrap_adds_the_test_set_part(crowd):
    tree = evaluate(crowd.labels, crowd.predictions, draws=4000, random_seed=2, items="bootstrap")
    parts = tree["variance"]["accuracy"]
    drawn = tree["posterior"]["accuracy"]
    total = drawn.var(("chain", "draw"))
    # A variance of n normal draws has relative error sqrt(2 / n).
    assert (np.abs(parts.sel(part="total") / total - 1) < 4.5 * np.sqrt(2 / 16_000)).all()
    fixed = evaluate(crowd.labels, crowd.predictions, draws=4000, random_seed=2)["posterior"]["accuracy"]
    np.testing.assert_allclose(parts.sel(part="annotation"), fixed.var(("chain", "draw")), rtol=1e-9)
    assert (parts.sel(part="test_set") > parts.sel(part="annotation")).all()


def test_same_seed_same_draws_on_any_number_of_threads(crowd, monkeypatch):
    trees = []
    for threads in (1, 2):
        monkeypatch.setattr("bayesagree.inference.streams.n_threads", lambda n=threads: n)
        how = {"plausibility": "dirichlet", "draws": 20, "random_seed": 1, "items": "bootstrap"}
        trees.append(evaluate(crowd.labels, crowd.predictions, **how))
    for group in ("posterior", "variance", "certainty"):
        assert trees[0][group].to_dataset().identical(trees[1][group].to_dataset())


@pytest.mark.parametrize("plausibility", ["dirichlet", pytest.param("auto", marks=pytest.mark.long)])
def test_the_better_model_wins(plausibility):
    """Recovery: a model with less noise than another is found to be better."""
    crowd = simulate.labelled_test_set(n_items=300, noise=(1.0, 3.0), random_seed=1)
    table = compare(evaluate(crowd.labels, crowd.predictions, plausibility=plausibility, draws=250, random_seed=1))
    assert table.index.tolist() == ["A", "B"] and table["tier"].tolist() == [1, 2]
    assert table["prob_best"]["A"] > 0.99 and table["prob_better"]["A"] > 0.99


def test_compare_by_hand():
    scores = np.array([[0.5, 0.5, 0.1], [0.9, 0.2, 0.2], [0.3, 0.4, 0.2], [0.6, 0.1, 0.2]])
    np.testing.assert_allclose(
        rank_probabilities(scores),
        [[(0.5 + 1 + 0 + 1) / 4, (0.5 + 1) / 4, 0], [1.5 / 4, 1 / 4, 1.5 / 4], [0, 1.5 / 4, 2.5 / 4]],
    )  # model B: half of the first place (tie), half of the last two (tie at .2), first, last
    assert hdi(np.arange(100.0), 0.5) == (0.0, 50.0)


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"plausibility": "mean"}, "plausibility='mean' is not one of 'dirichlet'"),
        ({"plausibility": "prirn"}, "plausibility='prirn' is for Rankings, and these are Labels; use 'dirichlet'"),
        ({"items": "random"}, "items='random' is not one of"),
        ({"metrics": ()}, "there is no metric"),
        ({"cluster": [0] * 300}, "cluster= names what is resampled together: pass items='bootstrap' with it"),
        ({"gold": {"nowhere": 0}}, "nowhere"),
        ({"plausibility": "dirichlet", "reliability": (1, 1)}, "lists a value twice"),
        ({"plausibility": "dirichlet", "reliability": -1}, "reliability=-1"),
    ],
)
def test_errors(crowd, kwargs, message):
    with pytest.raises(InputError, match=message):
        evaluate(crowd.labels, crowd.predictions, **kwargs)


def test_items_must_match():
    labels = Labels.from_counts(np.eye(7, dtype=int), items=[f"q{i}" for i in range(7)])
    models = Predictions.from_scores({"A": np.eye(7)}, items=[f"x{i}" for i in range(7)])
    with pytest.raises(
        InputError, match=r"predictions, 'x0', .* annotations', 'q0', 'q1', 'q2', 'q3', 'q4', \.\.\. \(7 in all\)"
    ):
        evaluate(labels, models, plausibility="dirichlet")


def test_compare_asks_for_a_reliability(crowd):
    tree = evaluate(
        crowd.labels, crowd.predictions, draws=5, plausibility="dirichlet", reliability=(1, 2), random_seed=1
    )
    with pytest.raises(InputError, match="there are 2 reliabilities"):
        compare(tree, metric="accuracy")
    with pytest.raises(InputError, match="reliability 3 was not computed"):
        compare(tree, metric="accuracy", reliability=3)
    with pytest.raises(InputError, match="metric 'overlap_1' was not computed"):
        compare(tree, metric="overlap_1", reliability=1)
    # Who takes one of the two has its scores, and not those of the other under its name.
    second, known = tree.isel(reliability=1), compare(tree, metric="accuracy", reliability=2)
    pd.testing.assert_frame_equal(compare(second, metric="accuracy"), known)
    with pytest.raises(InputError, match="reliability 1 was not computed"):
        compare(second, metric="accuracy", reliability=1)


@pytest.mark.parametrize("metric", ["accuracy", "f1_micro", "agreement"])
def test_the_test_set_part_of_few_items_is_the_variance_of_their_flat_dirichlet_weights(metric):
    """Four items whose truth is nearly certain: the score is a weighted mean of 1, 1, 0, 0."""
    labels = Labels.from_counts([[1000, 0], [1000, 0], [0, 1000], [0, 1000]])
    models = Predictions.from_labels({"A": [0, 0, 0, 0]}, labels=[0, 1])
    tree = evaluate(labels, models, metrics=[metric], draws=5000, random_seed=1, items="bootstrap")
    part = tree["variance"][metric].sel(part="test_set").item()
    # The square of a Beta(2, 2) about its mean, .05 on average, has standard deviation .056.
    assert part == pytest.approx(0.5 * 0.5 / (4 + 1), abs=4 * 0.056 / np.sqrt(20_000))
