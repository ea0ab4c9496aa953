"""Repeat the illustration of Balayn and Bozzon on three public sets: whether a majority-vote model serves some worse.

Three models, all out of sample: logistic regression on the majority vote; logistic regression on every annotator's own
label, given the annotator's features; an oracle that knows every label. Comments and replies are words (text), folds
are over items. The statements of the truthfulness set have no text: their feature is the mean rating by the annotators
of the other folds, folds are over annotators. Ratings become two labels at the middle of the scale.

Run: BAYESAGREE_DATA=<folder> python benchmarks/subjective_models.py [set ...]
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.preprocessing import OneHotEncoder

from bayesagree import group_posterior
from bayesagree.annotations import Annotators, Groups, Labels, Ratings
from bayesagree.datasets import load
from bayesagree.subjective import (
    disagreement_rate,
    group_agreement,
    group_performance,
    group_summary,
    recode,
)
from bayesagree.subjective.disagreement import without_items
from bayesagree.subjective.performance import dispersion_draws, left_out

sys.path.insert(0, str(Path(__file__).parents[1]))  # the folder of the studies
from studies.groups import dispersion_null

SETS = {
    "popquorn": (3, ["gender", "race", "age", "education"], ["gender", "race", "education"]),
    "lewidi2025-csc": (4, ["gender", "age_group"], ["gender", "age_group"]),
    "truthfulness/s6": (4, ["gender", "age", "party"], ["gender", "party"]),
}
"""Threshold of the label, features given to the model, features to group by."""
FOLDS = 5
SEED = 1


def features_of(annotators: Annotators, labels: Labels, columns: list[str]) -> sparse.csr_array:
    """Return one-hot features of the annotator of every row."""
    values = np.column_stack([annotators.values(c, labels.annotators) for c in columns])
    return sparse.csr_array(OneHotEncoder().fit_transform(values))[labels.annotator_index]


def majority(labels: Labels, rows: np.ndarray) -> np.ndarray:
    """Return the majority label of each item among some rows, -1 without a row."""
    shape = (labels.items.size, 2)
    cell = labels.item_index[rows] * 2 + labels.label_index[rows]
    counts = np.bincount(cell, minlength=shape[0] * 2).reshape(shape)
    return np.where(counts.sum(axis=1) > 0, counts.argmax(axis=1), -1)


def predict(x: sparse.csr_array, y: np.ndarray, new: sparse.csr_array) -> np.ndarray:
    """Fit logistic regression and predict."""
    return LogisticRegression(max_iter=2000).fit(x, y).predict(new)


def item_features(ratings: Ratings, rows: np.ndarray) -> sparse.csr_array:
    """Return the mean rating of each item among some rows."""
    n = np.bincount(ratings.item_index[rows], minlength=ratings.items.size)
    total = np.bincount(ratings.item_index[rows], ratings.unit()[rows], ratings.items.size)
    mean = np.divide(total, n, out=np.full(n.size, ratings.unit()[rows].mean()), where=n > 0)
    return sparse.csr_array(mean[:, None] - 0.5)


def three_models(
    labels: Labels, ratings: Ratings, texts: list[str] | None, people: sparse.csr_array
) -> dict[str, pd.Series]:
    """Predict every label out of sample with the two models, and with the oracle."""
    rng = np.random.RandomState(SEED)
    n_rows = labels.label_index.size
    said = {"majority vote": np.empty(n_rows, int), "annotator features": np.empty(n_rows, int)}
    split_by = labels.annotator_index if texts is None else labels.item_index
    units = np.arange(split_by.max() + 1)
    for _, test in KFold(FOLDS, shuffle=True, random_state=rng).split(units):
        held_out = np.isin(split_by, test)
        train, new = np.flatnonzero(~held_out), np.flatnonzero(held_out)
        if texts is None:
            items = item_features(ratings, train)
        else:
            words = TfidfVectorizer(min_df=2, sublinear_tf=True, ngram_range=(1, 2))
            words.fit([texts[i] for i in np.unique(labels.item_index[train])])
            items = sparse.csr_array(words.transform(texts))
        vote = majority(labels, train)
        known = np.flatnonzero(vote >= 0)
        by_item = predict(items[known], vote[known], items)
        said["majority vote"][new] = by_item[labels.item_index[new]]
        rows = sparse.csr_array(sparse.hstack([items[labels.item_index], people]))
        said["annotator features"][new] = predict(rows[train], labels.label_index[train], rows[new])
    said["oracle"] = labels.label_index
    index = pd.MultiIndex.from_arrays(
        [labels.items[labels.item_index], labels.annotators[labels.annotator_index]]
    )
    return {name: pd.Series(labels.categories[codes], index=index) for name, codes in said.items()}


def prepare(name: str) -> tuple[Ratings, Labels, Annotators, dict[str, pd.Series]]:
    """Load a set and predict it."""
    threshold, given, _ = SETS[name]
    dataset = load(name)
    ratings = dataset.annotations
    if not isinstance(ratings, Ratings):
        raise TypeError(f"{name} has no ratings")
    labels = recode(ratings, threshold)
    table = dataset.extra["annotators"].copy()
    if name == "lewidi2025-csc":
        table["age_group"] = pd.cut(
            pd.to_numeric(table["age"], errors="coerce"), [0, 24, 34, 44, 54, 120]
        ).astype(str)
        table["age_group"] = table["age_group"].where(table["age_group"] != "nan", None)
    texts = None
    if name == "popquorn":
        texts = dataset.extra["text"].reindex(labels.items).astype(str).tolist()
    elif name == "lewidi2025-csc":
        items = dataset.extra["items"].reindex(labels.items)
        texts = [" ".join(map(str, row)) for row in items[["context", "response"]].to_numpy()]
    people = Annotators.from_table(table)
    return ratings, labels, people, three_models(labels, ratings, texts, features_of(people, labels, given))


def report(title: str, labels: Labels, models: dict[str, pd.Series], groups: Groups) -> None:
    """Print the pair of the paper, what is known about it, and the table of the groups."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        result = group_performance(labels, models, groups)
    null, paired = (
        dispersion_null(result, random_seed=SEED),
        dispersion_draws(result, random_seed=SEED)["dispersion"],
    )
    tree = group_posterior(labels, models, groups, random_seed=SEED)
    free = tree["posterior"].to_dataset()["dispersion"]
    print(f"\n  {title}: groups {result['n_annotators'].values.tolist()}")
    for m in result["model"].values:
        low, high = free.sel(model=m).quantile([0.025, 0.975]).values
        print(
            f"    {m:20} mean {float(result['mean_performance'].sel(model=m)):.3f}  dispersion "
            f"{float(result['dispersion'].sel(model=m)):.3f}  without noise {float(free.sel(model=m).mean()):.3f} "
            f"[{low:.3f}, {high:.3f}]  p (chance) {float(null['p_value'].sel(model=m)):.4f}"
        )
    more = float((paired.sel(model="majority vote") < paired.sel(model="annotator features")).mean())
    print(f"    Pr(majority vote more biased than features), same annotators resampled for both: {more:.3f}")
    summary = group_summary(tree)
    for g in summary["group"].values:
        cells = [
            f"{m} {float(one['mean']):.3f} [{float(one['lower']):.3f}, {float(one['upper']):.3f}]"
            for m in ("majority vote", "annotator features")
            for one in [summary.sel(model=m, group=g)]
        ]
        print(f"      {g!s:28} {';  '.join(cells)}")
    worse = summary["prob_worse"].sel(model="majority vote")
    pair = worse.stack(pair=("group", "other_group")).idxmax("pair").item()
    print(
        f"    majority vote serves {pair[0]!r} worse than {pair[1]!r} with probability {float(worse.max()):.3f}"
    )
    without = left_out(result)["dispersion"]
    for m in ("majority vote", "annotator features"):
        row = without.sel(model=m)
        print(f"    {m}: dispersion without {row.idxmax().item()!r} {float(row.max()):.3f}")


def report_agreement(ratings: Ratings, groups: Groups) -> None:
    """Print alpha within every group and between every two."""
    for row in group_agreement(ratings, groups).itertuples():
        print(
            f"      {row.group} and {row.other_group}: alpha {row.alpha:.3f} [{row.lower:.3f}, {row.upper:.3f}]"
        )


def main() -> None:
    """Run the illustration."""
    for name in sys.argv[1:] or SETS:
        ratings, labels, people, models = prepare(name)
        print(
            f"{name}: {labels.n_annotations} labels, {labels.annotators.size} annotators, {labels.items.size} items"
        )
        rate = disagreement_rate(labels)
        report("5 bins of disagreement", labels, models, Groups.by_disagreement(rate, bins=5))
        half = labels.items[np.random.default_rng(SEED).random(labels.items.size) < 0.5]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            elsewhere = disagreement_rate(labels, items=half)
        report(
            "5 bins of disagreement on the other half of the items", without_items(labels, half), models,
            Groups.by_disagreement(elsewhere, bins=5),
        )  # fmt: skip
        for feature in SETS[name][2]:
            groups = Groups.by_features(labels, people, [feature])
            report(feature, labels, models, groups)
            report_agreement(ratings, groups)


if __name__ == "__main__":
    main()
