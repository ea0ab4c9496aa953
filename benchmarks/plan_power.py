"""The probability that `plan` gives a study to find a difference, beside the share of 300 studies that find it.

uv run python -m benchmarks.plan_power          (writes results/plan_power.md)

Items with Dirichlet(.3) plausibilities of three labels, three votes each; two models whose accuracies differ by .051
and whose errors are alike by half. Four pilots of 300 items plan a study of 300 items; a study finds the difference
where the interval of 95 % with equal tails lies above 0.
"""

import warnings
from pathlib import Path

import numpy as np
from scipy.special import softmax

from bayesagree import Labels, Predictions, evaluate, plan

PAGE = Path(__file__).parent / "results" / "plan_power.md"
ITEMS, VOTES, PILOTS, STUDIES = 300, 3, 4, 300
NOISE = (1.0, 1.35)


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


def main() -> None:
    """Write the page."""
    warnings.simplefilter("ignore", UserWarning)
    truth, models = population(400_000, np.random.default_rng(0))
    right = [(model.argmax(axis=1) == truth.argmax(axis=1)).mean() for model in models]
    difference = float(right[0] - right[1])
    planned = [
        plan(*study(300, np.random.default_rng([1, s])), items=[ITEMS], annotators=[VOTES], difference=difference,
             replicates=8, random_seed=s)["power"].item()
        for s in range(PILOTS)
    ]  # fmt: skip
    found = []
    for s in range(STUDIES):
        run = {"draws": 250, "chains": 2, "random_seed": s, "metrics": ["accuracy"]}
        tree = evaluate(*study(ITEMS, np.random.default_rng([2, s])), items="bootstrap", **run)
        score = tree["posterior"]["accuracy"]
        found.append(np.quantile(score.sel(model="A") - score.sel(model="B"), 0.025) > 0)
    share = np.mean(found)
    error = np.sqrt(share * (1 - share) / STUDIES)
    shown = ", ".join(f"{p:.2f}" for p in planned)
    PAGE.write_text(
        f"# Power of a study, planned and found\n\n{__doc__.replace('uv run', '    uv run')}\n"
        f"| planned by four pilots | their mean | found |\n| --- | --- | --- |\n"
        f"| {shown} | {np.mean(planned):.3f} | {share:.3f} ± {error:.3f} |\n"
    )


if __name__ == "__main__":
    main()
