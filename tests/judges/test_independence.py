"""Effective number of judges against plug-in values and a world with known errors."""

import numpy as np
import pytest

from bayesagree import InputError, Labels, Predictions, dirichlet
from bayesagree.judges import effective_judges
from bayesagree.judges.independence import worth_of


def panel(n=4000, random_seed=1):
    """Return truth and four judges who err on a fifth of the items, three of them together half of the time."""
    rng = np.random.default_rng(random_seed)
    truth = rng.integers(0, 2, n)
    together, shared = rng.random(n) < 0.5, rng.random(n) < 0.2
    wrong = rng.random((n, 4)) < 0.2
    wrong[:, :3] = np.where(together[:, None], shared[:, None], wrong[:, :3])
    return truth, np.where(wrong, 1 - truth[:, None], truth[:, None])


@pytest.mark.parametrize(("judges", "correlation", "worth"), [[6, 0.42, 1.935], [5, 0.56, 1.543], [9, 0.4375, 2.0]])
def test_published_numbers_of_effective_judges(judges, correlation, worth):
    assert worth_of(judges, correlation) == pytest.approx(worth, abs=5e-4)


def test_errors_that_cancel_out_are_worth_any_number_of_judges():
    """Of three judges whose errors correlate by -1/2 the mean of errors is 0."""
    np.testing.assert_array_equal(worth_of(3, np.array([-0.5, -0.6, 0.0, 1.0])), [np.inf, np.inf, 3, 1])


def test_gold_gives_the_correlations_of_errors():
    (truth, said), done = panel(2000), []
    judges = Labels.from_matrix(said, annotators=list("abcd"), labels=[0, 1])
    tree = effective_judges(judges, dict(enumerate(truth)), draws=300, chains=2, random_seed=1, progress=done.append)
    assert sum(done) == 600
    expected = np.corrcoef((said != truth[:, None]).T)
    found = tree["posterior"]["correlation"].mean(("chain", "draw")).values
    np.testing.assert_allclose(found, expected, atol=0.01)
    mean = expected[np.triu_indices(4, 1)].mean()
    assert tree["posterior"]["n_effective"].mean().item() == pytest.approx(worth_of(4, mean), rel=0.02)
    assert found[0, 1] == pytest.approx(0.5, abs=0.05)


def test_a_posterior_of_people_gives_them_without_gold():
    truth, said = panel()
    rng = np.random.default_rng(2)
    votes = np.where(rng.random((truth.size, 5)) < 0.8, truth[:, None], 1 - truth[:, None])
    people = Labels.from_matrix(votes, labels=[0, 1])
    # The probability of the truth given votes that are right four times in five.
    odds = (2 * votes - 1).sum(axis=1) * np.log(4)
    posterior = dirichlet(people, draws=2, chains=1, random_seed=1)
    certain = 1 / (1 + np.exp(-odds))
    posterior["posterior"]["plausibility"][:] = np.stack([1 - certain, certain], axis=1)
    judges = Predictions.from_labels(dict(zip("abcd", said.T)), labels=[0, 1])
    tree = effective_judges(judges, posterior, draws=100, chains=1, random_seed=1)
    found = tree["posterior"]["correlation"].mean(("chain", "draw")).values
    np.testing.assert_allclose(found, np.corrcoef((said != truth[:, None]).T), atol=0.06)


def test_few_errors_leave_the_number_open():
    """One error of each judge, on different items: without pseudo-items the number would be three and more for sure."""
    wrong = np.zeros((50, 3), int)
    wrong[[0, 1, 2], [0, 1, 2]] = 1
    judges = Labels.from_matrix(wrong, labels=[0, 1])
    with pytest.warns(UserWarning, match="err on fewer than 5 items"):
        drawn = effective_judges(judges, dict.fromkeys(range(50), 0), draws=250, random_seed=1)["posterior"][
            "n_effective"
        ]
    assert drawn.quantile(0.05) < 2
    assert drawn.quantile(0.95) > 3


def test_input_is_refused():
    with pytest.raises(InputError, match="a panel of 1 judge"):
        effective_judges(Labels.from_matrix([[0], [1]]), {0: 0})
    with pytest.raises(InputError, match="the truth of no judged item is known"):
        effective_judges(Labels.from_matrix([[0, 1], [1, 1]]), {})
    with pytest.raises(InputError, match="gave no verdict"):
        effective_judges(Labels.from_matrix([[0, None], [1, 1]]), {0: 0})


def test_a_judge_of_one_answer_is_named():
    truth, said = panel(200)
    said[:, 2] = 1
    with pytest.warns(UserWarning, match="judges 'c' give one answer to all items"):
        effective_judges(
            Labels.from_matrix(said, annotators=list("abcd")), dict(enumerate(truth)), draws=10, random_seed=1
        )


def test_a_panel_that_never_errs_has_no_number():
    """Its NaN came with a hint about the intervals of few errors."""
    truth, _ = panel(60)
    judges = Labels.from_matrix(np.column_stack([truth, truth]), labels=[0, 1])
    with pytest.warns(UserWarning, match="^no two judges err on some items and are right on others: n_effective"):
        drawn = effective_judges(judges, dict(enumerate(truth)), draws=50, random_seed=1)["posterior"]
    assert np.isnan(drawn["n_effective"]).all()


def test_a_judge_who_never_errs_counts_in_no_mean():
    truth, said = panel(600)
    said[:, 3] = truth
    judges = Labels.from_matrix(said, annotators=list("abcd"), labels=[0, 1])
    with pytest.warns(UserWarning, match="err on fewer than 5 items"):
        drawn = effective_judges(judges, dict(enumerate(truth)), draws=50, random_seed=1)["posterior"].to_dataset()
    pairs = drawn["correlation"].values[..., *np.triu_indices(4, 1)]
    np.testing.assert_array_equal(np.isnan(pairs).all(axis=(0, 1)), [False, False, True, False, True, True])
    np.testing.assert_allclose(drawn["mean_correlation"], np.nanmean(pairs, axis=-1))
    np.testing.assert_allclose(drawn["n_effective"], 4 / (1 + 3 * drawn["mean_correlation"]))
