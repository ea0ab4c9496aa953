"""What k votes an item identify: ranges over all distributions of the truth that give the same votes.

    BAYESAGREE_DATA=<folder> uv run python benchmarks/identified.py          (writes results/identified.md)

From k of the votes of each item, drawn without replacement, `informed_dirichlet` is fitted with all models, and
`identified_accuracy` gives the range of each model's accuracy. Many votes: against the shares of all votes (100 on
chaosnli-snli, 99 on dices350, about 51 on cifar10h; 1,000 items at most). Accuracy: mean over the models; "holds":
share of models whose many-vote accuracy is inside. Mean entropy (nats) of the truth: range over all items at once, on
which every score of entropies rests (EntCE). Two draws of votes. dices350 from ten votes and cifar10h, whose ten
labels have many patterns of votes, from more than three take minutes each and are left out.

What the table says: one vote an item identifies next to nothing. Three leave the accuracy on ambiguous items
(chaosnli-snli, dices350) anywhere in a range of .4 to .5, and their mean entropy in one of .06 to .11; ten leave .25 of
accuracy on chaosnli-snli and .01 of entropy. Where few items are ambiguous (cifar10h) three leave .04. What
`informed_dirichlet` says inside of a range its family of distributions says, not the votes: biases of some hundredths
inside of it (EntCE and total variation in informed.md) cannot be seen in such votes, however many items there are, and
no choice of family that uses these votes alone can promise to be without them. Ends are those of infinitely many items:
they have no uncertainty of the votes at hand, which on 350 items is more than the width of the range of mean entropy
(dices350), and are found on 1,000 of the fitted truths, whose chance moves them by about .01.
"""

import os
from pathlib import Path

import numpy as np
from informed import chaosnli, cifar10h, dices350, entropy

from bayesagree import Labels, Predictions, informed_dirichlet
from bayesagree.metrics import identified_accuracy
from bayesagree.metrics.votes_alone import _matched, _patterns, identified_range

SETS = {
    "chaosnli-snli": (chaosnli, (1, 3, 5, 10)),
    "dices350": (dices350, (1, 3, 5)),
    "cifar10h": (cifar10h, (1, 3)),
}
"""Each with the numbers of votes."""
DRAWINGS, ITEMS = 2, 1000


def rows_of(name: str, folder: Path) -> list[str]:
    """Return the lines of one data set."""
    read, votes = SETS[name]
    every, scores = read(folder)
    every, scores = every[:ITEMS], scores[:, :ITEMS]
    share = every / every.sum(axis=1, keepdims=True)
    models = Predictions.from_scores({f"model {j}": s / s.sum(axis=1, keepdims=True) for j, s in enumerate(scores)})
    true = (share.argmax(axis=1) == scores.argmax(axis=2)).mean(axis=1)
    lines = []
    for k in votes:
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
