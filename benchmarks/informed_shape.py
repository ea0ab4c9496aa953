"""Why intervals of distances to a model are short: votes of simulated items beside votes of real ones.

uv run python benchmarks/informed_shape.py [sets]          (writes results/informed_shape.md)

The 1,514 items and five models of chaosnli-snli; 3 or 10 votes are drawn from known plausibilities, and all models
are scored under the posterior that all of them inform, against these plausibilities. Worlds:

- "own family": plausibilities from `informed_dirichlet` with the parameters of all hundred votes; the same with the
  prior of the six shared shapes centred at these parameters.
- "logistic normal": the prior means of these parameters, with normal noise of sd .7 on their logarithms.
- "real": the shares of the hundred votes.

Bias and sd are means over the models, `covered` the share of models and sets; in brackets Monte-Carlo errors over sets.

Accuracy is held in the own world and with real votes (.93 to .97). With a prior that expected few clear items, nearly
one-hot, it was .007 too high in the own world (.875 from three votes, .80 from ten) and held with a prior centred at
the truth: the page found the fault that `InformedPrior` has mended since. Logistic normal items, another family, have
.86 and .92 (.805 and .555 then). Distances hold in the own world but for total variation from ten votes (.80), which no
prior mends; with real votes it is the family that is wrong (total variation .68 to .72, EntCE .50 to .73). The noise of
a hundred votes is no cause: here the truth is known.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from informed import DRAWS, METRICS, chaosnli, scores
from numpy.typing import NDArray

from bayesagree import Labels, Predictions
from bayesagree.plausibility.informed._problem import InformedProblem
from bayesagree.plausibility.informed.family import Items, draw_items
from bayesagree.plausibility.informed.prior import InformedPrior

type Floats = NDArray[np.float64]

SETS, VOTES, NOISE = 40, (3, 10), 0.7
PAGE = Path(__file__).parent / "results" / "informed_shape.md"


def drawn(problem: InformedProblem, thetas: Floats, rng: np.random.Generator, *, known: bool = True) -> Floats:
    """Plausibilities (item, draw, label), of items without votes where these are not `known`."""
    items = problem.items if known else Items.of(problem.columns, np.zeros_like(problem.counts))
    return draw_items(rng, thetas, items, DRAWS // len(thetas), best=False)


def centred(estimate: Floats) -> InformedPrior:
    """Return the prior of the shared shapes around estimates, with the sds of the default."""
    opened, _, odds, _, clear, blur, best, sharpness, best_odds = estimate[-9:].tolist()
    sds = InformedPrior()
    return InformedPrior(
        open_concentration=(opened, sds.open_concentration[1]), clear_odds=(odds, sds.clear_odds[1]),
        clear_concentration=(clear, sds.clear_concentration[1]), blur=(blur, sds.blur[1]),
        best_concentration=(best, sds.best_concentration[1]), best_sharpness=(sharpness, sds.best_sharpness[1]),
        best_odds=(best_odds, sds.best_odds[1]),
    )  # fmt: skip


def main(sets: int) -> None:
    """Run the worlds and write the page."""
    every, probability = chaosnli(Path(os.environ["BAYESAGREE_DATA"]))
    probability = probability / probability.sum(axis=2, keepdims=True)
    models = Predictions.from_scores({f"model {m}": p for m, p in enumerate(probability)})
    full = InformedProblem.of(Labels.from_counts(every), models, None)
    thetas = full.parameters(2, 1, np.random.default_rng(5)).reshape(2, -1)[:1]
    means = np.log(drawn(full, thetas, np.random.default_rng(6), known=False).mean(axis=1))
    shares = every / every.sum(axis=1, keepdims=True)

    def logistic(rng: np.random.Generator) -> Floats:
        odds = np.exp(means + NOISE * rng.standard_normal(means.shape))
        return odds / odds.sum(axis=1, keepdims=True)

    def own(rng: np.random.Generator) -> Floats:
        return drawn(full, thetas, rng, known=False)[:, 0]

    worlds: dict[str, tuple[Callable[[np.random.Generator], Floats], InformedPrior | None]] = {
        "own family": (own, None), "own family, prior centred at it": (own, centred(thetas[0])),
        "logistic normal": (logistic, None), "real": (lambda _: shares, None),
    }  # fmt: skip
    lines = ["| world | votes | metric | bias | sd | covered |", "| --- " * 6 + "|"]
    for world, (draw, prior) in worlds.items():
        for k in VOTES:
            found = []
            for number in range(sets):
                rng = np.random.default_rng([11, k, number])
                truth = draw(rng)
                votes = Labels.from_counts(rng.multinomial(k, truth))
                problem = InformedProblem.of(votes, models, None, prior)
                given = drawn(problem, problem.parameters(DRAWS // 4, 2, rng).reshape(DRAWS // 2, -1), rng)
                true = np.stack([scores(truth[:, None], p)[0] for p in probability])
                score = np.stack([scores(given, p) for p in probability])
                low, high = np.quantile(score, (0.025, 0.975), axis=1)
                held = (low <= true) & (true <= high)
                found.append(
                    [
                        (score.mean(axis=1) - true).mean(axis=0),
                        score.std(axis=1).mean(axis=0),
                        held.mean(axis=0),
                    ]
                )
            (bias, sd, covered), (e_bias, _, e_covered) = (
                np.mean(found, axis=0),
                np.std(found, axis=0) / sets**0.5,
            )
            for m, metric in enumerate(METRICS):
                lines.append(
                    f"| {world} | {k} | {metric} | {bias[m]:+.4f} ({e_bias[m]:.4f}) | {sd[m]:.4f} | "
                    f"{covered[m]:.3f} ({e_covered[m]:.3f}) |"
                )
                print(lines[-1], flush=True)
    head, _, text = (__doc__ or "").strip().partition("\n\n")
    command, _, text = text.partition("\n\n")
    PAGE.write_text(
        "\n".join([f"# {head.rstrip('.')}\n\n    {command}\n\n{text}\n", f"{sets} sets a world.\n", *lines])
        + "\n"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else SETS)
