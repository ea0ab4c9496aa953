"""Coverage of the 95 % intervals of agreement coefficients of few items.

uv run python benchmarks/agreement_intervals.py [sets [coefficient ...]]         (writes results/agreement_intervals.md)

Worlds: 10, 20, 50 and 200 items; 2, 3, 5 and 30 annotators, of whom 5 leave out a fifth and 30 four fifths of the
items. Nominal: 2 or 4 labels; one has the prevalence .5, .7 or .95, the others share the rest; an annotator is right
with probability .8 or .97, else each other label is as likely. Ordinal and interval: normal judgments whose intraclass
correlation is .3 or .8, cut into five levels at the quintiles, or rounded to hundredths. The true value of a
coefficient is its estimate on 40,000 items of the same world.

A row pools the worlds of its kind (annotators; labels): `covered` is the share of data sets whose interval holds the
true value, with its Monte-Carlo error, `width` the mean width. Data sets in which a coefficient does not exist, such as
kappa where one label was used, are left out. `bootstrap` is the same for the Bayesian bootstrap. Real worlds are items
drawn without replacement from public data, whose coefficients from all items are the true ones; the values of
pseudo-items were changed after them, the weights of items were not. The last table counts cells, each one coefficient
in one row, beside the shares that would show by the noise of so many sets alone if every interval held .95.

Short cells of nominal coefficients are no more than that noise. Long ones of 10 and 20 items are not: of nearly
unanimous items most data sets are one of a few, and an interval that holds the truth in the rarer of them holds it in
more than .95; percent agreement of 20 items at accuracy .97 is held in .99 to 1.00 with a width of .16, the
bootstrap's in .80 to .84 with .12. Cells of ordered coefficients of a world share its data sets, and are short or long
together. Their items weigh as Student's t asks for, since distances vary more: on other worlds (correlations .15, .3,
.55, .9; 150 sets) cells hold .939 of 20 and of 50 items, .31 and .28 of them below .93, if
the shapes of items add up to 18 and 48 as those of nominal coefficients do, and .956 and .945, .06 and .17 below, if
they add up to 15.4 and 45.5. Of 10 items 8 hold .954 and .887 at least, 5.3 hold .981 with a fifth more width.

Kappa and alpha of unordered labels have equal tails, chosen on these worlds and checked on others (prevalence .6, .85,
.97; accuracy .7, .9, .96; 2 or 3 labels; 30 sets a world). There they hold, in the mean of the cells of these
coefficients and in the least, .971 and .933 of 10 items (the shortest interval .959 and .914), .960 and .900 of 20
(.947 and .883), .956 and .917 of 50 (.946 and .883), and are wider by 4, 3 and 2 %.

Tried and left: equal tails of ordered coefficients (correlation .15, .5, .9), whose least cell falls from .856 to .789
of 10 items and from .922 to .833 of 20: there the long tail is that of the pseudo-items, since one chance pattern
across the scale has the squared distances of several items. A base measure of 1.5 items for 2, which holds .919 of
nominal cells of 50 items. Chance patterns for a quarter of the pseudo-items, with equal tails: kappa and alpha hold
.958 and .917 of 50 items, but of 10 .954 and .883, and percent agreement of ten replies of lewidi2025-csc .875 (.037)
for 1.000. What stays short: correlations of .9.
"""

import sys
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
from scipy.stats import binom

from bayesagree import Labels, datasets
from bayesagree.agreement._coefficients import (
    REPLICATES,
    coefficients,
    draw_weights,
    interval_of,
    pseudo_weights,
)
from bayesagree.agreement._items import items_of

SETS, ITEMS, LARGE = 60, (10, 20, 50, 200), 40_000
MISSING = {2: 0.0, 3: 0.0, 5: 0.2, 30: 0.8}
NOMINAL = ("percent_agreement", "cohen_kappa", "conger_kappa", "fleiss_kappa", "alpha_nominal", "gwet_ac1",
           "brennan_prediger")  # fmt: skip
ORDERED = ("alpha_ordinal", "alpha_interval", "icc_one_way")
COMPARED = ("percent_agreement", "fleiss_kappa", "alpha_interval", "icc_one_way")
"""Coefficients whose bootstrap interval is computed as well."""
PAGE = Path(__file__).parent / "results" / "agreement_intervals.md"


