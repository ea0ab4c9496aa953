"""Scores against the whole distribution of labels: published numbers, plain numpy and scipy, unbiased forms."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metrics._truths import estimate, models, posterior
from scipy import stats
from scipy.spatial.distance import jensenshannon

from bayesagree import InputError, Labels, Predictions, dirichlet
from bayesagree.datasets import load
from bayesagree.metrics import per_item, score

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "soft_labels.json").read_text())
PLUG_IN = pytest.mark.filterwarnings("ignore:.*of a point estimate is biased")


@pytest.fixture(scope="module")
def snli(public_data):
    """Votes, and roberta_base_0 at temperatures 1 and 2 beside the shares themselves and the other models."""
    dataset = load("chaosnli-snli")
    labels, given = dataset.annotations, dataset.predictions
    p = given.scores.astype(float)
    p /= p.sum(axis=-1, keepdims=True)
    flat = np.sqrt(p[0])
    counts = labels.counts()
    tables = {"T1": p[0], "T2": flat / flat.sum(axis=1, keepdims=True), "oracle": counts / 100}
    tables |= dict(zip(given.models.tolist(), p))
    return labels, Predictions.from_scores(tables, items=labels.items.tolist(), labels=labels.categories.tolist())


def shares(labels, order):
    counts = labels.counts()[:, order]
    return estimate(counts / counts.sum(axis=1, keepdims=True), labels.items, labels.categories[order])


@PLUG_IN
@pytest.mark.parametrize("ties", ["last", "first"])
def test_golden_chaosnli(snli, ties):
    labels, predictions = snli
    order = np.arange(3)[::-1] if ties == "last" else np.arange(3)
    truth = shares(labels, order)
    for name, expected in GOLDEN[ties].items():
        found = score(truth, predictions, name).sel(model=["T1", "T2"]).values.ravel()
        np.testing.assert_allclose(found, expected, atol=6e-7, err_msg=name)


@PLUG_IN
def test_golden_other_models_and_the_perfect_one(snli):
    labels, predictions = snli
    truth = shares(labels, np.arange(3))
    for name, expected in GOLDEN["oracle"].items():
        assert score(truth, predictions, name).sel(model="oracle").item() == pytest.approx(expected, abs=6e-7), name
    found = score(truth, predictions, "total_variation").squeeze()
    for model, expected in GOLDEN["total_variation"].items():
        assert found.sel(model=model).item() == pytest.approx(expected, abs=6e-7), model


def test_golden_unbiased_forms(snli):
    labels, predictions = snli
    from bayesagree.metrics.registry import Metric
    from bayesagree.metrics.votes_alone import unbiased_terms

    brier = unbiased_terms(Metric.named("soft_brier"), labels, predictions).mean(axis=1)
    at = predictions.models.tolist().index("T2")
    assert brier[at] == pytest.approx(GOLDEN["soft_brier_corrected"], abs=6e-7)
    agreement = unbiased_terms(Metric.named("agreement"), labels, predictions).mean(axis=1)
    assert agreement[at] == pytest.approx(GOLDEN["agreement"], abs=6e-7)


@PLUG_IN
def test_golden_kurniawan():
    case = GOLDEN["kurniawan"]
    p, truth = (np.array([[q, 1 - q] for q in case[name]]) for name in ("predicted", "truth"))
    names = ["positive", "negative"]
    truth, p = estimate(truth, categories=names), models([p], labels=names)
    for name in ("soft_precision", "soft_recall", "soft_f1"):
        found = [score(truth, p, f"{name}[{label}]").item() for label in names]
        assert found == pytest.approx(case[name])
        assert score(truth, p, name).item() == pytest.approx(np.mean(case[name]))
    assert score(truth, p, "soft_accuracy").item() == pytest.approx(case["soft_accuracy"])
    one = case["po_jensen_shannon"]
    truth, p = (np.array([[q, 1 - q]]) for q in (one["truth"], one["predicted"]))
    assert score(estimate(truth), models([p]), "po_jensen_shannon").item() == pytest.approx(one["value"])


def entropy(p):
    return stats.entropy(p, axis=-1)


# Of plausibilities (item, category) and probabilities (item, category).
PLAIN = {
    "agreement": lambda q, p: q[np.arange(len(q)), p.argmax(axis=1)].mean(),
    "cross_entropy": lambda q, p: -(q * np.log(p)).sum(axis=1).mean(),
    "kl": lambda q, p: stats.entropy(q, p, axis=1).mean(),
    "jensen_shannon": lambda q, p: (jensenshannon(q, p, base=2, axis=1) ** 2).mean(),
    "jensen_shannon_distance": lambda q, p: jensenshannon(q, p, base=2, axis=1).mean(),
    "total_variation": lambda q, p: np.abs(q - p).sum(axis=1).mean() / 2,
    "wasserstein": lambda q, p: np.mean(
        [stats.wasserstein_distance(range(q.shape[1]), range(q.shape[1]), a, b) for a, b in zip(q, p)]
    ),
    "entropy_calibration_error": lambda q, p: np.abs(entropy(p) - entropy(q)).mean(),
    "entropy_difference": lambda q, p: (entropy(p) - entropy(q)).mean(),
    "rank_correlation": lambda q, p: (np.argsort(-q, axis=1) == np.argsort(-p, axis=1)).all(axis=1).mean(),
    "entropy_correlation": lambda q, p: stats.pearsonr(entropy(p), entropy(q)).statistic,
    "entropy_rank_correlation": lambda q, p: stats.spearmanr(entropy(p), entropy(q)).statistic,
    "soft_accuracy": lambda q, p: np.minimum(q, p).sum(axis=1).mean(),
    "soft_f1": lambda q, p: (2 * np.minimum(q, p).sum(axis=0) / (q + p).sum(axis=0)).mean(),
    "soft_jaccard": lambda q, p: (np.minimum(q, p).sum(axis=0) / np.maximum(q, p).sum(axis=0)).mean(),
    "soft_brier": lambda q, p: ((q - p) ** 2).sum(axis=1).mean(),
}


@pytest.mark.parametrize("name", PLAIN)
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n_items=st.integers(3, 12), n_labels=st.integers(2, 5))
def test_every_draw_equals_plain_numpy(name, seed, n_items, n_labels):
    rng = np.random.default_rng(seed)
    q = rng.dirichlet(np.ones(n_labels), (2, 3, n_items))
    p = rng.dirichlet(np.ones(n_labels), (2, n_items))
    found = score(posterior(q), models(p), name).values
    expected = [[[PLAIN[name](draw, table) for table in p] for draw in chain] for chain in q]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n_labels=st.integers(2, 5))
def test_a_perfect_model_has_no_distance(seed, n_labels):
    q = np.random.default_rng(seed).dirichlet(np.full(n_labels, 0.3), 6)
    for name in ("kl", "jensen_shannon", "total_variation", "wasserstein", "soft_brier", "entropy_difference"):
        assert score(posterior(q[None, None]), models([q]), name).item() == pytest.approx(0, abs=1e-7), name
    for name in ("soft_accuracy", "soft_f1", "rank_correlation"):
        assert score(posterior(q[None, None]), models([q]), name).item() == pytest.approx(1), name


def thinned_votes(shares, n_votes, rng):
    return Labels.from_counts(rng.multinomial(n_votes, shares))


@pytest.mark.parametrize(
    ("name", "truth_is"),
    [("agreement", "top"), ("cross_entropy", "top"), ("soft_brier", "top"), ("accuracy", "sampled"),
     ("log_loss", "sampled"), ("brier", "sampled")],
)  # fmt: skip
def test_unbiased_forms_are_right_on_average(name, truth_is):
    """From two votes each, over many crowds; the full truth in place of the votes is the target."""
    rng = np.random.default_rng(3)
    q, p = rng.dirichlet(np.full(3, 0.5), 40), rng.dirichlet(np.ones(3), (1, 40))
    given, found = models(p), []
    from bayesagree.metrics.registry import Metric
    from bayesagree.metrics.votes_alone import unbiased_terms

    metric = Metric.named(name)
    for _ in range(400):
        found.append(unbiased_terms(metric, thinned_votes(q, 2, rng), given, truth_is).mean())
    target = {"accuracy": "agreement", "log_loss": "cross_entropy"}.get(name, name)
    if name == "brier":
        expected = (((p[0] ** 2).sum(axis=1, keepdims=True) - 2 * p[0] + 1) * q).sum(axis=1).mean()
    else:
        expected = PLAIN[target](q, p[0])
    assert np.mean(found) == pytest.approx(expected, abs=5 * np.std(found) / np.sqrt(400))


def test_votes_give_a_bootstrap_of_items():
    rng = np.random.default_rng(1)
    q, p = rng.dirichlet(np.ones(3), 200), rng.dirichlet(np.ones(3), (2, 200))
    votes = thinned_votes(q, 3, rng)
    found = score(votes, models(p), "agreement", seed=1)
    assert dict(found.sizes) == {"chain": 4, "draw": 1000, "model": 2}
    from bayesagree.metrics.registry import Metric
    from bayesagree.metrics.votes_alone import unbiased_terms

    terms = unbiased_terms(Metric.named("agreement"), votes, models(p))
    np.testing.assert_allclose(found.mean(("chain", "draw")), terms.mean(axis=1), atol=0.005)
    np.testing.assert_allclose(found.std(("chain", "draw")), terms.std(axis=1) / np.sqrt(201), rtol=0.1)
    clustered = score(votes, models(p), "agreement", cluster=np.arange(200) // 20, by=np.arange(200) % 2, seed=1)
    assert clustered.dims == ("chain", "draw", "slice", "side", "model")


def test_votes_without_an_unbiased_form_are_refused():
    votes, given = Labels.from_counts([[2, 1], [0, 3]]), models([[[0.5, 0.5], [0.2, 0.8]]])
    for name in ("total_variation", "f1", "accuracy"):
        with pytest.raises(InputError, match="no unbiased form"):
            score(votes, given, name)
    with pytest.warns(UserWarning, match="too few votes"):
        score(Labels.from_counts([[1, 0], [1, 2]]), given, "soft_brier", seed=1)


def test_plug_ins_warn():
    truth, given = estimate([[0.5, 0.5]]), models([[[0.4, 0.6]]])
    with pytest.warns(UserWarning, match="biased where votes are few"):
        score(truth, given, "total_variation")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        score(truth, given, "cross_entropy")


def test_scores_that_are_no_probabilities_are_refused():
    with pytest.raises(InputError, match="softmax"):
        score(posterior(np.full((1, 1, 2, 2), 0.5)), models([[[2.0, -1.0], [0.5, 0.5]]]), "kl")


@pytest.mark.parametrize("name", ["total_variation", "kl", "wasserstein"])
def test_score_is_the_mean_over_the_items(name):
    """Of draws, whose full plausibilities the score of each item needs too."""
    votes = Labels.from_matrix([["x", "y"], ["y", "y"], ["z", "x"], ["x", "x"]], labels=[*"xyz"], ordered=True)
    shares = np.random.default_rng(1).dirichlet(np.ones(3), (2, 4))
    given = Predictions.from_scores(dict(zip("AB", shares)), labels=[*"xyz"])
    truth = dirichlet(votes, draws=5, chains=2, seed=1)
    expected = score(truth, given, name).mean(["chain", "draw"]).values.ravel()
    np.testing.assert_allclose(per_item(truth, given, metric=name).mean("item").values, expected)
