"""Annotators whom the models do not know: benchmarks/results/misfit.md, in about an hour.

    uv run python benchmarks/misfit.py [models check]

Parts that are not named keep their section of the page. How far does each model err, and does its own diagnostic say
so? How often does the check of agreement fire on crowds that do not err independently, and on one that does? Nothing
is decided here: failures are on the page, too.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from bayesagree import (
    Annotators,
    Labels,
    Predictions,
    Rankings,
    Ratings,
    annotation_certainty,
    common_agreement,
    dawid_skene,
    dirichlet,
    group_posterior,
    normal_inverse_gamma,
    plackett_luce,
    prirn,
    simulate,
)
from bayesagree.annotations.groups import Groups
from bayesagree.plausibility.certainty import label_certainty
from bayesagree.predictive.annotator_checks import agreement_check
from bayesagree.predictive.checks import with_posterior_predictive
from bayesagree.predictive.reliability import reliability_curve
from bayesagree.subjective.group_model import group_counts
from studies.clusters import phi_clusters

ALARM = 0.01
WORLDS, GROUPS = 60, [8, 30, 30, 30]
REPLICATIONS, SIZES = 20, (100, 300, 1000)


class Row(NamedTuple):
    """What one model does with annotators whom it does not know."""

    model: str
    annotators: str
    error: str
    diagnostic: str
    noticed: bool


def crowd(
    rng,
    *,
    n_items=1500,
    n_labels=3,
    accuracy=0.7,
    copying=0.0,
    guessing=0.0,
    n_annotators=10,
    per_item=5,
):
    """Simulate annotators of one true label who copy the first one of the item, or guess; return labels and truth."""
    truth = rng.integers(0, n_labels, n_items)
    guesser = rng.random(n_annotators) < guessing
    matrix = np.full((n_items, n_annotators), -1)
    for i in range(n_items):
        who = rng.permutation(n_annotators)[:per_item]
        for place, j in enumerate(who):
            right = rng.random() < (1 / n_labels if guesser[j] else accuracy)
            own = truth[i] if right else (truth[i] + rng.integers(1, n_labels)) % n_labels
            matrix[i, j] = matrix[i, who[0]] if place and rng.random() < copying else own
    named = np.where(matrix < 0, None, matrix.astype(object))
    return Labels.from_matrix(named, labels=list(range(n_labels))), truth


def fitted(agrees, group, random_seed):
    """Fit agreement with the model, (item, annotator), missing -1; return draws of the group means, and replicates."""
    labels = Labels.from_matrix(np.array([None, "no", "yes"], dtype=object)[agrees + 1], labels=["no", "yes"])
    people = Annotators.from_table(pd.DataFrame({"annotator": labels.annotators, "g": group.astype(str)}))
    model = Predictions.from_labels({"A": ["yes"] * len(agrees)}, labels=["no", "yes"])
    counts = group_counts(labels, model, Groups.by_features(labels, people, ["g"]))
    tree = group_posterior(labels, model, people, by=["g"], draws=250, random_seed=random_seed)
    posterior = tree["posterior"].to_dataset().isel(model=0)
    performance = posterior["performance"].values.reshape(1000, -1)
    phi = posterior["within_spread"].values.reshape(1000, 1) ** -2.0 - 1
    mean = np.clip(performance[:, counts.group], 1e-12, 1 - 1e-12)
    rng = np.random.default_rng(random_seed)
    replicates = rng.binomial(counts.total[0], rng.beta(mean * phi, (1 - mean) * phi)) / counts.total[0]
    return performance, counts.agree[0] / counts.total[0], replicates, counts.group


def spread_p_value(observed, replicates, group):
    """Compare the standard deviation within each group with that of the replicates; two sides, all groups together."""
    worst = 1.0
    for g in np.unique(group):
        larger = (replicates[:, group == g].std(axis=1) >= observed[group == g].std()).mean()
        worst = min(worst, 2 * min(larger, 1 - larger) * (group.max() + 1))
    return worst


def simulated(world):
    """Return how often the 95 % interval of each group held the truth 0.7, and how often replicates are unlike."""
    held, noticed = [], []
    for random_seed in range(WORLDS):
        performance, observed, replicates, group = world(np.random.default_rng(random_seed), random_seed)
        low, high = np.quantile(performance, [0.025, 0.975], axis=0)
        held.append((low < 0.7) & (high > 0.7))
        noticed.append(spread_p_value(observed, replicates, group) < ALARM)
    return np.mean(held, axis=0), float(np.mean(noticed))


def as_assumed(rng, random_seed):
    group = np.repeat(np.arange(4), GROUPS)
    rate = rng.beta(14, 6, group.size)
    return fitted((rng.random((20, group.size)) < rate).astype(int), group, random_seed)


def camps(rng, random_seed):
    """The first group has two camps; the annotators of the others are alike."""
    group = np.repeat(np.arange(4), GROUPS)
    rate = np.where(group == 0, rng.choice([0.45, 0.95], group.size), 0.7)
    return fitted((rng.random((20, group.size)) < rate).astype(int), group, random_seed)


def few_items(rng, random_seed):
    """Every group labels ten items of its own, and people agree or disagree with the model on the same items."""
    group = np.repeat(np.arange(4), 20)
    chance = rng.beta(1.4, 0.6, (40, 1))
    agrees = (rng.random((40, group.size)) < chance).astype(int)
    agrees[np.arange(40)[:, None] // 10 != group] = -1
    return fitted(agrees, group, random_seed)


def claim_and_truth(probability, truth):
    """Return mean claimed certainty of the best label and how often it is right."""
    return float(probability.max(axis=1).mean()), float((probability.argmax(axis=1) == truth).mean())


def of_dirichlet(who, options):
    labels, truth = crowd(np.random.default_rng(1), **options)
    found = label_certainty(dirichlet(labels, prior=1.0, draws=1, chains=1), exact=True).values
    claimed, right = claim_and_truth(found, truth)
    curve = reliability_curve(labels, (0.1, 0.3, 1, 3, 10), prior=1.0, random_seed=1)
    best = float(curve["best"])
    return Row(
        "dirichlet", who, error=f"claims {claimed:.2f}, is right in {right:.2f}",
        diagnostic=f"reliability curve: best at {best:g}", noticed=best < 1 and claimed > right,
    )  # fmt: skip


def dawid_skene_on_copies():
    labels, truth = crowd(np.random.default_rng(2), copying=0.7)
    tree = dawid_skene(labels, variant="full", draws=500, random_seed=1)
    claimed, right = claim_and_truth(tree["derived"].to_dataset()["label_probability"].values, truth)
    p_value = float(agreement_check(labels, tree, random_seed=1)["p_value"].sel(statistic="histogram"))
    return Row(
        "dawid_skene", "copy each other", error=f"claims {claimed:.2f}, is right in {right:.2f}",
        diagnostic=f"agreement_check: p = {p_value:.3f}", noticed=p_value < ALARM,
    )  # fmt: skip


def dawid_skene_on_ambiguous_items():
    world = simulate.crowd_labels(
        n_items=1500, n_annotators=10, n_labels=3, labels_per_item=5, ambiguity=1.0, random_seed=3
    )
    tree = dawid_skene(world.labels, variant="full", draws=500, random_seed=1)
    claimed, right = claim_and_truth(tree["derived"].to_dataset()["label_probability"].values, world.truth)
    p_value = float(agreement_check(world.labels, tree, random_seed=1)["p_value"].sel(statistic="histogram"))
    return Row(
        "dawid_skene", "read ambiguous items differently", error=f"claims {claimed:.2f}, is right in {right:.2f}",
        diagnostic=f"agreement_check: p = {p_value:.3f}", noticed=p_value < ALARM,
    )  # fmt: skip


def phi_with_item_means_at_two_ends():
    means = np.random.default_rng(4).choice([0.15, 0.85], 1000)
    ratings = simulate.ratings(
        n_items=1000, ratings_per_item=3, phi=0.3, item_mean=means, random_seed=4
    ).ratings
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = float(common_agreement(ratings, draws=200, random_seed=1)["agreement"]["mean"])
    warned = any("histogram of item means" in str(one.message) for one in caught)
    return Row(
        "common_agreement", "item means at two ends", error=f"Phi {found:.2f}, true 0.30",
        diagnostic="a warning of the item means", noticed=warned,
    )  # fmt: skip


def phi_that_differs_between_items():
    parts = [
        simulate.ratings(n_items=300, ratings_per_item=5, phi=phi, random_seed=5).ratings for phi in (-0.3, 0.8)
    ]
    ratings = Ratings.from_matrix(
        np.concatenate([part.rating.reshape(300, 5) for part in parts]),
        scale=parts[0].scale,
        step=parts[0].step,
    )
    found = common_agreement(ratings, draws=200, random_seed=1)["agreement"].to_dataset()
    score = phi_clusters(ratings, n_clusters=(1, 2), random_seed=1)["score"].values
    return Row(
        "common_agreement", "half of the items at Phi -0.3, half at 0.8",
        error=f"one Phi, {float(found['lower']):.2f} to {float(found['upper']):.2f}",
        diagnostic=f"phi_clusters: two are {score[1] - score[0]:.0f} nats better", noticed=score[1] - score[0] > 4,
    )  # fmt: skip


def ratings_in_two_camps():
    rng = np.random.default_rng(6)
    camps = np.where(rng.random((1500, 6)) < rng.uniform(0.2, 0.8, (1500, 1)), 1.0, 5.0)
    share = (camps == 5).mean(axis=1)
    ratings = Ratings.from_matrix(camps, scale=(1, 5), step=1)
    tree = normal_inverse_gamma(ratings, draws=250, random_seed=1)
    mean = tree["posterior"].to_dataset()["mean"].values.reshape(1000, -1)
    inside = ((mean > 1) & (mean < 5)).mean()
    replicate = (
        with_posterior_predictive(tree, ratings, random_seed=1)["posterior_predictive"]
        .to_dataset()["rating"]
        .values
    )
    outside = float(((replicate < 1) | (replicate > 5)).mean())
    return Row(
        "normal_inverse_gamma", "two camps at the ends of the scale",
        error=f"no annotator near the mean; {1 - inside:.2f} of the draws of a mean leave the scale "
        f"(mean share of high ratings {share.mean():.2f})",
        diagnostic=f"posterior predictive: {outside:.2f} of replicated ratings leave the scale",
        noticed=outside > ALARM,
    )  # fmt: skip


def rankings_by_two_camps(plausibility):
    """One truth; three of five annotators follow a shared mistake, the swap of the two best labels."""
    rng = np.random.default_rng(7)
    world = simulate.rankings(
        n_items=400, n_labels=6, n_annotators=5, shape=1.0, patterns=[(1, 1)], random_seed=7
    )
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
        tree = plackett_luce(rankings, shape=1.0, draws=250, random_seed=1)
    else:
        tree = prirn(rankings, reliability=5, draws=250, random_seed=1)
    top = tree["posterior"].to_dataset()["plausibility"].values.argmax(axis=-1)
    held = (top == best).mean(axis=(0, 1))
    claimed = float(annotation_certainty(tree).values.mean())
    noticed, diagnostic = False, "none"
    if plausibility == "prirn":
        curve = reliability_curve(rankings, (1, 2, 5, 10, 20), random_seed=1)
        one, observed = curve.sel(reliability=5), float(curve["observed_agreement"])
        noticed = not float(one["agreement_lower"]) - 0.02 < observed < float(one["agreement_upper"]) + 0.02
        diagnostic = f"predicted agreement {float(one['agreement']):.2f}, observed {observed:.2f}"
    return Row(
        plausibility, "three of five share a mistake",
        error=f"certainty {claimed:.2f}, the true best label on top in {held.mean():.2f} of the draws",
        diagnostic=diagnostic, noticed=noticed,
    )  # fmt: skip


def copying(chance):
    """Three labels, 70 % right; everybody copies the first annotator of the item with this chance."""
    return lambda random_seed, **size: crowd(np.random.default_rng(random_seed), copying=chance, **size)[0]


def ambiguous(random_seed, *, n_items, n_annotators, per_item):
    """Items have plausible labels instead of one true one, Dirichlet(1/3, 1/3, 1/3), and everybody reads their own."""
    return simulate.crowd_labels(
        n_items=n_items,
        n_annotators=n_annotators,
        n_labels=3,
        labels_per_item=per_item,
        ambiguity=1.0,
        random_seed=random_seed,
    ).labels


CROWDS = {
    "independent": copying(0.0),
    "copy another, one in five": copying(0.2),
    "copy another, two in five": copying(0.4),
    "copy another, seven in ten": copying(0.7),
    "read ambiguous items differently": ambiguous,
}
FEW = ("independent", "copy another, two in five", "copy another, seven in ten")


def of_groups(who, world, first):
    """Whether intervals of groups hold the truth where annotators are not draws of one distribution."""
    held, noticed = simulated(world)
    which, share = ("its interval of 95 %", held[0]) if first else ("intervals of 95 %", held.mean())
    return Row(
        "group_posterior", who, error=f"{which} held the truth in {share:.2f} of {WORLDS} sets",
        diagnostic=f"spread within groups against replicates: p < {ALARM:g} in {noticed:.2f}", noticed=noticed > 0.5,
    )  # fmt: skip


def models() -> Iterator[str]:
    """Yield the lines of the table of models."""
    yield "| model | annotators | what goes wrong | its own diagnostic | noticed |\n| --- | --- | --- | --- | --- |"
    cases: list[tuple[Callable[..., Row], Any]] = [
        (of_groups, ("every group labels ten items of its own, easy or hard for all", few_items, False)),
        (of_groups, ("two camps in one group of eight, others alike", camps, True)),
        (of_groups, ("as the model assumes", as_assumed, False)),
        (dawid_skene_on_ambiguous_items, ()),
        (dawid_skene_on_copies, ()),
        (of_dirichlet, ("copy each other", {"copying": 0.7})),
        (of_dirichlet, ("guess, four of ten", {"guessing": 0.4})),
        (phi_that_differs_between_items, ()),
        (phi_with_item_means_at_two_ends, ()),
        (rankings_by_two_camps, ("plackett_luce",)),
        (rankings_by_two_camps, ("prirn",)),
        (ratings_in_two_camps, ()),
    ]
    for case, arguments in cases:
        *cells, noticed = case(*arguments)
        yield "| " + " | ".join([*cells, "yes" if noticed else "**no**"]) + " |"


def check() -> Iterator[str]:
    """Yield the lines of the table of the check of agreement."""
    yield (
        f"Share of {REPLICATIONS} simulated sets with p < {ALARM:g}, per statistic of `agreement_check`. A check that "
        "is silent where this is far below 1 says nothing.\n"
    )
    yield "| annotators | size | mean fires | variance fires | histogram fires |\n" + "| --- " * 5 + "|"
    for who, n_annotators, per_item in [*((who, 10, 5) for who in CROWDS), *((who, 5, 3) for who in FEW)]:
        for n_items in SIZES:
            fires = np.zeros(3)
            for random_seed in range(REPLICATIONS):
                labels = CROWDS[who](random_seed, n_items=n_items, n_annotators=n_annotators, per_item=per_item)
                tree = dawid_skene(labels, variant="full", draws=100, chains=2, random_seed=random_seed)
                fires += agreement_check(labels, tree, random_seed=random_seed)["p_value"].values < ALARM
            size = f"{n_annotators} annotators, {per_item} an item, {n_items} items"
            yield f"| {who} | {size} | " + " | ".join(f"{share:.2f}" for share in fires / REPLICATIONS) + " |"


PARTS = {
    "models": ("Annotators whom the model does not know", models),
    "check": ("How often the check of agreement fires", check),
}


def main() -> None:
    """Write the named parts of the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", default=list(PARTS))
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    path = Path(__file__).parent / "results" / "misfit.md"
    old = path.read_text().split("\n## ")[1:] if path.exists() else []
    page = {text.split("\n")[0]: text.rstrip() for text in old}
    for name, (title, part) in PARTS.items():
        if name in given.parts:
            page[title] = f"{title}\n\n" + "\n".join(part())
    head = "# Annotators whom the models do not know\n\nMade by `benchmarks/misfit.py`.\n"
    path.write_text(head + "".join(f"\n## {page[title]}\n" for title, _ in PARTS.values() if title in page))


if __name__ == "__main__":
    main()
