"""The truth of each group: simulated crowds, held-out votes, coverage, speed: benchmarks/results/group_truth.md.

    python benchmarks/group_truth.py [simulation held_out coverage all_votes speed million] [--runs 20]

Parts that are not named keep their section of the page; `million` prints the peak memory of its process.

The simulation is that of NUTMEG (Ivey, Gauch, Jurgens, EMNLP 2025), whose published single runs stand beside ours.
"""

import argparse
import itertools
import os
import resource
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import betaln

from bayesagree import Labels, Predictions, evaluate, group_dirichlet
from bayesagree.plausibility import GroupDirichlet, GroupDirichletPrior

CELLS = [(0.0, 0.0), (0.0, 0.3), (0.0, 1.0), (0.1, 0.1), (0.25, 0.0), (0.25, 0.3), (0.25, 0.5), (0.25, 1.0)]
"""Spam and divisiveness."""
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
        f"{runs} runs per cell. Accuracy of the minority's truths, then the share of divisive items: mean of ours, "
        "mean of the truth, and how "
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
    return [*lines, "", f"Intervals that hold the share of divisive items: {mean:.3f} (error {error:.3f})."]


def held_out(runs: int) -> list[str]:
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
        "Mean log score of one held-out vote per item, in three splits: no groups (similarity fixed at 10,000, no "
        "leaning), pooled groups (this posterior, graded), groups apart (a beta-binomial of each group). Errors are "
        "those of items.", "",
        "| votes | groups | no groups | pooled | apart | pooled - none | pooled - apart |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]  # fmt: skip
    for name, table, by in cases:
        lines.append(_held_out_row(name, table.dropna(subset=[by]), by))
        print(lines[-1], flush=True)
    return lines


def _held_out_row(name: str, table: pd.DataFrame, by: str) -> str:
    table = table.assign(group=f"{by} " + table[by].astype(str))  # so that "prefer not to say" is a group too
    table = table[table["group"].map(table.groupby("group")["annotator"].nunique()) >= 3]
    table = table.drop_duplicates(["item", "annotator"])
    scores = pd.concat([_held_out_scores(table.sample(frac=1, random_state=split)) for split in (1, 2, 3)])
    none, pooled, apart = scores.mean()
    scores = scores.groupby(level="item").sum() / len(scores)
    away = [scores["pooled"] - scores[other] for other in ("none", "apart")]
    gaps = " | ".join(f"{gap.sum():+.4f} ({gap.std() * np.sqrt(len(gap)):.4f})" for gap in away)
    return f"| {name} | {by} ({table['group'].nunique()}) | {none:.4f} | {pooled:.4f} | {apart:.4f} | {gaps} |"


def _held_out_scores(table: pd.DataFrame) -> pd.DataFrame:
    """Return log scores of the first vote of each item, by item."""
    test = table[table.groupby("item").cumcount() == 0]
    rest = table[table.groupby("item").cumcount() > 0]
    test = test[test["item"].isin(rest["item"]) & test["group"].isin(rest["group"])]
    labels = Labels.from_long(rest[["item", "annotator", "label"]], labels=[0, 1])
    members = dict(zip(rest["annotator"], rest["group"]))
    priors = GroupDirichletPrior(similarity=10_000, similarity_sd=1e-3, leaning=1e6), GroupDirichletPrior()
    at = {name: test[name].to_xarray().rename(index="vote") for name in ("group", "item")}
    scores = {"apart": _apart(rest, test)}
    for name, prior in zip(("none", "pooled"), priors):
        # Few draws would cost as much as groups do: the error of a mean plausibility is near 1 / sqrt(draws).
        how: dict[str, Any] = {"groups": members, "prior": prior, "draws": 750, "chains": 2, "seed": 1}
        mean = group_dirichlet(labels, **how)["posterior"]["plausibility"].mean(("chain", "draw"))
        scores[name] = np.log(mean.sel(**at).values[np.arange(len(test)), test["label"]])
    return pd.DataFrame(scores, index=pd.Index(test["item"], name="item"))[["none", "pooled", "apart"]]


def _apart(rest: pd.DataFrame, test: pd.DataFrame) -> np.ndarray[Any, Any]:
    """Return log scores of held-out votes by a beta prior of each group's own, of largest likelihood."""
    found = np.empty(len(test))
    for name, votes in rest.groupby("group"):
        n = votes.groupby("item")["label"].agg(["sum", "count"])
        yes, no = n["sum"].to_numpy(), (n["count"] - n["sum"]).to_numpy()

        def loss(x: Any, yes: Any = yes, no: Any = no) -> float:
            a, b = np.exp(x)
            return -(betaln(a + yes, b + no) - betaln(a, b)).sum() + 0.5 * ((x / 1.5) ** 2).sum()

        a, b = np.exp(minimize(loss, np.zeros(2)).x)
        here = (test["group"] == name).to_numpy()
        of_item = n.reindex(test["item"][here]).fillna(0).to_numpy()
        p = (a + of_item[:, 0]) / (a + b + of_item[:, 1])
        found[here] = np.log(np.where(test["label"][here] == 1, p, 1 - p))
    return found


