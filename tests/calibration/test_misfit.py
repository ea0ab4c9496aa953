"""Annotators whom the models do not know: how far does each model err, and does its own diagnostic say so?

No decision about the package is taken here: the answers go into the table of calibration.md, failures included.
"""

import numpy as np
import pytest
from calibration._crowds import crowd

from bayesagree import (
    Rankings,
    Ratings,
    annotation_certainty,
    common_agreement,
    dawid_skene,
    dirichlet,
    label_certainty,
    normal_inverse_gamma,
    plackett_luce,
    prirn,
    simulate,
)
from bayesagree.agreement.checks import item_mean_check
from bayesagree.predictive.annotator_checks import agreement_check
from bayesagree.predictive.checks import with_posterior_predictive
from bayesagree.predictive.reliability import reliability_curve
from studies.clusters import phi_clusters

pytestmark = pytest.mark.slow
ALARM = 0.01


def claim_and_truth(probability, truth):
    """Return mean claimed certainty of the best label and how often it is right."""
    return float(probability.max(axis=1).mean()), float((probability.argmax(axis=1) == truth).mean())


@pytest.mark.parametrize(
    ("who", "options"), [("copy each other", {"copying": 0.7}), ("guess, four of ten", {"guessing": 0.4})]
)
def test_dirichlet(calibration, who, options):
    labels, truth = crowd(np.random.default_rng(1), **options)
    found = label_certainty(dirichlet(labels, prior=1.0, draws=1, chains=1), exact=True).values
    claimed, right = claim_and_truth(found, truth)
    curve = reliability_curve(labels, (0.1, 0.3, 1, 3, 10), prior=1.0, seed=1)
    best = float(curve["best"])
    calibration.recovery(
        "dirichlet", who, error=f"claims {claimed:.2f}, is right in {right:.2f}",
        diagnostic=f"reliability curve: best at {best:g}", noticed=best < 1 and claimed > right,
    )  # fmt: skip


def test_dawid_skene_on_copies(calibration):
    for copying in (0.0, 0.7):
        labels, truth = crowd(np.random.default_rng(2), copying=copying)
        tree = dawid_skene(labels, variant="full", draws=500, seed=1)
        claimed, right = claim_and_truth(tree["derived"].to_dataset()["label_probability"].values, truth)
        p_value = float(agreement_check(labels, tree, seed=1)["p_value"].sel(statistic="histogram"))
        if not copying:
            assert abs(claimed - right) < 0.03
            assert p_value > ALARM
    calibration.recovery(
        "dawid_skene", "copy each other", error=f"claims {claimed:.2f}, is right in {right:.2f}",
        diagnostic=f"agreement_check: p = {p_value:.3f}", noticed=p_value < ALARM,
    )  # fmt: skip


@pytest.mark.filterwarnings("ignore:the chains disagree")
def test_dawid_skene_on_ambiguous_items(calibration):
    world = simulate.crowd_labels(n_items=1500, n_annotators=10, n_labels=3, labels_per_item=5, ambiguity=1.0, seed=3)
    tree = dawid_skene(world.labels, variant="full", draws=500, seed=1)
    claimed, right = claim_and_truth(tree["derived"].to_dataset()["label_probability"].values, world.truth)
    p_value = float(agreement_check(world.labels, tree, seed=1)["p_value"].sel(statistic="histogram"))
    calibration.recovery(
        "dawid_skene", "read ambiguous items differently", error=f"claims {claimed:.2f}, is right in {right:.2f}",
        diagnostic=f"agreement_check: p = {p_value:.3f}", noticed=p_value < ALARM,
    )  # fmt: skip


def test_phi_with_item_means_at_two_ends(calibration):
    means = np.random.default_rng(4).choice([0.15, 0.85], 1000)
    ratings = simulate.ratings(n_items=1000, ratings_per_item=3, phi=0.3, item_mean=means, seed=4).ratings
    with pytest.warns(UserWarning):
        found = float(common_agreement(ratings, draws=200, seed=1)["agreement"]["mean"])
    p_value = float(item_mean_check(ratings, seed=1)["p_value"])
    calibration.recovery(
        "common_agreement", "item means at two ends", error=f"Phi {found:.2f}, true 0.30",
        diagnostic=f"item_mean_check: p = {p_value:.3f}, and a warning", noticed=p_value < ALARM,
    )  # fmt: skip


