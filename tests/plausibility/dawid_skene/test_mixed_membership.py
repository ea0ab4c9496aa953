"""Mixed membership: concentration and tables against their conditional distributions, gold as an expert's."""

import numpy as np
import pytest
from _errors_of_draws import assert_mean
from scipy import special

from bayesagree.annotations import Labels
from bayesagree.datasets.simulate import crowd_labels
from bayesagree.plausibility.dawid_skene._cells import AnnotationCells, annotation_cells
from bayesagree.plausibility.dawid_skene._mixed_membership import MixedMembershipSampler
from bayesagree.plausibility.dawid_skene._mixed_membership_kernels import (
    count_latent,
    draw_ambiguity,
)
from bayesagree.plausibility.dawid_skene.posterior import dawid_skene
from bayesagree.plausibility.dawid_skene.prior import DawidSkenePrior


def crowd(random_seed: int, n_labels: int = 4, candidates: str = "all", n_annotators: int = 6) -> AnnotationCells:
    """Lay out 12 items with up to 6 annotations each by 6 annotators; fewer of them repeat themselves."""
    rng = np.random.default_rng(random_seed)
    sizes = rng.integers(1, 7, 12)
    return annotation_cells(
        np.repeat(np.arange(12), sizes),
        np.concatenate([rng.permutation(6)[:n] for n in sizes]) % n_annotators,
        rng.integers(0, n_labels, sizes.sum()),
        n_items=12, n_annotators=6, n_labels=n_labels, candidates=candidates,  # type: ignore[arg-type]
    )  # fmt: skip


def split_weight(alpha: float, share: np.ndarray, counts: np.ndarray) -> float:
    """Log probability of one sequence of latent labels with these counts (Dirichlet-multinomial)."""
    a = alpha * share
    total = special.gammaln(alpha) - special.gammaln(alpha + counts.sum())
    return float(total + (special.gammaln(a + counts) - special.gammaln(a)).sum())


@pytest.mark.parametrize("candidates", ["all", "observed"])
def test_alpha_is_drawn_from_its_conditional_distribution(candidates):
    cells, rng = crowd(5, n_labels=3, candidates=candidates), np.random.default_rng(6)
    shares = 1 / np.repeat(np.diff(cells.candidate_start), np.diff(cells.candidate_start))
    prior = DawidSkenePrior(ambiguity=1.0, ambiguity_sd=0.7)
    sampler = MixedMembershipSampler(cells, 6, prior, shares, 3, rng)
    sampler.choice = rng.integers(0, np.repeat(np.diff(cells.candidate_start), cells.sizes))
    count_latent(cells, sampler.choice, sampler.weights, sampler.latent, sampler.above)
    prevalence = rng.dirichlet(np.ones(3))
    grid = np.linspace(-4, 4, 201)
    density = -0.5 * (grid / 0.7) ** 2
    for i in range(12):
        here = slice(cells.candidate_start[i], cells.candidate_start[i + 1])
        assert sampler.latent[here].sum() == cells.sizes[i]
        share = prevalence[cells.candidate[here]]
        density += [split_weight(np.exp(u), share, sampler.latent[here]) for u in grid]
    draws, alpha = np.empty(5_000), 1.0
    for s in range(draws.size):
        for _ in range(4):  # a slice sampler forgets where it was in a few steps
            alpha = draw_ambiguity(rng, alpha, prevalence, sampler.above, sampler.sizes_above, 0.0, 0.7)
        draws[s] = np.log(alpha)
    mass = special.softmax(density)
    mean = mass @ grid
    assert_mean(np.column_stack([draws, (draws - mean) ** 2]), [mean, mass @ (grid - mean) ** 2])


@pytest.mark.parametrize("n_annotators", [2, 6])
def test_counts_stay_those_of_the_latent_labels(n_annotators):
    cells, rng = crowd(3, n_annotators=n_annotators), np.random.default_rng(4)
    sampler = MixedMembershipSampler(cells, 6, DawidSkenePrior(), np.full(48, 0.25), 4, rng)
    sampler.sweep(rng, 20)
    kept = [a.copy() for a in (sampler.weights, sampler.latent, sampler.above)]
    count_latent(cells, sampler.choice, sampler.weights, sampler.latent, sampler.above)
    for found, expected in zip(kept, (sampler.weights, sampler.latent, sampler.above)):
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(sampler.latent.reshape(12, 4).sum(axis=1), cells.sizes)


def test_gold_is_an_experts_label():
    labels = crowd_labels(n_items=30, n_annotators=4, n_labels=3, labels_per_item=4, random_seed=3).labels
    matrix = np.full((31, 4), np.nan)  # nobody labelled the last item
    matrix[labels.item_index, labels.annotator_index] = labels.label_index
    options = {"variant": "mixed_membership", "draws": 100, "chains": 2, "tune": 200, "thin": 2, "random_seed": 1}
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
    assert posterior["confusion"].shape == (2, 100, 4, 3, 3)
