"""Coverage of corrected rates of five systems beside PPI++ and Rogan-Gladen fed with the people's majority.

    uv run python benchmarks/judges.py crisp 60         one world, 60 runs of each cell: minutes
    uv run python benchmarks/judges.py spread 60
    uv run python benchmarks/judges.py chosen 60
    BAYESAGREE_DATA=<folder> uv run python benchmarks/judges.py votes 60
    NUMBA_NUM_THREADS=1 uv run python benchmarks/judges.py large 1
    uv run python benchmarks/judges.py decisions 100
    uv run python benchmarks/judges.py border 120
    uv run python benchmarks/judges.py grid 4           135 cells: ten minutes
    uv run python benchmarks/judges.py                  writes benchmarks/results/judges.md from all of them

2,000 items of five systems, rates drawn from U(.5, .9) in each run; three judges, 85 % right, who err together on 15 %
of the items, the first three systems each with a judge that turns 30 % of its negative verdicts on them positive.
`crisp`: every item has a true label, people are 85 % right, the rate is of truly positive items. `spread`: every item
has a share of people who say positive, Beta distributed, and the rate is the mean share. `votes`: real votes, five
models of ChaosNLI as judges of whether one sentence follows from another, against the share of all hundred votes.
`chosen`: one judge of one system, whose confidence is known to whoever chose the items for people and not to the
estimate, a verdict alone; the judge errs more often where in doubt, and is too lenient. 200 items of 2,000, one vote
each, chosen at random or where the judge is in doubt, by its standard deviation.
`large`: ten judges of 20,000 items of twenty systems, three votes on 1,000 of them, `target="truth"`, default settings.
`grid`: an orthogonal array of judges, shared errors (a share of the items on which all judges are wrong), partiality (a
share of one judge's negative verdicts on the first system that turn positive), people per item and labelled items;
people are 88 % right, judges 85 %, `target="truth"`. `partial`: the hardest such world, with and without its parts.
`decisions`: may a judge replace these people? Numbers of people and of items of each as in nine sets of Calderon et al.
(2025); people win over a judge by margins of N(m, .05), m from U(0, .4), and a third of the items are ties. `border`:
the same with one margin for all people, epsilon or a little more.

The simulated worlds have chains of 400 draws: the shortest interval of 200 independent draws of a normal variable
holds .937 of it, of 400 .942, of the default 4,000 .948. With one vote an item nothing in `crisp` tells how
often people are right; the answer is then that of the prior (8 right to 2 wrong), and of one world it need not cover:
of 300 items, in 40 runs with people right in 75, 85 and 95 % of their answers, .93, .93 and .90 +- .02 (rates .04 to
.06 too low). A prior of 3 right to 1 wrong, three times as vague, does no better: .94, .92, .89.
"""

import json
import sys
import time
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy as sp
from numpy.typing import NDArray

from bayesagree import Labels, corrected_rate, datasets
from bayesagree.inference.intervals import column_hdi
from bayesagree.judges import prediction_powered_mean
from bayesagree.judges._win_rates import win_draws
from bayesagree.judges.annotator_test import ENOUGH, exact_test
from studies.rates import rogan_gladen, weighted_mean

