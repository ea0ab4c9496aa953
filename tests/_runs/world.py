"""Two small data sets for all runs. On one nothing is alike: what `_hostile.py` writes, read, and more of its kind.

On the other much is: ties, votes that are all the same, items with one vote or with the same votes, models that are
equal, scores and ratings at their limits. There `<` and `<=` differ.
"""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from _hostile import CATEGORIES, ITEMS, PEOPLE, write, write_alike

import bayesagree as ba
from _runs.recipe import World, later
from bayesagree.annotations import Groups


def _folder() -> Path:
    kept = tempfile.TemporaryDirectory()
    FOLDERS.append(kept)
    return (write_alike if World.alike else write)(Path(kept.name))


FOLDERS: list[Any] = []
FOLDER = later(_folder)


def table(name: str) -> pd.DataFrame:
    """Read one of the files."""
    return pd.read_csv(FOLDER() / name)


def _shares(items: list[str], seed: int, truth: dict[str, str], names: tuple[str, ...] = ("low", "mid", "top")) -> Any:
    rng = np.random.default_rng(seed)
    found = {}
    for k, name in enumerate(names):
        p = rng.dirichlet(np.ones(3), len(items)) + 0.5 * k * (
            np.array([truth[i] for i in items])[:, None] == CATEGORIES
        )
        if World.alike:
            p = np.eye(3)[p.argmax(1)] + (np.arange(len(items)) % 3 == min(k, 1))[:, None] * np.eye(3)[k // 2]
        found[name] = pd.DataFrame(p / p.sum(1, keepdims=True), items, CATEGORIES)
    return ba.Predictions.from_scores(found, labels=CATEGORIES)


def _many() -> pd.DataFrame:
    """Forty items, so that a posterior may learn from predictions."""
    if World.alike:
        votes = ["xx", "xy", "yyy", "xxyy", "z", "xxx", "xyz", "yyx"]
        return pd.DataFrame(
            [(f"m{i:02d}", f"p{(j + i // 8) % 7}", v) for i in range(40) for j, v in enumerate(votes[i % 8])],
            columns=["item", "annotator", "label"],
        )
    rng = np.random.default_rng(8)
    rows = []
    for i in range(40):
        truth = rng.choice(3, p=[0.5, 0.3, 0.2])
        for j in rng.permutation(7)[: 2 + i % 4]:
            said = truth if rng.random() < 0.55 + 0.06 * j else rng.integers(3)
            rows.append((f"m{i:02d}", f"p{j}", CATEGORIES[said]))
    return pd.DataFrame(rows, columns=["item", "annotator", "label"])


LABELS = later(lambda: ba.Labels.from_long(table("labels.csv"), labels=CATEGORIES), "LABELS")
ORDERED = later(lambda: ba.Labels.from_long(table("labels.csv"), labels=CATEGORIES, ordered=True), "ORDERED")
TWO = later(lambda: ba.Labels.from_long(table("two.csv"), labels=["no", "yes"]), "TWO")
MANY = later(lambda: ba.Labels.from_long(_many(), labels=CATEGORIES), "MANY")
MANY_ORDERED = later(lambda: ba.Labels.from_long(_many(), labels=CATEGORIES, ordered=True), "MANY_ORDERED")
COUNTS = later(
    lambda: ba.Labels.from_counts([[3, 0, 1], [1, 2, 0], [0, 1, 5], [2, 2, 1], [0, 4, 0]], labels=CATEGORIES), "COUNTS"
)
TWICE = later(
    lambda: ba.Labels.from_long(
        pd.concat([table("labels.csv"), table("labels.csv").iloc[::3].assign(label="y")]),
        labels=CATEGORIES, duplicates="keep",
    ),
    "TWICE",
)  # fmt: skip
TRUTH = later(lambda: dict(table("labels.csv").groupby("item")["label"].agg(lambda s: s.mode().iloc[-1])))
SOFT = later(lambda: _shares(ITEMS, 5, TRUTH()), "SOFT")
HARD = later(
    lambda: ba.Predictions.from_labels(
        {m: t.set_index("item")["label"] for m, t in table("models.csv").groupby("model")}, labels=CATEGORIES
    ),
    "HARD",
)
GAPPY = later(lambda: ba.Predictions.from_long(table("models.csv").drop(index=[3, 20, 21]), labels=CATEGORIES), "GAPPY")
MANY_SOFT = later(lambda: _shares([f"m{i:02d}" for i in range(40)], 9, _top(_many())), "MANY_SOFT")
MANY_HARD = later(
    lambda: ba.Predictions.from_labels(
        {m: pd.Series(np.array(CATEGORIES)[MANY_SOFT().scores[k].argmax(1)], MANY_SOFT().items)
         for k, m in enumerate(MANY_SOFT().models)},
        labels=CATEGORIES,
    ),
    "MANY_HARD",
)  # fmt: skip


def _top(rows: pd.DataFrame) -> dict[str, str]:
    return dict(rows.groupby("item")["label"].agg(lambda s: s.mode().iloc[-1]))


GOLD = later(lambda: dict(table("gold.csv").itertuples(index=False)), "GOLD")
MANY_GOLD = later(lambda: dict(list(_top(_many()).items())[::3]), "MANY_GOLD")
AGES = later(
    lambda: ba.Annotators.from_table(
        pd.DataFrame({"annotator": [*PEOPLE], "age": ["old", "old", "young", "young", "young"], "sex": [*"fmfmf"]})
    ),
    "AGES",
)
MANY_AGES = later(
    lambda: ba.Annotators.from_table(
        pd.DataFrame(
            {"annotator": [f"p{j}" for j in range(7)], "age": ["old"] * 3 + ["young"] * 4, "sex": [*"fmfmfmm"]}
        )
    ),
    "MANY_AGES",
)
GROUPS = later(lambda: Groups.by_features(LABELS(), AGES(), ["age"]), "GROUPS")
PARTS = later(lambda: pd.Series([*"pqqrpqqrqqpqqr"], ITEMS), "PARTS")
PAGES = later(lambda: pd.Series([0] * 7 + [1] * 4 + [2] * 3, ITEMS), "PAGES")
MANY_PAGES = later(lambda: pd.Series(np.arange(40) // 6, [f"m{i:02d}" for i in range(40)]), "MANY_PAGES")


def _rating_rows(step: float | None) -> pd.DataFrame:
    rng = np.random.default_rng(4)
    rows = []
    for i in range(12):
        mean, sd = rng.uniform(1.5, 4.5), rng.uniform(0.3, 0.9)
        for j in range(4):
            if (i + 2 * j) % 7 == 3:
                continue
            value = np.clip(mean + 0.3 * (j - 1.5) + sd * rng.normal(), 1.02, 4.98)
            value = [1, 5, 3, 3, 2.5][(i + j * (i % 3)) % 5] if World.alike else value
            rows.append((f"r{i:02d}", [*PEOPLE][j], round(value) if step else value))
    return pd.DataFrame(rows, columns=["item", "annotator", "rating"])


LEVELS = later(lambda: ba.Ratings.from_long(_rating_rows(1), scale=(1, 5), step=1), "LEVELS")
FINE = later(lambda: ba.Ratings.from_long(_rating_rows(None), scale=(1, 5)), "FINE")
FULL = later(
    lambda: ba.Ratings.from_matrix(
        [[0, 0, 0], [6, 6, 6], [3, 3, 2]] * 3
        if World.alike
        else np.random.default_rng(6).integers(1, 6, (9, 3)) * 0.5 + np.arange(9)[:, None] / 3,
        scale=(0, 6),
    ),
    "FULL",
)
ENDS = later(
    lambda: ba.Ratings.from_matrix(
        [[1, 1, 2.4], [5, 5, 4.1], [1, 3.2, 5], [2.2, 2.7, 1], [5, 4.4, 3.3], [1, 1, 1]], scale=(1, 5)
    ),
    "ENDS",
)
NUMBERS = later(
    lambda: ba.Predictions.from_numbers(
        {
            m: pd.Series(_rating_rows(None).groupby("item")["rating"].mean() * s + np.linspace(0, 1 - s, 12))
            for m, s in (("A", 0.9), ("B", 0.7), ("C", 0.4))
        }
    ),
    "NUMBERS",
)
GIVEN = later(
    lambda: {m: pd.Series(v, NUMBERS().items) for m, v in zip(NUMBERS().models, NUMBERS().numbers[..., 0])}, "GIVEN"
)
RATED_LABELS = later(
    lambda: ba.Predictions.from_labels(
        {m: pd.Series(np.random.default_rng(s).integers(1, 6, 12), [f"r{i:02d}" for i in range(12)])
         for m, s in (("A", 1), ("B", 2))},
        labels=[1, 2, 3, 4, 5],
    ),
    "RATED_LABELS",
)  # fmt: skip
BLOCKS = [
    [[["a"], ["b", "c"]], [["b"], ["a"]], [["a"]]],
    [[["c"], ["a"]], [["c"]], [["d"], ["c"]]],
    [[["a"]], [["a"], ["b"]], [["b"], ["a", "d"]]],
    [[["d"], ["a"], ["b"], ["c"]], [["d", "a"], ["c"]]],
    [[["b"], ["d"]], [["b", "c"]], [["c"], ["b"], ["a"]]],
]
WHO = [["ann", "bob", "cyn"], ["ann", "bob", "dan"], ["bob", "cyn", "dan"], ["ann", "dan"], ["ann", "bob", "cyn"]]
RANKED = later(lambda: ba.Rankings.from_blocks(BLOCKS, labels=[*"abcd"], items=[*"vwxyz"], annotators=WHO), "RANKED")
OFFERED = later(
    lambda: ba.Rankings.from_blocks(
        BLOCKS, labels=[*"abcd"], items=[*"vwxyz"], annotators=WHO,
        offered=[
            [["a", "b", "c"], ["a", "b"], ["a", "c", "d"]], [["a", "c"], ["b", "c"], ["a", "c", "d"]],
            [["a", "b"], ["a", "b", "c"], ["a", "b", "d"]], [["a", "b", "c", "d"], ["a", "c", "d"]],
            [["b", "d"], ["a", "b", "c"], ["a", "b", "c", "d"]],
        ],
    ),
    "OFFERED",
)  # fmt: skip
RANKED_SOFT = later(
    lambda: ba.Predictions.from_scores(
        {m: pd.DataFrame(np.random.default_rng(s).dirichlet(np.ones(4), 5), [*"vwxyz"], [*"abcd"]) for m, s in
         (("A", 1), ("B", 2), ("C", 3))},
        labels=[*"abcd"],
    ),
    "RANKED_SOFT",
)  # fmt: skip
RISK = {"a": 0.0, "b": 1.0, "c": 2.0, "d": 1.0}


def _scores() -> Any:
    rows = table("scores.csv").pivot(index="item", columns="model", values="score").clip(0, 1)
    return ba.Predictions.from_scores(
        {m: pd.DataFrame({"no": 1 - rows[m], "yes": rows[m]}) for m in rows}, labels=["no", "yes"]
    )


SCORES = later(_scores, "SCORES")


def _systems() -> Any:
    rng = np.random.default_rng(12)
    truth = rng.random(24) < 0.4
    found = {
        f"s{k}": pd.Series(np.where(rng.random(24) < a, truth, ~truth).astype(int), [f"b{i:02d}" for i in range(24)])
        for k, a in enumerate((1.0, 1.0, 0.5, 0.5, 1.0) if World.alike else (0.9, 0.8, 0.7, 0.6, 0.75))
    }
    return ba.Predictions.from_labels(found, labels=[0, 1])


SYSTEMS = later(_systems, "SYSTEMS")
SYSTEM_GOLD = later(
    lambda: dict(
        zip([f"b{i:02d}" for i in range(24)], (np.random.default_rng(12).random(24) < 0.4).astype(int).tolist())
    ),
    "SYSTEM_GOLD",
)
CROWD = later(
    lambda: ba.Labels.from_matrix(
        np.where(np.random.default_rng(2).random((24, 3)) < 0.75, np.array([*SYSTEM_GOLD().values()])[:, None], 0),
        items=[f"b{i:02d}" for i in range(24)], labels=[0, 1],
    ),
    "CROWD",
)  # fmt: skip


def _games() -> pd.DataFrame:
    rng = np.random.default_rng(21)
    n = 46
    pairs = np.array([rng.permutation(4)[:2] for _ in range(n)])
    strength = np.array([0.0, 0.5, 1.1, -0.6])
    strength = strength * (not World.alike)
    win = rng.random(n) < 1 / (1 + np.exp(strength[pairs[:, 1]] - strength[pairs[:, 0]]))
    tie = rng.random(n) < 0.2
    return pd.DataFrame({
        "left": np.array([*"ABCD"])[pairs[:, 0]], "right": np.array([*"ABCD"])[pairs[:, 1]],
        "winner": np.where(tie, "tie", np.where(win, "left", "right")),
        "annotator": np.array([*PEOPLE])[rng.integers(0, 5, n)], "item": [f"g{k:02d}" for k in rng.integers(0, 9, n)],
        "longer": rng.normal(size=n),
    })  # fmt: skip


GAMES = later(lambda: ba.Comparisons.from_long(_games(), annotator="annotator"), "GAMES")
ALL_GAMES = later(
    lambda: ba.Comparisons.from_long(_games(), annotator="annotator", item="item", covariates=["longer"]), "ALL_GAMES"
)
PLAIN_GAMES = later(
    lambda: ba.Comparisons.from_long(_games().query("winner != 'tie'"), order_known=False), "PLAIN_GAMES"
)


def _verdicts() -> pd.DataFrame:
    found = table("verdicts.csv")
    rng = np.random.default_rng(3)
    chance = dict(zip(found["item"].unique(), rng.uniform(0.2, 0.9, found["item"].nunique())))
    return found.assign(chance=found["item"].map(chance))


VERDICTS = later(lambda: ba.Labels.from_long(_verdicts(), annotator="judge", labels=["no", "yes"]), "VERDICTS")
OF_SYSTEM = later(lambda: dict(_verdicts().groupby("item")["system"].first()), "OF_SYSTEM")
CHANCE = later(lambda: dict(_verdicts().groupby("item")["chance"].first()), "CHANCE")
KIND = later(lambda: {"kind": {item: "uvw"[k % 3] for k, item in enumerate(_verdicts()["item"].unique())}}, "KIND")
RIGHT = {False: [0.9, 0.8, 0.65, 0.75], True: [1, 1, 0, 0.5]}
"""How often each judge is right, by world."""
JUDGES = later(
    lambda: ba.Labels.from_matrix(
        np.where(np.random.default_rng(31).random((20, 4)) < RIGHT[World.alike], np.arange(20)[:, None] % 3, 1),
        annotators=["j1", "j2", "j3", "j4"], labels=[0, 1, 2],
    ),
    "JUDGES",
)  # fmt: skip
JUDGE_GOLD = later(lambda: {i: i % 3 if i % 5 else (i + 1) % 3 for i in range(20)}, "JUDGE_GOLD")
