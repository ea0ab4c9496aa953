"""Readers of the data sets: labels first, then ratings, then rankings."""

import numpy as np
import pandas as pd

from bayesagree.annotations import Labels, Rankings, Ratings
from bayesagree.annotations.predictions import Predictions
from bayesagree.datasets._files import Content, arrays, by_item, features, json_content, lines, local_file, table
from bayesagree.io.formats.preflib import read_election

# The source prints these two scores in a notebook and has no file of them.
_RTE_AQS = pd.DataFrame({"label": ["0", "1"], "aqs": [0.706485, 0.793250], "aqs_initial": [0.616694, 0.715569]})


def cifar10h() -> Content:
    """Read the human votes on the CIFAR-10 test images and four classifiers."""
    data, models = arrays("cifar10h/cifar10h_counts.npz"), arrays("cifar10h/model_probs.npz")
    names = list(data["class_names"])
    return Content(
        Labels.from_counts(data["counts"], labels=names),
        Predictions.from_scores(models, labels=names, probabilities=True),
        pd.Series(data["class_names"][data["labels"]], name="gold"),
    )


def chaosnli() -> Content:
    """Read the 100 labels of each SNLI pair and five classifiers."""
    data, models = arrays("chaosnli-snli/chaosnli.npz"), arrays("chaosnli-snli/model_probs.npz")
    items, names = data["uid"], data["class_names"]
    part = pd.Series(models.pop("part"), index=items, name="part")
    five = [[names[k] if k >= 0 else None for k in row] for row in data["original_five"]]
    return Content(
        Labels.from_counts(data["counts"], items=list(items), labels=list(names)),
        Predictions.from_scores(models, items=list(items), labels=list(names), probabilities=True),
        pd.Series(names[data["original_label"]], index=items, name="gold"),
        {"part": part, "original_labels": pd.DataFrame(five, index=items)},
    )


def crowd_gold(name: str) -> Content:
    """Read one crowd label set; repeated annotations are kept, `table` holds the rows as they came."""
    rows = table(f"crowd-gold/{name}_labels.csv")
    gold = table(f"crowd-gold/{name}_gold.csv").rename(columns={"truth": "gold"})
    known = sorted(set(rows["label"]) | set(gold["gold"]))
    labels = Labels.from_long(rows, annotator="worker", labels=known, duplicates="keep")
    return Content(labels, None, by_item(gold, "gold"), {"table": rows})


def human_objects(name: str) -> Content:
    """Read the object names that observers gave to images; no response ('na') is a missing label."""
    rows = table(f"human-objects/{name}.csv")
    answered = rows.assign(label=rows["label"].where(rows["label"] != "na"))
    labels = Labels.from_long(answered, annotator="worker", labels=sorted(rows["gold"].unique()))
    return Content(labels, None, by_item(rows, "gold"), {"table": rows})


def dices350() -> Content:
    """Read the safety judgments of 123 raters and the expert."""
    data = arrays("dices350/dices350.npz")
    items, names = list(data["item_id"]), np.array(["No", "Yes", "Unsure"])
    labels = Labels.from_matrix(names[data["labels"]], items=items, labels=list(names))
    return Content(labels, None, pd.Series(names[data["expert"]], index=items, name="gold"))


def lewidi2023(name: str) -> Content:
    """Read one set of subjective labels, with the groups of its annotators where they are known."""
    rows, items = table(f"lewidi2023/{name}_labels.csv"), table(f"lewidi2023/{name}_items.csv")
    extra: dict[str, pd.DataFrame] = {"items": items.set_index("item")}
    if "annotator_group" in rows:
        extra["annotators"] = features(rows, "annotator", ["annotator_group"])
    return Content(Labels.from_long(rows), None, None, extra)


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
    rows, items = table("trec2011-teams/team_labels.csv"), table("trec2011-teams/items.csv").set_index("item")
    rows["label"] = (rows["score"] >= 0.5).astype(int)
    scores, hard = (
        rows.pivot(index="item", columns="team", values=v).reindex(items.index) for v in ("score", "label")
    )
    judged = by_item(items[items["nist_gold"] >= 0].reset_index(), "nist_gold")
    return Content(
        Labels.from_long(rows, annotator="team", labels=[0, 1]),
        Predictions.from_labels({f"team {t}": labels for t, labels in hard.items()}, labels=[0, 1]),
        pd.Series((judged >= 1).astype(int), name="gold"),
        {"scores": scores, "nist_gold": judged, "items": items},
    )