RESULTS = Path(__file__).parent / "results"
N_ITEMS, N_SYSTEMS, N_JUDGES = 2000, 5, 3
CELLS = [(labelled, votes) for labelled in (100, 300) for votes in (1, 3, 5)]
REAL_CELLS = [(150, 1), (150, 3), (400, 3)]
SHORT: dict[str, Any] = {"draws": 400, "chains": 1}
"""The chain of the simulated worlds: 1200 runs of it take a quarter of an hour of one processor."""
RUN: dict[str, Any] = {"draws": 1000, "chains": 1}
SHAPES = [(8, 246), (4, 640), (3, 82), (6, 500), (10, 711), (3, 6400), (13, 1698), (4, 2552), (10, 1008)]
EPSILON = 0.2
BORDER_SHAPES = [(3, 82), (4, 640), (8, 246), (10, 711), (13, 1698)]
BORDER = [(people, items, beyond) for people, items in BORDER_SHAPES for beyond in (0, 0.05)]
"""People, items and by how much the margin of all people is above epsilon."""
LEVELS: dict[str, tuple[float, ...]] = {
    "judges": (1, 3, 5), "shared errors": (0, 0.15, 0.3), "partiality": (0, 0.05, 0.1), "people": (1, 3, 5),
    "items": (100, 300, 1000),
}  # fmt: skip
# 27 of the 243 cells, in which every two factors have each pair of levels three times.
GRID = [(a, b, c, (a + b + c) % 3, (a + 2 * b + c) % 3) for a in range(3) for b in range(3) for c in range(3)]
PARTIAL = {
    "shared and partial": (3, 0.2, 0.3, 3, 300), "no partial judge": (3, 0.2, 0.0, 3, 300),
    "no shared errors": (3, 0.0, 0.3, 3, 300), "partiality .1": (3, 0.2, 0.1, 3, 300),
}  # fmt: skip
TARGETS: dict[str, Any] = {"crisp": "truth", "spread": "share"}


def simulate(world: str, rng: np.random.Generator) -> tuple[NDArray[Any], ...]:
    """Return system of each item, share of people who say positive, verdicts (item, judge), and the true rates."""
    system = np.arange(N_ITEMS) % N_SYSTEMS
    rates = rng.uniform(0.5, 0.9, N_SYSTEMS)
    if world == "crisp":
        state = (rng.random(N_ITEMS) < rates[system]).astype(float)
        share = 0.15 + 0.7 * state
    else:
        share = state = rng.beta(1.5 * rates[system], 1.5 * (1 - rates[system]))
    together, leading = rng.random(N_ITEMS) < 0.15, rng.random(N_ITEMS) < 0.5
    verdicts = np.empty((N_ITEMS, N_JUDGES), int)
    for judge in range(N_JUDGES):
        alone = rng.random(N_ITEMS) < 0.15 + 0.7 * state
        lenient = (system == judge) & (rng.random(N_ITEMS) < 0.3)
        verdicts[:, judge] = np.where(together, leading, alone) | lenient
    return system, share, verdicts, rates


