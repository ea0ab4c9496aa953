"""The probability that `plan` gives a study to find a difference, beside the share of studies that find it.

uv run python -m benchmarks.plan_power          (writes results/plan_power.md)

A study finds the difference where the interval of 95 % with equal tails, items a sample, lies above 0. `votes`: items
with Dirichlet(.3) plausibilities of three labels, three votes each; two models whose accuracies differ by .051, with
errors alike by half; pilots and studies of 300 items under the default posterior. `runs`: 200 items of known truth,
two models that are right with a probability of each item (log odds 1.2 and .8 plus a difficulty that both share, sd 1,
and one of their own, sd .5), so that accuracies differ by .070; pilots of four runs plan studies of one and of four.
"""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit, softmax

from bayesagree import Labels, Predictions, evaluate, plan

PAGE = Path(__file__).parent / "results" / "plan_power.md"
ITEMS, VOTES, PILOTS, STUDIES = 300, 3, 21, 525
NOISE = (1.0, 1.35)
RUN_ITEMS, RUN_PILOTS, RUN_STUDIES, LOG_ODDS = 200, 6, 400, (1.2, 0.8)


def population(n: int, rng: np.random.Generator) -> tuple[np.ndarray, list[np.ndarray]]:
    """Draw plausibilities of items, and the probabilities that two models give their labels."""
    truth, common = rng.dirichlet([0.3] * 3, n), rng.standard_normal((n, 3))
    logs = np.log(np.maximum(truth, 1e-9))
    own = (0.8 * common + 0.6 * rng.standard_normal((n, 3)) for _ in NOISE)
    return truth, [softmax(logs + sd * noise, axis=1) for sd, noise in zip(NOISE, own)]


def study(n: int, rng: np.random.Generator) -> tuple[Labels, Predictions]:
    """Draw a study of n items."""
    truth, models = population(n, rng)
    votes = np.stack([rng.multinomial(VOTES, p) for p in truth])
    return Labels.from_counts(votes), Predictions.from_scores(dict(zip("AB", models)), labels=[0, 1, 2])


def asked_again(runs: int, rng: np.random.Generator) -> tuple[Labels, Predictions]:
    """Draw a study whose models answer so many times."""
    top, hard, rows = rng.integers(2, size=RUN_ITEMS), rng.normal(size=RUN_ITEMS), []
    for ease, model in zip(LOG_ODDS, "AB"):
        chance = expit(ease + hard + 0.5 * rng.normal(size=RUN_ITEMS))
        right = rng.random((runs, RUN_ITEMS)) < chance
        said = np.where(right, top, 1 - top)
        rows += [(model, i, run, said[run, i]) for run in range(runs) for i in range(RUN_ITEMS)]
    table = pd.DataFrame(rows, columns=["model", "item", "run", "label"])
    models = Predictions.from_long(
        table if runs > 1 else table.drop(columns="run"), run="run" if runs > 1 else None
    )
    return Labels.from_counts(20 * np.eye(2, dtype=int)[top], labels=[0, 1]), models


def found(given: tuple[Labels, Predictions], random_seed: int, **how: Any) -> bool:
    """Say whether a study finds the difference."""
    run = {"draws": 250, "chains": 2, "random_seed": random_seed, "metrics": ["accuracy"], "items": "bootstrap"}
    score = evaluate(*given, **run, **how)["posterior"]["accuracy"]
    return bool(np.quantile(score.sel(model="A") - score.sel(model="B"), 0.025) > 0)


def row(world: str, planned: Any, seen: list[bool]) -> str:
    """Return a row of the page."""
    share, planned = np.mean(seen), np.array(planned)
    error, of_plan = np.sqrt(share * (1 - share) / len(seen)), planned.std(ddof=1) / np.sqrt(planned.size)
    return f"| {world} | {planned.size} | {planned.mean():.3f} ± {of_plan:.3f} | {share:.3f} ± {error:.3f} |"


def main() -> None:
    """Write the page."""
    warnings.simplefilter("ignore", UserWarning)
    rng = np.random.default_rng
    truth, models = population(400_000, rng(0))
    right = [(model.argmax(axis=1) == truth.argmax(axis=1)).mean() for model in models]
    how: dict[str, Any] = {"items": [ITEMS], "annotators": [VOTES], "difference": float(right[0] - right[1])}
    planned = [
        plan(*study(ITEMS, rng([1, s])), **how, replicates=8, random_seed=s)["power"].item()
        for s in range(PILOTS)
    ]
    lines = [row("votes", planned, [found(study(ITEMS, rng([2, s])), s) for s in range(STUDIES)])]
    hard = rng(0).normal(size=(3, 10**6))
    first, second = (expit(ease + hard[0] + 0.5 * own).mean() for ease, own in zip(LOG_ODDS, hard[1:]))
    how = {"items": [RUN_ITEMS], "annotators": [20], "runs": [1, 4], "difference": first - second}
    how |= {"plausibility": "dirichlet", "replicates": 8}
    of_runs = [plan(*asked_again(4, rng([1, s])), **how, random_seed=s)["power"] for s in range(RUN_PILOTS)]
    for runs in (1, 4):
        each = [one.sel(runs=runs).item() for one in of_runs]
        seen = [
            found(asked_again(runs, rng([2, runs, s])), s, plausibility="dirichlet") for s in range(RUN_STUDIES)
        ]
        lines.append(row(f"runs: {runs}", each, seen))
    PAGE.write_text(
        f"# Power of a study, planned and found\n\n{(__doc__ or '').replace('uv run', '    uv run')}\n"
        "| world | pilots | planned, mean | found |\n| --- | --- | --- | --- |\n" + "\n".join(lines) + "\n"
    )


if __name__ == "__main__":
    main()
