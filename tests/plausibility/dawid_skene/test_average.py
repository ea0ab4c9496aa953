"""The average of mixed membership and votes: its weights, its draws, and what its diagnostics say."""

import numpy as np
import pytest
import scipy as sp

from bayesagree.annotations import Labels
from bayesagree.datasets.simulate import crowd_labels
from bayesagree.inference.results import settings_of
from bayesagree.plausibility.dawid_skene import posterior as of_dawid_skene
from bayesagree.plausibility.dawid_skene._results import choice_notes
from bayesagree.plausibility.dawid_skene._variants import HABIT, candidates, stacking_weights
from bayesagree.plausibility.dawid_skene.posterior import dawid_skene
from bayesagree.plausibility.dirichlet.posterior import dirichlet

pytestmark = pytest.mark.filterwarnings("ignore:the chains disagree")  # they are short
FEW = {"draws": 200, "chains": 2, "tune": 50, "thin": 1, "random_seed": 1}


def weigh(monkeypatch, **weights):
    """Give the candidates these weights, whatever they predict."""
    monkeypatch.setattr(of_dawid_skene, "weights", lambda *_: weights)


@pytest.fixture(scope="module")
def crowd():
    return crowd_labels(n_items=60, n_annotators=6, n_labels=3, labels_per_item=4, random_seed=3).labels


def test_draws_of_an_average_are_those_of_its_parts_in_turn(crowd, monkeypatch):
    weigh(monkeypatch, mixed_membership=0.75, votes=0.25)
    tree = dawid_skene(crowd, **FEW)
    drawn = tree["posterior"].to_dataset()
    parts = [dawid_skene(crowd, variant=v, **FEW | {"draws": n}) for v, n in (("mixed_membership", 150), ("votes", 50))]
    of_votes = np.arange(200) % 4 == 2
    for part, own in zip(parts, (~of_votes, of_votes)):
        for name in ("plausibility", "accuracy", "prevalence", "confusion"):
            np.testing.assert_array_equal(drawn[name].values[:, own], part["posterior"][name])
    assert "ambiguity" not in drawn  # votes have none
    variant = tree["constant_data"]["variant_of_draw"].values
    assert variant.tolist() == np.where(of_votes, "votes", "mixed_membership").tolist()
    means = [part["derived"]["label_probability"].values for part in parts]
    found = tree["derived"]["label_probability"].values
    np.testing.assert_allclose(found, 0.75 * means[0] + 0.25 * means[1])
    assert settings_of(tree)["variant"] == "auto"
    assert "mixed_membership (0.75) and votes (0.25)" in choice_notes(settings_of(tree))[0]


def test_chains_of_an_average_are_compared_within_its_parts(crowd, monkeypatch):
    """Items on which the models differ have one mean in each part: r-hat of the mixture would hide chains apart."""
    weigh(monkeypatch, mixed_membership=0.5, votes=0.5)
    found = dawid_skene(crowd, **FEW)["diagnostics"].to_dataset()
    parts = [
        dawid_skene(crowd, variant=v, **FEW | {"draws": 100})["diagnostics"].to_dataset()
        for v in ("mixed_membership", "votes")
    ]
    names = found["parameter"].values
    r_hat = [part["r_hat"].sel(parameter=names).values for part in parts]
    np.testing.assert_allclose(found["r_hat"], np.sqrt((r_hat[0] ** 2 + r_hat[1] ** 2) / 2))
    ess = [part["ess"].sel(parameter=names).values for part in parts]
    np.testing.assert_allclose(found["ess"], 4 / (1 / ess[0] + 1 / ess[1]))