class World(NamedTuple):
    """Answers of one kind; `row` is what the table calls it."""

    row: str
    names: tuple[str, ...]
    annotators: int
    n_labels: int
    prevalence: float
    agreement: float

    def draw(self, n: int, rng: np.random.Generator) -> Labels:
        """Draw annotations of n items."""
        shape = (n, self.annotators)
        if self.n_labels:
            rest = (1 - self.prevalence) / (self.n_labels - 1)
            truth = rng.choice(self.n_labels, n, p=[self.prevalence, *[rest] * (self.n_labels - 1)])[:, None]
            wrong = (truth + rng.integers(1, self.n_labels, shape)) % self.n_labels
            answer = np.where(rng.random(shape) < self.agreement, truth, wrong).astype(float)
        else:
            item = np.sqrt(self.agreement) * rng.normal(size=(n, 1))
            answer = np.round(item + np.sqrt(1 - self.agreement) * rng.normal(size=shape), 2)
            if self.row.startswith("ordinal"):
                answer = np.digitize(answer, [-0.8416, -0.2533, 0.2533, 0.8416]).astype(float)
        answer[rng.random(shape) < MISSING[self.annotators]] = np.nan
        used = np.arange(self.n_labels or 5) if self.n_labels or self.row.startswith("ordinal") else None
        return Labels.from_matrix(answer, labels=used)


def worlds() -> Iterator[World]:
    """Yield all worlds."""
    for prevalence, accuracy, labels, annotators in product((0.5, 0.7, 0.95), (0.8, 0.97), (2, 4), MISSING):
        row = f"nominal, prevalence {prevalence:g}, accuracy {accuracy:g}"
        yield World(row, NOMINAL, annotators, labels, prevalence, accuracy)
    for kind, agreement, annotators in product(("ordinal", "interval"), (0.3, 0.8), MISSING):
        yield World(f"{kind}, correlation {agreement:g}", ORDERED, annotators, 0, 0.0, agreement)


class Real(NamedTuple):
    """Public annotations."""

    row: str
    names: tuple[str, ...] = (*NOMINAL, "alpha_ordinal", "alpha_interval", "icc_one_way")
    n_labels: int = 1

    def draw(self, n: int, rng: np.random.Generator) -> Labels:
        """Return the annotations of n items, of all where there are fewer."""
        annotations = datasets.load(self.row).annotations
        kept = np.zeros(annotations.items.size, bool)
        kept[rng.permutation(kept.size)[:n]] = True
        return annotations.select(kept[annotations.item_index])


REAL = ("lewidi2023/hs-brexit", "lewidi2023/armis", "lewidi2025-csc", "popquorn", "dices350", "snow-affect/anger",
        "snow-affect/joy", "snow-affect/valence")  # fmt: skip


class Found(NamedTuple):
    """Whether an interval holds the true value, and its width; of the bootstrap NaN where it was not computed."""

    covered: float
    width: float
    by_bootstrap: float
    bootstrap_width: float


def intervals(
    labels: Labels, true: dict[str, float], rng: np.random.Generator, compared: tuple[str, ...] = COMPARED
) -> Iterator[tuple[str, Found]]:
    """Yield the coefficients that exist and what their intervals are worth."""
    items = items_of(labels)
    pseudo, every = [pseudo_weights(rng)], [np.arange(items.n_named)]
    for name, found in coefficients(items, "identity"):
        if found.note or name not in true:
            continue
        ends = []
        for bootstrap in (False, True) if name in compared else (False,):
            if bootstrap:
                weights = rng.standard_gamma(np.broadcast_to(found.weight, (REPLICATES, found.weight.size)))
                weights *= found.weight.sum() / weights.sum(axis=1, keepdims=True)
            else:
                weights = np.concatenate([w for (w,) in draw_weights((found,), every, pseudo, rng)])
            tails = found.equal_tails and not bootstrap
            lower, upper, *_ = interval_of(found.compute(weights), 0.95, equal_tails=tails).values()
            ends += [float(lower <= true[name] <= upper), upper - lower]
        yield name, Found(*ends, *[np.nan] * (4 - len(ends)))


