"""Outright answers at the ends of the scale: what reading them as such does to Phi, on simulated and on real ratings.

    BAYESAGREE_DATA=... python benchmarks/phi_ends.py rows.jsonl recovery 100    (10 minutes of processor time)
    BAYESAGREE_DATA=... python benchmarks/phi_ends.py rows.jsonl random 300      (8 minutes)
    BAYESAGREE_DATA=... python benchmarks/phi_ends.py rows.jsonl few 40          (8 minutes)
    BAYESAGREE_DATA=... python benchmarks/phi_ends.py rows.jsonl real            (5 minutes)
    BAYESAGREE_DATA=... python benchmarks/phi_ends.py rows.jsonl time            (1 minute)
    python benchmarks/phi_ends.py rows.jsonl > benchmarks/results/phi_ends.md

The first five append rows and skip those they find, a fourth argument limits their seconds; the last makes the page.
"""

import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logit

from bayesagree import common_agreement, simulate
from bayesagree.agreement._phi.likelihood import outright_shares
from bayesagree.agreement._phi.posterior import joint_posterior
from bayesagree.agreement._phi.problem import prepare
from bayesagree.annotations import Ratings

ENDS = {"none": (0.0, 0.0), "piled": (0.3, 0.1)}
ITEMS, RATERS = 1000, 5
REAL = (
    *(f"snow-affect/{name}" for name in ("anger", "disgust", "fear", "joy", "sadness", "surprise", "valence")),
    "popquorn", "lewidi2025-csc", "truthfulness/s6", "perfume/liking",
)  # fmt: skip
LEFT_OPEN = """\
The evidence is right, and leaves the question open: on three piled sets of 300 items at Phi 0 whose weights of
outright ends are .15 to .24, a sum over a grid of 1,053 places gives the log evidence of outright ends within .11.
A prior that is uniform on the shares, not on their roots, separates the readings no better (14 other sets a cell,
draws weighed again): without outright ends and at Phi -.5 weights of .21, .17 and .10 in place of .34, .32 and .23
of 50, 100 and 300 items, but widths of .75, .54 and .29 in place of .71, .54 and .32, and coverage of the second
reading alone of .14 to .50 in place of .79 to .86; with many, at Phi 0, coverage of the average .79 and .57 of 100
and 300 items in place of .79 and .50. Equal tails in place of the shortest interval hold .79 there of 300 items,
and .79 of 100; widths grow by a tenth.

`common_agreement` warns where the weight is between .1 and .95 and the means of the two readings differ by more
than .2. In the first 20 sets of each cell: without outright ends and at Phi -.5 in .75, .80 and .35 of 50, 100 and
300 items, at Phi 0 in .45, .35 and .10, at Phi .5 in .05, 0 and 0; with many at Phi 0 in 1.00, .90 and .75, at Phi
.5 in .80, .80 and .10.
"""
NAMES = {"binned": "intervals", "inflated": "outright ends", "averaged": "averaged"}


class Cell(NamedTuple):
    """One setting: true Phi, shape of the item means (infinite: all 1/2), raters, levels, outright ends."""

    phi: float
    shape: float
    raters: int
    levels: int
    ends: str
    items: int = ITEMS


CELLS = {
    "recovery": [Cell(p, 2.0, RATERS, k, e) for p in (-0.3, 0.0, 0.5, 0.8) for k in (5, 7) for e in ENDS],
    "random": [Cell(0.0, np.inf, r, k, e) for r in (5,) for k in (5, 7) for e in ENDS],
    "few": [Cell(p, 2.0, RATERS, 5, e, n) for n in (50, 100, 300) for p in (-0.5, 0.0, 0.5) for e in ENDS],
}


