"""What a posterior or a call cannot mean is refused where it comes in."""

import pytest

import bayesagree as ba
from bayesagree import plots

LABELS = ba.Labels.from_matrix([["a", "b", "a"], ["b", "b", None]])
RATINGS = ba.Ratings.from_matrix([[1, 2, 1], [4, 5, 3]], scale=(1, 5), step=1)
MODELS = ba.Predictions.from_scores({"A": [0.2, 0.8]}, labels=["a", "b"])


@pytest.mark.parametrize("k", [0, -1, 1.5])
def test_a_set_has_at_least_one_label(k):
    """k = 0 read outside an array and killed the process."""
    with pytest.raises(ba.InputError, match="k="):
        ba.annotation_certainty(ba.dirichlet(LABELS, draws=5, seed=1), k=k)


def test_a_posterior_of_ratings_is_not_asked_for_plausibilities():
    tree = ba.normal_inverse_gamma(RATINGS, draws=5, seed=1)
    with pytest.raises(ba.InputError, match="a simplex is of labels"):
        plots.plot_simplex(tree, [0])
    with pytest.raises(ba.InputError, match="of ratings and has no plausibilities"):
        plots.plot_plausibility(tree, 0)
    with pytest.raises(ba.InputError, match="of ratings and has no plausibilities"):
        ba.certainty.plausibility_entropy(tree)


OF_OTHERS = {
    "common_agreement": [lambda tree: ba.agreement.phi_difference(tree, tree)],
    "davidson": [ba.comparisons.effect_table],
    "corrected_rate": [ba.judges.judge_table, ba.judges.warnings_of, ba.judges.tables.system_pairs],
    "calibrate": [lambda tree: ba.plausibility.calibration.gold_items_needed(tree, width=0.1)],
    "group_posterior": [
        ba.subjective.group_summary, ba.subjective.prob_worse, ba.subjective.minimum_group_size,
    ],
    "with_log_likelihood": [ba.predictive.item_loo],
}  # fmt: skip


@pytest.mark.parametrize("maker", OF_OTHERS)
def test_a_result_of_another_function_is_refused_with_the_right_one(maker):
    tree = ba.dirichlet(LABELS, draws=5, seed=1)
    for function in OF_OTHERS[maker]:
        with pytest.raises(ba.InputError, match=rf"pass a result of {maker}"):
            function(tree)


def test_a_result_is_no_gold_and_none_no_groups():
    tree = ba.dirichlet(LABELS, draws=5, seed=1)
    with pytest.raises(ba.InputError, match="gold item 'posterior_parameters' is not among the 2 items"):
        ba.metrics.hard_label_scores(ba.Predictions.from_labels({"A": ["a", "b"]}), tree)
    with pytest.raises(ba.InputError, match="expected Groups, got None"):
        ba.subjective.group_permutation_test(LABELS, None)


def test_weights_are_named_as_the_user_names_them():
    votes = ba.Labels.from_matrix([["a", "b"], ["b", "b"]], annotators=["x", "y"])
    with pytest.raises(ba.InputError, match=r"weights\['x'\]=-1"):
        ba.auc(votes, MODELS, method="dgt", weights={"x": -1, "y": 1})
