"""The sign of Phi on 3, 5, 7, 11 and 101 levels of the same latent answers: benchmarks/results/phi_scales.md.

    python benchmarks/phi_scales.py [repetitions]

Three crowds of 200 items and six annotators: agreeing (one judgment per item with noise), random (uniform answers), and
polarised (two camps near the ends). Each judgment is rounded to every scale in two ways: cut into intervals of equal
width, as the model assumes, and rounded to the nearest level, as people do on a slider, where both ends count half.
Beside Phi stands Krippendorff's ordinal alpha, which no monotone relabelling of the levels can change.
"""

import sys
import warnings
from pathlib import Path

import numpy as np

import bayesagree as ba

LEVELS = (3, 5, 7, 11, 101)
ITEMS, ANNOTATORS = 200, 6


def crowd(kind: str, rng: np.random.Generator) -> np.ndarray:
    """Return judgments on (0, 1), shape (item, annotator)."""
    shape = ITEMS, ANNOTATORS
    if kind == "random":
        return rng.random(shape)
    if kind == "polarised":
        camp = rng.random(shape) < rng.beta(2, 2, ITEMS)[:, None]
        return np.where(camp, rng.beta(1, 8, shape), rng.beta(8, 1, shape))
    mean, precision = rng.beta(2, 2, ITEMS)[:, None], {"agreeing": 8.0, "hardly agreeing": 2.5}[kind]
    return rng.beta(mean * precision, (1 - mean) * precision, shape)


def on_scale(x: np.ndarray, levels: int, cut: str) -> ba.Ratings:
    """Return judgments as levels 0, ..., levels - 1."""
    seen = np.minimum(np.floor(x * levels), levels - 1) if cut == "intervals" else np.round(x * (levels - 1))
    return ba.Ratings.from_matrix(seen, scale=(0, levels - 1), step=1)


def study(repetitions: int) -> str:
    """Return the page."""
    warnings.simplefilter("ignore")
    lines = [
        "# The sign of Phi on other scales", "",
        f"Means over {repetitions} simulated crowds of {ITEMS} items and {ANNOTATORS} annotators in each row.",
        "In brackets: ordinal alpha. Made by `benchmarks/phi_scales.py`, which says what the crowds are.", "",
        "| crowd | levels are | " + " | ".join(f"{k} levels" for k in LEVELS) + " |",
        "| --- | --- | " + " | ".join("---" for _ in LEVELS) + " |",
    ]  # fmt: skip
    for kind in ("agreeing", "hardly agreeing", "random", "polarised"):
        for cut in ("intervals", "nearest"):
            cells = []
            for levels in LEVELS:
                found = []
                for seed in range(repetitions):
                    ratings = on_scale(crowd(kind, np.random.default_rng(seed)), levels, cut)
                    phi = ba.common_agreement(ratings, draws=1, chains=1, seed=seed)["agreement"]
                    found.append([float(phi["mean"]), ba.krippendorff_alpha(ratings, level="ordinal")])
                mean = np.mean(found, axis=0)
                cells.append(f"{mean[0]:+.2f} ({mean[1]:.2f})")
            lines.append(f"| {kind} | {cut} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    page = study(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
    (Path(__file__).parent / "results" / "phi_scales.md").write_text(page)
    print(page)