def crowd(cell: Cell, random_seed: int) -> Ratings:
    """Return simulated ratings, some of them outright ends."""
    rng = np.random.default_rng(
        [random_seed, *(int(1000 * v) % 2**31 for v in (cell.phi + 1, cell.raters, cell.levels))]
    )
    n = cell.items
    means = np.full(n, 0.5) if np.isinf(cell.shape) else rng.beta(cell.shape, cell.shape, n)
    made = simulate.ratings(
        n_items=n,
        ratings_per_item=cell.raters,
        phi=cell.phi,
        n_levels=cell.levels,
        item_mean=means,
        random_seed=rng,
    ).ratings
    x = made.rating.reshape(n, cell.raters).copy()
    log_low, log_high, _ = outright_shares(*ENDS[cell.ends], logit(means)[:, None])
    u = rng.random(x.shape)
    x = np.where(u < np.exp(log_low), 1, np.where(u > 1 - np.exp(log_high), cell.levels, x))
    return Ratings.from_matrix(x, scale=(1, cell.levels), step=1)


def estimates(ratings: Ratings) -> dict[str, Any]:
    """Return mean and interval of Phi where ends are intervals, outright, and averaged; the weight of outright ends."""
    joint = joint_posterior(prepare(ratings))
    found: dict[str, Any] = {"share": joint.prob_inflated}
    for name, posterior in (("binned", joint.binned), ("inflated", joint.inflated), ("averaged", joint.phi)):
        if posterior is not None:
            summary = posterior.summary()
            found[name] = [summary.mean, summary.lower, summary.upper]
    return found


def study(path: Path, kind: str, repetitions: int, seconds: float) -> None:
    """Append a row for every data set that the file does not have."""
    done = {(tuple(row["cell"]), row["random_seed"]) for row in read(path) if row["kind"] == kind}
    end = time.monotonic() + seconds
    for random_seed in range(repetitions):
        for cell in CELLS[kind]:
            if (tuple(cell), random_seed) in done:
                continue
            if time.monotonic() > end:
                return
            append(
                path,
                {"kind": kind, "cell": cell, "random_seed": random_seed} | estimates(crowd(cell, random_seed)),
            )


def real(path: Path, seconds: float) -> None:
    """Append Phi, evidence and the held-out score of whole items on public ratings."""
    import arviz as az

    from bayesagree import datasets
    from bayesagree.predictive import with_log_likelihood

    done = {row["name"] for row in read(path) if row["kind"] == "real"}
    end = time.monotonic() + seconds
    for name in REAL:
        if name in done or time.monotonic() > end:
            continue
        ratings: Any = datasets.load(name).annotations
        row: dict[str, Any] = {"kind": "real", "name": name}
        scores = {}
        for kind in ("binned", "inflated"):
            tree = common_agreement(ratings, likelihood=kind, draws=250, chains=2, random_seed=1)
            found = tree["agreement"].to_dataset()
            row[kind] = [float(found[v]) for v in ("mean", "lower", "upper", "log_evidence")]
            row[kind].append(found.attrs["decision"])
            scores[kind] = np.asarray(az.loo(with_log_likelihood(tree, ratings), pointwise=True).elpd_i)
            if kind == "inflated":
                posterior = tree["posterior"].to_dataset()
                row["ends"] = [float(posterior[v].mean()) for v in ("low_end_share", "high_end_share")]
                row["share_at_ends"] = float(found["share_at_ends"])
        gain = scores["inflated"] - scores["binned"]
        row["gain"] = [float(gain.sum()), float(gain.std(ddof=1) * np.sqrt(gain.size))]
        append(path, row)


def timing(path: Path) -> None:
    """Append seconds of processor time of the whole call, medians of five."""
    sizes = ((5, 100), (5, 1000), (5, 7000), (7, 1000), (11, 1000), (101, 100))
    given = [(k, n, simulate.ratings(n_items=n, phi=0.4, n_levels=k, random_seed=1).ratings) for k, n in sizes]
    ridges = [
        (f"5, piled, Phi {phi:g}", ITEMS, crowd(Cell(phi, 2.0, RATERS, 5, "piled"), 0))
        for phi in (-0.3, 0, 0.5)
    ]
    for levels, items, ratings in [*given, *ridges]:
        row: dict[str, Any] = {"kind": "time", "levels": levels, "items": items}
        for kind in ("binned", "inflated", "averaged"):
            taken = []
            for repetition in range(6):
                start = time.process_time()
                common_agreement(ratings, likelihood=kind, random_seed=repetition)
                taken.append(time.process_time() - start)
            row[kind] = float(np.median(taken[1:]))
        append(path, row)


