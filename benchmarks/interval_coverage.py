"""Coverage of intervals that have no page of their own.

uv run python benchmarks/interval_coverage.py [sets [function,...]]          (writes results/interval_coverage.md)

Each row is one public function in one world of known truth; `covered` is the share of its intervals that hold the true
value, with its Monte-Carlo error over data sets (the intervals of one set count as one value), `width` their mean
width. Intervals are those of the function's defaults, with 4 x 250 draws where draws are made. Models of `compare`
label right with probability .8 and .75 where the plausibility is Dirichlet(.3) over three labels, five votes per item.
`reliability_curve` is scored at reliability 1, and
`calibrate` by the expected accuracy of the best labels. `agreement_difference`: percent agreement, Fleiss' kappa and
alpha of three annotators who are right with probability .9 in the second round and .75 in the first, on the same items
or on others; prevalence .6 of two labels; the true difference is that of 40,000 items. `evaluate`: a model is asked
four times, and right on an item with a probability of its own, Beta(2, 1); accuracy, pass at 2 and pass^4, items a
sample. `corrected_rate`: a judge whose verdict on an item varies (log odds 1.5 or -1.5, sd 1, of yes), two votes of
people on 80 items. `normal_inverse_gamma` with levels and `informed_normal`: three of eight annotators rate an item,
with levels of sd .8 and errors of sd .6 where items have sd 1.
"""

import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import bayesagree as ba
from bayesagree.datasets.simulate import crowd_labels
from bayesagree.inference.intervals import hdi
from bayesagree.plausibility.dawid_skene.prior import DawidSkenePrior

SETS, FEW = 100, {"draws": 250, "chains": 4}
PAGE = Path(__file__).parent / "results" / "interval_coverage.md"

type Held = list[tuple[float, float, float]]
"""Lower end, true value and upper end of each interval of a data set."""
type Panels = tuple[ba.Labels, dict[int, int]]


def difference_of_models(n: int, rng: np.random.Generator) -> Held:
    """Two models, the default posterior of `evaluate`."""
    q = rng.dirichlet(np.full(3, 0.3), n)
    top = q.argmax(axis=1)
    said = {name: np.where(rng.random(n) < right, top, (top + rng.integers(1, 3, n)) % 3)
            for name, right in (("A", 0.8), ("B", 0.75))}  # fmt: skip
    models = ba.Predictions.from_labels(said, labels=[0, 1, 2])
    tree = ba.evaluate(ba.Labels.from_counts(rng.multinomial(5, q)), models, random_seed=rng, **FEW)
    found = ba.pairwise(tree).sel(model="A", other_model="B")
    return [
        (float(found["lower"]), (said["A"] == top).mean() - (said["B"] == top).mean(), float(found["upper"]))
    ]


def panels(n: int, error: float, rng: np.random.Generator, judges: int = 3, shared: float = 0.5) -> Panels:
    """Return verdicts of judges who make a share of their errors together, and the gold."""
    alone = (1 - shared) * error / (1 - shared * error)
    wrong = (rng.random((n, 1)) < shared * error) | (rng.random((n, judges)) < alone)
    return ba.Labels.from_matrix(wrong.astype(int), labels=[0, 1]), dict.fromkeys(range(n), 0)


def worth(n: int, error: float, judges: int, shared: float, rng: np.random.Generator) -> Held:
    """`effective_judges`; a set in which a judge never errs has no number and is left out."""
    alone = (1 - shared) * error / (1 - shared * error)
    correlation = (shared * error + (1 - shared * error) * alone**2 - error**2) / (error * (1 - error))
    given = panels(n, error, rng, judges, shared)
    found = ba.judges.effective_judges(*given, random_seed=rng, **FEW)["posterior"]["n_effective"].values
    if not np.isfinite(found).all():
        return []
    lower, upper = hdi(found)
    return [(lower, judges / (1 + (judges - 1) * correlation), upper)]


def skill(n: int, variant: Any, prior: DawidSkenePrior | None, rng: np.random.Generator) -> Held:
    """`annotator_table` of `dawid_skene`: ten annotators of one mean skill each."""
    crowd = crowd_labels(n_items=n, n_annotators=10, n_labels=3, labels_per_item=5, random_seed=rng)
    how = FEW | ({"tune": 250} if variant == "full" else {})
    found = ba.predictive.annotator_table(
        ba.dawid_skene(crowd.labels, variant=variant, prior=prior, random_seed=rng, **how)
    )
    right = np.einsum("k,jkk->j", crowd.prevalence, crowd.confusion)
    true = dict(zip(range(10), right))
    return [(row.lower, true[int(row.annotator)], row.upper) for row in found.itertuples()]  # type: ignore[misc]