def of_world(number: int, world: World | Real, sets: int) -> dict[tuple[str, int, str], list[Found]]:
    """Return what the intervals of many data sets of a world are worth, by (row, items, coefficient)."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng([1, number])
    large = coefficients(items_of(world.draw(LARGE, rng)), "identity")
    true = {name: found.estimate() for name, found in large if name in world.names and not found.note}
    rows: dict[tuple[str, int, str], list[Found]] = {}
    for n, _ in product(
        ITEMS if isinstance(world, World) else ITEMS[:2], range(sets if world.n_labels else 2 * sets)
    ):
        for name, found in intervals(world.draw(n, rng), true, rng):
            rows.setdefault((world.row, n, name), []).append(found)
    return rows


class Cell(NamedTuple):
    """A row of the table: its first three columns, and the number of data sets and their share that is covered."""

    key: tuple[str, str, str]
    line: str
    sets: int
    covered: float

    @classmethod
    def of(cls, line: str) -> Self:
        """Read a row of the table."""
        row, n, name, sets, covered = (part.strip() for part in line.split("|")[1:6])
        return cls((row, n, name), line, int(sets), float(covered.split()[0]))


def stored() -> Iterator[Cell]:
    """Yield the rows of the page as it stands."""
    lines = PAGE.read_text().splitlines() if PAGE.exists() else []
    return (Cell.of(line) for line in lines if line.count("|") == 9 and line.split("|")[2].strip().isdigit())


def summary(cells: list[Cell]) -> Iterator[str]:
    """Yield the table of cells: how many are short or long, and how many would be if each held .95."""
    titles = ["items", "worlds", "cells", "mean coverage", "least"]
    titles += ["below .93", "if all held .95", "above .97", "if all held .95"]
    yield "| " + " | ".join(titles) + " |"
    yield "| --- " * len(titles) + "|"
    kinds = {"nominal": "nominal", "ordinal": "ordered", "interval": "ordered"}
    for n, kind in product(map(str, ITEMS), ("nominal", "ordered", "real")):
        some = [
            cell for cell in cells if (cell.key[1], kinds.get(cell.key[0].split(",")[0], "real")) == (n, kind)
        ]
        if not some:
            continue
        sets, v = np.array([cell.sets for cell in some]), np.array([cell.covered for cell in some])
        short = binom.cdf(np.ceil(0.93 * sets - 1e-9) - 1, sets, 0.95).mean()
        long = binom.sf(np.floor(0.97 * sets + 1e-9), sets, 0.95).mean()
        shares = " | ".join(f"{p:.2f}" for p in ((v < 0.93).mean(), short, (v > 0.97).mean(), long))
        yield f"| {n} | {kind} | {v.size} | {v.mean():.3f} | {v.min():.3f} | {shares} |"


def write(cells: list[Cell]) -> None:
    """Write the page."""
    lines = [
        "| world | items | coefficient | sets | covered | width | bootstrap | its width |",
        "| --- " * 8 + "|",
    ]
    lines += [cell.line for cell in cells]
    short = [
        f"{', '.join(cell.key)}: {cell.covered:.3f} of {cell.sets}" for cell in cells if cell.covered < 0.88
    ]
    lines += ["", *summary(cells), "", "Cells below .88: " + ("; ".join(short) or "none") + "."]
    head, _, text = (__doc__ or "").strip().partition("\n\n")
    command, _, text = text.partition("\n\n")
    page = [f"# Coverage of agreement intervals\n\n{head}\n\n    {command}\n\n{text}\n", *lines]
    PAGE.write_text("\n".join(page) + "\n")


def main(sets: int, only: list[str]) -> None:
    """Run all worlds, or some coefficients beside the rows as they stand, and write the page."""
    rows: dict[tuple[str, int, str], list[Found]] = {}
    chosen = [(number, world) for number, world in enumerate([*worlds(), *map(Real, REAL)])]
    chosen = [(number, world._replace(names=names)) for number, world in chosen
              if (names := tuple(n for n in world.names if not only or n in only))]  # fmt: skip
    with ProcessPoolExecutor() as pool:
        for found in pool.map(partial(of_world, sets=sets), *zip(*chosen)):
            for key, values in found.items():
                rows.setdefault(key, []).extend(values)
    cells = {cell.key: cell for cell in stored()} if only else {}
    for (row, n, name), found in rows.items():
        covered, width, old, _ = np.mean(found, axis=0)
        # Of items that are all alike the bootstrap has no interval.
        old_width = np.nanmean([one.bootstrap_width for one in found]) if np.isfinite(old) else old
        error = np.sqrt(covered * (1 - covered) / len(found))
        beside = f"{old:.3f} | {old_width:.2f}" if np.isfinite(old) else " | "
        line = f"| {row} | {n} | {name} | {len(found)} | {covered:.3f} ({error:.3f}) | {width:.2f} | {beside} |"
        cells[row, str(n), name] = Cell.of(line)
    write([*cells.values()])


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else SETS, sys.argv[2:])
