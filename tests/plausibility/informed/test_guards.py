"""Guards: models that know the votes are named, others are not; held-out votes say whether predictions help."""

import numpy as np
import pytest

from bayesagree import Labels, Predictions, annotate_next, evaluate, informed_dirichlet
from bayesagree._inference.results import settings_of
from bayesagree.datasets.simulate import labelled_test_set
from bayesagree.plausibility.dawid_skene._results import choice_notes
from bayesagree.plausibility.informed.guards import SUSPICIOUS, fit_to_votes, warn_of_chains


def perfect(seed, n_items=400, votes=3):
    """Votes, their true plausibilities, and vote shares."""
    rng = np.random.default_rng(seed)
    truth = rng.dirichlet(np.full(3, 0.7), n_items)
    counts = rng.multinomial(votes, truth)
    return Labels.from_counts(counts), truth, counts / votes


@pytest.mark.filterwarnings("ignore:models .* fit these votes better")
def test_a_model_equal_to_the_votes_is_named():
    labels, truth, shares = perfect(1)
    models = Predictions.from_scores({"honest": truth, "copy": shares})
    with pytest.warns(UserWarning, match="models 'copy' fit these votes better than independent"):
        informed_dirichlet(labels, models, draws=10, chains=1, seed=1)
    with pytest.warns(UserWarning, match="'copy'") as given:
        evaluate(labels, models, plausibility="informed_dirichlet", draws=10, chains=1, seed=1)
    assert given[0].filename == __file__, "the line of the caller, not one of the package"


@pytest.mark.filterwarnings("ignore:models 'copy' fit these votes better")
def test_a_copy_of_the_votes_does_not_inform_the_truth():
    """With it the copy had .94 for .73, and the honest model .67 for .81."""
    labels, truth, shares = perfect(4)
    rng = np.random.default_rng(1)
    models = Predictions.from_scores(
        {"honest": 0.6 * truth + 0.4 * rng.dirichlet(np.ones(3), len(truth)), "copy": shares}
    )
    right = (models.hard_labels() == truth.argmax(axis=1)).mean(axis=1)
    ways = ({}, {"exclude": ()}, {"exclude": "copy"})
    found, kept, named = (evaluate(labels, models, draws=100, seed=1, **how) for how in ways)
    scores = found["posterior"]["top_1_accuracy"].isel(reliability=0)
    low, high = scores.quantile([0.01, 0.99], ("chain", "draw")).values
    assert ((low < right) & (right < high)).all()
    assert settings_of(found)["left_out"] == ["copy"] and "left_out" not in settings_of(kept)
    assert kept["posterior"]["top_1_accuracy"].sel(model="copy").min() > right[1]
    np.testing.assert_array_equal(found["posterior"]["top_1_accuracy"], named["posterior"]["top_1_accuracy"])
    assert choice_notes(settings_of(found))[1].startswith("The predictions of 'copy' inform no truth")


@pytest.mark.filterwarnings("ignore:models 'copy' fit these votes better")
def test_a_single_copy_of_the_votes_is_scored_by_labels_that_share_a_prior():
    labels, truth, shares = perfect(5)
    copy = Predictions.from_scores({"copy": shares})
    found = evaluate(labels, copy, draws=100, seed=1)["posterior"]["top_1_accuracy"]
    assert found.mean() < (truth.argmax(axis=1) == copy.hard_labels()[0]).mean() + 0.1


def test_the_majority_of_the_votes_is_named_too():
    labels, _, shares = perfect(2)
    fit = fit_to_votes(labels, Predictions.from_labels({"copy": shares.argmax(axis=1)}, labels=[0, 1, 2]))
    assert fit[0] < SUSPICIOUS


def test_an_excluded_copy_is_not_named():
    labels, truth, shares = perfect(3)
    models = Predictions.from_scores({"honest": truth, "copy": shares})
    informed_dirichlet(labels, models, exclude="copy", draws=10, chains=1, seed=1)


def test_the_truth_itself_is_at_the_bound():
    found = np.array(
        [
            fit_to_votes(labels, Predictions.from_scores({"A": truth}))[0]
            for labels, truth, _ in map(perfect, range(200))
        ]
    )
    # Standard normal up to the shrinkage, one fitted number: 200 repeats give the mean to .07 and the sd to .05.
    assert abs(found.mean()) < 0.3
    assert abs(found.std() - 1) < 0.2


def test_held_out_votes_say_whether_predictions_help():
    data = labelled_test_set(n_items=400, per_item=3, n_labels=3, spread=0.5, seed=1)
    rng = np.random.default_rng(1)
    noise = Predictions.from_scores({"A": rng.normal(size=(400, 3))})
    asked = {"draws": 10, "chains": 1, "seed": 1}
    helped = informed_dirichlet(data.labels, data.predictions, **asked)["diagnostics"]["held_out_log_score"]
    useless = informed_dirichlet(data.labels, noise, **asked)["diagnostics"]["held_out_log_score"]
    assert float(helped.sel(prior="informed") - helped.sel(prior="labels_alone")) > 0.03
    assert abs(float(useless.sel(prior="informed") - useless.sel(prior="labels_alone"))) < 0.02
    np.testing.assert_allclose(helped.sel(prior="labels_alone"), useless.sel(prior="labels_alone"), atol=1e-6)


def test_chains_that_disagree_are_named_and_short_ones_are_not():
    draws = np.random.default_rng(1).normal(size=(4, 100, 3))
    warn_of_chains(np.array(list("abc")), draws)
    draws[0, :, 1] += 3
    with pytest.warns(UserWarning, match="chains of 1 of 3 parameters disagree .*'b'; raise draws="):
        warn_of_chains(np.array(list("abc")), draws)
    warn_of_chains(np.array(list("abc")), draws[:, :50])
    warn_of_chains(np.array(list("abc")), draws[:1])


@pytest.mark.filterwarnings("ignore:models 'copy' fit these votes better")
def test_a_copy_of_the_votes_does_not_choose_the_next_votes():
    labels, truth, shares = perfect(6, n_items=100)
    both = Predictions.from_scores({"honest": truth, "copy": shares})
    with pytest.warns(UserWarning, match="'copy' .* the truth does not learn from them"):
        found = annotate_next(labels, both, n=100, seed=1)

    def gain(exclude):
        drawn = informed_dirichlet(labels, both, exclude=exclude, seed=2)
        table = annotate_next(labels, both, n=100, plausibility=drawn, seed=1)
        return table.set_index("item")["gain"].loc[found["item"]]

    # Gains of two sets of draws without the copy correlate by .996; with it no vote would change its place.
    assert np.corrcoef(found["gain"], gain("copy"))[0, 1] > 0.95
    assert np.corrcoef(found["gain"], gain(()))[0, 1] < 0.5


def test_models_to_leave_out_choose_the_posterior_that_learns_from_the_others():
    labels, truth, _ = perfect(7, n_items=10)
    models = Predictions.from_scores({"A": truth, "B": truth[:, ::-1]})
    assert evaluate(labels, models, draws=10, chains=1, seed=1).attrs["model"] == "dirichlet"
    found = evaluate(labels, models, exclude="B", draws=10, chains=1, seed=1)
    assert settings_of(found)["left_out"] == ["B"]