def test_votes_are_the_dirichlet_posterior(crowd):
    tree = dawid_skene(crowd, variant="votes", draws=2000, chains=2, random_seed=1)
    counts = crowd.counts() + 1 / 3
    expected = counts / counts.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(tree["derived"]["label_probability"], expected)
    drawn = tree["posterior"]["plausibility"].values.reshape(-1, 60, 3)
    other = dirichlet(crowd, draws=2000, chains=2, random_seed=2)["posterior"]["plausibility"].values.reshape(-1, 60, 3)
    error = np.sqrt(2 * drawn.var(axis=0) / len(drawn)).max()
    assert np.abs(drawn.mean(axis=0) - other.mean(axis=0)).max() < 5 * error
    assert np.abs(drawn.std(axis=0) - other.std(axis=0)).max() < 5 * error
    # An annotator agrees with a truth drawn from the votes, his own among them, as often as they agree with him.
    agreed = tree["posterior"]["accuracy"].mean(("chain", "draw")).values
    own = [
        expected[crowd.item_index[j], crowd.label_index[j]].mean()
        for j in np.eye(6, dtype=bool)[crowd.annotator_index].T
    ]
    assert np.abs(agreed - own).max() < 0.1


def test_weights_are_the_best_of_a_grid():
    """The weights against a search over the same likelihood, with accuracies and habits as EM left them."""
    rng = np.random.default_rng(1)
    panel, annotator = np.repeat(np.arange(300), 2), rng.integers(0, 5, 600)
    sharp = rng.dirichlet([0.3, 0.3, 0.3], 300)
    truth = np.array([rng.choice(3, p=p) for p in sharp])
    label = np.where(rng.random(600) < 0.7, truth[panel], rng.integers(0, 3, 600))
    blunt = 0.3 * sharp + 0.7 * rng.dirichlet([1, 1, 1], 300)
    chance = np.column_stack([sharp[panel, label], blunt[panel, label]])
    weight = stacking_weights((5, 3), panel, annotator, label, chance)
    assert weight.sum() == pytest.approx(1)

    def loss(free):
        """Negative log density of the labels and of the prior of accuracies and habits, by brute force."""
        w, a = sp.special.expit(free[0]), sp.special.expit(free[1:6])
        habit = sp.special.softmax(free[6:].reshape(5, 3), axis=1)
        mixed = w * sharp + (1 - w) * blunt
        right = a[annotator, None] * (np.arange(3) == label[:, None])
        given = (right + ((1 - a[annotator]) * habit[annotator, label])[:, None]).reshape(300, 2, 3).prod(axis=1)
        share = (np.bincount(label) + 1) / 603
        prior = HABIT * (0.65 * np.log(a) + 0.35 * np.log1p(-a)).sum() + HABIT * (share * np.log(habit)).sum()
        return -np.log((mixed * given).sum(axis=1)).sum() - prior

    best = sp.optimize.minimize(loss, np.zeros(21), method="L-BFGS-B")
    assert sp.special.expit(best.x[0]) == pytest.approx(weight[0], abs=0.05)


def test_weights_do_not_depend_on_how_panels_are_numbered_nor_on_the_order_of_labels():
    rng = np.random.default_rng(5)
    panel, annotator, label = np.repeat(np.arange(60), 3), rng.integers(0, 6, 180), rng.integers(0, 3, 180)
    truth = rng.dirichlet([0.5, 0.5, 0.5], (60, 2))[panel, :, :]
    chance = np.take_along_axis(truth, label[:, None, None], axis=2)[:, :, 0]
    weight = stacking_weights((6, 3), panel, annotator, label, chance)
    assert 0.02 < weight.min() < 0.98
    names, order = rng.permutation(500)[:60], rng.permutation(180)
    given = (part[order] for part in (names[panel], annotator, label, chance))
    np.testing.assert_allclose(stacking_weights((6, 3), *given), weight, atol=1e-9)


def test_equal_weights_where_no_item_has_a_second_label():
    for n_labels in (2, 3):
        one = Labels.from_matrix(np.random.default_rng(0).integers(0, n_labels, (20, 1)))
        names = candidates(n_labels, None, ordered=False)
        found = settings_of(dawid_skene(one, draws=10, chains=1, tune=10, random_seed=1))
        assert found["weights"] == dict.fromkeys(names, 1 / len(names))
