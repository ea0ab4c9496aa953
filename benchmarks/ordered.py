"""Held-out log score of the ordered variant of `dawid_skene` beside the nominal ones, on public labels with an order.

uv run python benchmarks/ordered.py [held_out] [speed] [coverage]        (writes results/ordered.md, or parts of it)

**Held out**: annotators are held out as ``variant="auto"`` does (of few annotators labels are): each variant is fitted
to the others, and the score of a held-out label is the log of the plausibility that the item then gives it, .99 of it
and .01 spread over all labels; higher is better. The error is that of the difference to "ordered" over items. Ratings
of more than seven levels are cut into seven classes of about equal size, sets of more than 250 items into 250 of them.
The second table has the weights of ``variant="auto"``.

"ordered" predicts best on all five sets; on truthfulness/s6 its lead over the votes is within the error.

**Speed**: four chains of 1000 draws after 300, of 100,000 labels by 500 annotators, five for each item; the best label
of each draw is kept.

**Coverage** has simulated labels: 80 items, six annotators who gave .6 of the labels, five labels; severities have
the sd named, discriminations sd .3. The mean label of an item is that by a typical annotator. 40 sets: the error of a
share over items is about .005, over annotators .015.
"""

import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import ndtr

from bayesagree import Labels, datasets, dawid_skene
from bayesagree.inference.results import settings_of
from bayesagree.inference.streams import stream_apart
from bayesagree.plausibility.dawid_skene._crowd import Crowd
from bayesagree.plausibility.dawid_skene._variants import FOLDS, SAMPLERS, folds
from bayesagree.plausibility.dawid_skene.prior import DawidSkenePrior

SETS = ("lewidi2025-csc", "popquorn", "snow-affect", "truthfulness/s6", "truthfulness/s100")
VARIANTS = ("ordered", "votes", "mixed_membership", "hierarchical", "full")
MOST_ITEMS, CLASSES = 250, 7


def labels_of(name: str) -> Labels:
    """Return the ratings of a set as ordered labels."""
    ratings = datasets.load(name).annotations
    chosen = np.random.default_rng(1).permutation(ratings.items.size)[:MOST_ITEMS]
    table = ratings.select(np.isin(ratings.item_index, chosen)).to_long()
    values = table["rating"]
    if values.nunique() > CLASSES:
        table["rating"] = pd.qcut(values, CLASSES, duplicates="drop").cat.codes
    return Labels.from_long(table, label="rating", ordered=True, duplicates="first")


def log_scores(labels: Labels) -> dict[str, tuple[float, float, float]]:
    """Return the mean log score of each variant, and that of "ordered" minus it with its error over items."""
    codes = labels.item_index, labels.annotator_index, labels.label_index
    sizes = labels.items.size, labels.annotators.size, labels.categories.size
    fold = folds(Crowd.of(codes, sizes), np.random.default_rng(stream_apart(1, "folds")))
    codes = tuple(code[np.lexsort(codes[::-1])] for code in codes)  # as a crowd is sorted
    found: dict[str, list[np.ndarray]] = {variant: [] for variant in VARIANTS}
    items = []
    for part in range(FOLDS):
        others = tuple(code[fold != part] for code in codes)
        seen = np.bincount(others[0], minlength=sizes[0]) > 0
        at = np.flatnonzero((fold == part) & seen[codes[0]])
        items.append(codes[0][at])
        for variant in VARIANTS:
            probability = drawn(variant, Crowd.of(others, sizes), tune=400, draws=100, thin=2)
            found[variant].append(np.log(0.99 * probability[codes[0][at], codes[2][at]] + 0.01 / sizes[2]))
    item, scores = np.concatenate(items), {variant: np.concatenate(parts) for variant, parts in found.items()}
    out = {}
    for variant, score in scores.items():
        gap = scores["ordered"] - score
        by_item = np.bincount(item, gap - gap.mean(), labels.items.size)
        out[variant] = float(score.mean()), float(gap.mean()), float(np.sqrt((by_item**2).sum()) / gap.size)
    return out


def drawn(variant: str, crowd: Crowd, draws: int, tune: int, thin: int) -> np.ndarray:
    """Run two chains of a variant; return the probability of each label, (item, category)."""
    rng = np.random.default_rng(1)
    sampler = SAMPLERS[variant](crowd, DawidSkenePrior(), 2, rng)
    sampler.draw(rng, tune)
    total = np.zeros(1)
    for _ in range(draws):
        sampler.draw(rng, thin)
        total = total + sampler.expected
    return total.mean(axis=0) / draws


