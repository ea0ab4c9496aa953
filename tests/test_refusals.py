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


def test_weights_are_named_as_the_user_names_them():
    votes = ba.Labels.from_matrix([["a", "b"], ["b", "b"]], annotators=["x", "y"])
    with pytest.raises(ba.InputError, match=r"weights\['x'\]=-1"):
        ba.auc(votes, MODELS, method="dgt", weights={"x": -1, "y": 1})