def run(world: str, labelled: int, votes: int, random_seed: int) -> dict[str, Any]:
    """Return, for one data set, whether intervals hold the truth, and their widths."""
    rng = np.random.default_rng([random_seed, labelled, votes])
    system, share, verdicts, rates = simulate(world, rng)
    asked = np.sort(rng.permutation(N_ITEMS)[:labelled])
    said = (rng.random((labelled, votes)) < share[asked, None]).astype(int)
    judges = Labels.from_matrix(verdicts, annotators=list("abc"), labels=[0, 1])
    people = Labels.from_matrix(said, items=asked.tolist(), labels=[0, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        tree = corrected_rate(
            judges,
            people,
            system=dict(enumerate(system)),
            positive=1,
            target=TARGETS[world],
            random_seed=random_seed,
            **SHORT,
        )
    found = tree["derived"].to_dataset()
    upper = np.triu_indices(N_SYSTEMS, 1)
    gaps = (rates[:, None] - rates)[upper]
    low, high = found["difference_lower"].values[upper], found["difference_upper"].values[upper]
    alone = column_hdi(tree["posterior"]["rate_people_alone"].values.reshape(-1, N_SYSTEMS), 0.95)
    width = found["rate_upper"].values - found["rate_lower"].values
    record = {
        "rate": (found["rate_lower"].values <= rates) & (rates <= found["rate_upper"].values),
        "difference": (low <= gaps) & (gaps <= high),
        "width": width,
        "width_people_alone": alone[1] - alone[0],
    }
    return {
        k: np.asarray(v).tolist() for k, v in (record | _formulas(system, verdicts, asked, said, rates)).items()
    }


def run_in_grid(cell: tuple[float, ...], random_seed: int) -> dict[str, Any]:
    """Return the same of judges who are wrong together, one of them partial to the first system."""
    n_judges, shared, partial, votes, labelled = cell
    rng = np.random.default_rng([random_seed, *(int(100 * value) for value in cell)])
    system, rates = np.arange(N_ITEMS) % N_SYSTEMS, rng.uniform(0.5, 0.9, N_SYSTEMS)
    good = rng.random(N_ITEMS) < rates[system]
    said = good[:, None] ^ (rng.random((N_ITEMS, int(n_judges))) > 0.85)
    together = rng.random(N_ITEMS) < shared
    said[together] = ~good[together, None]
    said[:, 0] |= (system == 0) & (rng.random(N_ITEMS) < partial)
    asked = np.sort(rng.permutation(N_ITEMS)[: int(labelled)])
    answers = good[asked, None] ^ (rng.random((asked.size, int(votes))) > 0.88)
    judges = Labels.from_matrix(said.astype(int), labels=[0, 1])
    people = Labels.from_matrix(answers.astype(int), items=asked.tolist(), labels=[0, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        tree = corrected_rate(
            judges,
            people,
            system=dict(enumerate(system)),
            positive=1,
            target="truth",
            random_seed=random_seed,
            draws=250,
            chains=2,
        )
    found = tree["derived"].to_dataset()
    lower, upper, mean = (found[f"rate_{name}"].values for name in ("lower", "upper", "mean"))
    held = (lower <= rates) & (rates <= upper)
    record = {
        "rate": held,
        "partial system": held[:1],
        "bias of it": mean[:1] - rates[:1],
        "width": upper - lower,
    }
    return {name: np.asarray(value, float).tolist() for name, value in record.items()}


def run_on_votes(labelled: int, votes: int, random_seed: int) -> dict[str, Any]:
    """Return the same of real votes: some items have some of their hundred, and the share of all is the truth."""
    rng = np.random.default_rng([random_seed, labelled, votes])
    given = datasets.load("chaosnli-snli")
    annotations, models = given.annotations, given.predictions
    follows = annotations.categories.tolist().index("entailment")
    counts = annotations.counts()
    says = models.aligned(annotations.items, annotations.categories).hard_labels() == follows
    asked = np.sort(rng.permutation(annotations.items.size)[:labelled])
    positive = rng.hypergeometric(
        counts[asked, follows], counts[asked].sum(axis=1) - counts[asked, follows], votes
    )
    people = Labels.from_counts(
        np.column_stack([votes - positive, positive]), items=annotations.items[asked].tolist()
    )
    judges = Labels.from_matrix(says.T.astype(int), items=annotations.items, annotators=models.models.tolist())
    rate = np.mean(counts[:, follows] / counts.sum(axis=1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        tree = corrected_rate(judges, people, positive=1, random_seed=random_seed, **RUN)
    found = tree["derived"].to_dataset()
    lower, upper, mean = (found[f"rate_{name}"].item() for name in ("lower", "upper", "mean"))
    alone = column_hdi(tree["posterior"]["rate_people_alone"].values.reshape(-1, 1), 0.95)
    record = {"rate": lower <= rate <= upper, "bias": mean - rate, "width": upper - lower}
    record["width_people_alone"] = (alone[1] - alone[0]).item()
    return {name: [float(value)] for name, value in record.items()}


def run_chosen(design: str, random_seed: int) -> dict[str, Any]:
    """Return the same of items that were chosen with known probabilities."""
    rng = np.random.default_rng([random_seed, len(design)])
    confidence = rng.beta(0.8, 0.5, N_ITEMS)
    share = 0.1 + 0.8 * sp.special.expit(3 * sp.special.logit(np.clip(confidence, 0.001, 0.999)) - 1.5)
    doubt = np.sqrt(confidence * (1 - confidence)) if design == "doubt" else np.full(N_ITEMS, 0.5)
    weight = np.maximum(doubt, 0.125)
    asked = 200 * weight / weight.sum()
    # Systematic sampling in random order: 200 items, each with just its probability.
    order = rng.permutation(N_ITEMS)
    chosen = np.sort(order[np.diff(np.floor(np.cumsum(asked[order]) + rng.random() + 1e-9), prepend=0) > 0.5])
    said = (rng.random(chosen.size) < share[chosen]).astype(int)
    verdict = (confidence > 0.5).astype(int)
    judges = Labels.from_matrix(verdict[:, None], annotators=["a"], labels=[0, 1])
    people = Labels.from_matrix(said[:, None], items=chosen.tolist(), labels=[0, 1])
    rate, found = share.mean(), {}
    for name, inclusion in (("ignored", None), ("known", dict(enumerate(asked)))):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            tree = corrected_rate(
                judges, people, positive=1, inclusion=inclusion, random_seed=random_seed, **SHORT
            )
        ends = tree["derived"].to_dataset()
        lower, upper, mean = (ends[f"rate_{k}"].item() for k in ("lower", "upper", "mean"))
        others = np.delete(verdict, chosen)
        if inclusion is None:
            ppi = prediction_powered_mean(said, verdict[chosen], others)
        else:
            ppi = weighted_mean(*(v.astype(float) for v in (said, verdict[chosen], others)), asked[chosen])
        found |= {
            f"rate, {name}": lower <= rate <= upper,
            f"bias, {name}": mean - rate,
            f"width, {name}": upper - lower,
        }
        found |= {f"PPI, {name}": ppi[1] <= rate <= ppi[2], f"PPI bias, {name}": ppi[0] - rate}
        found |= {f"PPI width, {name}": ppi[2] - ppi[1]}
    return {name: [float(value)] for name, value in found.items()}


def run_large(world: str, random_seed: int) -> dict[str, Any]:
    """Return processor time and convergence of 200,000 verdicts, of judges who err alone or together."""
    rng = np.random.default_rng(random_seed)
    system, n_judges = np.arange(20_000) % 20, 10
    rates = rng.uniform(0.5, 0.9, 20)
    good = rng.random(system.size) < rates[system]
    right = rng.random((system.size, n_judges)) < rng.uniform(0.7, 0.9, n_judges)
    said = np.where(right, good[:, None], ~good[:, None])
    if world == "together":
        both = rng.random(system.size) < 0.15
        said[both] = (rng.random(both.sum()) < 0.5)[:, None]
    asked = np.sort(rng.permutation(system.size)[:1000])
    votes = np.where(rng.random((1000, 3)) < 0.85, good[asked, None], ~good[asked, None])
    judges = Labels.from_matrix(said.astype(int), labels=[0, 1])
    people = Labels.from_matrix(votes.astype(int), items=asked.tolist(), labels=[0, 1])
    began = time.process_time()
    tree = corrected_rate(
        judges, people, system=dict(enumerate(system)), positive=1, target="truth", random_seed=random_seed
    )
    spent, found = time.process_time() - began, tree["derived"].to_dataset()
    true = rates[found["system"].values.astype(int)]
    return {
        "seconds": [spent],
        "r_hat": [float(tree["diagnostics"]["r_hat"].max())],
        "ess": [float(tree["diagnostics"]["ess"].min())],
        "rate": ((found["rate_lower"].values <= true) & (true <= found["rate_upper"].values)).tolist(),
    }


def run_decision(people: int, items: int, beyond: float | None, random_seed: int) -> dict[str, Any]:
    """Return what the exact test and the posterior say of one judge, whose margin behind each person is known."""
    rng = np.random.default_rng([random_seed, people, items])
    margin = np.clip(rng.normal(rng.uniform(0, 0.4), 0.05, people), -0.6, 0.6)
    if beyond is not None:
        margin[:] = EPSILON + beyond
    counts = np.array([rng.multinomial(items, (1 / 3, (2 / 3 - m) / 2, (2 / 3 + m) / 2)) for m in margin])
    drawn, _ = win_draws(counts, 2000, rng)
    below = (drawn[:, :, 2] - drawn[:, :, 1] < EPSILON).mean(axis=1) >= ENOUGH
    may, exact, posterior = (
        (margin < EPSILON).mean() >= ENOUGH,
        exact_test(counts, EPSILON)["passes"],
        below.mean() > 0.95,
    )
    found: dict[str, list[bool]] = {"same": [exact == posterior]}
    for name, said in (("exact test", exact), ("posterior", posterior)):
        found[f"{name}: passes who may"] = [said] if may else []
        found[f"{name}: passes who may not"] = [] if may else [said]
    return found


def _formulas(
    system: NDArray[Any], verdicts: NDArray[Any], asked: NDArray[Any], said: NDArray[Any], rates: NDArray[Any]
) -> dict[str, list[bool]]:
    """Return whether the intervals of the closed formulas hold each system's rate, for every judge where they exist."""
    held: dict[str, list[bool]] = {"ppi_majority": [], "ppi_shares": [], "rogan_gladen_majority": []}
    majority, others = said.mean(axis=1) > 0.5, np.setdiff1d(np.arange(N_ITEMS), asked)
    for s, rate in enumerate(rates):
        mine, rest = system[asked] == s, others[system[others] == s]
        for judge in range(N_JUDGES):
            seen, unseen = verdicts[asked[mine], judge], verdicts[rest, judge]
            for name, labels in (("ppi_majority", majority[mine]), ("ppi_shares", said.mean(axis=1)[mine])):
                ends = prediction_powered_mean(labels, seen, unseen)
                held[name].append(bool(ends.lower <= rate <= ends.upper))
            yes, no = seen[majority[mine]], seen[~majority[mine]]
            if yes.size and no.size and yes.mean() > no.mean():
                ends = rogan_gladen(
                    unseen.mean(), unseen.size, specificity=1 - no.mean(), n_negative=no.size, sensitivity=yes.mean(),
                    n_positive=yes.size,
                )  # fmt: skip
                held["rogan_gladen_majority"].append(bool(ends.lower <= rate <= ends.upper))
    return held


def measure(world: str, runs: int) -> None:
    """Run every cell of a world and keep what it found."""
    kept: dict[str, Any] = {}
    if world == "chosen":
        jobs = {design: partial(run_chosen, design) for design in ("random", "doubt")}
    elif world == "decisions":
        jobs = {f"{n} {items}": partial(run_decision, n, items, None) for n, items in SHAPES}
    elif world == "border":
        jobs = {f"{n} {items} {beyond}": partial(run_decision, n, items, beyond) for n, items, beyond in BORDER}
    elif world == "grid":
        cells = {str(row): tuple(LEVELS[name][k] for name, k in zip(LEVELS, row)) for row in GRID}
        jobs = {name: partial(run_in_grid, cell) for name, cell in cells.items()}
    elif world == "partial":
        jobs = {name: partial(run_in_grid, cell) for name, cell in PARTIAL.items()}
    elif world == "large":
        jobs = {name: partial(run_large, name) for name in ("alone", "together")}
    elif world == "votes":
        jobs = {f"{n} {votes}": partial(run_on_votes, n, votes) for n, votes in REAL_CELLS}
    else:
        jobs = {f"{n} {votes}": partial(run, world, n, votes) for n, votes in CELLS}
    for cell, job in jobs.items():
        found = [job(random_seed) for random_seed in range(runs)]
        by_run = {k: v for k in found[0] if (v := [float(np.mean(f[k])) for f in found if f[k]])}
        kept[cell] = {
            k: {
                "mean": float(np.mean(v)),
                "error": float(np.std(v, ddof=1) / np.sqrt(len(v))) if len(v) > 1 else None,
            }
            for k, v in by_run.items()
        }
        (RESULTS / f"judges_{world}.json").write_text(
            json.dumps({"runs": runs, "cells": kept}, indent=1) + "\n"
        )
        print(world, cell, {k: round(v["mean"], 3) for k, v in kept[cell].items()}, flush=True)


def write() -> None:
    """Write the page of both worlds."""
    lines = [
        "# Do the intervals of corrected rates hold the truth?",
        "",
        *(__doc__ or "").split("\n\n", 2)[2].splitlines(),
        "",
    ]
    lines += ["Shares of intervals (nominal 95 %) that hold the true rate of a system, +- Monte-Carlo error over runs; "
              "`majority`: the people's majority taken for the truth, per system and judge.", ""]  # fmt: skip
    for world, target in TARGETS.items():
        path = RESULTS / f"judges_{world}.json"
        if not path.exists():
            lines += [f"## {world}", "", f"Not measured: `uv run python benchmarks/judges.py {world} 60`.", ""]
            continue
        record = json.loads(path.read_text())
        lines += [f'## {world}, `target="{target}"`', "", f"{record['runs']} runs of each cell.", ""]
        lines += ["| labelled items | votes | rates | differences | width | width, people alone | PPI++ of majority | "
                  "PPI++ of shares | Rogan-Gladen of majority |", "| --- " * 9 + "|"]  # fmt: skip
        for cell, values in record["cells"].items():
            covers = {k: f"{v['mean']:.3f} +- {v['error']:.3f}" for k, v in values.items()}
            widths = [f"{values[k]['mean']:.3f}" for k in ("width", "width_people_alone")]
            row = [*cell.split(), covers["rate"], covers["difference"], *widths]
            row += [covers[k] for k in ("ppi_majority", "ppi_shares", "rogan_gladen_majority")]
            lines.append(f"| {' | '.join(row)} |")
        lines.append("")
    for world, section in {
        "grid": _grid,
        "partial": _partial,
        "chosen": _chosen,
        "votes": _votes,
        "large": _large,
        "decisions": _decisions,
        "border": _border,
    }.items():
        path = RESULTS / f"judges_{world}.json"
        lines += section(json.loads(path.read_text())) if path.exists() else []
    (RESULTS / "judges.md").write_text("\n".join(lines))


def _grid(record: dict[str, Any]) -> list[str]:
    """Return the table of the grid, by one factor at a time; a cell counts as one value."""
    lines = [
        "## grid: judges, shared errors, partiality, people, items",
        "",
        f"{record['runs']} runs of 27 cells.",
        "",
    ]
    lines += ["| factor | level | rates | width |", "| --- " * 4 + "|"]
    rows = np.array([[*map(int, name.strip("()").split(",")), v["rate"]["mean"], v["width"]["mean"]]
                     for name, v in record["cells"].items()])  # fmt: skip
    chosen = [("all", "", np.ones(len(rows), bool))]
    chosen += [(f, f"{LEVELS[f][k]:g}", rows[:, n] == k) for n, f in enumerate(LEVELS) for k in range(3)]
    for factor, level, member in chosen:
        held, width = rows[member, -2], rows[member, -1].mean()
        error = held.std(ddof=1) / np.sqrt(held.size)
        lines.append(f"| {factor} | {level} | {held.mean():.3f} +- {error:.3f} | {width:.3f} |")
    return [*lines, ""]


def _partial(record: dict[str, Any]) -> list[str]:
    """Return the table of the hardest world and its parts."""
    lines = ["## partial: three judges wrong together on a fifth of the items, one of them partial", ""]
    lines += [f"{record['runs']} runs of each; 300 items, three people.", ""]
    lines += ["| world | rates | rate of the favoured system | its bias | width |", "| --- " * 5 + "|"]
    for cell, values in record["cells"].items():
        shown = [
            f"{values[k]['mean']:.3f} +- {values[k]['error']:.3f}"
            for k in ("rate", "partial system", "bias of it")
        ]
        lines.append(f"| {cell} | {' | '.join(shown)} | {values['width']['mean']:.3f} |")
    return [*lines, ""]


def _chosen(record: dict[str, Any]) -> list[str]:
    """Return the table of items chosen where the judge is in doubt."""
    lines = [
        "## chosen: which items people see",
        "",
        f"{record['runs']} runs of each cell; `inclusion=` left out",
    ]
    lines += [
        "(ignored) or given (known). PPI is weighted where the probabilities are known.",
        "",
    ]
    lines += ["| design | inclusion | rate | bias | width | PPI | PPI bias | PPI width |", "| --- " * 8 + "|"]
    for design, values in record["cells"].items():
        for name in ("ignored", "known"):
            cells = [
                values[f"{what}, {name}"] for what in ("rate", "bias", "width", "PPI", "PPI bias", "PPI width")
            ]
            shown = [f"{v['mean']:.3f} +- {v['error']:.3f}" for v in cells]
            lines.append(f"| {design} | {name} | {' | '.join(shown)} |")
    return [*lines, ""]


def _votes(record: dict[str, Any]) -> list[str]:
    """Return the table of real votes."""
    lines = ["## votes: ChaosNLI, five models as judges", "", f"{record['runs']} runs of each cell.", ""]
    lines += ["| labelled items | votes | rate | bias | width | width, people alone |", "| --- " * 6 + "|"]
    for cell, values in record["cells"].items():
        covers, bias = (f"{values[k]['mean']:.3f} +- {values[k]['error']:.3f}" for k in ("rate", "bias"))
        widths = [f"{values[k]['mean']:.3f}" for k in ("width", "width_people_alone")]
        lines.append(f"| {' | '.join([*cell.split(), covers, bias, *widths])} |")
    return [*lines, ""]


def _large(record: dict[str, Any]) -> list[str]:
    """Return the table of many verdicts."""
    lines = ["## large: 200,000 verdicts of ten judges on twenty systems", ""]
    lines += ["| judges err | processor seconds | r-hat, largest | effective draws, least | rates held |"]
    lines += ["| --- " * 5 + "|"]
    for cell, values in record["cells"].items():
        seconds, r_hat, ess, rate = (values[k]["mean"] for k in ("seconds", "r_hat", "ess", "rate"))
        lines.append(f"| {cell} | {seconds:.0f} | {r_hat:.3f} | {ess:.0f} | {rate:.2f} |")
    return [*lines, ""]


def _decisions(record: dict[str, Any]) -> list[str]:
    """Return the table of decisions by the exact test and by the posterior."""
    names = list(record["cells"]["8 246"])
    lines = [
        "## decisions: may a judge replace these people?",
        "",
        f"{record['runs']} judges a cell; epsilon {EPSILON}. The posterior passes a judge with Pr > .95. Where the",
        "two differ, people are too few for the exact test: of three, Benjamini and Yekutieli ask .009 of the least p.",
        "",
    ]
    lines += [f"| people | items | {' | '.join(names)} |", "| --- " * (2 + len(names)) + "|"]
    for cell, values in record["cells"].items():
        shown = [f"{values[name]['mean']:.2f} +- {values[name]['error']:.2f}" for name in names]
        lines.append(f"| {' | '.join([*cell.split(), *shown])} |")
    return [*lines, ""]


def _border(record: dict[str, Any]) -> list[str]:
    """Return the table of judges at the border."""
    lines = ["## border: a judge who is as much behind every person as epsilon, or a little more", ""]
    lines += [f"{record['runs']} judges a cell, who may not replace people; share that passes.", ""]
    lines += ["| people | items | margin | exact test | posterior > .95 |", "| --- " * 5 + "|"]
    for cell, values in record["cells"].items():
        people, items, beyond = cell.split()
        found = (values[f"{name}: passes who may not"] for name in ("exact test", "posterior"))
        shown = [f"{v['mean']:.3f} +- {v['error']:.3f}" for v in found]
        lines.append(f"| {people} | {items} | {EPSILON + float(beyond):.2f} | {' | '.join(shown)} |")
    return [*lines, ""]


if __name__ == "__main__":
    measure(sys.argv[1], int(sys.argv[2])) if len(sys.argv) > 2 else write()
