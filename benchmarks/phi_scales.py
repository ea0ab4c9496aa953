"""The same latent answers on 3, 5, 7, 11 and 101 levels: benchmarks/results/phi_scales.md.

    BAYESAGREE_DATA=... python benchmarks/phi_scales.py [repetitions]

Crowds of 200 items and six annotators: agreeing and hardly agreeing (one judgment per item with noise), random
(uniform answers), and polarised (two camps near the ends). Each judgment is rounded to every scale in two ways: cut
into intervals of equal width, as Phi's model assumes, and rounded to the nearest level, as people do on a slider, where
both ends count half. Phi stands beside what no monotone change of the scale alters: the polychoric intraclass
correlation of two answers, the reliability of the mean of all six that follows by Spearman and Brown, and ordinal
alpha. The value that its intervals are to hold is that of a crowd of 20,000 items on 101 intervals; of random answers
it is 0.
"""

import sys
import warnings
from pathlib import Path

import numpy as np

import bayesagree as ba
from bayesagree.agreement._coefficients import coefficients
from bayesagree.agreement._items import items_of
from bayesagree.datasets import load

LEVELS = (3, 5, 7, 11, 101)
ITEMS, ANNOTATORS, MANY = 200, 6, 20_000
CROWDS = ("agreeing", "hardly agreeing", "random", "polarised")
ROUNDED = {"intervals": "intervals", "nearest": "the nearest level"}


def crowd(kind: str, rng: np.random.Generator, items: int = ITEMS) -> np.ndarray:
    """Return judgments on (0, 1), shape (item, annotator)."""
    shape = items, ANNOTATORS
    if kind == "random":
        return rng.random(shape)
    if kind == "polarised":
        camp = rng.random(shape) < rng.beta(2, 2, items)[:, None]
        return np.where(camp, rng.beta(1, 8, shape), rng.beta(8, 1, shape))
    mean, precision = rng.beta(2, 2, items)[:, None], {"agreeing": 8.0, "hardly agreeing": 2.5}[kind]
    return rng.beta(mean * precision, (1 - mean) * precision, shape)


def on_scale(x: np.ndarray, levels: int, cut: str) -> ba.Ratings:
    """Return judgments as levels 0, ..., levels - 1."""
    seen = np.minimum(np.floor(x * levels), levels - 1) if cut == "intervals" else np.round(x * (levels - 1))
    return ba.Ratings.from_matrix(seen, scale=(0, levels - 1), step=1)


def reference(kind: str) -> float:
    """Return the polychoric ICC of a very large crowd on the finest scale."""
    if kind == "random":
        return 0.0
    items = items_of(on_scale(crowd(kind, np.random.default_rng(0), MANY), max(LEVELS), "intervals"))
    return dict(coefficients(items, "ordinal"))["icc_polychoric"].estimate()


def of_mean(icc: float, annotators: float) -> float:
    """Return the reliability of the mean of so many answers."""
    return annotators * icc / (1 + (annotators - 1) * icc)


def cell(kind: str, cut: str, levels: int, truth: float, repetitions: int) -> dict[str, str]:
    """Return what the crowds of one cell say, each number with its Monte-Carlo error."""
    found = []
    for seed in range(repetitions):
        ratings = on_scale(crowd(kind, np.random.default_rng([1, seed])), levels, cut)
        table = ba.agreement_table(ratings, level="ordinal", seed=seed).set_index("coefficient")
        icc = table.loc["icc_polychoric"]
        held = icc["lower"] <= truth <= icc["upper"]
        estimates = [table.loc[name, "estimate"] for name in ("phi", "alpha_ordinal", "icc_polychoric")]
        found.append([*estimates, of_mean(max(icc["estimate"], 0), ANNOTATORS), held])
    values = np.array(found, float)
    mean, error = values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(repetitions)
    phi, alpha, icc, whole = (f"{m:.2f} ± {e:.2f}" for m, e in zip(mean[:4], error))
    print(kind, cut, levels, phi, icc, mean[4], flush=True)
    return {"phi": phi, "alpha": alpha, "icc": icc, "mean": whole, "held": f"{round(values[:, 4].sum())}"}