def votes(n: int, rng: np.random.Generator) -> ba.Labels:
    """Five votes of each item."""
    return ba.Labels.from_counts(rng.multinomial(5, rng.dirichlet(np.full(3, 0.3), n)))


def curve(n: int, truth: float, rng: np.random.Generator) -> Held:
    """`reliability_curve` at reliability 1."""
    found = ba.predictive.reliability_curve(votes(n, rng), [1.0], random_seed=rng).isel(reliability=0)
    return [(float(found["lower"]), truth, float(found["upper"]))]


def camps(n: int, rng: np.random.Generator) -> ba.Labels:
    """Two camps of three; each says its own label, .8 of the time, and camps share it on 70 % of the items."""
    own = rng.integers(2, size=n)
    side = np.where(rng.random(n) < 0.7, own, 1 - own)
    label = np.repeat(np.column_stack([own, side]), 3, axis=1)
    return ba.Labels.from_matrix(np.where(rng.random((n, 6)) < 0.8, label, 1 - label), labels=[0, 1])


PEOPLE = ba.Annotators.from_table(pd.DataFrame({"annotator": range(6), "camp": list("xxxyyy")}))


def alphas(n: int, true: NDArray[Any], rng: np.random.Generator) -> Held:
    """`group_agreement`: within both camps and between them."""
    found = ba.subjective.group_agreement(camps(n, rng), PEOPLE, ["camp"], random_seed=rng)
    return list(zip(found["lower"].tolist(), true.tolist(), found["upper"].tolist()))


COEFFICIENTS = ["percent_agreement", "fleiss_kappa", "alpha_nominal"]


def rounds(n: int, same: bool, rng: np.random.Generator) -> pd.DataFrame:
    """Return `agreement_difference` of two rounds of annotation, of the same items or of others."""
    truth = (rng.random(n) < 0.6).astype(int)
    sides = []
    for number, right in enumerate((0.9, 0.75)):
        of_side = truth if same or not number else (rng.random(n) < 0.6).astype(int)
        answers = np.where(rng.random((n, 3)) < right, of_side[:, None], 1 - of_side[:, None])
        names = [f"{0 if same else number} {i}" for i in range(n)]
        sides.append(ba.Labels.from_matrix(answers, labels=[0, 1], items=names))
    return ba.agreement_difference(*sides, random_seed=rng).set_index("coefficient").loc[COEFFICIENTS]


def changes(n: int, same: bool, true: NDArray[Any], rng: np.random.Generator) -> Held:
    """`agreement_difference` of three coefficients."""
    found = rounds(n, same, rng)
    return list(zip(found["lower"].tolist(), true.tolist(), found["upper"].tolist()))


def limits(n: int, rng: np.random.Generator) -> Held:
    """`limits_of_agreement`: normal differences, mean .05 and standard deviation .1."""
    first = rng.uniform(0.35, 0.6, n)
    table = np.column_stack([first, np.clip(first - rng.normal(0.05, 0.1, n), 0, 1)])
    row = ba.agreement.limits_of_agreement(ba.Ratings.from_matrix(table, scale=(0, 1))).iloc[0]
    true = {"difference": 0.05, "low_limit": 0.05 - 1.959964 * 0.1, "high_limit": 0.05 + 1.959964 * 0.1}
    return [(row[f"{name}_lower"], value, row[f"{name}_upper"]) for name, value in true.items()]


def calibrated(gold: int, rng: np.random.Generator) -> Held:
    """`calibrate`: the mean confidence; 500 items have no gold."""
    crowd = crowd_labels(
        n_items=500 + gold, n_annotators=10, n_labels=3, labels_per_item=3, ambiguity=3, random_seed=rng
    )
    posterior = ba.dawid_skene(crowd.labels, variant="full", tune=250, random_seed=rng, **FEW)
    known = {item: int(crowd.truth[place]) for place, item in enumerate(crowd.labels.items[:gold].tolist())}
    found = ba.calibrate(posterior, known, random_seed=rng)
    best = found["derived"]["label_probability"].values.argmax(axis=1)
    lower, upper = hdi(found["posterior"]["mean_confidence"].values)
    return [(lower, float(crowd.plausibility[np.arange(best.size), best].mean()), upper)]


