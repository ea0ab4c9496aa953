"""Readers of the data sets: labels first, then ratings, then rankings."""

from typing import Any

import numpy as np
import pandas as pd

from bayesagree.annotations import Labels, Rankings, Ratings
from bayesagree.annotations.predictions import Predictions
from bayesagree.datasets._files import (
    Content,
    arrays,
    by_item,
    features,
    json_content,
    lines,
    local_file,
    table,
)
from bayesagree.io.formats.preflib import read_election

# Labels of CIFAR-10H, in their order.
CIFAR10 = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]
# The source prints these two scores in a notebook and has no file of them.
_RTE_AQS = pd.DataFrame({"label": ["0", "1"], "aqs": [0.706485, 0.793250], "aqs_initial": [0.616694, 0.715569]})


def cifar10h() -> Content:
    """Read the human votes on the CIFAR-10 test images and four classifiers."""
    data = arrays("cifar10h/cifar10h_counts.npz")
    return Content(
        Labels.from_counts(data["counts"], labels=CIFAR10),
        Predictions.from_scores(arrays("cifar10h/model_probs.npz"), labels=CIFAR10, probabilities=True),
        pd.Series(np.array(CIFAR10)[data["labels"]], name="gold"),
    )


def chaosnli() -> Content:
    """Read the 100 labels of each SNLI pair and five classifiers."""
    data = arrays("chaosnli-snli/chaosnli.npz")
    models = arrays("chaosnli-snli/model_probs.npz")
    names: Any = {"items": list(data["uid"]), "labels": list(data["class_names"])}
    models.pop("part")
    return Content(
        Labels.from_counts(data["counts"], **names),
        Predictions.from_scores(models, **names, probabilities=True),
        pd.Series(data["class_names"][data["original_label"]], index=data["uid"], name="gold"),
    )


def crowd_gold(name: str) -> Content:
    """Read one crowd label set; repeated annotations are kept."""
    rows = table(f"crowd-gold/{name}_labels.csv")
    gold = by_item(table(f"crowd-gold/{name}_gold.csv").set_axis(["item", "gold"], axis=1), "gold")
    labels = Labels.from_long(
        rows, annotator="worker", labels=sorted({*rows["label"], *gold}), duplicates="keep"
    )
    return Content(labels, None, gold)


def human_objects(name: str) -> Content:
    """Read the object names that observers gave to images; no response ('na') is a missing label."""
    rows = table(f"human-objects/{name}.csv")
    answered = rows.assign(label=rows["label"].where(rows["label"] != "na"))
    labels = Labels.from_long(answered, annotator="worker", labels=sorted(rows["gold"].unique()))
    return Content(labels, None, by_item(rows, "gold"))


def dices350() -> Content:
    """Read the safety judgments of 123 raters and the expert."""
    data = arrays("dices350/dices350.npz")
    items = list(data["item_id"])
    names = np.array(["No", "Yes", "Unsure"])
    labels = Labels.from_matrix(names[data["labels"]], items=items, labels=list(names))
    return Content(labels, None, pd.Series(names[data["expert"]], index=items, name="gold"))


def lewidi2023(name: str) -> Content:
    """Read one set of subjective labels, with the groups of its annotators where they are known."""
    rows = table(f"lewidi2023/{name}_labels.csv")
    known = (
        {"annotators": features(rows, "annotator", ["annotator_group"])} if "annotator_group" in rows else {}
    )
    return Content(Labels.from_long(rows), None, None, known)


def crowdtruth(name: str) -> Content:
    """Read one input of the CrowdTruth metrics with the published scores (`uqs`, `wqs`, `aqs`)."""
    rows = table(f"crowdtruth/{name}_labels.csv").rename(columns={"labels": "label"})
    rows["label"] = rows["label"].astype(str).str.lower().str.split()
    aqs = _RTE_AQS if name == "rte" else table(f"crowdtruth/{name}_aqs.csv")
    aqs = aqs.assign(label=aqs["label"].astype(str).str.lower()).set_index("label")
    annotations = rows.explode("label", ignore_index=True)
    gold = by_item(rows.assign(gold=rows["gold"].astype(str)), "gold") if "gold" in rows else None
    # Every label has a published score, also those that no annotator chose.
    labels = Labels.from_long(annotations, labels=list(aqs.index), duplicates="keep")
    extra = {
        "uqs": table(f"crowdtruth/{name}_uqs.csv").set_index("item"),
        "wqs": table(f"crowdtruth/{name}_wqs.csv").set_index("annotator"),
        "aqs": aqs,
    }
    return Content(labels, None, gold, extra)


def trec2011_teams() -> Content:
    """Read the teams as annotators and as models (score of at least 0.5 is relevant: label 1)."""
    rows = table("trec2011-teams/team_labels.csv")
    items = table("trec2011-teams/items.csv")
    rows["label"] = (rows["score"] >= 0.5).astype(int)
    hard = rows.pivot(index="item", columns="team", values="label").reindex(items["item"].unique())
    return Content(
        Labels.from_long(rows, annotator="team", labels=[0, 1]),
        Predictions.from_labels(hard.add_prefix("team "), labels=[0, 1]),
        (by_item(items[items["nist_gold"] >= 0], "nist_gold") >= 1).astype(int),
    )


