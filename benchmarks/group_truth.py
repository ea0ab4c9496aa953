"""The truth of each group: simulated crowds, held-out votes, coverage, speed: benchmarks/results/group_truth.md.

    python benchmarks/group_truth.py [runs per cell]

The simulation is that of NUTMEG (Ivey, Gauch, Jurgens, EMNLP 2025), whose published single runs stand beside ours.
"""

import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bayesagree import Labels, Predictions, evaluate, group_dirichlet
from bayesagree.plausibility import GroupDirichlet, GroupDirichletPrior

CELLS = [(0.0, 0.0), (0.0, 0.3), (0.0, 1.0), (0.1, 0.1), (0.25, 0.0), (0.25, 0.3), (0.25, 0.5), (0.25, 1.0)]
"""Spam and divisiveness."""
LIMIT = (
    "Where all items divide the groups the divided form fails: it takes a group's own view as independent of the "
    "common one, and guesses items without votes of the group."
)
METHODS = ["NUTMEG", "MACE", "Majority Vote"]


def crowd(spam: float, divisive: float, rng: np.random.Generator) -> tuple[Labels, dict[int, str], np.ndarray]:
    """Simulate 500 items of 5 votes by 150 annotators, 80 : 20; truths (group, item) of the majority and minority."""
    n_items, n_annotators = 500, 150
    minority = np.zeros(n_annotators, bool)
    minority[rng.permutation(n_annotators)[:30]] = True
    spamming = np.zeros(n_annotators) if spam == 0 else rng.beta(spam, 1 - spam, n_annotators)
    truth = np.tile(rng.integers(0, 2, n_items), (2, 1))
    truth[1] ^= rng.random(n_items) < divisive
    rows, left = [], np.full(n_annotators, 20)
    for i in range(n_items):
        for j in rng.choice(np.flatnonzero(left > 0), 5, replace=False):
            left[j] -= 1
            label = rng.integers(0, 2) if rng.random() < spamming[j] else truth[int(minority[j]), i]
            rows.append((i, j, int(label)))
    table = pd.DataFrame(rows, columns=["item", "annotator", "label"])
    members = {j: "minority" if minority[j] else "majority" for j in range(n_annotators)}
    return Labels.from_long(table, labels=[0, 1]), members, truth


def simulation(runs: int) -> list[str]:
    """Return a table of the minority's accuracy and the share of divisive items."""
    data = Path(os.environ["BAYESAGREE_DATA"]) / "nutmeg-figures"
    published = pd.read_csv(data / "exp1_comparison.csv").set_index(["spamming_rate", "divisiveness_rate", "method"])
    estimate = pd.read_csv(data / "disagreement_estimate.csv").set_index(["spamming_rate", "divisiveness_rate"])
    lines = [
        f"## Simulated crowds, {runs} runs per cell", "",
        "Accuracy of the minority's truths, then the share of divisive items: mean of ours, mean of the truth, and how "
        "often our 95 % interval holds it; NUTMEG's estimate for its own crowd. Ours is the divided form, careful "
        "where there is spam. Published values are single runs.", "",
        "| spam, divisive | ours (se) | " + " | ".join(METHODS) + " | share: ours | truth | held | NUTMEG |",
        "| --- | " + "--- | " * 8,
    ]  # fmt: skip
    held_of_all = []
    for c, (spam, divisive) in enumerate(CELLS):
        accuracy, share, true, held = [], [], [], []
        for run in range(runs):
            labels, members, truth = crowd(spam, divisive, np.random.default_rng([c, run]))
            how: dict[str, Any] = {"form": "divided", "careful": spam > 0, "draws": 250, "chains": 2, "seed": run}
            drawn = group_dirichlet(labels, groups=members, **how)["posterior"].to_dataset()
            best = drawn["plausibility"].sel(group="minority").mean(("chain", "draw")).values.argmax(axis=1)
            accuracy.append((best == truth[1]).mean())
            draws = drawn["divided"].sel(group="minority").values.ravel()
            share.append(draws.mean())
            true.append((truth[0] != truth[1]).mean())
            low, high = np.quantile(draws, [0.025, 0.975])
            held.append(low <= true[-1] <= high)
        held_of_all += held
        theirs = [f"{published.loc[(spam, divisive, m), 'minority_accuracy']:.3f}" for m in METHODS]
        nutmeg = estimate.loc[(spam, divisive), "estimated_divisiveness"]
        cell = f"{np.mean(accuracy):.3f} ({np.std(accuracy) / np.sqrt(runs):.3f})"
        lines.append(
            f"| {spam}, {divisive} | {cell} | {' | '.join(theirs)} | {np.mean(share):.3f} | {np.mean(true):.3f} | "
            f"{sum(held)} of {runs} | {nutmeg:.3f} |"
        )
        print(lines[-1], flush=True)
    mean = np.mean(held_of_all)
    error = np.sqrt(mean * (1 - mean) / len(held_of_all))
    return [*lines, "", f"Intervals that hold the share of divisive items: {mean:.3f} (error {error:.3f}).", LIMIT]


