"""Coverage of the accuracy that `evaluate` prints by default of simulated models: results/informed_worlds.md.

    uv run python benchmarks/informed_worlds.py --rows rows.jsonl [--runs 12]

Shares of annotators who give a label are Dirichlet with parameters .6 (three labels) or .12 (twenty), 300 items. A
model gives the best label with probability .8 ("best"), .8 (.5 + .5 most) ("half") or .8 most ("most"), where most is
the share of the best label, and else any label; or the largest of the logarithms of the shares plus normal numbers of
sd 1.2 ("look": it errs on unclear items). "flat": three models, best with .85, .65, .55. "truth": one label is true of
an item, annotators give it in .88, two models in .8 and .7, and else any. "hard": half of the items are clear, the
others nearly tied, and a model finds the best label of both in .7. "careless": as truth, three votes an item of twenty
named annotators, of whom six answer at random, or one who gives a third of all votes. Where it gives any label a model
is sometimes right; the truth is the share of items on which it gives the best label. A "softmax" model sees the
logarithms of shares, normal numbers of spread 1.5, with Gumbel noise of .4, .8 and 1.2.

Rows are appended as they are done, and what is done is not done again.
"""

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bayesagree import Labels, Predictions, evaluate
from bayesagree._types import Floats

SAYS = """
What it says: of three labels the default holds the accuracy in .90 to 1.00 of the sets, whatever the models know of
split items, and careless annotators cost nothing. From three votes the intervals of a single model are .2 wide: the
votes hardly tell "knows the best label of split items" from "errs on them", so that a model of the first kind comes out
.06 too low and one of the second .04 too high, and the interval holds both. From ten votes it is half as wide. **The
interval fails** for twenty labels where a model always knows the best label of split items and there are three votes
(.55, too low by .12), and is short where a model errs on them and there are ten (.80, too high by .03).
"""
PAGE = Path(__file__).parent / "results" / "informed_worlds.md"
ITEMS, METRIC = 300, "accuracy"
KNOWS = {
    "best": [0.8],
    "half": [0.8],
    "most": [0.8],
    "flat": [0.85, 0.65, 0.55],
    "hard": [0.7],
    "truth": [0.8, 0.7],
}
KINDS = ("best", "half", "most", "look", "flat", "truth", "hard", "softmax")
WORLDS = [(kind, 3, votes) for kind in KINDS for votes in (3, 10)]
WORLDS += [("six of twenty careless", 3, 3), ("one careless of a third", 3, 3)]
WORLDS += [(kind, 20, votes) for kind in ("best", "half", "most", "look", "truth") for votes in (3, 10)]


def shares_of(kind: str, n_labels: int, rng: np.random.Generator) -> Floats:
    """Draw the shares of annotators, shape (item, label)."""
    clear = np.eye(n_labels)[rng.integers(0, n_labels, ITEMS)]
    if kind == "truth" or "careless" in kind:
        return np.where(clear > 0, 0.88, 0.12 / (n_labels - 1))
    if kind == "hard":
        tied = rng.dirichlet(np.full(n_labels, 10.0), ITEMS)
        easy = 0.9 * clear + 0.1 * rng.dirichlet(np.ones(n_labels), ITEMS)
        return np.where(rng.random((ITEMS, 1)) < 0.5, easy, tied)
    if kind == "softmax":
        seen = np.exp(1.5 * rng.standard_normal((ITEMS, n_labels)))
        return seen / seen.sum(axis=1, keepdims=True)
    return rng.dirichlet(np.full(n_labels, 0.6 if n_labels == 3 else 0.12), ITEMS)


def models_of(kind: str, shares: Floats, rng: np.random.Generator) -> list[NDArray[np.intp]]:
    """Draw the labels of the models."""
    log, best, most = np.log(shares + 1e-12), shares.argmax(axis=1), shares.max(axis=1)
    if kind == "look":
        return [(log + rng.normal(0, 1.2, shares.shape)).argmax(axis=1)]
    if kind == "softmax":
        return [(log + noise * rng.gumbel(size=shares.shape)).argmax(axis=1) for noise in (0.4, 0.8, 1.2)]
    right = {"half": 0.5 + 0.5 * most, "most": most}.get(kind, np.ones(ITEMS))
    known = KNOWS.get(kind, KNOWS["truth"])
    return [
        np.where(rng.random(ITEMS) < q * right, best, rng.integers(0, shares.shape[1], ITEMS)) for q in known
    ]