def anesthesia() -> Content:
    """Read the 45 patients of Dawid and Skene; the three readings of rater 1 are kept."""
    rows = table("agreement-textbook/anesthesia_long.csv")
    return Content(Labels.from_long(rows, annotator="rater", label="rating", duplicates="keep"))


EMOTIONS = ("anger", "disgust", "fear", "joy", "sadness", "surprise")
DEMOGRAPHICS = ["gender", "age", "school", "income", "party", "party_ln", "ideo", "elections", "teaparty"]


def ratings(
    path: str, item: str, annotator: str, rating: str, low: str, high: str, step: str | None = None
) -> Content:
    """Read ratings between `low` and `high`, one a row, whose columns have these names."""
    names: Any = {"item": item, "annotator": annotator, "rating": rating}
    scale = float(low), float(high)
    rows = table(path)
    return Content(Ratings.from_long(rows, **names, scale=scale, step=None if step is None else float(step)))


def popquorn() -> Content:
    """Read offensiveness ratings 1 to 5 with the demographics of the annotators."""
    path = "popquorn-offensiveness/offensiveness.csv"
    found = ratings(path, "instance_id", "user_id", "offensiveness", "1", "5", "1")
    rows = table(path)
    known = features(rows, "user_id", ["gender", "race", "age", "occupation", "education"])
    return found._replace(extra={"annotators": known, "text": by_item(rows, "text", "instance_id", "text")})


def snow_affect(emotion: str | None = None) -> Content:
    """Read one emotion (0 to 100), valence (-100 to 100), or by default the six emotions together."""
    rows = table("snow-affect/answer.csv")
    truth = table("snow-affect/truth.csv")
    if emotion is None:
        rows = rows[rows["question"] <= 600]
    else:  # a hundred headlines for each
        rows = rows[(rows["question"] - 1) // 100 == (*EMOTIONS, "valence").index(emotion)]
    scale = (-100, 100) if emotion == "valence" else (0, 100)
    found = Ratings.from_long(rows, item="question", annotator="worker", rating="answer", scale=scale, step=1)
    return Content(found, None, by_item(truth[np.isin(truth["question"], found.items)], "truth", "question"))


def truthfulness(name: str, low: str, high: str) -> Content:
    """Read truthfulness on the 0 to 100 scale (S100) or on six levels (S6)."""
    path = f"truthfulness-ecir2020/{name}.csv"
    found = ratings(path, "doc_id", "unit_id", f"{name}_rel", low, high, "1")
    rows = table(path)
    # LOW and HIGH mark the two control statements, which have no place among the six truth values.
    gold = by_item(rows[~rows["rel"].isin(["LOW", "HIGH"])], "rel", "doc_id")
    return found._replace(gold=gold, extra={"annotators": features(rows, "unit_id", DEMOGRAPHICS)})


def lewidi2025_csc() -> Content:
    """Read sarcasm ratings 1 to 6 with the gender and age of most annotators."""
    extra = {f"{of}s": table(f"lewidi2025-csc/{of}s.csv").set_index(of) for of in ("annotator", "item")}
    found = ratings("lewidi2025-csc/labels.csv", "item", "annotator", "label", "1", "6", "1")
    return found._replace(extra=extra)


def jester5k() -> Content:
    """Read 5000 raters' continuous ratings (-10 to 10) of 100 jokes, 73 % of the cells filled."""
    return Content(Ratings.from_matrix(arrays("jester5k/jester5k.npz")["ratings"].T, scale=(-10, 10)))


def derm_ddx() -> Content:
    """Read the differential diagnoses; labels are the names of the conditions, `risk` their risk levels."""
    names = lines("derm-ddx/dermatology_conditions.txt")
    risk = [int(level) for level in lines("derm-ddx/dermatology_risks.txt")]
    cases = json_content("derm-ddx/dermatology_selectors.json")
    named = [[[[names[k] for k in block] for block in ranking] for ranking in case] for case in cases]
    rankings = Rankings.from_blocks(named, labels=names)
    return Content(rankings, _derm_models(rankings), extra={"risk": dict(zip(names, risk))})


def _derm_models(rankings: Rankings) -> Predictions | None:
    """Read the paper's models A to D where their files are: one row of probabilities a case, as numpy.savetxt."""
    files = {name: local_file(f"derm-ddx/dermatology_predictions{k}.txt") for k, name in enumerate("ABCD")}
    scores = {name: np.loadtxt(file) for name, file in files.items() if file is not None}
    if not scores:
        return None
    return Predictions.from_scores(scores, items=rankings.items.tolist(), labels=rankings.categories.tolist())


def preflib(path: str) -> Content:
    """Read one PrefLib file: one item, one ranking for each voter; alternatives nobody names rank last."""
    rankings = read_election(lines(path), path, path)
    found = Content(rankings)
    if "-dots/" not in path and "-puzzle/" not in path:
        return found
    # The names of the alternatives are their numbers of dots or moves: fewer is better.
    return found._replace(
        gold=pd.Series([min(rankings.categories, key=int)], index=rankings.items, name="gold")
    )
