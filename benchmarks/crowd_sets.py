"""Crowd sets with gold, as labels and a mapping of items to gold labels."""

from pathlib import Path

import pandas as pd

from bayesagree.annotations import Labels

SETS = (
    "bluebird", "rte", "product", "sentiment-polarity", "trec2011", "relevance2010", "adult2", "face", "music-genre",
    "weather-cf", "edge", "sketch",
)  # fmt: skip


def read(name: str, folder: Path) -> tuple[Labels, dict]:
    if name in ("edge", "sketch"):
        table = pd.read_csv(folder / "human-objects" / f"{name}.csv.gz", keep_default_na=False)
        gold = table.groupby("item").gold.first().to_dict()
        table = table[table.label != "na"]  # no answer in time
    else:
        table = pd.read_csv(folder / "crowd-gold" / f"{name}_labels.csv.gz")
        gold = pd.read_csv(folder / "crowd-gold" / f"{name}_gold.csv.gz").set_index("item").gold.to_dict()
    known = sorted(set(table.label) | set(gold.values()))
    labels = Labels.from_long(table, annotator="worker", labels=known, duplicates="keep")
    items = set(labels.items.tolist())
    return labels, {item: label for item, label in gold.items() if item in items}