def strengths(n: int, rng: np.random.Generator) -> Held:
    """`davidson`: strengths of four models, N(0, 1), from n comparisons with ties."""
    strength = rng.normal(size=4)
    pair = np.array([rng.permutation(4)[:2] for _ in range(n)])
    gap = strength[pair[:, 0]] - strength[pair[:, 1]]
    odds = np.exp(np.column_stack([gap / 2, -gap / 2, np.zeros(n) - 0.5]))
    kind = (rng.random((n, 1)) > np.cumsum(odds / odds.sum(axis=1, keepdims=True), axis=1)).sum(axis=1)
    frame = pd.DataFrame({"left": [f"m{k}" for k in pair[:, 0]], "right": [f"m{k}" for k in pair[:, 1]]})
    frame["winner"] = np.select([kind == 0, kind == 1], [frame["left"], frame["right"]], "tie")
    drawn = ba.davidson(ba.Comparisons.from_long(frame), random_seed=rng, **FEW)["posterior"]["strength"]
    true = strength - strength.mean()
    ends = [hdi(drawn.sel(model=f"m{k}").values) for k in range(4)]
    return [(lower, true[k], upper) for k, (lower, upper) in enumerate(ends)]


def runs(n: int, votes: int, rng: np.random.Generator) -> Held:
    """`evaluate` of one model, asked four times: accuracy, pass at 2 and pass^4, items a sample."""
    q = rng.dirichlet(np.full(3, 0.3), n)
    top = q.argmax(axis=1)
    said = np.where(rng.random((4, n)) < rng.beta(2, 1, n), top, (top + rng.integers(1, 3, (4, n))) % 3)
    table = pd.DataFrame([("A", i, run, said[run, i]) for run in range(4) for i in range(n)])
    models = ba.Predictions.from_long(table.set_axis(["model", "item", "run", "label"], axis=1), run="run")
    counts = rng.multinomial(votes, q) if votes else 100 * np.eye(3, dtype=int)[top]
    how: dict[str, Any] = FEW | {"items": "bootstrap", "random_seed": rng}
    how |= {} if votes else {"plausibility": "dirichlet"}
    true = {"accuracy": 2 / 3, "pass_at_2": 5 / 6, "pass_hat_4": 1 / 3}
    found = ba.evaluate(ba.Labels.from_counts(counts), models, metrics=list(true), **how)["posterior"]
    ends = [hdi(found[name].values.ravel()) for name in true]
    return [(lower, value, upper) for (lower, upper), value in zip(ends, true.values())]


def passes(n: int, times: int, rng: np.random.Generator) -> Held:
    """`corrected_rate` of a judge who passes several times over items, hard or easy for him; people vote on 80."""
    good = rng.random(n) < 0.6
    chance = 1 / (1 + np.exp(rng.normal(size=n) - np.where(good, 1.5, -1.5)))
    said = rng.random((times, n)) < chance
    table = pd.DataFrame(
        {"item": np.tile(range(n), times), "annotator": "judge", "label": said.ravel().astype(int)}
    )
    people = np.where(rng.random((80, 2)) < 0.9, good[:80, None], ~good[:80, None]).astype(int)
    verdicts = ba.Labels.from_long(table, labels=[0, 1], duplicates="keep")
    found = ba.corrected_rate(
        verdicts, ba.Labels.from_matrix(people, labels=[0, 1]), positive=1, random_seed=rng, **FEW
    )
    lower, upper = hdi(found["posterior"]["rate"].values.ravel())
    return [(lower, 0.58, upper)]


def levels(n: int, what: str, rng: np.random.Generator) -> Held:
    """Ratings by 3 of 8 annotators of different levels: means of items, levels, or the error of two models."""
    mean, level = rng.normal(5, 1, n), rng.normal(0, 0.8, 8)
    who = np.argsort(rng.random((n, 8)), axis=1)[:, :3]
    given = pd.DataFrame({"item": np.repeat(range(n), 3), "annotator": who.ravel()})
    given["rating"] = (mean[:, None] + level[who] + rng.normal(0, 0.6, (n, 3))).clip(0, 10).ravel()
    ratings, truth = ba.Ratings.from_long(given, scale=(0, 10)), mean + level.mean()
    if what == "error":
        said = {"near": truth + rng.normal(0, 0.4, n), "far": 0.7 * truth + rng.normal(2, 0.8, n)}
        tree = ba.evaluate(ratings, ba.Predictions.from_numbers(said), metrics=["mae"], random_seed=rng, **FEW)
        drawn = tree["posterior"]["mae"].transpose("model", ...)
        true: Any = [np.abs(one - truth).mean() for one in said.values()]
    else:
        effects = None if what == "means, levels ignored" else "shift"
        tree = ba.normal_inverse_gamma(ratings, annotator_effects=effects, random_seed=rng, **FEW)
        name, dim = ("annotator_shift", "annotator") if what == "levels" else ("mean", "item")
        drawn = tree["posterior"][name].transpose(dim, ...)
        true = level - level.mean() if what == "levels" else truth
    ends = [hdi(one.ravel()) for one in drawn.values]
    return [(lower, value, upper) for (lower, upper), value in zip(ends, true)]