TABLES = {
    "phi": "Φ",
    "icc": "Polychoric ICC of two answers",
    "mean": "Reliability of the mean of six answers",
    "alpha": "Ordinal alpha",
    "held": "Crowds whose 95 % interval of the polychoric ICC holds the latent value",
}


def simulated(repetitions: int) -> list[str]:
    """Return the tables of simulated crowds."""
    truth = {kind: reference(kind) for kind in CROWDS}
    cells = {
        (kind, cut, k): cell(kind, cut, k, truth[kind], repetitions)
        for kind in CROWDS for cut in ROUNDED for k in LEVELS
    }  # fmt: skip
    lines = [f"Latent values: {', '.join(f'{kind} {value:.2f}' for kind, value in truth.items())}.", ""]
    for key, title in TABLES.items():
        lines += [f"## {title}", "", "| crowd | levels are | " + " | ".join(f"{k} levels" for k in LEVELS) + " |"]
        lines.append("| --- | --- | " + " | ".join("---" for _ in LEVELS) + " |")
        for kind in CROWDS:
            for cut, words in ROUNDED.items():
                lines.append(f"| {kind} | {words} | " + " | ".join(cells[kind, cut, k][key] for k in LEVELS) + " |")
        lines.append("")
    polarised = [int(one["held"]) for (kind, _, _), one in cells.items() if kind == "polarised"]
    held, n = sum(int(one["held"]) for one in cells.values()) - sum(polarised), len(cells) - len(polarised)
    lines += [
        f"Together {held} of {repetitions * n} but for the polarised, whose latent answers are not normal:",
        f"{sum(polarised)} of {repetitions * len(polarised)}. The ten cells of a kind share its crowds, so that these",
        "are not so many independent ones.", "",
    ]  # fmt: skip
    return lines


def coarser(ratings: ba.Ratings, levels: int) -> ba.Ratings:
    """Return ratings cut into so many intervals of equal width."""
    low, high = ratings.scale
    n = round(high - low) + 1
    frame = ratings.to_long()
    frame["rating"] = np.floor((frame["rating"] - low) * levels / n)
    return ba.Ratings.from_long(frame, scale=(0, levels - 1), step=1)


def real() -> list[str]:
    """Return the table of the two truthfulness sets: the same statements, other annotators, 6 and 101 levels."""
    lines = [
        "## The same statements, judged by other people on another scale", "",
        "Political statements, ten ratings of most by 200 annotators on six levels and by 200 others on 0 to 100, and",
        "both cut into fewer levels. In brackets: 95 % intervals.", "",
        "| set | levels | Φ | ordinal alpha | polychoric ICC | reliability of the mean of ten |",
        "| --- | --- | --- | --- | --- | --- |",
    ]  # fmt: skip
    for name, scales in (("truthfulness/s6", (6, 3)), ("truthfulness/s100", (101, 11, 6, 3))):
        given = load(name).annotations
        for levels in scales:
            ratings = given if levels == scales[0] else coarser(given, levels)
            table = ba.agreement_table(ratings, level="ordinal", seed=1).set_index("coefficient")
            cells = [
                "{estimate:.2f} [{lower:.2f}, {upper:.2f}]".format(**table.loc[row])
                for row in ("phi", "alpha_ordinal", "icc_polychoric")
            ]
            icc = table.loc["icc_polychoric"]
            each = [of_mean(max(icc[end], 0), 10) for end in ("estimate", "lower", "upper")]
            cells.append("{:.2f} [{:.2f}, {:.2f}]".format(*each))
            print(name, levels, cells, flush=True)
            lines.append(f"| {name} | {levels} | " + " | ".join(cells) + " |")
    return lines


def study(repetitions: int) -> str:
    """Return the page."""
    warnings.simplefilter("ignore")
    lines = [
        "# The same answers on other scales", "",
        f"Means over {repetitions} simulated crowds of {ITEMS} items and {ANNOTATORS} annotators in each cell, with",
        "their Monte-Carlo errors; `benchmarks/phi_scales.py` made it and says what the crowds are.", "",
        *simulated(repetitions), *real(),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    page = study(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
    (Path(__file__).parent / "results" / "phi_scales.md").write_text(page)
    print(page)
