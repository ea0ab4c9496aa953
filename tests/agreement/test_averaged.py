"""Both readings of answers at the ends of the scale, averaged by their evidence."""

import re
import warnings
from functools import partial

import numpy as np
import pytest

from bayesagree import simulate
from bayesagree.agreement._phi.posterior import joint_posterior
from bayesagree.agreement._phi.problem import prepare
from bayesagree.agreement.phi import common_agreement, common_agreement_model
from bayesagree.annotations import Ratings
from bayesagree.errors import InputError

FEW = {"draws": 400, "chains": 2, "random_seed": 1}


def piled(n_items, share, random_seed):
    """Ratings with Phi .5 of which a share is put on the low end."""
    made = simulate.ratings(n_items=n_items, ratings_per_item=5, phi=0.5, n_levels=5, random_seed=random_seed).ratings
    x = made.rating.reshape(n_items, 5).copy()
    x[np.random.default_rng(random_seed).random(x.shape) < share] = 1
    return Ratings.from_matrix(x, scale=(1, 5), step=1)


@pytest.mark.long
def test_average_is_the_mixture_of_both_results():
    ratings = piled(40, 0.06, 2)
    found = {kind: common_agreement(ratings, likelihood=kind, **FEW) for kind in ("binned", "inflated")}
    means = [float(tree["agreement"]["mean"]) for tree in found.values()]
    says = f"{means[0]:.2f} if all are judgments, {means[1]:.2f} if some are outright ends"
    with pytest.warns(UserWarning, match=re.escape(says)):
        found["averaged"] = common_agreement(ratings, **FEW)
    one, two, both = (tree["agreement"].to_dataset() for tree in found.values())
    weight = 1 / (1 + np.exp(float(one["log_evidence"] - two["log_evidence"])))
    assert 0.05 < weight < 0.95
    assert float(both["prob_inflated"]) == pytest.approx(weight, abs=0.02)
    assert float(both["mean"]) == pytest.approx(
        (1 - weight) * float(one["mean"]) + weight * float(two["mean"]), abs=0.01
    )
    log_evidence = np.logaddexp(one["log_evidence"], two["log_evidence"]) - np.log(2)
    assert float(both["log_evidence"]) == pytest.approx(float(log_evidence), abs=0.05)
    drawn = found["averaged"]["posterior"].to_dataset()
    outright = (drawn["low_end_share"] > 0).values
    assert abs(outright.mean() - weight) < 4.5 * 0.5 / np.sqrt(outright.size) + 0.02
    assert (drawn["high_end_share"].values[~outright] == 0).all()
    assert abs(float(drawn["phi"].mean() - both["mean"])) < 4.5 * float(both["sd"]) / np.sqrt(outright.size)


@pytest.mark.parametrize(("rows", "highest"), [([[2, 3, 2], [3, 4, 4]], 5), ([[1, 2, 1]] * 5, 2)])
def test_without_answers_at_the_ends_and_on_two_levels_there_is_one_reading(rows, highest):
    assert prepare(Ratings.from_matrix(rows, scale=(1, highest), step=1)).kind == "binned"


@pytest.mark.parametrize(
    ("rows", "decision"), [([[5] * 5] * 29 + [[5, 5, 5, 5, 1]], "undecided"), ([[1, 5, 1, 5, 5]] * 20, "disagreement")]
)
def test_without_answers_between_the_ends_both_readings_keep_half_the_weight(rows, decision):
    """Number and decision agree: unanimous ends with one split say little, two camps on every item disagree."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        ratings = Ratings.from_matrix(rows, scale=(1, 5), step=1)
        found = common_agreement(ratings, item_mean="flat", **FEW)["agreement"]
    assert float(found["prob_inflated"]) == 0.5
    assert found.attrs["decision"] == decision
    assert (float(found["upper"]) < 0) == (decision == "disagreement")


@pytest.mark.long
def test_evidence_on_three_levels_is_that_of_importance_sampling():
    """A bent ridge: equal item means, Phi .3, 300 x 10."""
    reference = -3266.69, -3268.09  # by importance sampling written apart: 1024 Sobol points, 110 to 140 effective
    made = simulate.ratings(
        n_items=300, ratings_per_item=10, phi=0.3, n_levels=3, item_mean=np.full(300, 0.5), random_seed=1
    ).ratings
    found = joint_posterior(prepare(made))
    assert found.binned.log_evidence == pytest.approx(reference[0], abs=0.02)
    assert found.inflated.log_evidence == pytest.approx(reference[1], abs=0.4)


def test_pymc_is_one_reading():
    for fit in (common_agreement_model, partial(common_agreement, engine="nuts")):
        with pytest.raises(InputError, match="is two models"):
            fit(piled(5, 0.2, 1), likelihood="averaged")


def test_sampler_takes_no_argument_of_its_own_name():
    with pytest.raises(InputError, match=r"sampler=\{'chains': 2\}: chains is an argument of its own"):
        common_agreement(piled(5, 0.2, 1), likelihood="binned", engine="nuts", sampler={"chains": 2})