def read(path: Path) -> list[dict[str, Any]]:
    """Return the rows of the file."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def append(path: Path, row: dict[str, Any]) -> None:
    """Append one row to the file."""
    with path.open("a") as file:
        file.write(json.dumps(row) + "\n")


def share(hits: list[bool]) -> str:
    """Return a share and its standard error."""
    p = float(np.mean(hits))
    return f"{p:.3f} ± {np.sqrt(max(p * (1 - p), 1e-4) / len(hits)):.3f}"


def table(heading: list[str], rows: list[list[Any]]) -> None:
    """Print a table of Markdown."""
    for line in (heading, ["---"] * len(heading), *rows):
        print("| " + " | ".join(map(str, line)) + " |")
    print()


def page(rows: list[dict[str, Any]]) -> None:
    """Print the results."""
    print("# Answers at the ends of the scale: intervals or outright ends\n")
    print(
        'Made by `benchmarks/phi_ends.py`. `likelihood="binned"` reads an answer at an end as an interval of a'
    )
    print(
        'judgment, `likelihood="inflated"` as that or as an outright end; averaged, the default: both by evidence'
    )
    print(
        f"at even prior odds. Simulations: {ITEMS} items unless stated; piled: outright ends with shares (0.3, 0.1) at"
    )
    print("a mean in the middle. ± is the Monte-Carlo standard error.\n")
    missing = [kind for kind in ("recovery", "random", "time") if not any(row["kind"] == kind for row in rows)]
    if missing:
        print(
            f"**Not measured yet: {', '.join(missing)}.** Coverage and false claims of outright ends are unknown"
        )
        print("until then; those of intervals stand in phi.md.\n")
    recovery = [row for row in rows if row["kind"] == "recovery"]
    if recovery:
        print("## Does the 95 % interval hold the true Phi?\n")
        print(f"{RATERS} raters, item means Beta(2, 2), Phi -0.3, 0, 0.5 and 0.8; {len(recovery)} data sets.\n")
        for by, label in ((lambda c: (c.ends, c.levels), "levels"), (lambda c: (c.ends, c.phi), "Phi")):
            lines = []
            for key in sorted({by(Cell(*row["cell"])) for row in recovery}):
                some = [row for row in recovery if by(Cell(*row["cell"])) == key]
                lines.append([*key, *_coverage(some)])
            table(["ends", label, *(f"{n}: held, bias" for n in NAMES.values())], lines)
        lines = []
        for ends in ENDS:
            some = [row for row in recovery if row["cell"][4] == ends]
            lines.append([ends, len(some), *_coverage(some), f"{np.mean([r['share'] for r in some]):.2f}"])
        table(
            ["ends", "data sets", *(f"{n}: held, bias" for n in NAMES.values()), "weight of outright ends"],
            lines,
        )
    random = [row for row in rows if row["kind"] == "random"]
    if random:
        print("## How often are random answers called agreement, or disagreement?\n")
        print("Judgments uniform on the scale (Phi = 0), every item mean 1/2. Asked: at most 0.065.\n")
        lines = []
        for key in [
            *sorted({(r["cell"][4], r["cell"][2], r["cell"][3]) for r in random}),
            ("none",),
            ("piled",),
        ]:
            some = [r for r in random if (r["cell"][4], r["cell"][2], r["cell"][3])[: len(key)] == key]
            cells = [
                f"{share([r[n][1] > 0 for r in some])}; {share([r[n][2] < 0 for r in some])}" for n in NAMES
            ]
            lines.append([*(key if len(key) == 3 else (key[0], "all", "all")), len(some), *cells])
        table(
            [
                "ends",
                "raters",
                "levels",
                "data sets",
                *(f"{n}: agreement; disagreement" for n in NAMES.values()),
            ],
            lines,
        )
    _few([row for row in rows if row["kind"] == "few"])
    _real([row for row in rows if row["kind"] == "real"])
    times = [row for row in rows if row["kind"] == "time"]
    if times:
        print("## Time of `common_agreement`\n")
        print("Seconds of processor time of the whole call with 4 x 1000 draws, medians of five.\n")
        lines = [
            [
                r["levels"],
                r["items"],
                f"{r['binned']:.2f}",
                f"{r['inflated']:.2f}",
                f"{r['averaged']:.2f}",
                f"{r['averaged'] / r['binned']:.1f}",
            ]
            for r in times
        ]
        table(["levels", "items", "intervals", "outright ends", "averaged", "averaged / intervals"], lines)


def _coverage(rows: list[dict[str, Any]]) -> list[str]:
    result = []
    for name in NAMES:
        held = [r[name][1] <= r["cell"][0] <= r[name][2] for r in rows]
        result.append(f"{share(held)}, {np.mean([r[name][0] - r['cell'][0] for r in rows]):+.3f}")
    return result


def _few(rows: list[dict[str, Any]]) -> None:
    if not rows:
        return
    print("## Few items\n")
    print(
        f"{RATERS} raters, 5 levels, item means Beta(2, 2). Weight: mean posterior probability of outright ends."
    )
    print(
        "Without outright ends the averaged interval is wider where that weight is far from 0: at a low Phi judgments"
    )
    print(
        "pile up at the ends by themselves, and few items do not tell the two readings apart. With no answer at an end"
    )
    print("both readings give the same interval.\n")
    print(
        "A smaller prior weight would make the intervals narrower, and cost coverage of the piled data. Averaged over"
    )
    print(
        "both kinds of data, which the even prior odds stand for, the averaged intervals hold Phi in:", end=" "
    )
    pooled = {n: [r for r in rows if r["cell"][5] == n] for n in sorted({row["cell"][5] for row in rows})}
    of_size = {
        n: [r["averaged"][1] <= r["cell"][0] <= r["averaged"][2] for r in some] for n, some in pooled.items()
    }
    print("; ".join(f"{n} items {share(held)}" for n, held in of_size.items()) + ".\n")
    print(LEFT_OPEN)
    lines = []
    for key in sorted({tuple(row["cell"]) for row in rows}, key=lambda c: (c[4], c[5], c[0])):
        some = [row for row in rows if tuple(row["cell"]) == key and all(n in row for n in NAMES)]
        width = [f"{np.mean([r[n][2] - r[n][1] for r in some]):.2f}" for n in NAMES]
        both = [f"{w}; {c}" for w, c in zip(width, _coverage(some))]
        lines.append([key[4], key[5], key[0], len(some), *both, f"{np.mean([r['share'] for r in some]):.2f}"])
    table(
        ["ends", "items", "Phi", "sets", *(f"{n}: width; held, bias" for n in NAMES.values()), "weight"], lines
    )


def _real(rows: list[dict[str, Any]]) -> None:
    if not rows:
        return
    print("## Public ratings\n")
    print(
        "Phi with its 95 % interval and decision under both readings. Held-out score: gain of outright ends in the"
    )
    print(
        "sum of the log predictive densities of whole items, each left out (PSIS-LOO of ArviZ), ± its standard"
    )
    print("error.\n")
    lines = []
    for row in rows:
        a, b = ([f"{r[0]:.2f} [{r[1]:.2f}, {r[2]:.2f}] {r[4]}", r[3]] for r in (row["binned"], row["inflated"]))
        lines.append([
            row["name"], f"{row['share_at_ends']:.0%}", a[0], b[0], "{:.2f}, {:.2f}".format(*row["ends"]),
            f"{b[1] - a[1]:+.1f}", "{:+.1f} ± {:.1f}".format(*row["gain"]),
        ])  # fmt: skip
    table(
        ["data", "items unanimous at an end", "intervals", "outright ends", "shares low, high", "log evidence",
         "held-out score"], lines,
    )  # fmt: skip


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    file = Path(sys.argv[1])
    limit = float(sys.argv[4]) if len(sys.argv) > 4 else np.inf
    if len(sys.argv) == 2:
        page(read(file))
    elif sys.argv[2] in CELLS:
        study(file, sys.argv[2], int(sys.argv[3]), limit)
    elif sys.argv[2] == "real":
        real(file, limit)
    else:
        timing(file)