def coverage(runs: int) -> list[str]:
    """Return how often 95 % intervals of a group's score hold the score against its true plausibilities."""
    lines = [
        f"{runs} sets of 150 items, three groups (similarity 3, 30, 300), two models, top-1 accuracy and "
        "total variation; 95 % intervals by group. Monte-Carlo errors are those of sets, not of groups and models. "
        "Votes alone take what a good model knows beyond them for errors.", "",
        HEAD, "| --- | --- | --- | --- | --- |",
    ]  # fmt: skip
    for n_votes in (3, 5, 10):
        held = []
        for run in range(runs):
            rng = np.random.default_rng([n_votes, run])
            common = rng.dirichlet([0.8, 0.6, 0.4], 150)
            own = np.stack([[rng.dirichlet(s * m + 1e-9) for m in common] for s in (3.0, 30.0, 300.0)])
            held.append(_held(rng.multinomial(n_votes, own), own, noisy(common, rng), rng, run))
        lines.append(_row(str(n_votes), np.array(held)))
    return lines


def noisy(shares: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
    """Return the outputs of a good and of a bad model."""
    both = [shares * np.exp(sd * rng.standard_normal(shares.shape)) for sd in (0.5, 1.5)]
    return [p / p.sum(axis=1, keepdims=True) for p in both]


def all_votes(runs: int) -> list[str]:
    """Return how often 95 % intervals from some votes of a group hold the score against all its votes."""
    data = Path(os.environ["BAYESAGREE_DATA"])
    with np.load(data / "dices350" / "dices350.npz") as dices:
        votes = dices["labels"]
    with np.load(data / "chaosnli-snli" / "chaosnli.npz") as nli:
        counts = nli["counts"].astype(int)
    with np.load(data / "chaosnli-snli" / "model_probs.npz") as published:
        outputs = [published[f"{name}_0"] for name in ("roberta_base", "bert_base_uncased")]
    lines = [
        "From 3, 5, 10 votes per group and item against the shares of all its votes: those not drawn are predicted "
        f"from the drawn plausibilities, and belong to the interval. {runs} draws of groups and votes.", "",
        f"dices350: {len(votes)} conversations; two groups of 41 of the {votes.shape[1]} raters at random, whose "
        "members lean to safe or unsafe whatever the item; two models, noisy shares of the other 41 raters. For each "
        "item other raters vote, or the same ones of a group label all items, of which the function warns. "
        "chaosnli-snli: 350 items, two groups of "
        "50 of the 100 votes at random, two published models.", "",
        HEAD, "| --- | --- | --- | --- | --- |",
    ]  # fmt: skip
    for name, n_votes in itertools.product(("dices350", "dices350, the same raters", "chaosnli-snli"), (3, 5, 10)):
        held = []
        for run in range(runs):
            rng = np.random.default_rng([n_votes, run])
            if name == "chaosnli-snli":
                chosen = rng.choice(len(counts), 350, replace=False)
                every = np.stack([rng.permuted(np.repeat(np.arange(3), row)) for row in counts[chosen]])
                parts, models = [every[:, :50], every[:, 50:]], [p[chosen] for p in outputs]
            else:
                *parts, others = np.split(votes[:, rng.permutation(123)], 3, axis=1)
                models = noisy(_shares(others) + 0.02, rng)
                if "same" not in name:
                    parts = [rng.permuted(part, axis=1) for part in parts]
            own, some = (np.stack([_shares(part[:, :n]) for part in parts]) for n in (None, n_votes))
            held.append(_held((some * n_votes).round().astype(int), own, models, rng, run, parts[0].shape[1]))
        lines.append(_row(f"{name}, {n_votes}", np.array(held)))
    return lines


def _shares(votes: np.ndarray) -> np.ndarray:
    """Return the share of each of three labels, (item, category)."""
    return (votes[..., None] == np.arange(3)).mean(axis=1)


HEAD = "| votes | accuracy, votes alone | total variation | accuracy, `predictions=` | total variation |"


def _row(name: str, held: np.ndarray[Any, Any]) -> str:
    """Return a row of the table from what was held, (run, metric, score)."""
    by_run = held.mean(axis=2)
    cells = [f"{v.mean():.3f} ({v.std() / np.sqrt(len(v)):.3f})" for v in by_run.T]
    print(line := f"| {name} | {' | '.join(cells)} |", flush=True)
    return line


def _held(
    counts: np.ndarray, truth: np.ndarray, models: list[np.ndarray], rng: np.random.Generator, seed: int, of: int = 0
) -> list[Any]:
    """Return which intervals, (predictions and metric, score), hold the score against plausibilities of each group.

    Or against the shares of so many votes (`of`), some of which are the counts.
    """
    g, i, k = (np.repeat(index, counts[counts > 0]) for index in np.nonzero(counts))
    who = pd.Series(0, range(g.size)).groupby([g, i]).cumcount().to_numpy()
    names = [f"g{a}-{b}" for a, b in zip(g, who)]
    labels = Labels.from_long(pd.DataFrame({"item": i, "annotator": names, "label": k}), labels=[0, 1, 2])
    scored = Predictions.from_scores({f"m{j}": p for j, p in enumerate(models)}, labels=[0, 1, 2])
    held, p = [], np.stack(models)[:, None]
    for given in ({}, {"predictions": scored}):
        how: dict[str, Any] = {"groups": {name: name[:2] for name in names}, "draws": 250, "chains": 2, "seed": seed}
        drawn = group_dirichlet(labels, **how, **given)["posterior"]["plausibility"].values
        drawn = drawn.reshape(-1, *truth.shape)
        if of:
            drawn /= drawn.sum(axis=-1, keepdims=True)
            drawn = (counts + rng.multinomial(of - counts.sum(axis=-1), drawn)) / of
        for score in (
            lambda shares: (p.argmax(axis=-1) == shares.argmax(axis=-1)).mean(axis=-1),
            lambda shares: 0.5 * np.abs(p - shares).sum(axis=-1).mean(axis=-1),
        ):
            low, high = np.quantile([score(shares) for shares in drawn], [0.025, 0.975], axis=0)
            held.append(((low - 1e-12 <= score(truth)) & (score(truth) <= high + 1e-12)).ravel().tolist())
    return held


BESIDE = "two cores"


def _timed(n_items: int) -> tuple[str, float, float]:
    """Return what was evaluated (5 groups of 3 annotators, 5 labels, one model), and seconds of clock and processor."""
    rng = np.random.default_rng(1)
    common = rng.dirichlet(np.full(5, 0.5), n_items)
    label = (rng.random((n_items, 15, 1)) > np.cumsum(common, axis=1)[:, None]).sum(axis=2).clip(0, 4)
    labels = Labels.from_matrix(label, labels=range(5))
    members = {j: f"g{int(j) % 5}" for j in labels.annotators.tolist()}
    models = Predictions.from_scores({"m": common}, labels=range(5))
    start, used = time.perf_counter(), time.process_time()
    evaluate(labels, models, plausibility=GroupDirichlet(members), seed=1)
    what = f"{n_items:,} items, 5 groups, 5 labels, {15 * n_items:,} votes, 4 x 1000 draws, accuracy of one model"
    return what, time.perf_counter() - start, time.process_time() - used


def speed(runs: int) -> list[str]:
    """Return seconds of an evaluation of 10,000 items."""
    _timed(100)  # compiles
    what, clock, used = _timed(10_000)
    print(line := f"{what}: {clock:.1f} s, {used:.1f} s of processor time, {BESIDE}.", flush=True)
    return [line]


def million(runs: int) -> list[str]:
    """Return seconds and memory of an evaluation of a million annotations."""
    _timed(100)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    what, clock, used = _timed(66_667)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    line = f"{what}: {clock:.0f} s, {used:.0f} s of processor time, {BESIDE}; peak memory "
    print(line := line + f"{memory:.1f} GB ({before:.1f} GB of a process that evaluated 100 items).", flush=True)
    return [line]


PARTS = {
    "simulation": ("Simulated crowds", simulation),
    "held_out": ("Held-out votes", held_out),
    "coverage": ("Coverage of scores of groups, simulated", coverage),
    "all_votes": ("Coverage of scores of groups, real votes", all_votes),
    "speed": ("Speed, 10,000 items", speed),
    "million": ("Speed, a million annotations", million),
}


def main() -> None:
    """Write the named parts of the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", default=list(PARTS))
    parser.add_argument("--runs", type=int, default=20)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    path = Path(__file__).parent / "results" / "group_truth.md"
    for name, (title, part) in PARTS.items():
        if name in given.parts:
            section = f"{title}\n\n" + "\n".join(part(given.runs))
            # Parts may run side by side.
            old = path.read_text().split("\n## ")[1:] if path.exists() else []
            page = {text.split("\n")[0]: text.rstrip() for text in old} | {title: section}
            ordered = [page[title] for title, _ in PARTS.values() if title in page]
            head = "# The truth of each group\n\nMade by `benchmarks/group_truth.py`.\n"
            path.write_text(head + "".join(f"\n## {text}\n" for text in ordered))


if __name__ == "__main__":
    main()