def held_out() -> list[str]:
    """Return a table of the log score of one held-out vote per item."""
    data = Path(os.environ["BAYESAGREE_DATA"])
    pop = pd.read_csv(data / "popquorn-offensiveness" / "offensiveness.csv.gz")
    pop = pop.rename(columns={"instance_id": "item", "user_id": "annotator"})
    pop["label"] = (pop["offensiveness"] >= 2).astype(int)
    csc = pd.read_csv(data / "lewidi2025-csc" / "labels.csv.gz")
    csc = csc.merge(pd.read_csv(data / "lewidi2025-csc" / "annotators.csv.gz"), on="annotator")
    csc["label"] = (csc["label"] >= 3).astype(int)
    csc["age"] = pd.cut(pd.to_numeric(csc["age"], errors="coerce"), [0, 30, 45, 120]).astype(str)
    with np.load(data / "dices350" / "dices350.npz") as dices:
        item, annotator = np.nonzero(dices["labels"] >= 0)
        labels = dices["labels"][item, annotator]
    chosen = annotator < 20
    halves = pd.DataFrame({"item": item, "annotator": annotator, "label": (labels != 1).astype(int)})[chosen]
    halves["halves at random"] = np.random.default_rng(1).permutation(20)[halves["annotator"]] % 2
    cases = [("popquorn", pop, by) for by in ("gender", "race", "education", "age")]
    cases += [("csc", csc, "gender"), ("csc", csc, "age"), ("dices350, 20 raters", halves, "halves at random")]
    lines = [
        "## Held-out votes", "",
        "Mean log score of one held-out vote per item: no groups (similarity "
        "fixed at 10,000), pooled groups (this posterior, graded), and groups apart (similarity fixed at .01).", "",
        "| votes | groups | no groups | pooled | apart | pooled - none | pooled - apart |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]  # fmt: skip
    for name, table, by in cases:
        lines.append(_held_out_row(name, table.dropna(subset=[by]), by))
        print(lines[-1], flush=True)
    return lines


def _held_out_row(name: str, table: pd.DataFrame, by: str) -> str:
    table = table.assign(group=table[by].astype(str))
    table = table[table["group"].map(table.groupby("group")["annotator"].nunique()) >= 3]
    table = table.drop_duplicates(["item", "annotator"]).sample(frac=1, random_state=1)
    test = table[table.groupby("item").cumcount() == 0]
    rest = table[table.groupby("item").cumcount() > 0]
    test = test[test["item"].isin(rest["item"])]
    labels = Labels.from_long(rest[["item", "annotator", "label"]], labels=[0, 1])
    members = dict(zip(rest["annotator"], rest["group"]))
    scores = []
    for prior in (
        GroupDirichletPrior(similarity=10_000, similarity_sd=1e-3),
        GroupDirichletPrior(),
        GroupDirichletPrior(similarity=0.01, similarity_sd=1e-3),
    ):
        how: dict[str, Any] = {"groups": members, "prior": prior, "draws": 250, "chains": 2, "seed": 1}
        mean = group_dirichlet(labels, **how)["posterior"]["plausibility"].mean(("chain", "draw"))
        p = mean.sel(
            group=test["group"].to_xarray().rename(index="vote"), item=test["item"].to_xarray().rename(index="vote")
        ).values[np.arange(len(test)), test["label"]]
        scores.append(np.log(p))
    none, pooled, apart = (s.mean() for s in scores)
    away = scores[1] - scores[0], scores[1] - scores[2]
    gaps = " | ".join(f"{gap.mean():+.4f} ({gap.std() / np.sqrt(len(test)):.4f})" for gap in away)
    return f"| {name} | {by} ({len(set(members.values()))}) | {none:.4f} | {pooled:.4f} | {apart:.4f} | {gaps} |"


def coverage(runs: int) -> list[str]:
    """Return how often 95 % intervals of a group's score hold the score against its true plausibilities."""
    lines = [
        "## Coverage of scores of groups", "",
        f"{runs} simulated sets of 150 items, three groups (similarity 3, 30, 300), two models, top-1 accuracy and "
        "total variation; 95 % intervals by group.", "",
        "| votes per group and item | top-1 accuracy | total variation |", "| --- | --- | --- |",
    ]  # fmt: skip
    for n_votes in (3, 5, 10):
        held: dict[str, list[bool]] = {"top_1_accuracy": [], "total_variation": []}
        for run in range(runs):
            rng = np.random.default_rng([n_votes, run])
            common = rng.dirichlet([0.8, 0.6, 0.4], 150)
            own = np.stack([[rng.dirichlet(s * m + 1e-9) for m in common] for s in (3.0, 30.0, 300.0)])
            votes = rng.multinomial(n_votes, own)
            item, label, who, group = [], [], [], []
            for g in range(3):
                for i in range(150):
                    drawn = np.repeat(np.arange(3), votes[g, i])
                    item += [i] * n_votes
                    label += drawn.tolist()
                    who += [g * n_votes + j for j in range(n_votes)]
                    group += [f"g{g}"] * n_votes
            table = pd.DataFrame({"item": item, "annotator": who, "label": label})
            noisy = [common * np.exp(sd * rng.standard_normal(common.shape)) for sd in (0.5, 1.5)]
            models = Predictions.from_scores(
                {f"m{j}": p / p.sum(1, keepdims=True) for j, p in enumerate(noisy)}, labels=[0, 1, 2]
            )
            labels = Labels.from_long(table, labels=[0, 1, 2])
            given: Any = GroupDirichlet(dict(zip(who, group)))
            tree = evaluate(labels, models, plausibility=given, metrics=list(held), draws=250, chains=2, seed=run)
            for name, found in held.items():
                low, high = (
                    tree["posterior"][name].isel(reliability=0).quantile([0.025, 0.975], ("chain", "draw")).values
                )
                for g in range(3):
                    for j, p in enumerate(noisy):
                        p = p / p.sum(1, keepdims=True)
                        if name == "top_1_accuracy":
                            true = (p.argmax(1) == own[g].argmax(1)).mean()
                        else:
                            true = 0.5 * np.abs(p - own[g]).sum(1).mean()
                        found.append(bool(low[g, j] - 1e-12 <= true <= high[g, j] + 1e-12))
        cells = [f"{np.mean(h):.3f} ({np.sqrt(np.mean(h) * (1 - np.mean(h)) / runs / 2):.3f})" for h in held.values()]
        lines.append(f"| {n_votes} | {cells[0]} | {cells[1]} |")
        print(lines[-1], flush=True)
    return lines


def speed() -> list[str]:
    """Return seconds of an evaluation of 10,000 items, 5 groups, 5 labels, 3 votes per group."""
    rng = np.random.default_rng(1)
    common = rng.dirichlet(np.full(5, 0.5), 10_000)
    cumulative = np.cumsum(common, axis=1)
    label = (rng.random((10_000, 15, 1)) > cumulative[:, None]).sum(axis=2).clip(0, 4)
    labels = Labels.from_matrix(label, labels=range(5))
    members = {j: f"g{int(j) % 5}" for j in labels.annotators.tolist()}
    models = Predictions.from_scores({"m": common}, labels=range(5))
    start = time.perf_counter()
    evaluate(labels, models, plausibility=GroupDirichlet(members), seed=1)
    seconds = time.perf_counter() - start
    line = f"10,000 items, 5 groups, 5 labels, 150,000 votes, 4 x 1000 draws, scores of one model: {seconds:.1f} s."
    print(line, flush=True)
    return ["## Speed", "", line]


def main() -> None:
    """Write the page."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    warnings.simplefilter("ignore")
    page = ["# The truth of each group", "", "Made by `benchmarks/group_truth.py`.", ""]
    for part in (lambda: simulation(runs), held_out, speed, lambda: coverage(runs)):
        page += [*part(), ""]
        (Path(__file__).parent / "results" / "group_truth.md").write_text("\n".join(page))


if __name__ == "__main__":
    main()