def labels_of(kind: str, shares: Floats, votes: int, rng: np.random.Generator) -> Labels:
    """Draw the votes, of named annotators where some are careless."""
    n_labels = shares.shape[1]
    if "careless" not in kind:
        return Labels.from_counts(rng.multinomial(votes, shares))
    who = rng.random((ITEMS, 20)).argsort(axis=1)[:, :votes]
    careless = who < 6
    if kind.startswith("one"):
        who[:, 0], careless = 20, np.arange(votes) == 0
    said = (rng.random((ITEMS, votes, 1)) > shares.cumsum(axis=1)[:, None]).sum(axis=2)
    said = np.where(careless, rng.integers(0, n_labels, said.shape), said)
    matrix = np.full((ITEMS, 21), None)
    np.put_along_axis(matrix, who, said.astype(object), axis=1)
    return Labels.from_matrix(matrix, annotators=range(21), labels=range(n_labels))


def score(kind: str, n_labels: int, votes: int, random_seed: int) -> dict[str, float]:
    """Score the models of one set."""
    rng = np.random.default_rng([random_seed, votes, n_labels, len(kind), ord(kind[0])])
    shares = shares_of(kind, n_labels, rng)
    models = models_of(kind, shares, rng)
    right = np.array([(label == shares.argmax(axis=1)).mean() for label in models])
    given = Predictions.from_labels({f"m{m}": label for m, label in enumerate(models)}, labels=range(n_labels))
    labels = labels_of(kind, shares, votes, rng)
    tree = evaluate(labels, given, plausibility="informed_dirichlet", draws=250, random_seed=random_seed)
    found: dict[str, float] = {}
    for name, group in (("", "posterior"), ("alone ", "annotations_only")):
        drawn = tree[group][METRIC]
        low, high = drawn.quantile([0.025, 0.975], ("chain", "draw")).values
        found |= {
            f"{name}bias": float((drawn.mean(("chain", "draw")).values - right).mean()),
            f"{name}held": float(((low <= right) & (right <= high)).mean()),
            f"{name}width": float((high - low).mean()),
        }
    return found


def report(rows: list[dict[str, float]]) -> str:
    """Summarise the sets of one world as cells of a table."""
    cells = []
    for name in ("", "alone "):
        bias, held, width = (np.array([row[name + of] for row in rows]) for of in ("bias", "held", "width"))
        error = [part.std(ddof=1) / np.sqrt(len(rows)) for part in (bias, held)]
        cells.append(
            f"{held.mean():.2f} ({error[1]:.2f}); {bias.mean():+.3f} ({error[0]:.3f}); {width.mean():.3f}"
        )
    return f"{len(rows)} | " + " | ".join(cells)


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=12)
    given = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)
    given.rows.touch()
    done = {tuple(key): row for key, row in map(json.loads, given.rows.read_text().splitlines())}
    for key in ((*world, run) for world in WORLDS for run in range(given.runs)):
        if key not in done:
            done[key] = score(*key)
            with given.rows.open("a") as file:
                file.write(json.dumps([key, done[key]]) + "\n")
    about = (__doc__ or "").split("\n\n")[2]
    lines = [
        "# Accuracy of simulated models from a few votes", "", "Made by `benchmarks/informed_worlds.py`.", "",
        about, "",
        "Share of 95 % intervals that hold the accuracy; bias; their width; means over sets (standard error).", SAYS,
        "| world | labels | votes per item | sets | default | labels alone |", "| --- | --- | --- | --- | --- | --- |",
    ]  # fmt: skip
    for kind, n_labels, votes in WORLDS:
        rows = [row for key, row in done.items() if key[:3] == (kind, n_labels, votes)]
        lines.append(f"| {kind} | {n_labels} | {votes} | {report(rows)} |")
    PAGE.write_text("\n".join([*lines, ""]))


if __name__ == "__main__":
    main()
