"""Mixed membership: sums over readings against enumeration, readings and tables as drawn, gold as an expert's."""

import itertools

import numpy as np
import pytest
from _errors_of_draws import assert_mean, assert_share
from scipy import special

from bayesagree.annotations import Labels
from bayesagree.plausibility.dawid_skene._cells import AnnotationCells, annotation_cells
from bayesagree.plausibility.dawid_skene._latent_counts import (
    MOST_WAYS,
    AmbiguityPrior,
    Counts,
    draw_ambiguity,
    expand_items,
    reading_counts,
    reading_density,
    reading_sums,
)
from bayesagree.plausibility.dawid_skene._mixed_membership_kernels import draw_readings
from bayesagree.plausibility.dawid_skene.posterior import dawid_skene
from bayesagree.simulate import crowd_labels


def crowd(seed: int, n_labels: int = 4, candidates: str = "all") -> AnnotationCells:
    """Lay out 12 items with up to 6 annotations each by 6 annotators."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 7, 12)
    return annotation_cells(
        np.repeat(np.arange(12), sizes),
        np.concatenate([rng.permutation(6)[:n] for n in sizes]),
        rng.integers(0, n_labels, sizes.sum()),
        n_items=12, n_annotators=6, n_labels=n_labels, candidates=candidates,  # type: ignore[arg-type]
    )  # fmt: skip


def chances(cells: AnnotationCells, chance: np.ndarray, i: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the candidates of an item, and the confusion of its annotations, shape (annotation, candidate)."""
    candidate = cells.candidate[cells.candidate_start[i] : cells.candidate_start[i + 1]]
    n, start = cells.sizes[i], cells.cell_start[i]
    return candidate, chance[cells.cell[start : start + n * candidate.size]].reshape(n, candidate.size)


def split_weight(alpha: float, share: np.ndarray, counts: np.ndarray) -> float:
    """Probability of one sequence of readings with these counts (Dirichlet-multinomial)."""
    a = alpha * share
    total = special.gammaln(alpha) - special.gammaln(alpha + counts.sum())
    return float(np.exp(total + (special.gammaln(a + counts) - special.gammaln(a)).sum()))


def every_reading(chance: np.ndarray):
    """Yield counts and likelihood of every sequence of readings."""
    n, m = chance.shape
    for reading in itertools.product(range(m), repeat=n):
        yield np.bincount(reading, minlength=m), float(np.prod(chance[np.arange(n), reading]))


def split_of(counts: Counts, number: int, n_labels: int) -> tuple[int, ...]:
    split = [0] * n_labels
    while number > 0:
        split[counts.last[number]] += 1
        number = counts.parent[number]
    return tuple(split)


@pytest.mark.parametrize(("n_labels", "most"), [(1, 4), (2, 9), (4, 5), (60, 3)])
def test_counts_are_listed_once_with_fewer_labels_first(n_labels, most):
    counts = reading_counts(n_labels, most)
    for s in range(1, most + 1):
        numbers = range(counts.start[s], counts.start[s + 1])
        splits = [split_of(counts, number, n_labels) for number in numbers]
        assert len(set(splits)) == len(splits)
        assert all(sum(split) == s for split in splits)
        for m in range(1, n_labels + 1):
            if counts.ways[s, m] <= MOST_WAYS:
                assert all(not any(split[m:]) for split in splits[: counts.ways[s, m]])
        for number, split in zip(numbers, splits):
            for k in range(min(counts.after.shape[1], n_labels)) if s < most else ():
                if counts.after[number, k] >= 0:
                    more = list(split)
                    more[k] += 1
                    assert split_of(counts, int(counts.after[number, k]), n_labels) == tuple(more)


def density(cells: AnnotationCells, chance: np.ndarray, share: np.ndarray, readings: np.ndarray, u: float) -> float:
    sums = reading_sums(cells, share.size)
    expand_items(cells, sums, chance)
    weight = np.empty(sums.counts.parent.size)
    given = (share, np.exp(u), readings, *np.unique(cells.sizes, return_counts=True), weight)
    value = reading_density(cells, sums, *given)
    alone = reading_density(cells, sums._replace(leader=-1), *given)
    assert alone == pytest.approx(value, rel=1e-12)  # the weights of one item serve all
    return value


@pytest.mark.parametrize("candidates", ["all", "observed"])
def test_the_likelihood_of_ambiguity_and_prevalence_sums_over_every_reading(candidates):
    cells, rng = crowd(1, candidates=candidates), np.random.default_rng(2)
    chance, share = rng.random(cells.cell_label.size), rng.dirichlet(np.ones(4))
    ours, plain = [], []
    for u in (-3.0, -0.5, 2.0):
        total = 0.0
        for i in range(12):
            candidate, own = chances(cells, chance, i)
            total += np.log(sum(split_weight(np.exp(u), share[candidate], n) * p for n, p in every_reading(own)))
        plain.append(total)
        ours.append(density(cells, chance, share, np.zeros(cells.candidate.size), u))
    np.testing.assert_allclose(np.diff(ours), np.diff(plain), rtol=1e-9)  # each item is expanded up to a factor


