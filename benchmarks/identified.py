"""What k votes an item identify: ranges over all distributions of the truth that give the same votes.

    BAYESAGREE_DATA=<folder> uv run python benchmarks/identified.py          (writes results/identified.md)

From k of the votes of each item, drawn without replacement, `informed_dirichlet` is fitted with all models, and
`identified_accuracy` gives the range of each model's accuracy. Many votes: against the shares of all votes (100 on
chaosnli-snli, 99 on dices350, about 51 on cifar10h, 2,000 images). Accuracy: mean over the models. Mean entropy (nats)
of the truth: range over all items at once, on which every score of entropies rests (EntCE). Two draws of votes.
"""

import os
from pathlib import Path

import numpy as np
from informed import chaosnli, cifar10h, dices350, entropy

from bayesagree import Labels, Predictions, identified_accuracy, informed_dirichlet
from bayesagree.metrics.identified import _matched, _patterns, identified_range

SETS = {"chaosnli-snli": chaosnli, "dices350": dices350, "cifar10h": cifar10h}
DRAWINGS, ITEMS = 2, 2000


def rows_of(name: str, folder: Path) -> list[str]:
    """Return the lines of one data set."""
    every, scores = SETS[name](folder)
    every, scores = every[:ITEMS], scores[:, :ITEMS]
    share = every / every.sum(axis=1, keepdims=True)
    models = Predictions.from_scores({f"model {j}": s / s.sum(axis=1, keepdims=True) for j, s in enumerate(scores)})
    true = (share.argmax(axis=1) == scores.argmax(axis=2)).mean(axis=1)
    lines = []
    for k in (1, 3, 5, 10):
        found, held = [], []
        for drawing in range(DRAWINGS):
            rng = np.random.default_rng([k, drawing])
            few = np.stack([rng.multivariate_hypergeometric(row, k) for row in every])
            truth = informed_dirichlet(Labels.from_counts(few), models, draws=100, seed=drawing)
            one = identified_accuracy(truth, models, votes=k, seed=drawing)
            plausibility = truth["posterior"].to_dataset()["plausibility"].values.reshape(-1, *share.shape)
            atoms = plausibility[rng.integers(len(plausibility), size=1000), rng.integers(len(share), size=1000)]
            ends = identified_range(atoms, entropy, _patterns(_matched(k, share.shape[1]), share.shape[1]), rng)
            accuracy = (one[key].mean().item() for key in ("accuracy", "lower", "upper"))
            found.append([*accuracy, entropy(plausibility).mean(), *ends])
            held.append(((one["lower"] <= true) & (true <= one["upper"])).mean().item())
        a, low, high, h, h_low, h_high = np.mean(found, axis=0)
        lines.append(
            f"| {name} | {k} | {true.mean():.3f} | {a:.3f} | {low:.3f} to {high:.3f} | {np.mean(held):.2f} | "
            f"{entropy(share).mean():.3f} | {h:.3f} | {h_low:.3f} to {h_high:.3f} |"
        )
        print(lines[-1], flush=True)
    return lines


def main() -> None:
    """Write the table."""
    folder = Path(os.environ["BAYESAGREE_DATA"])
    head = [
        "| data | votes | accuracy, many votes | estimate | range | holds | mean entropy, same | estimate | range |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    rows = [line for name in SETS for line in rows_of(name, folder)]
    text = "# What k votes an item identify\n\n" + (__doc__ or "") + "\n" + "\n".join(head + rows) + "\n"
    Path(__file__).parent.joinpath("results", "identified.md").write_text(text)


if __name__ == "__main__":
    main()