def speed() -> str:
    """Return the seconds that the default draws of 100,000 labels of five annotators per item take."""
    rng, n_items, annotators = np.random.default_rng(1), 20_000, 500
    item = np.repeat(np.arange(n_items), 5)
    who = (rng.integers(annotators, size=n_items)[:, None] + np.arange(5)).ravel() % annotators
    z = (
        rng.standard_normal(n_items)[item]
        + 0.4 * rng.standard_normal(annotators)[who]
        + rng.standard_normal(item.size)
    )
    table = pd.DataFrame({"item": item, "annotator": who, "label": np.searchsorted([-1.5, -0.5, 0.5, 1.5], z)})
    labels = Labels.from_long(table, ordered=True)
    dawid_skene(labels.select(labels.item_index < 100), variant="ordered", draws=10, tune=10)  # compiles
    wall, busy = time.perf_counter(), time.process_time()
    tree = dawid_skene(labels, variant="ordered", top_labels=1, confusion=False, random_seed=1)
    wall, busy = time.perf_counter() - wall, time.process_time() - busy
    found = f"{wall:.1f} s on two processors, {busy:.1f} s of processor time"
    print(found, flush=True)
    return f"{found}; largest R-hat {float(tree['diagnostics']['r_hat'].max()):.3f}."


def coverage(severity: float, worlds: int = 40, items: int = 80, people: int = 6) -> dict[str, float]:
    """Return the share of 95 % intervals that hold the truth where annotators' severities have this sd."""
    rng, tau, held = np.random.default_rng(1), np.array([-1.5, -0.5, 0.5, 1.5]), {}
    for _ in range(worlds):
        u, alpha = 1.2 * rng.standard_normal(items), severity * rng.standard_normal(people)
        beta, s = 1 + 0.3 * rng.standard_normal(people), np.sqrt(rng.standard_gamma(5, people) / 5)
        z = alpha + beta * u[:, None] + rng.standard_normal((items, people)) / s
        given = np.where(rng.random(z.shape) < 0.6, np.searchsorted(tau, z).astype(float), np.nan)
        labels = Labels.from_matrix(given, labels=range(5), ordered=True)
        true = 4 - ndtr(tau - u[:, None]).sum(axis=1)  # mean label by a typical annotator
        for variant in ("ordered", "votes"):
            how = {"tune": 300, "thin": 3, "draws": 200, "chains": 2, "random_seed": 1}
            chains = dawid_skene(labels, variant=variant, **how)["posterior"].to_dataset()
            shares = np.concatenate(chains["plausibility"].values)
            low, high = np.quantile(shares @ np.arange(5), [0.025, 0.975], axis=0)
            held.setdefault(variant, []).append((low <= true) & (true <= high))
            if variant == "ordered":
                found = np.concatenate(chains["severity"].values)
                low, high = np.quantile(found, [0.025, 0.975], axis=0)
                held.setdefault("severity", []).append((low <= -alpha * s) & (-alpha * s <= high))
    return {name: float(np.mean(rows)) for name, rows in held.items()}


def coverage_table() -> str:
    """Return the coverage of the truth as a table."""
    lines = ["| sd of severities | mean label of an item: ordered | votes | severity of an annotator |"]
    lines.append("| --- " * 4 + "|")
    for severity in (0.0, 0.5, 1.0):
        found = coverage(severity)
        lines.append(
            f"| {severity} | " + " | ".join(f"{found[n]:.3f}" for n in ("ordered", "votes", "severity")) + " |"
        )
        print(lines[-1], flush=True)
    return "\n".join(lines)


def held_out() -> str:
    """Return log scores and weights of the public sets as tables."""
    lines = ["| set | items | labels | annotators | " + " | ".join(VARIANTS) + " |"]
    lines.append("| --- " * (4 + len(VARIANTS)) + "|")
    weights = ["| set | weights of auto |", "| --- | --- |"]
    for name in SETS:
        labels = labels_of(name)
        cells = [
            f"{score:.3f}" + ("" if variant == "ordered" else f" ({gap:+.3f} ± {error:.3f})")
            for variant, (score, gap, error) in log_scores(labels).items()
        ]
        sizes = f"{labels.items.size} | {labels.n_annotations} | {labels.annotators.size}"
        lines.append(f"| {name} | {sizes} | " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
        given = settings_of(dawid_skene(labels, draws=100, chains=2, random_seed=1, top_labels=1))["weights"]
        weights.append(f"| {name} | " + ", ".join(f"{variant} {w:.2f}" for variant, w in given.items()) + " |")
        print(weights[-1], flush=True)
    return "\n".join([*lines, "", *weights])


def main() -> None:
    """Write the parts that are named, or all."""
    warnings.simplefilter("ignore")
    page = Path(__file__).parent / "results" / "ordered.md"
    parts = {"held_out": held_out, "speed": speed, "coverage": coverage_table}
    _, *former = page.read_text().split("\n## ")
    kept = {part.partition("\n")[0]: part.partition("\n")[2].strip() for part in former}
    for name in sys.argv[1:] or parts:
        kept[name] = parts[name]()
    text = f"# Ordered labels\n\n{__doc__.replace('uv run', '    uv run')}"
    page.write_text(text + "".join(f"\n## {name}\n\n{kept[name]}\n" for name in parts if name in kept))


if __name__ == "__main__":
    main()