def test_items_of_too_many_counts_keep_their_readings():
    cells, rng = crowd(3, n_labels=60), np.random.default_rng(4)
    begin = reading_sums(cells, 60).begin
    assert (np.diff(begin)[cells.sizes > 2] == 0).all()
    assert (np.diff(begin)[cells.sizes == 1] == 60).all()
    chance, share = rng.random(cells.cell_label.size), rng.dirichlet(np.ones(60))
    readings = np.zeros((12, 60))
    for i in range(12):
        readings[i] = np.bincount(rng.integers(0, 60, cells.sizes[i]), minlength=60)
    ours, plain = [], []
    for u in (-2.0, 1.0):
        total = 0.0
        for i in range(12):
            if begin[i] == begin[i + 1]:
                total += np.log(split_weight(np.exp(u), share, readings[i]))
            else:
                own = chances(cells, chance, i)[1]
                total += np.log(sum(split_weight(np.exp(u), share, n) * p for n, p in every_reading(own)))
        plain.append(total)
        ours.append(density(cells, chance, share, readings.ravel(), u))
    np.testing.assert_allclose(np.diff(ours), np.diff(plain), rtol=1e-9)


def test_ambiguity_prevalence_and_counts_are_drawn_from_their_joint_distribution():
    cells, rng = crowd(5, n_labels=2), np.random.default_rng(6)
    chance, share, shape = rng.random(cells.cell_label.size), np.full(2, 0.5), 1.5
    sums = reading_sums(cells, 2)
    expand_items(cells, sums, chance)
    sizes = np.unique(cells.sizes, return_counts=True)
    prior, readings, alpha = AmbiguityPrior(0.0, 0.5, shape), np.zeros(cells.candidate.size), 1.0
    draws = np.empty((5_000, 3))
    for s in range(-100, 5_000 * 5):
        alpha = draw_ambiguity(rng, cells, sums, prior, share, alpha, readings, *sizes)
        if s >= 0:
            draws[s // 5] = np.log(alpha), share[0], readings[0]
    assert share.sum() == pytest.approx(1, abs=1e-9)
    grid, first = np.array(list(itertools.product(np.linspace(-2.5, 2.5, 41), (np.arange(40) + 0.5) / 40))), []
    posterior = -0.5 * (grid[:, 0] / 0.5) ** 2 + (shape - 1) * np.log(grid[:, 1] * (1 - grid[:, 1]))
    own = chances(cells, chance, 0)[1]
    for g, (u, x) in enumerate(grid):
        shares = np.array([x, 1 - x])
        posterior[g] += density(cells, chance, shares, readings, float(u))
        pairs = [(split_weight(np.exp(u), shares, n) * p, n[0]) for n, p in every_reading(own)]
        first.append(sum(w * n for w, n in pairs) / sum(w for w, _ in pairs))
    mass = special.softmax(posterior)
    # Every fifth draw is nearly independent of the last: six standard errors instead of 4.5.
    assert_mean(draws, [*(mass @ grid), mass @ first], sigmas=6)


def test_readings_and_tables_have_their_conditional_distributions():
    cells, rng = crowd(7, n_labels=3), np.random.default_rng(8)
    chance, share = rng.random(cells.cell_label.size), rng.dirichlet(np.full(3, 2.0))
    plausibility = rng.dirichlet(np.ones(3), 12)
    n, alpha, draws = int(cells.item_start[-1]), 2.0, 20_000
    seat, dish, guests = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64)
    read, tables, fresh = np.zeros((n, 3)), np.empty(draws), np.empty(draws)
    own = np.repeat(cells.item_start[:-1], cells.sizes)
    for s in range(draws):
        draw_readings(rng, cells, share, alpha, chance, plausibility.ravel(), seat, dish, guests)
        reading = dish[own + seat]
        read[np.arange(n), reading] += 1
        assert guests.sum() == n
        taken = np.zeros((12, 3))
        np.add.at(taken, (np.repeat(np.arange(12), cells.sizes), reading), 1)
        shape = alpha * share
        tables[s] = (guests > 0).sum()
        # A table opens for the r-th equal reading with probability shape / (shape + r).
        fresh[s] = (shape * (special.digamma(shape + taken) - special.digamma(shape))).sum()
    for i in range(12):
        joint = plausibility[i] * chances(cells, chance, i)[1]
        here = slice(cells.item_start[i], cells.item_start[i + 1])
        assert_share(read[here] / draws, joint / joint.sum(axis=1, keepdims=True), draws)
    assert_mean(tables - fresh, 0.0)


def test_gold_is_an_experts_reading():
    labels = crowd_labels(n_items=30, n_annotators=4, n_labels=3, labels_per_item=4, seed=3).labels
    matrix = np.full((31, 4), np.nan)  # nobody labelled the last item
    matrix[labels.item_index, labels.annotator_index] = labels.label_index
    options = {"variant": "mixed_membership", "draws": 200, "chains": 2, "tune": 200, "seed": 1}
    tree = dawid_skene(Labels.from_matrix(matrix, labels=[0, 1, 2]), gold={0: 2, 30: 1}, **options)  # type: ignore[arg-type]
    posterior = tree["posterior"].to_dataset()
    shape = posterior["ambiguity"] * posterior["prevalence"]
    expected = ((shape + np.eye(3)[1]) / (posterior["ambiguity"] + 1)).mean(("chain", "draw"))
    probability = tree["derived"].to_dataset()["label_probability"]
    np.testing.assert_allclose(probability.sel(item=30), expected, rtol=1e-9)
    blind = dawid_skene(Labels.from_matrix(matrix[:30], labels=[0, 1, 2]), **options)  # type: ignore[arg-type]
    assert float(probability.sel(item=0, category=2)) > float(
        blind["derived"]["label_probability"].sel(item=0, category=2)
    )
    assert posterior["confusion"].shape == (2, 200, 4, 3, 3)