def test_phi_that_differs_between_items(calibration):
    parts = [simulate.ratings(n_items=300, ratings_per_item=5, phi=phi, seed=5).ratings for phi in (-0.3, 0.8)]
    ratings = Ratings.from_matrix(
        np.concatenate([part.rating.reshape(300, 5) for part in parts]), scale=parts[0].scale, step=parts[0].step
    )
    found = common_agreement(ratings, draws=200, seed=1)["agreement"].to_dataset()
    score = phi_clusters(ratings, n_clusters=(1, 2), seed=1)["score"].values
    calibration.recovery(
        "common_agreement", "half of the items at Phi -0.3, half at 0.8",
        error=f"one Phi, {float(found['lower']):.2f} to {float(found['upper']):.2f}",
        diagnostic=f"phi_clusters: two are {score[1] - score[0]:.0f} nats better", noticed=score[1] - score[0] > 4,
    )  # fmt: skip


def test_ratings_in_two_camps(calibration):
    rng = np.random.default_rng(6)
    camps = np.where(rng.random((1500, 6)) < rng.uniform(0.2, 0.8, (1500, 1)), 1.0, 5.0)
    share = (camps == 5).mean(axis=1)
    ratings = Ratings.from_matrix(camps, scale=(1, 5), step=1)
    tree = normal_inverse_gamma(ratings, draws=250, seed=1)
    mean = tree["posterior"].to_dataset()["mean"].values.reshape(1000, -1)
    inside = ((mean > 1) & (mean < 5)).mean()
    replicate = with_posterior_predictive(tree, ratings, seed=1)["posterior_predictive"].to_dataset()["rating"].values
    outside = float(((replicate < 1) | (replicate > 5)).mean())
    calibration.recovery(
        "normal_inverse_gamma", "two camps at the ends of the scale",
        error=f"no annotator near the mean; {1 - inside:.2f} of the draws of a mean leave the scale "
        f"(mean share of high ratings {share.mean():.2f})",
        diagnostic=f"posterior predictive: {outside:.2f} of replicated ratings leave the scale",
        noticed=outside > ALARM,
    )  # fmt: skip


@pytest.mark.parametrize("plausibility", ["plackett_luce", "prirn"])
def test_rankings_by_two_camps(calibration, plausibility):
    """One truth; three of five annotators follow a shared mistake, the swap of the two best labels."""
    rng = np.random.default_rng(7)
    world = simulate.rankings(n_items=400, n_labels=6, n_annotators=5, shape=1.0, patterns=[(1, 1)], seed=7)
    theta = world.plausibility.values
    swap = theta.copy()
    best, second = theta.argsort(axis=1)[:, ::-1][:, :2].T
    rows = np.arange(400)
    swap[rows, best], swap[rows, second] = theta[rows, second], theta[rows, best]
    cases = []
    for i in range(400):
        of_item = []
        for j in range(5):
            worth = swap[i] if j < 3 else theta[i]
            order = np.argsort(rng.standard_exponential(6) / worth)[:2]
            of_item.append([[int(k)] for k in order])
        cases.append(of_item)
    rankings = Rankings.from_blocks(cases, labels=6)
    if plausibility == "plackett_luce":
        tree = plackett_luce(rankings, shape=1.0, draws=250, seed=1)
        levels, diagnostic = (1, 2, 3), {"shape": 1.0, "draws": 50}
    else:
        tree = prirn(rankings, reliability=5, draws=250, seed=1)
        levels, diagnostic = (1, 2, 5, 10, 20), {}
    top = tree["posterior"].to_dataset()["plausibility"].values.argmax(axis=-1)
    held = (top == best).mean(axis=(0, 1))
    claimed = float(annotation_certainty(tree).values.mean())
    curve = reliability_curve(rankings, levels, plausibility=plausibility, seed=1, **diagnostic)
    one = curve.sel(reliability=1 if plausibility == "plackett_luce" else 5)
    observed = float(curve["observed_agreement"])
    noticed = not float(one["agreement_lower"]) - 0.02 < observed < float(one["agreement_upper"]) + 0.02
    calibration.recovery(
        plausibility, "three of five share a mistake",
        error=f"certainty {claimed:.2f}, the true best label on top in {held.mean():.2f} of the draws",
        diagnostic=f"predicted agreement {float(one['agreement']):.2f}, observed {observed:.2f}", noticed=noticed,
    )  # fmt: skip
