"""Do intervals of `evaluate` with gold hold the score on the items whose gold it did not see? A table in Markdown.

    BAYESAGREE_DATA=<folder> uv run --group bench python benchmarks/gold.py [--repeats 20] [--items 400]

<folder> holds ``crowd-gold``. Of each crowd set the items with gold, at most `--items` of them chosen at random; gold
is given for a random quarter. The models are a copy of the vote, one that is right on 80 % of the items, and as the
third one equal to gold ("perfect"), or right on 93 % of the items and else half of the time with the vote ("good").
4 x 500 draws.
"""

import argparse
import os
from pathlib import Path

import numpy as np
from crowd_sets import SETS, read

import bayesagree as ba
from bayesagree.inference.intervals import hdi

MODELS = ("best", "vote", "right on 80 %")


def models_of(gold: np.ndarray, counts: np.ndarray, *, perfect: bool, rng: np.random.Generator) -> np.ndarray:
    """Labels of the three models, shape (model, item)."""
    n_labels = counts.shape[1]
    vote = (counts + 0.01 * rng.random(counts.shape)).argmax(axis=1)
    wrong = (gold + rng.integers(1, n_labels, gold.size)) % n_labels
    slip = np.where(rng.random(gold.size) < 0.5, vote, wrong)
    best = gold if perfect else np.where(rng.random(gold.size) < 0.93, gold, slip)
    return np.stack([best, vote, np.where(rng.random(gold.size) < 0.8, gold, wrong)])


def one(labels: ba.Labels, truth: dict, *, perfect: bool, most: int, random_seed: int) -> np.ndarray:
    """Held, width, error of each model, and whether the best model is estimated above the vote: shape (4, model)."""
    rng = np.random.default_rng(random_seed)
    items = rng.permutation(np.array(list(truth)))[:most]
    given = labels.select(np.isin(labels.items, items)[labels.item_index])
    gold = np.searchsorted(given.categories, [truth[i] for i in given.items.tolist()])
    predicted = models_of(gold, given.counts(), perfect=perfect, rng=rng)
    named = {name: given.categories[row] for name, row in zip(MODELS, predicted)}
    predictions = ba.Predictions.from_labels(named, items=given.items, labels=given.categories.tolist())
    known = rng.permutation(gold.size)[: round(gold.size / 4)]
    some = {given.items[i].item(): given.categories[gold[i]].item() for i in known}
    tree = ba.evaluate(given, predictions, gold=some, draws=500, random_seed=random_seed)
    drawn = tree["other_items"]["accuracy"].values[:, :, 0].reshape(-1, 3)
    others = np.setdiff1d(np.arange(gold.size), known)
    score = (predicted[:, others] == gold[others]).mean(axis=1)
    ends = np.array([hdi(drawn[:, j], 0.95) for j in range(3)])
    mean = tree["posterior"]["accuracy"].mean(("chain", "draw")).values[0]
    held = (ends[:, 0] - 1e-9 <= score) & (score <= ends[:, 1] + 1e-9)
    return np.stack([held, ends[:, 1] - ends[:, 0], drawn.mean(axis=0) - score, np.full(3, mean[0] > mean[1])])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--items", type=int, default=400)
    parser.add_argument("--sets", nargs="*", default=SETS[:10])
    given = parser.parse_args()
    folder = Path(os.environ["BAYESAGREE_DATA"])
    print("| set | best model | coverage: best, vote, 80 % | width | bias | best above the vote |")
    print("| --- | --- | --- | --- | --- | --- |", flush=True)
    every: dict[bool, list[np.ndarray]] = {True: [], False: []}
    for name in given.sets:
        labels, truth = read(name, folder)
        for perfect in (True, False):
            found = [
                one(labels, truth, perfect=perfect, most=given.items, random_seed=100 + s)
                for s in range(given.repeats)
            ]
            every[perfect] += found
            held, width, error, above = np.mean(found, axis=0)
            cells = [" ".join(f"{v:.2f}" for v in held), " ".join(f"{v:.3f}" for v in width)]
            cells.append(" ".join(f"{v:+.3f}" for v in error))
            print(
                "|",
                " | ".join([name, "perfect" if perfect else "good", *cells, f"{above[0]:.2f}"]),
                "|",
                flush=True,
            )
    for perfect, found in every.items():
        held, name = np.mean(found, axis=0)[0], "perfect" if perfect else "good"
        print(f"\n{name}: {held.round(3)} of {len(found)} intervals each, all {held.mean():.3f}")


if __name__ == "__main__":
    main()
