"""Variance of coefficients over annotators: against studies of new annotators, and against deleted annotators."""

import numpy as np
import pandas as pd
import pytest
from _errors_of_draws import SIGMAS

from bayesagree.agreement import _formulas as formula
from bayesagree.agreement._annotator_variance import annotator_variance, codes_of_annotators, pair_values
from bayesagree.agreement._items import items_of
from bayesagree.agreement.coefficients import agreement_table
from bayesagree.annotations import Labels, Ratings
from bayesagree.errors import InputError

A = formula.agreement_weights("linear", np.arange(3.0))
FORMULAS = {
    "percent_agreement": lambda W, C: formula.observed_agreement(W, C, np.eye(3)),
    "fleiss_kappa": lambda W, C: formula.fleiss(W, C, A),
    "alpha_nominal": lambda W, C: formula.alpha(W, C, "nominal", np.arange(3.0)),
    "gwet_ac2": lambda W, C: formula.gwet(W, C, A),
    "brennan_prediger": lambda W, C: formula.brennan_prediger(W, C, A),
}


def crossed(items, annotators, rng):
    """Draw a label of each of three kinds by annotators who differ in how often they see the truth, and in leaning."""
    truth = rng.choice(3, p=[0.5, 0.3, 0.2], size=(items, 1))
    skill, lean = rng.beta(4, 2, annotators), rng.dirichlet([2, 1, 1], annotators)
    guess = np.stack([rng.choice(3, p=p, size=items) for p in lean], axis=1)
    return np.where(rng.random((items, annotators)) < skill, truth, guess)


def variance_of(labels, name, rng):
    return annotator_variance(codes_of_annotators(items_of(labels), rng), 3, name, A)


def coefficient(code, name):
    counts = (code[:, :, None] == np.arange(3)).sum(axis=1).astype(float)
    return FORMULAS[name](np.ones((1, len(counts))), counts)[0]


@pytest.mark.parametrize("name", FORMULAS)
def test_variance_is_that_of_studies_with_new_annotators(name):
    rng = np.random.default_rng(1)
    found = [crossed(400, 5, rng) for _ in range(200)]
    values = np.array([coefficient(code, name) for code in found])
    predicted = np.empty(30)
    for k in range(30):
        labels = Labels.from_matrix(crossed(400, 12, rng), labels=[0, 1, 2])
        predicted[k] = variance_of(labels, name, rng).of(5)
    of_items = np.mean([_item_variance(code, name) for code in found])
    expected, error = values.var(ddof=1) - of_items, values.var() * np.sqrt(2 / 199)
    assert abs(predicted.mean() - expected) < SIGMAS * np.hypot(error, predicted.std() / np.sqrt(30))
    assert predicted.mean() > 10 * of_items  # the annotators decide


def _item_variance(code, name):
    """Return the variance by the noise of the items: the mean of the covariance of the pairs."""
    return pair_values(code, 3, name, A)[1].mean()


def test_equal_annotators_add_nothing_much_and_a_sample_is_wider():
    rng = np.random.default_rng(4)
    truth = rng.integers(3, size=(500, 1))
    alike = Labels.from_matrix(np.where(rng.random((500, 6)) < 0.7, truth, rng.integers(3, size=(500, 6))))
    unlike = Labels.from_matrix(crossed(500, 6, rng))
    ratio = []
    for labels in (alike, unlike):
        fixed, sample = (
            agreement_table(labels, annotators=kind, random_seed=1).set_index("coefficient")
            for kind in ("fixed", "sample")
        )
        assert (fixed["estimate"].dropna() == sample["estimate"].dropna()).all()
        width = [(t["upper"] - t["lower"]).loc["fleiss_kappa"] for t in (fixed, sample)]
        ratio.append(width[1] / width[0])
        assert "about these annotators" in sample.loc["conger_kappa", "note"]
        assert sample.loc["fleiss_kappa", "upper"] <= 1
    assert ratio[0] < 1.5 < 3 < ratio[1]


def test_annotators_who_are_too_few_or_do_not_return():
    three, counts = Labels.from_matrix([[0, 1, 1], [1, 1, 1]] * 5), Labels.from_counts([[3, 1]] * 10)
    rows = {"item": np.repeat(range(10), 4), "annotator": range(40), "label": [0, 1] * 20}
    strangers = Labels.from_long(pd.DataFrame(rows))
    for labels, message in (
        (three, "not 3"),
        (counts, "not 0"),
        (strangers, "fewer than half"),
    ):
        with pytest.raises(InputError, match=message):
            agreement_table(labels, annotators="sample", random_seed=1)
    with pytest.raises(InputError, match="annotators='all'"):
        agreement_table(three, annotators="all")
    ratings = Ratings.from_matrix(crossed(30, 5, np.random.default_rng(1)), scale=(0, 2), step=1)
    found = agreement_table(ratings, annotators="sample", random_seed=1).set_index("coefficient")
    assert "about these annotators" in found.loc["phi", "note"]


def test_weights_by_their_definitions():
    """Gwet, Handbook of inter-rater reliability, of four values that no two pairs of which lie alike."""
    x = np.array([1.0, 2.0, 4.5, 9.0])

    def radical(a, b):
        return 1 - np.sqrt(abs(a - b) / 8)

    def ordinal(a, b):
        between = 1 + abs(int(np.flatnonzero(x == a)[0]) - int(np.flatnonzero(x == b)[0]))
        return 1 - between * (between - 1) / 2 / 6

    def ratio(a, b):
        return 1 - ((a - b) / (a + b)) ** 2 / (8 / 10) ** 2

    def sine(a, b):
        return np.sin(np.pi * (a - b) / 9) ** 2

    def distance(a, b):
        return 0.0 if a == b else (a - b) ** 2 / ((a + b - 2) * (18 - a - b))

    def largest(of):
        return max(of(a, b) for a in x for b in x)

    kinds = {
        "identity": lambda a, b: float(a == b), "linear": lambda a, b: 1 - abs(a - b) / 8,
        "quadratic": lambda a, b: 1 - ((a - b) / 8) ** 2, "radical": radical, "ordinal": ordinal, "ratio": ratio,
        "circular": lambda a, b: 1 - sine(a, b) / largest(sine),
        "bipolar": lambda a, b: 1 - distance(a, b) / largest(distance),
    }  # fmt: skip
    for kind, weight in kinds.items():
        expected = [[weight(a, b) for b in x] for a in x]
        np.testing.assert_allclose(formula.agreement_weights(kind, x), expected, atol=1e-12, err_msg=kind)
