"""Scores from a few votes against scores from all of them; a table in Markdown.

    BAYESAGREE_DATA=<folder> uv run python benchmarks/informed.py [--rows rows.jsonl] [--sets name,...] [--repeats 40]
    uv run python benchmarks/informed.py [--rows rows.jsonl] --report

From 3, 5 and 10 of the votes of each item, drawn without replacement, every model is scored by accuracy, total
variation, Brier score, EntCE (nats) and Jensen-Shannon divergence (bits). The truth is the score against the shares of
all votes. Of posteriors the score against all votes is predicted, votes not drawn coming from the drawn plausibilities:
a truth of nine votes is itself noisy. `evaluate` gives another target, the score against the plausibilities, the shares
of infinitely many votes: distances to it are smaller, and an interval of `evaluate` for the score against all votes is
too low by that noise.

- chaosnli-snli: 5 models, 100 votes. cifar10h: 4 models, about 51 votes, 1000 others of the 10,000 images each time.
- popquorn: three classifiers of the text, each cross-validated on the votes for other items; 9 votes.
- dices350: four judges, each the share of four to ten raters who are then no voters; 99 votes. Kept apart: no choice in
  the model was made by looking at it.

Rows are appended as they are done. Two hours or more of processor time in all.
"""

import argparse
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesagree import Labels, Predictions
from bayesagree.plausibility.informed._problem import InformedProblem

type Floats = NDArray[np.float64]

METRICS = ("accuracy", "total variation", "Brier score", "EntCE", "Jensen-Shannon")
METHODS = ("vote shares", "labels alone", "informed, all models", "informed, without the model")
DRAWS = 200


def chaosnli(folder: Path) -> tuple[NDArray, Floats]:
    models = np.load(folder / "chaosnli-snli/model_probs.npz")
    counts = np.load(folder / "chaosnli-snli/chaosnli.npz", allow_pickle=True)["counts"].astype(int)
    return counts, np.stack([models[m].astype(float) for m in models.files if models[m].ndim == 2])


def cifar10h(folder: Path) -> tuple[NDArray, Floats]:
    models = np.load(folder / "cifar10h/model_probs.npz")
    counts = np.load(folder / "cifar10h/cifar10h_counts.npz")["counts"].astype(int)
    return counts, np.stack([models[m].astype(float) for m in models.files])


def dices350(folder: Path) -> tuple[NDArray, Floats]:
    said = np.eye(3)[np.load(folder / "dices350/dices350.npz")["labels"].astype(int)]
    raters = np.random.default_rng(3).permutation(said.shape[1])
    shares = [said[:, judges].sum(axis=1) + 0.3 for judges in np.split(raters[:24], [4, 8, 14])]
    return said[:, raters[24:]].sum(axis=1).astype(int), np.stack(
        [s / s.sum(axis=1, keepdims=True) for s in shares]
    )


def popquorn(folder: Path) -> tuple[NDArray, Floats]:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import KFold
    from sklearn.naive_bayes import MultinomialNB

    table = pd.read_csv(folder / "popquorn-offensiveness/offensiveness.csv.gz")
    counts = pd.crosstab(table.instance_id, table.offensiveness)
    text = table.drop_duplicates("instance_id").set_index("instance_id").text.loc[counts.index].to_numpy()
    votes = counts.to_numpy()
    words = {"min_df": 2, "ngram_range": (1, 2)}
    letters = {"analyzer": "char_wb", "ngram_range": (2, 5), "min_df": 3, "sublinear_tf": True}
    kinds: list[tuple[dict[str, Any], Any]] = [
        (words, LogisticRegression(C=3.0, max_iter=300)),
        (letters, LogisticRegression(C=20.0, max_iter=300)),
        (words, MultinomialNB(alpha=0.1)),
    ]
    probability = np.zeros((3, *votes.shape))
    for model, (features, classifier) in enumerate(kinds):
        for train, test in KFold(5, shuffle=True, random_state=1).split(text):
            vectors = TfidfVectorizer(**features).fit(text[train])
            item, label = np.nonzero(votes[train])
            x = vectors.transform(text[train])[item]
            classifier.fit(x, label, sample_weight=votes[train][item, label])
            probability[model, test] = classifier.predict_proba(vectors.transform(text[test]))
    return votes, probability


SETS = {"chaosnli-snli": chaosnli, "popquorn": popquorn, "cifar10h": cifar10h, "dices350": dices350}


def entropy(p: Floats) -> Floats:
    return -(p * np.log(np.maximum(p, 1e-12))).sum(axis=-1)


def scores(plausibility: Floats, predicted: Floats) -> Floats:
    """Scores of one model, from (item, draw, label); shape (draw, metric)."""
    given = predicted[:, None] / predicted.sum(axis=1)[:, None, None]
    gap, spread, own = plausibility - given, entropy(plausibility), entropy(given)
    hit = plausibility.argmax(axis=2) == predicted.argmax(axis=1)[:, None]
    divergence = (entropy((plausibility + given) / 2) - (spread + own) / 2) / np.log(2)
    each = (hit, np.abs(gap).sum(axis=2) / 2, (gap**2).sum(axis=2), np.abs(spread - own), divergence)
    return np.stack([value.mean(axis=0) for value in each], axis=1)


