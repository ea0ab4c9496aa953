"""Does a score that needs no gold find the crowd model that knows the gold best? A table in Markdown.

    BAYESAGREE_DATA=<folder> uv run --group bench python benchmarks/crowd_choice.py FITS [--seconds 8] [--sets rte ...]

Each posterior is drawn in two chains of so many seconds each (300 to 4000 sweeps, a third as many before), and kept in
the folder FITS: a run that was stopped goes on where it ended. The score is the mean log Pr(annotation given all
others). "votes" are a Dirichlet posterior of each item around the shares of all annotations, its concentration the one
of the best such score; "stacked" the mean of the four posteriors with the weights of the best joint score.
"""

import argparse
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from crowd_gold import _markdown
from crowd_sets import SETS, read
from numpy.typing import NDArray
from pandas import DataFrame

from bayesagree.annotations import Labels
from bayesagree.plausibility.dawid_skene._engines import AUTO_VARIANTS, DawidSkenePosterior, Variant, _layout
from bayesagree.plausibility.dawid_skene.em import vote_shares

FITTED: tuple[Variant, ...] = ("full", *AUTO_VARIANTS)
type Floats = NDArray[np.float64]


def fit(labels: Labels, variant: Variant, seconds: float) -> tuple[Floats, Floats]:
    """Return label probabilities (item, category) and Pr(annotation given all others) in the order of the layout."""
    posterior = DawidSkenePosterior(labels, variant)
    cells = _layout(labels, "all", posterior.gold_index, variant)
    start = posterior.start(cells, vote_shares(cells, labels.item_index, labels.label_index))

    def run(seed: int) -> tuple[Floats, Floats]:
        rng = np.random.default_rng(seed)
        chain = start(rng)
        chain.sweep(rng)  # the first one compiles
        begun = time.perf_counter()
        chain.sweep(rng)
        sweeps = int(np.clip(seconds / (time.perf_counter() - begun), 300, 4000))
        for _ in range(sweeps // 3):
            chain.sweep(rng)
        chain.start_scoring()
        expected = np.zeros(cells.candidate.size)
        for _ in range(sweeps):
            chain.sweep(rng)
            expected += chain.expected
        return expected / sweeps, chain.surprise / sweeps

    with ThreadPoolExecutor(2) as pool:
        probability, surprise = zip(*pool.map(run, (1, 2)))
    return cells.expand(np.mean(probability, axis=0), labels.categories.size), 1 / np.mean(surprise, axis=0)


def votes(labels: Labels, order: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Return the same two of a Dirichlet posterior around the shares of all annotations."""
    counts = labels.counts().astype(float)
    item, label, n = labels.item_index[order], labels.label_index[order], counts.sum(axis=1, keepdims=True)
    share = (counts.sum(axis=0) + 1) / (counts.sum() + counts.shape[1])

    def left_out(alpha: float) -> Floats:
        return (counts[item, label] - 1 + alpha * share[label]) / (n[item, 0] - 1 + alpha)

    alpha = max(np.exp(np.linspace(-4, 3, 71)), key=lambda a: float(np.log(left_out(a)).mean()))
    return (counts + alpha * share) / (n + alpha), left_out(alpha)


def stacking_weights(chance: Floats) -> Floats:
    """Return the weights of the best mean log mixture, chance (annotation, model), by 500 steps of EM."""
    weight = np.full(chance.shape[1], 1 / chance.shape[1])
    for _ in range(500):
        joint = weight * chance
        weight = (joint / joint.sum(axis=1, keepdims=True)).mean(axis=0)
    return weight


def row(name: str, folder: Path, seconds: float) -> dict[str, object]:
    labels, gold = read(name, Path(os.environ["BAYESAGREE_DATA"]))
    order = np.lexsort((labels.label_index, labels.annotator_index, labels.item_index))  # that of the layout
    fits = {"votes": votes(labels, order)}
    for variant in FITTED:
        file = folder / f"{name}__{variant}.npz"
        if not file.exists():
            probability, chance = fit(labels, variant, seconds)
            np.savez_compressed(file, P=probability, loo=chance)
        kept = np.load(file)
        fits[variant] = (kept["P"], kept["loo"])
    place = {label: k for k, label in enumerate(labels.categories.tolist())}
    known = np.array([item in gold for item in labels.items.tolist()])
    truth = np.array([place[gold[item]] for item in labels.items.tolist() if item in gold])
    score = {method: float(np.log(chance).mean()) for method, (_, chance) in fits.items()}
    weights = stacking_weights(np.column_stack([chance for _, chance in fits.values()]))
    auto = max(AUTO_VARIANTS, key=lambda variant: score[variant])
    claims = {method: probability[known] for method, (probability, _) in fits.items()}
    claims["stacked"] = np.tensordot(weights, np.stack([claims[method] for method in fits]), axes=1)
    right = {method: p.argmax(axis=1) == truth for method, p in claims.items()}
    counts = labels.counts()[known]
    most = counts == counts.max(axis=1, keepdims=True)
    majority = float((most / most.sum(axis=1, keepdims=True))[np.arange(truth.size), truth].mean())
    return (
        {"set": name}
        | {f"score {method}": value for method, value in score.items()}
        | {f"gold {m}": float(np.log(p[np.arange(truth.size), truth].clip(1e-12)).mean()) for m, p in claims.items()}
        | {"auto": auto, "weights": " ".join(f"{w:.2f}" for w in weights)}
        | {"gap auto": float(claims[auto].max(axis=1).mean() - right[auto].mean())}
        | {"gap stacked": float(claims["stacked"].max(axis=1).mean() - right["stacked"].mean())}
        | {"accuracy auto - majority": float(right[auto].mean()) - majority}
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("fits", type=Path)
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--sets", nargs="*", default=SETS)
    arguments = parser.parse_args()
    arguments.fits.mkdir(exist_ok=True)
    table = DataFrame([row(name, arguments.fits, arguments.seconds) for name in arguments.sets]).set_index("set")
    print(_markdown(table))
    gaps = table[["gap auto", "gap stacked"]].abs().mean().round(4).to_dict()
    print(f"\nMean absolute gap over {len(table)} sets: {gaps}")


if __name__ == "__main__":
    main()
