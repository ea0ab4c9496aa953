"""Simulation-based calibration: parameters from the prior, labels from them, ranks of the truth among draws."""

import numpy as np
import pytest

from bayesagree.annotations import Labels
from bayesagree.datasets.simulate import crowd_labels
from bayesagree.plausibility.dawid_skene.posterior import dawid_skene
from bayesagree.plausibility.dawid_skene.prior import DawidSkenePrior

N_ITEMS, N_ANNOTATORS, N_LABELS, DRAWS = 20, 4, 3, 63
THIN = {"full": 6, "one_coin": 6, "class_conditional": 6, "hierarchical": 10, "mixed_membership": 30}
PRIOR = DawidSkenePrior()


def _confusion(variant: str, rng: np.random.Generator) -> tuple[np.ndarray, dict[str, float]]:
    """Draw the annotators' confusion from the prior; return it and those of its parameters that are ranked."""
    if variant in ("one_coin", "class_conditional"):
        shape = (N_ANNOTATORS, 1 if variant == "one_coin" else N_LABELS)
        right = rng.beta(PRIOR.strength * PRIOR.accuracy, PRIOR.strength * (1 - PRIOR.accuracy), shape)
        return _equal_errors(np.broadcast_to(right, (N_ANNOTATORS, N_LABELS))), {}
    rows, truth = PRIOR.confusion(N_LABELS), {}
    if variant != "full":
        kappa = np.exp(rng.normal(np.log(PRIOR.concentration), PRIOR.concentration_sd, N_LABELS))
        phi = np.array([rng.dirichlet(row) for row in rows])
        rows = kappa[:, None] * phi
        truth = {"concentration 0": kappa[0], "crowd confusion 01": phi[0, 1]}
    confusion = np.array([[rng.dirichlet(np.maximum(row, 1e-9)) for row in rows] for _ in range(N_ANNOTATORS)])
    return confusion, truth | {"confusion 102": confusion[1, 0, 2]}


def _simulate(variant: str, rng: np.random.Generator) -> tuple[Labels, dict[str, float]]:
    """Draw everything from the prior; return the labels and the parameters to be ranked."""
    prevalence = rng.dirichlet(np.full(N_LABELS, PRIOR.prevalence))
    truth = {"prevalence 0": prevalence[0], "prevalence 2": prevalence[2]}
    confusion, unknown = _confusion(variant, rng)
    ambiguity = 0.0
    if variant == "mixed_membership":
        ambiguity = float(np.exp(rng.normal(np.log(PRIOR.ambiguity), PRIOR.ambiguity_sd)))
        truth["ambiguity"] = ambiguity
    crowd = crowd_labels(
        n_items=N_ITEMS, n_annotators=N_ANNOTATORS, n_labels=N_LABELS, labels_per_item=3,
        prevalence=prevalence.tolist(), confusion=confusion, ambiguity=ambiguity, random_seed=rng,
    )  # fmt: skip
    truth |= unknown | {"confusion 000": confusion[0, 0, 0], "accuracy 2": prevalence @ np.diag(confusion[2])}
    if variant == "mixed_membership":
        truth["plausibility 00"] = crowd.plausibility[0, 0]
    return crowd.labels, truth


def _equal_errors(right: np.ndarray) -> np.ndarray:
    """Confusion (..., label, given label) of annotators right with these chances, else saying any other label."""
    wrong = (1 - right) / (N_LABELS - 1)
    return np.where(np.eye(N_LABELS, dtype=bool), right[..., None], wrong[..., None])


def _draws(variant: str, labels: Labels, random_seed: int) -> dict[str, np.ndarray]:
    thin = THIN[variant]
    tree = dawid_skene(
        labels, variant=variant, draws=DRAWS, chains=1, tune=20 * thin, thin=thin, random_seed=random_seed
    )
    v = {name: values.values[0] for name, values in tree["posterior"].to_dataset().items()}
    drawn = {
        "prevalence 0": v["prevalence"][:, 0],
        "prevalence 2": v["prevalence"][:, 2],
        "confusion 000": v["confusion"][:, 0, 0, 0],
        "confusion 102": v["confusion"][:, 1, 0, 2],
        "accuracy 2": v["accuracy"][:, 2],
        "plausibility 00": v["plausibility"][:, 0, 0],
    }
    if variant in ("hierarchical", "mixed_membership"):
        drawn |= {"concentration 0": v["concentration"][:, 0], "crowd confusion 01": v["crowd_confusion"][:, 0, 1]}
    if variant == "mixed_membership":
        drawn["ambiguity"] = v["ambiguity"]
    return drawn


def _ranks(variant: str, replicates: int, random_seed: int) -> dict[str, np.ndarray]:
    """Rank the truth among draws."""
    ranks: dict[str, list[int]] = {}
    for replicate in range(replicates):
        rng = np.random.default_rng([random_seed, replicate])
        labels, truth = _simulate(variant, rng)
        drawn = _draws(variant, labels, replicate)
        for parameter, value in truth.items():
            known = drawn[parameter].astype(np.float32)
            below, equal = (known < np.float32(value)).sum(), (known == np.float32(value)).sum()
            # Plausibilities below 1e-45 are zero in truth and draws: any place among equal ones is as likely.
            ranks.setdefault(parameter, []).append(int(below + rng.integers(0, equal + 1)))
    return {parameter: np.array(values) for parameter, values in ranks.items()}


@pytest.mark.parametrize(
    ("variant", "replicates", "random_seed"),
    [
        ("full", 120, 1), ("hierarchical", 80, 1), ("mixed_membership", 24, 1), ("one_coin", 40, 1),
        ("class_conditional", 40, 1), *(pytest.param(variant, 500, 2, marks=pytest.mark.slow) for variant in THIN),
    ],
)  # fmt: skip
def test_ranks_of_the_truth_are_uniform(variant, replicates, random_seed, calibration):
    for name, ranks in _ranks(variant, replicates, random_seed).items():
        calibration.uniform(f"dawid_skene, {variant}", name, ranks, DRAWS + 1)
