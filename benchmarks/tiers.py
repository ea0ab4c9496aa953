"""Whether the places and tiers of `compare` hold for all models together; tables in Markdown.

    OMP_NUM_THREADS=1 uv run python benchmarks/tiers.py [--worlds 200] [--evaluations 25] [--leagues 25]

Calibrated posteriors: true scores equal, in equal pairs 10 apart, normal with sd 1, 3 or 8, or in steps of 1.5; the
estimate of a model has an error of sd .7 to 1.3, and 1,000 draws around it have the same errors.

Evaluations by the default of `evaluate`: plausibilities of three labels Dirichlet(.5), three votes per item; model j
adds noise of sd 1 + spread j to log plausibilities, 60 % of its variance shared by all models. The truth of a score is
the accuracy on these items (``items="fixed"``), so that models of one noise have true places; with
``items="bootstrap"`` models of one noise are equal. 250 draws of 4 chains.

Leagues by `davidson`: 1,000 comparisons of random pairs, strengths equal or normal with sd .5.

Columns: mean size of the sets of places by `compare` and in brackets by the draws as they are, each model on its own;
share of worlds in which the sets hold the place of every model, of both; share of worlds with a model of a higher tier
that is not better; with two tiers or more; with a pair that is better with probability above .95 on its own, and with
such a pair that is wrong.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

import bayesagree as ba
from bayesagree._types import Floats
from bayesagree.inference.tiers import places, rank_probabilities, rank_sets, standing

SIZES = (3, 8, 20, 60)
SPREADS: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "equal": lambda rng, n: np.zeros(n),
    "equal pairs": lambda rng, n: 10.0 * (np.arange(n) // 2),
    "sd 1": lambda rng, n: rng.normal(size=n),
    "sd 3": lambda rng, n: 3 * rng.normal(size=n),
    "sd 8": lambda rng, n: 8 * rng.normal(size=n),
    "steps of 1.5": lambda rng, n: 1.5 * np.arange(n),
}


def calibrated(kind: str, n_models: int, rng: np.random.Generator) -> tuple[Floats, list[Floats]]:
    """True scores and the draws of a calibrated posterior."""
    true, sd = SPREADS[kind](rng, n_models), rng.uniform(0.7, 1.3, n_models)
    return true, [true + sd * rng.normal(size=n_models) + sd * rng.normal(size=(1000, n_models))]


def evaluation(
    n_models: int, spread: float, n_items: int, items: str, rng: np.random.Generator
) -> tuple[Floats, list[Floats]]:
    """True accuracies and the draws of an evaluation, under each truth that it has."""
    shares = rng.dirichlet(np.full(3, 0.5), n_items)
    votes = ba.Labels.from_counts(rng.multinomial(3, shares))
    shared, scores = rng.normal(size=shares.shape), {}
    for j in range(n_models):
        noise = np.sqrt(0.6) * shared + np.sqrt(0.4) * rng.normal(size=shares.shape)
        odds = (shares + 1e-9) * np.exp((1 + spread * j) * noise)
        scores[f"m{j:02d}"] = odds / odds.sum(axis=1, keepdims=True)
    models = ba.Predictions.from_scores(scores, items=votes.items.tolist(), labels=votes.categories.tolist())
    true = np.array([(one.argmax(axis=1) == shares.argmax(axis=1)).mean() for one in scores.values()])
    if items == "bootstrap":
        true = -spread * np.arange(n_models)
    tree = ba.evaluate(votes, models, items=items, draws=250, random_seed=rng)
    truths = [tree[name]["accuracy"] for name in ("posterior", "without_unsure") if name in tree]
    return true, [values.transpose(..., "model").values.reshape(-1, n_models) for values in truths]


def league(n_models: int, spread: float, rng: np.random.Generator) -> tuple[Floats, list[Floats]]:
    """True strengths and the draws of `davidson`."""
    true = spread * rng.normal(size=n_models)
    pairs = np.array([rng.choice(n_models, 2, replace=False) for _ in range(1000)])
    first = rng.random(1000) < 1 / (1 + np.exp(true[pairs[:, 1]] - true[pairs[:, 0]]))
    names = np.array([f"m{j:02d}" for j in range(n_models)])
    games = {
        "left": names[pairs[:, 0]],
        "right": names[pairs[:, 1]],
        "winner": np.where(first, "left", "right"),
    }
    strength = ba.davidson(ba.Comparisons.from_long(pd.DataFrame(games)), draws=500, random_seed=rng)[
        "posterior"
    ]
    return true, [strength["strength"].sel(model=names).values.reshape(-1, n_models)]


def judged(true: Floats, drawn: list[Floats]) -> Iterator[float]:
    """Yield the columns of a world, of sets of places by both ways."""
    low, high, tier = standing(*drawn)
    first, last = (place[0] for place in places(true[None]))
    alone = rank_sets(rank_probabilities(drawn[0]))
    yield from ((b - a + 1).mean() for a, b in ((low, high), alone))
    yield from (float(((a <= last) & (b >= first)).all()) for a, b in ((low, high), alone))
    not_better = true[:, None] <= true + 1e-9
    yield float((not_better & (tier[:, None] < tier)).any())
    yield float(tier.max() > 1)
    said = np.stack([(drawn[0] > drawn[0][:, [b]]).mean(axis=0) for b in range(true.size)], axis=1) > 0.95
    yield float(said.any())
    yield float((said & not_better).any())


def row(name: str, n_models: int, worlds: list[tuple[Floats, list[Floats]]]) -> str:
    found = np.array([[*judged(*world)] for world in worlds])
    size, alone, *shares = found.mean(axis=0)
    error = np.sqrt(np.maximum(np.array(shares) * (1 - np.array(shares)), 1e-4) / len(found))
    hold, hold_alone, *rest = (f"{share:.2f} ({e:.2f})" for share, e in zip(shares, error))
    cells = [f"{size:.1f} ({alone:.1f})", f"{hold}; {hold_alone}", *rest]
    return f"| {name} | {n_models} | {len(found)} | {' | '.join(cells)} |"


def rows(worlds: int, evaluations: int, leagues: int) -> Iterator[str]:
    for n_models in SIZES:
        for kind in SPREADS:
            rng = np.random.default_rng([n_models, len(kind)])
            number = worlds if n_models < 60 else worlds // 10
            yield row(f"calibrated, {kind}", n_models, [calibrated(kind, n_models, rng) for _ in range(number)])
    for n_models, spread, n_items, items in (
        (3, 0.0, 100, "fixed"),
        (8, 0.0, 100, "fixed"),
        (8, 0.0, 100, "bootstrap"),
        (8, 0.06, 300, "fixed"),
        (8, 0.12, 300, "fixed"),
        (20, 0.0, 100, "fixed"),
        (20, 0.06, 300, "fixed"),
    ):
        rng = np.random.default_rng([n_models, round(100 * spread), n_items, len(items)])
        made = [
            evaluation(n_models, spread, n_items, items, rng)
            for _ in range(evaluations if n_models < 20 else evaluations // 2)
        ]
        yield row(f"evaluation of {n_items} items ({items}), spread {spread:g}", n_models, made)
    for n_models, spread in ((3, 0.0), (8, 0.0), (8, 0.5), (20, 0.0), (20, 0.5)):
        rng = np.random.default_rng([n_models, round(100 * spread)])
        yield row(f"league, sd {spread:g}", n_models, [league(n_models, spread, rng) for _ in range(leagues)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("worlds", 200), ("evaluations", 25), ("leagues", 25)):
        parser.add_argument(f"--{name}", type=int, default=default)
    warnings.simplefilter("ignore")
    print("| world | models | worlds | places | all hold | wrong tier | two tiers | pair > .95 | wrong pair |")
    print("| --- | ---: | ---: | --- | --- | --- | --- | --- | --- |")
    for line in rows(**vars(parser.parse_args())):
        print(line, flush=True)


if __name__ == "__main__":
    main()