def informed(
    counts: NDArray, predictions: Predictions, exclude: str | None, rng: np.random.Generator
) -> Floats:
    """Plausibilities (item, draw, label); two draws share their parameters."""
    posterior = InformedProblem.of(Labels.from_counts(counts), predictions, exclude)
    theta = posterior.parameters(DRAWS // 4, 2, rng).reshape(DRAWS // 2, -1)
    return posterior.draw_items(rng, theta, slice(None), 2, best=False)


def cases(every: NDArray, probability: Floats, k: int, repeat: int) -> Iterator[dict[str, Any]]:
    """Score all models by all methods on one draw of votes."""
    rng = np.random.default_rng([k, repeat])
    if len(every) > 2000:
        chosen = rng.permutation(len(every))[:1000]
        every, probability = every[chosen], probability[:, chosen]
    few = np.stack([rng.multivariate_hypergeometric(row, min(k, row.sum())) for row in every])
    rest = (every - few).sum(axis=1)[:, None]
    names = [f"model {j}" for j in range(len(probability))]
    predictions = Predictions.from_scores(
        dict(zip(names, probability / probability.sum(axis=2, keepdims=True)))
    )

    def shares(votes: NDArray) -> Floats:
        return (votes / votes.sum(axis=-1, keepdims=True)).reshape(len(votes), -1, votes.shape[-1])

    def all_votes(plausibility: Floats) -> Floats:
        total = rng.multinomial(np.broadcast_to(rest, plausibility.shape[:2]), plausibility) + few[:, None]
        return shares(total)

    gamma = rng.standard_gamma(np.repeat((few + 1 / few.shape[1])[:, None], DRAWS, axis=1))
    given = {
        METHODS[1]: gamma / gamma.sum(axis=2, keepdims=True),
        METHODS[2]: informed(few, predictions, None, rng),
    }
    for j, name in enumerate(names):
        truth = scores(shares(every), probability[j])[0]
        for method in METHODS:
            if method == METHODS[0]:
                drawn = scores(shares(few), probability[j])
            else:
                drawn = given[method] if method in given else informed(few, predictions, name, rng)
                drawn = scores(all_votes(drawn), probability[j])
            for m, metric in enumerate(METRICS):
                lower, upper = np.quantile(drawn[:, m], (0.025, 0.975))
                yield {
                    "k": k, "repeat": repeat, "model": j, "method": method, "metric": metric, "truth": truth[m],
                    "predicted": drawn[:, m].mean(), "sd": drawn[:, m].std(),
                    "covers": bool(lower <= truth[m] <= upper),
                }  # fmt: skip


def report(rows: pd.DataFrame) -> str:
    """Bias, mean absolute error and coverage with their Monte-Carlo errors over draws of votes."""
    lines = []
    for (name, metric), part in rows.groupby(["set", "metric"], sort=False):
        lines += [
            f"\n## {name}: {metric}\n",
            "| votes | method | cases | bias | mean abs error | sd | coverage | |",
        ]
        lines.append("| --- | --- | --- | --- | --- | --- | --- | --- |")
        # A set with no vote left over says nothing.
        for (k, method), cell in part[part.groupby("k")["sd"].transform("max") > 1e-6].groupby(
            ["k", "method"], sort=False
        ):
            error = cell.predicted - cell.truth
            per_draw = cell.assign(e=error, a=error.abs()).groupby("repeat")[["e", "a", "covers"]].mean()
            (e, a, c), se = per_draw.mean(), per_draw.std() / np.sqrt(len(per_draw))
            covers = "" if method == METHODS[0] else f"{c:.2f} ({se['covers']:.2f})"
            wide = c > 0.97 and a <= 0.01
            kept = 0.9 <= c <= 0.97 and a <= 0.01
            verdict = "" if "informed" not in method else "met" if kept else "too wide" if wide else "missed"
            lines.append(
                f"| {k} | {method} | {len(cell)} | {e:+.4f} ({se['e']:.4f}) | {a:.4f} | {cell['sd'].mean():.4f} | "
                f"{covers} | {verdict} |"
            )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=Path, default=Path("informed.jsonl"))
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--votes", default="3,5,10")
    parser.add_argument("--repeats", type=int, default=50)
    parser.add_argument("--report", action="store_true")
    asked = parser.parse_args()
    done = pd.read_json(asked.rows, lines=True) if asked.rows.exists() else pd.DataFrame()
    if asked.report:
        order = {name: at for at, name in enumerate(SETS)}
        print(report(done.sort_values("set", key=lambda s: s.map(order), kind="stable")))
        return
    folder = Path(os.environ["BAYESAGREE_DATA"])
    seen = set(zip(done["set"], done.k, done.repeat)) if len(done) else set()
    data = {name: SETS[name](folder) for name in asked.sets.split(",")}
    for repeat in range(asked.repeats):
        for name, (counts, probability) in data.items():
            for k in map(int, asked.votes.split(",")):
                if (name, k, repeat) not in seen:
                    rows = [{"set": name} | row for row in cases(counts, probability, k, repeat)]
                    with asked.rows.open("a") as file:
                        file.writelines(json.dumps(row) + "\n" for row in rows)


if __name__ == "__main__":
    main()
