"""Rates from fifty human verdicts and a judge's verdict on everything, on two sets of Arena comparisons.

BAYESAGREE_DATA=<folder> uv run python benchmarks/arena_judges.py [draws]          (writes results/arena_judges.md)

The data are those of arXiv:2601.05420: 325 and 277 comparisons of two models, each with one human verdict and those of
gpt-4o-mini and gpt-5.2. The rate is the share of comparisons that the Claude model wins by all human verdicts. Each
draw takes 50 comparisons without replacement whose human verdicts are known; the judge's are known for all. All methods
see the same draws:

- `corrected_rate` with the verdict alone, and with the order of the two answers in the prompt as a feature;
- `rogan_gladen`, sensitivity and specificity from the 50; `PPI` (power 1) and `PPI++`, by `prediction_powered_mean`;
- the raw judge: its share of Claude with the binomial (Wald) interval, as it is reported;
- people: the 50 human verdicts alone, the same interval.

`covered` has its Monte-Carlo error in brackets; nominal is .95. The 50 are a sixth of a finite set, and every interval
is for a population: a right one covers somewhat more than .95, by the factor sqrt(1 - 50 / N) of its error.
"""

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayesagree import Labels, corrected_rate
from bayesagree.datasets._files import locate
from bayesagree.judges import prediction_powered_mean
from studies.rates import rogan_gladen

DRAWS, LABELLED, Z = 200, 50, 1.959964
PAGE = Path(__file__).parent / "results" / "arena_judges.md"

type Interval = tuple[float, float, float]
"""Estimate, lower and upper end."""


def wald(values: np.ndarray) -> Interval:
    """Return mean and normal interval of a share."""
    mean = values.mean()
    error = Z * np.sqrt(mean * (1 - mean) / values.size)
    return mean, mean - error, mean + error


def regression(
    verdict: np.ndarray, human: np.ndarray, asked: np.ndarray, order: Any, random_seed: int
) -> Interval:
    """Return the interval of `corrected_rate`."""
    judge = Labels.from_matrix(verdict[:, None], annotators=["judge"], labels=[0, 1])
    people = Labels.from_matrix(human[asked, None], items=asked.tolist(), labels=[0, 1])
    found = corrected_rate(judge, people, positive=1, by=order, draws=500, chains=2, random_seed=random_seed)[
        "derived"
    ]
    return tuple(found[f"rate_{name}"].item() for name in ("mean", "lower", "upper"))  # type: ignore[return-value]


def intervals(
    human: np.ndarray, verdict: np.ndarray, first: np.ndarray, random_seed: int
) -> dict[str, Interval]:
    """Return the interval of every method from one draw."""
    asked = np.sort(np.random.default_rng(random_seed).permutation(human.size)[:LABELLED])
    rest = np.setdiff1d(np.arange(human.size), asked)
    y, f = human[asked], verdict[asked]
    found = {
        "corrected_rate": regression(verdict, human, asked, None, random_seed),
        "corrected_rate, by order": regression(
            verdict, human, asked, {"order": dict(enumerate(first))}, random_seed
        ),
    }
    if f[y == 1].mean() > f[y == 0].mean():
        sizes = {"n_negative": int((y == 0).sum()), "n_positive": int((y == 1).sum())}
        rates = {"specificity": 1 - f[y == 0].mean(), "sensitivity": f[y == 1].mean()}
        found["Rogan-Gladen"] = rogan_gladen(verdict[rest].mean(), rest.size, **rates, **sizes)[:3]
    for name, power in (("PPI", 1.0), ("PPI++", None)):
        found[name] = prediction_powered_mean(y, f, verdict[rest], power=power)[:3]
    return found | {"raw judge": wald(verdict), "people": wald(y)}


def main(draws: int) -> None:
    """Run all draws and write the page."""
    warnings.simplefilter("ignore")
    table = pd.read_csv(locate("judge-arena/verdicts.csv"))
    lines = ["| set | judge | method | covered | bias | width | draws |", "| --- " * 7 + "|"]
    models = table[["model_a", "model_b"]].apply(frozenset, axis=1)
    for pair in models.drop_duplicates():
        for judge, rows in table[models == pair].groupby("judge"):
            first = rows["model_a"].str.contains("claude").to_numpy()
            # A verdict names a place in the prompt: it is Claude's where Claude has that place.
            human, verdict = (
                ((rows[name] == "A").to_numpy() == first).astype(int) for name in ("people", "verdict")
            )
            found = [intervals(human, verdict, first, random_seed) for random_seed in range(draws)]
            name = f"{' and '.join(sorted(pair))}, {human.size} comparisons, rate {human.mean():.3f}"
            for method in found[0]:
                ends = np.array([one[method] for one in found if method in one])
                held = ((ends[:, 1] <= human.mean()) & (human.mean() <= ends[:, 2])).mean()
                error, bias = np.sqrt(held * (1 - held) / len(ends)), ends[:, 0].mean() - human.mean()
                width = (ends[:, 2] - ends[:, 1]).mean()
                lines.append(f"| {name} | {judge} | {method} | {held:.3f} ({error:.3f}) | {bias:+.3f} | {width:.3f} | "
                             f"{len(ends)} |")  # fmt: skip
                print(lines[-1], flush=True)
    head, _, text = (__doc__ or "").strip().partition("\n\n")
    command, _, text = text.partition("\n\n")
    PAGE.write_text("\n".join([f"# {head.rstrip('.')}\n\n    {command}\n\n{text}\n", *lines]) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else DRAWS)