def anesthesia() -> Content:
    """Read the 45 patients of Dawid and Skene; the three readings of rater 1 are kept."""
    rows = table("agreement-textbook/anesthesia_long.csv")
    return Content(Labels.from_long(rows, annotator="rater", label="rating", duplicates="keep"))


EMOTIONS = ("anger", "disgust", "fear", "joy", "sadness", "surprise")
TRUTH = ("LIE", "FALSE", "BARELYTRUE", "HALFTRUE", "MOSTLYTRUE", "TRUE")
DEMOGRAPHICS = ["gender", "age", "school", "income", "party", "party_ln", "ideo", "elections", "teaparty"]


def popquorn() -> Content:
    """Read offensiveness ratings 1 to 5 with the demographics of the annotators."""
    rows = table("popquorn-offensiveness/offensiveness.csv")
    ratings = Ratings.from_long(
        rows, item="instance_id", annotator="user_id", rating="offensiveness", scale=(1, 5), step=1
    )
    known = features(rows, "user_id", ["gender", "race", "age", "occupation", "education"])
    return Content(ratings, None, None, {"annotators": known, "text": by_item(rows, "text", "instance_id")})


def snow_affect(emotion: str | None = None) -> Content:
    """Read one emotion (0 to 100), valence (-100 to 100), or by default the six emotions together."""
    rows, truth = table("snow-affect/answer.csv"), table("snow-affect/truth.csv")
    block, wanted = (rows["question"] - 1) // 100, range(6)
    if emotion is not None:
        wanted = [(*EMOTIONS, "valence").index(emotion)]
    rows = rows[block.isin(wanted)]
    scale = (-100, 100) if emotion == "valence" else (0, 100)
    ratings = Ratings.from_long(rows, item="question", annotator="worker", rating="answer", scale=scale, step=1)
    rated = truth[np.isin(truth["question"], ratings.items)]
    return Content(ratings, None, by_item(rated, "truth", "question", name="gold"))


def truthfulness(scale: str) -> Content:
    """Read truthfulness on the 0 to 100 scale (S100) or on six levels (S6); gold is ordered, worst first."""
    rows = table(f"truthfulness-ecir2020/{scale}.csv")
    ends = (0, 100) if scale == "S100" else (1, 6)
    ratings = Ratings.from_long(
        rows, item="doc_id", annotator="unit_id", rating=f"{scale}_rel", scale=ends, step=1
    )
    extra = {
        "annotators": features(rows, "unit_id", DEMOGRAPHICS),
        "questionnaire": json_content("truthfulness-ecir2020/questionnaire_mapping.json"),
        "gold_order": TRUTH,
    }
    # LOW and HIGH mark the two control statements, which have no place among the six truth values.
    stated = rows[rows["rel"].isin(TRUTH)]
    return Content(ratings, None, by_item(stated, "rel", "doc_id", name="gold"), extra)


def lewidi2025_csc() -> Content:
    """Read sarcasm ratings 1 to 6 with the gender and age of most annotators."""
    rows = table("lewidi2025-csc/labels.csv")
    extra = {
        "annotators": table("lewidi2025-csc/annotators.csv").set_index("annotator"),
        "items": table("lewidi2025-csc/items.csv").set_index("item"),
    }
    return Content(Ratings.from_long(rows, rating="label", scale=(1, 6), step=1), None, None, extra)


def perfume(attribute: str) -> Content:
    """Read one attribute of 14 tastings of perfumes by 103 raters, complete; liking has levels 1 to 9."""
    rows = table("perfume/perfume_ideal.csv")
    scale, step = ((1, 9), 1) if attribute == "liking" else ((0, 100), None)
    ratings = Ratings.from_long(rows, item="product", annotator="user", rating=attribute, scale=scale, step=step)
    return Content(ratings)


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
    election = read_election(lines(path), path)
    item, labels = election.title or path, election.alternatives
    built = Rankings.from_blocks([election.rankings], labels=labels, items=[item])
    if "-dots/" not in path and "-puzzle/" not in path:
        return Content(built)
    # The names of the alternatives are their numbers of dots or moves: fewer is better.
    true_rank = pd.Series({name: rank for rank, name in enumerate(sorted(labels, key=int), 1)}, name="true_rank")
    return Content(
        built, None, pd.Series([true_rank.idxmin()], index=[item], name="gold"), {"true_rank": true_rank}
    )
