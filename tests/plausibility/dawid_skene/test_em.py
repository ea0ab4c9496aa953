"""EM for Dawid and Skene: published values, invariances that peers fail, and extreme sizes."""

import json

import numpy as np
import pytest
from _paths import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesagree import Labels, dawid_skene
from bayesagree.errors import InputError
from bayesagree.plausibility import DawidSkenePrior
from bayesagree.plausibility.dawid_skene._crowd import Crowd
from bayesagree.plausibility.dawid_skene.em import dawid_skene_em

GOLDEN = json.loads((ROOT / "tests" / "golden" / "dawid_skene.json").read_text())
VARIANTS = ("full", "class_conditional", "one_coin")


def anesthesia() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    ratings = np.array([[int(c) - 1 for c in case] for case in GOLDEN["anesthesia"]["patients"]])
    return np.repeat(np.arange(45), 7), np.tile([0, 0, 0, 1, 2, 3, 4], 45), ratings.ravel()


def crowd(random_seed: int, n_items: int = 60, n_annotators: int = 7, n_labels: int = 3) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(random_seed)
    truth = rng.integers(0, n_labels, n_items)
    item, annotator = np.nonzero(rng.random((n_items, n_annotators)) < 0.6)
    right = rng.random(item.size) < rng.uniform(0.3, 0.95, n_annotators)[annotator]
    return item, annotator, np.where(right, truth[item], rng.integers(0, n_labels, item.size))


def fit(triple, n_items=60, n_annotators=7, n_labels=3, gold=None, **options):
    return dawid_skene_em(Crowd.of(triple, (n_items, n_annotators, n_labels), gold), **options)


def plain_em(item, annotator, label, n_items, n_annotators, n_labels, iterations, prior=0.0, pseudo=0.0):
    """Equations 2.3-2.5 on dense arrays, without logarithms; the last answer includes the log prior."""
    given_labels = np.zeros((n_items, n_annotators, n_labels))
    np.add.at(given_labels, (item, annotator, label), 1)
    truth = given_labels.sum(axis=1) / given_labels.sum(axis=(1, 2))[:, None]
    for _ in range(iterations):
        prevalence = (truth.sum(axis=0) + pseudo) / (n_items + n_labels * pseudo)
        confusion = np.einsum("ik,ijl->jkl", truth, given_labels) + prior
        confusion /= confusion.sum(axis=2, keepdims=True)
        likelihood = np.prod(confusion[None] ** given_labels[:, :, None, :], axis=(1, 3))
        joint = prevalence * likelihood
        truth = joint / joint.sum(axis=1, keepdims=True)
    log_prior = (prior * np.log(confusion)).sum() + pseudo * np.log(prevalence).sum() if pseudo else 0.0
    return truth, prevalence, confusion, np.log(joint.sum(axis=1)).sum() + log_prior


def test_anesthesia_agrees_with_the_published_maximum():
    golden = GOLDEN["anesthesia_em"]
    result = fit(anesthesia(), 45, 5, 4, tolerance=1e-14)
    np.testing.assert_allclose(result.prevalence, golden["prevalence"], atol=5e-7)
    np.testing.assert_allclose(result.confusion[0], golden["rater_1"], atol=5e-4)
    np.testing.assert_allclose(result.label_probability[34], golden["item_35"], atol=5e-5)
    np.testing.assert_allclose(result.label_probability[37], golden["item_38"], atol=5e-5)
    others = np.delete(result.label_probability.max(axis=1), [34, 37])
    assert (others > golden["all_other_items_above"]).all()
    assert result.log_likelihood[-1] == pytest.approx(golden["log_likelihood"], abs=5e-6)
    assert result.converged


def test_carcinoma_has_the_two_latent_classes_of_polca():
    golden = GOLDEN["carcinoma"]
    words = golden["patterns"].split()
    slides = np.array([[*map(int, said)] for said, n in zip(words[::2], words[1::2]) for _ in range(int(n))])
    item, annotator = np.indices(slides.shape).reshape(2, -1)
    result = fit((item, annotator, slides.ravel()), 118, 7, 2, tolerance=1e-14)
    assert result.log_likelihood[-1] == pytest.approx(golden["log_likelihood"], abs=5.1e-5)
    np.testing.assert_allclose(result.prevalence, golden["prevalence"], atol=5.1e-5)


def test_equals_plain_em_on_dense_arrays():
    result = fit(anesthesia(), 45, 5, 4, tolerance=-1, max_iterations=12)
    truth, prevalence, confusion, log_likelihood = plain_em(*anesthesia(), 45, 5, 4, 12)
    np.testing.assert_allclose(result.label_probability, truth, atol=1e-12)
    np.testing.assert_allclose(result.prevalence, prevalence, atol=1e-12)
    np.testing.assert_allclose(result.confusion, confusion, atol=1e-12)
    assert result.log_likelihood[-1] == pytest.approx(log_likelihood, rel=1e-12)


def test_objective_counts_the_prior_of_labels_that_an_annotator_never_gave():
    """With it the climb to the maximum of the posterior is monotone."""
    item, annotator, label = crowd(4, n_items=12, n_annotators=5)
    keep = (annotator != 2) | (label == 0)  # annotator 2 never gives labels 1 and 2
    labelled, item = np.unique(item[keep], return_inverse=True)
    triple, prior = (item, annotator[keep], label[keep]), DawidSkenePrior(prevalence=0.4, strength=1.2, accuracy=0.5)
    history = fit(triple, labelled.size, 5, 3, prior=prior, tolerance=-1, max_iterations=8).log_likelihood
    plain = [plain_em(*triple, labelled.size, 5, 3, t, prior.confusion(3), 0.4)[3] for t in range(1, 9)]
    np.testing.assert_allclose(history, plain, atol=1e-9)


