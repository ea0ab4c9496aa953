"""Coverage of the 95 % intervals of the agreement of rankings.

uv run python benchmarks/ranking_agreement.py [sets]          (writes results/ranking_agreement.md)

Plackett-Luce rankings of six labels whose log worths are normal with standard deviation 1, or 2 in half of the items;
ties: the last three places are one block. Several items are ranked by four annotators each; one item by all. The true
value is that of 5,000 items of the same world, or of 5,000 annotators of the same item; W of one item then depends on
the number of annotators and its true value is the mean of 400 sets.
"""

import sys
from pathlib import Path

import numpy as np

from bayesagree import Rankings, agreement_table

NAMES = ("kendall_w", "kendall_w_ties", "tau_b")


def ranked(rng, worth, n):
    order = np.argsort(-(worth + rng.gumbel(size=(n, worth.size))), axis=1)
    return [[[int(k)] for k in row[:3]] + [row[3:].tolist()] for row in order]


def many_items(rng, n):
    worths = rng.normal(size=(n, 6)) * np.where(rng.random((n, 1)) < 0.5, 1, 2)
    return Rankings.from_blocks([ranked(rng, worth, 4) for worth in worths], labels=6)


def one_item(rng, n):
    return Rankings.from_blocks([ranked(rng, np.array([1.5, 1, 0.5, 0, -0.5, -1]), n)], labels=6)


def found(rankings, random_seed=1):
    return agreement_table(rankings, random_seed=random_seed).set_index("coefficient").loc[list(NAMES)]


def main(sets):
    rng = np.random.default_rng(11)
    lines = ["# Agreement of rankings: coverage of the intervals", "", *(__doc__ or "").splitlines()[4:], ""]
    lines += [f"{sets} sets a row; Monte-Carlo error at .95: {np.sqrt(0.95 * 0.05 / sets):.3f}.", ""]
    lines += ["| world | " + " | ".join(f"{name}: covered, width" for name in NAMES) + " |", "| --- " * 4 + "|"]
    for world, sizes in ((many_items, (10, 30, 100)), (one_item, (10, 30, 100))):
        large = found(world(rng, 5_000))["estimate"]
        for n in sizes:
            tables = [found(world(rng, n), random_seed) for random_seed in range(sets)]
            true = large.copy()
            if world is one_item:
                for name in NAMES[:2]:
                    true[name] = np.mean([found(world(rng, n))["estimate"][name] for _ in range(400)])
            cells = []
            for name in NAMES:
                inside = np.mean([t.loc[name, "lower"] <= true[name] <= t.loc[name, "upper"] for t in tables])
                width = np.mean([t.loc[name, "upper"] - t.loc[name, "lower"] for t in tables])
                cells.append(f"{inside:.3f}, {width:.3f}")
            what = f"{n} items of 4 annotators" if world is many_items else f"one item of {n} annotators"
            lines.append(f"| {what} | {' | '.join(cells)} |")
    text = "\n".join(lines) + "\n"
    Path(__file__).with_name("results").joinpath("ranking_agreement.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