def rows(rng: np.random.Generator) -> Iterator[tuple[str, str, Callable[[np.random.Generator], Held]]]:
    """Yield function, world and how a data set is made and read."""
    log_score = float(
        ba.predictive.reliability_curve(votes(40_000, rng), [1.0], random_seed=rng)["log_score"][0]
    )
    alpha = ba.subjective.group_agreement(camps(40_000, rng), PEOPLE, ["camp"], random_seed=rng)[
        "alpha"
    ].to_numpy()
    change = np.asarray(rounds(40_000, True, rng)["estimate"])
    for n in (100, 300):
        yield "evaluation.compare", f"{n} items", lambda r, n=n: difference_of_models(n, r)
    for n, error in ((50, 0.05), (50, 0.2), (200, 0.05), (200, 0.2)):
        world = f"{n} items, error {error}"
        yield "judges.effective_judges", world, partial(worth, n, error, 3, 0.5)
    for n in (100, 300):
        yield "predictive.annotator_table", f"{n} items", partial(skill, n, "full", None)
        yield "predictive.reliability_curve", f"{n} items", lambda r, n=n: curve(n, log_score, r)
        yield "subjective.group_agreement", f"{n} items", lambda r, n=n: alphas(n, alpha, r)
        yield "plausibility.calibrate", f"{n} gold items", lambda r, n=n: calibrated(n, r)
        yield "comparisons.davidson", f"{n} comparisons", lambda r, n=n: strengths(n, r)
    for n, same in ((10, True), (20, True), (50, True), (20, False), (50, False), (200, True)):
        world = f"{n} items, {'the same' if same else 'others'}"
        yield "agreement_difference", world, lambda r, n=n, same=same: changes(n, same, change, r)
    for n in (10, 50):
        yield "agreement.limits_of_agreement", f"{n} items", lambda r, n=n: limits(n, r)
    for n in (50, 200):
        world = f"{n} items, five judges who err alone, error 0.05"
        yield "judges.effective_judges", world, partial(worth, n, 0.05, 5, 0.0)
    for judges, shared in ((2, 0.5), (5, 0.5), (2, 0.0), (3, 0.0)):
        world = f"50 items, {judges} judges, {'half' if shared else 'none'} of the errors shared, error 0.05"
        yield "judges.effective_judges", world, partial(worth, 50, 0.05, judges, shared)
    for n in (100, 300):
        world = f"{n} items, variant"
        yield "predictive.annotator_table", f"{world} hierarchical", partial(skill, n, "hierarchical", None)
        told = f"{world} full, prior of accuracy .7"
        yield "predictive.annotator_table", told, partial(skill, n, "full", DawidSkenePrior(accuracy=0.7))
    for n in (30, 100):
        yield "evaluate", f"{n} items, 4 runs, truth known", partial(runs, n, 0)
    yield "evaluate", "100 items, 4 runs, 5 votes an item", partial(runs, 100, 5)
    for times in (1, 3):
        yield "judges.corrected_rate", f"300 items, {times} passes of a judge", partial(passes, 300, times)
    for what in ("means", "means, levels ignored", "levels"):
        yield "normal_inverse_gamma", f"60 items, {what}", partial(levels, 60, what)
    yield "informed_normal", "60 items, mean absolute error", partial(levels, 60, "error")


def main(sets: int, only: str) -> None:
    """Run every row, or those of one function beside the others as they stand, and write the page."""
    warnings.simplefilter("ignore")
    lines = ["| function | world | sets | covered | width |", "| --- " * 5 + "|"]
    written = PAGE.read_text().splitlines() if PAGE.exists() else []
    for number, (name, world, run) in enumerate(rows(np.random.default_rng(0))):
        stored = [line for line in written if line.startswith(f"| `{name}` | {world} |")]
        if stored and not any(part in name for part in only.split(",")):
            lines += stored
            continue
        every = [run(np.random.default_rng([1, number, random_seed])) for random_seed in range(sets)]
        found = [held for held in every if held]
        share = np.array([np.mean([low <= true <= high for low, true, high in held]) for held in found])
        width = np.mean([high - low for held in found for low, _, high in held])
        error = share.std(ddof=1) / np.sqrt(share.size)
        lines.append(f"| `{name}` | {world} | {share.size} | {share.mean():.3f} ({error:.3f}) | {width:.3f} |")
        print(lines[-1], flush=True)
    head, _, text = (__doc__ or "").strip().partition("\n\n")
    command, _, text = text.partition("\n\n")
    PAGE.write_text("\n".join([f"# {head.rstrip('.')}\n\n    {command}\n\n{text}\n", *lines]) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else SETS, sys.argv[2] if len(sys.argv) > 2 else "")
