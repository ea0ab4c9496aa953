"""One small data set on which nothing is alike, for tests of printed numbers.

Three models of different skill, annotators with different numbers of labels, groups and slices of different size, items
with two to five labels: a number that belongs to another model, group, reliability or weight is then another number.
"""

import numpy as np
import pandas as pd

CATEGORIES = ["x", "y", "z"]
PEOPLE = {"ann": 0.95, "bob": 0.8, "cyn": 0.65, "dan": 0.5, "eve": 0.85}
ITEMS = [f"t{i:02d}" for i in range(14)]


def write(where):
    """Write the files of the data set to a folder, and give the folder."""
    rng = np.random.default_rng(42)
    truth = rng.choice(3, len(ITEMS), p=[0.5, 0.3, 0.2])

    def answer(i, accuracy):
        return CATEGORIES[truth[i] if rng.random() < accuracy else rng.integers(3)]

    rows = [(item, who, answer(i, PEOPLE[who])) for i, item in enumerate(ITEMS) for who in [*PEOPLE][: 2 + (3 * i) % 4]]
    labels = pd.DataFrame(rows, columns=["item", "annotator", "label"])
    labels.to_csv(where / "labels.csv", index=False)
    skills = {"low": 0.4, "mid": 0.6, "top": 0.9}
    given = [(model, item, answer(i, skill)) for model, skill in skills.items() for i, item in enumerate(ITEMS)]
    models = pd.DataFrame(given, columns=["model", "item", "label"])
    models.to_csv(where / "models.csv", index=False)
    shares = []
    for model, item, label in given:
        p = rng.dirichlet(np.ones(3)) + 0.7 * (np.array(CATEGORIES) == label)
        shares += [(model, item, k, v) for k, v in zip(CATEGORIES, p / p.sum())]
    pd.DataFrame(shares, columns=["model", "item", "label", "score"]).to_csv(where / "shares.csv", index=False)
    parts = ["p", "q", "q", "r", *"pqqr", *"qqpq", "q", "r"]
    pd.DataFrame({"item": ITEMS, "part": parts, "page": [0] * 7 + [1] * 4 + [2] * 3}).to_csv(
        where / "items.csv", index=False
    )
    ages = ["old", "old", "young", "young", "young"]
    pd.DataFrame({"annotator": [*PEOPLE], "age": ages}).to_csv(where / "people.csv", index=False)
    two = labels.assign(label=np.where(labels["label"] == "x", "no", "yes"))
    two.to_csv(where / "two.csv", index=False)
    share = (two["label"] == "yes").groupby(two["item"]).mean()
    scores = [
        (m, item, s * share[item] + (1 - s) * rng.random()) for m, s in (("A", 0.3), ("B", 0.6)) for item in ITEMS
    ]
    pd.DataFrame(scores, columns=["model", "item", "score"]).to_csv(where / "scores.csv", index=False)
    verdicts = [
        (item, judge, "yes" if rng.random() < (0.8 * share.get(item, 0.5) + 0.1 if judge == "g" else 0.5) else "no",
         f"s{k % 3 == 0:d}")
        for judge in "gh" for k, item in enumerate([*ITEMS, *(f"u{i:02d}" for i in range(21))])
    ]  # fmt: skip
    pd.DataFrame(verdicts, columns=["item", "judge", "label", "system"]).to_csv(where / "verdicts.csv", index=False)
    games = pd.DataFrame({"left": [*"AABBC"] * 8, "right": [*"BCCAA"] * 8, "winner": ["A", "tie", "B", "A", "A"] * 8})
    games.assign(annotator=["x", "y", "x", "y", "y"] * 8).to_csv(where / "games.csv", index=False)
    gold = [("t00", "x"), ("t03", CATEGORIES[truth[3]]), ("t05", CATEGORIES[truth[5]]), ("t09", "y")]
    pd.DataFrame(gold, columns=["item", "label"]).to_csv(where / "gold.csv", index=False)
    return where


VOTES = ["xxxxx", "xxyy", "y", "xyz", "yyy", "xxxyy", "yy", "xy", "xxxyy", "xxyy", "xx", "x", "yx", "zz"]


def write_alike(where):
    """Write files of the same names on which much is alike: ties, single votes, equal models, scores of one half."""
    write(where)
    rows = [(item, who, v) for item, of in zip(ITEMS, VOTES) for who, v in zip(PEOPLE, of)]
    labels = pd.DataFrame(rows, columns=["item", "annotator", "label"])
    labels.to_csv(where / "labels.csv", index=False)
    two = labels.assign(label=np.where(labels["label"] == "x", "no", "yes"))
    two.to_csv(where / "two.csv", index=False)
    first = [of[-1] for of in VOTES]
    given = {"low": first, "mid": first, "top": [of[0] for of in VOTES]}
    models = [(model, item, v) for model, of in given.items() for item, v in zip(ITEMS, of)]
    pd.DataFrame(models, columns=["model", "item", "label"]).to_csv(where / "models.csv", index=False)
    shares = [(m, i, k, ((k == "x") + (k == v)) / 2) for m, i, v in models for k in CATEGORIES]
    pd.DataFrame(shares, columns=["model", "item", "label", "score"]).to_csv(where / "shares.csv", index=False)
    scores = [(m, item, 0.5 * (k % 3)) for m in "AB" for k, item in enumerate(ITEMS)]
    pd.DataFrame(scores, columns=["model", "item", "score"]).to_csv(where / "scores.csv", index=False)
    verdicts = pd.read_csv(where / "verdicts.csv")
    verdicts.loc[verdicts["judge"] == "h", "label"] = verdicts.loc[verdicts["judge"] == "g", "label"].to_numpy()
    verdicts.to_csv(where / "verdicts.csv", index=False)
    return where