@settings(max_examples=25, deadline=None)
@given(
    random_seed=st.integers(0, 10**6),
    variant=st.sampled_from(VARIANTS),
    prior=st.sampled_from([None, DawidSkenePrior()]),
)
def test_log_likelihood_never_decreases(random_seed, variant, prior):
    result = fit(crowd(random_seed), variant=variant, prior=prior, max_iterations=60)
    rounding = 1e-12 * abs(result.log_likelihood[0])
    assert (np.diff(result.log_likelihood) >= -rounding).all()
    np.testing.assert_allclose(result.label_probability.sum(axis=1), 1, atol=1e-12)


@settings(max_examples=20, deadline=None)
@given(random_seed=st.integers(0, 10**6), variant=st.sampled_from(VARIANTS))
def test_order_of_rows_annotators_and_labels_changes_nothing(random_seed, variant):
    item, annotator, label = crowd(random_seed)
    reference = fit((item, annotator, label), variant=variant, max_iterations=20, tolerance=-1)
    rng = np.random.default_rng(random_seed)
    rows, annotators, labels = rng.permutation(item.size), rng.permutation(7), rng.permutation(3)
    same = fit((item[rows], annotator[rows], label[rows]), variant=variant, max_iterations=20, tolerance=-1)
    np.testing.assert_array_equal(same.label_probability, reference.label_probability)
    renamed = fit((item, annotators[annotator], labels[label]), variant=variant, max_iterations=20, tolerance=-1)
    np.testing.assert_allclose(renamed.label_probability[:, labels], reference.label_probability, atol=1e-7)


def test_ten_thousand_annotations_of_one_item_do_not_underflow():
    rng = np.random.default_rng(3)
    label = np.append(np.where(rng.random(10_000) < 0.7, 1, rng.integers(0, 4, 10_000)), [0, 2, 3])
    item = np.append(np.zeros(10_000, int), [1, 2, 3])
    result = fit((item, np.arange(10_003) % 50, label), 4, 50, 4, prior=DawidSkenePrior())
    assert np.isfinite(result.log_likelihood).all()
    assert result.label_probability[0, 1] == 1.0


def test_gold_items_keep_their_label_and_teach_the_annotators():
    item, annotator, label = anesthesia()
    gold = np.full(45, -1)
    gold[[34, 37]] = [2, 1]
    result = fit((item, annotator, label), 45, 5, 4, gold=gold)
    np.testing.assert_array_equal(result.label_probability[34], [0, 0, 1, 0])
    np.testing.assert_array_equal(result.label_probability[37], [0, 1, 0, 0])
    assert result.log_likelihood[-1] < GOLDEN["anesthesia_em"]["log_likelihood"]


@pytest.mark.parametrize("engine", ["em", "gibbs"])
def test_known_truths_count_without_labels(engine):
    """Whoever knows the truth of three unlabelled items knows more of the prevalence, and of nothing else."""
    table = [["a", "a"], ["a", "a"], [None, None], [None, None], [None, None]]
    labels = Labels.from_matrix(np.array(table, dtype=object), labels=["a", "b"])
    known = {2: "b", 3: "b", 4: "b"}
    tree = dawid_skene(labels, engine=engine, gold=known, draws=90, tune=100, random_seed=1)
    posterior = tree["posterior"].to_dataset()
    best = posterior["plausibility"].mean(("chain", "draw")).values.argmax(axis=1)
    np.testing.assert_array_equal(best, [0, 0, 1, 1, 1])
    prevalence = posterior["prevalence"].values[..., 1]
    if engine == "em":
        assert prevalence.item() == pytest.approx(3 / 5, abs=1e-9)
    else:  # The truth of the two labelled items is nearly sure, so three or more of five are b.
        assert prevalence.mean() > 0.5


def test_items_without_labels_have_the_prevalence_and_change_nothing_else():
    item, annotator, label = anesthesia()
    result = fit((item, annotator, label), 46, 5, 4, tolerance=1e-14)
    np.testing.assert_allclose(result.label_probability[45], result.prevalence, atol=1e-12)
    np.testing.assert_allclose(result.prevalence, GOLDEN["anesthesia_em"]["prevalence"], atol=5e-7)


def test_a_wrong_number_of_draws_is_refused_although_em_makes_one():
    labels = Labels.from_matrix([[0, 0, 1], [1, 1, 1]])
    with pytest.raises(InputError, match="draws"):
        dawid_skene(labels, engine="em", draws=0)


def test_accuracy_of_an_estimate_is_the_share_of_right_labels_of_random_items():
    labels = Labels.from_matrix([["a", "a", "b"], ["b", "b", "b"], ["a", "b", "a"], ["c", "c", "a"]] * 5)
    found = dawid_skene(labels, variant="full", engine="em")["posterior"].to_dataset().isel(chain=0, draw=0)
    right = np.diagonal(found["confusion"], axis1=1, axis2=2)
    np.testing.assert_allclose(found["accuracy"], right @ found["prevalence"].values, rtol=1e-6)
    assert 0.3 < found["accuracy"].min() < found["accuracy"].max() <= 1
