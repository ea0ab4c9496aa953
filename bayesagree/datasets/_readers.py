"""Readers of the data sets: labels first, then ratings, then rankings."""

from typing import Any

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
    scores = rows.pivot(index="item", columns="team", values="score").reindex(items.index)
    hard = {f"team {t}": (s >= 0.5).astype(object).where(s.notna(), None) for t, s in scores.items()}
    judged = by_item(items[items["nist_gold"] >= 0].reset_index(), "nist_gold")
    return Content(
        Labels.from_long(rows, annotator="team", labels=[0, 1]),
        Predictions.from_labels({m: h.map({True: 1, False: 0}) for m, h in hard.items()}, labels=[0, 1]),
        pd.Series((judged >= 1).astype(int), name="gold"),
        {"scores": scores, "nist_gold": judged, "items": items},
    )


def rating_table(name: str) -> Content:
    """Read a textbook table with one row per subject and one column per rater; blank cells are missing."""
    rows = table(f"agreement-textbook/{name}.csv")
    raters = rows.drop(columns=["Group", "Unit", "Units"], errors="ignore")
    cells = raters.map(lambda cell: None if pd.isna(cell) or not str(cell).strip() else cell)
    labels = Labels.from_matrix(cells.to_numpy(dtype=object), annotators=list(raters.columns))
    return Content(labels, None, None, {"table": rows})


def count_table(name: str) -> Content:
    """Read a textbook table with one row per subject and the number of raters who chose each category."""
    rows = table(f"agreement-textbook/{name}.csv")
    counts = rows.drop(columns=["Group", "Units", "Subject"], errors="ignore")
    return Content(Labels.from_counts(counts.to_numpy(), labels=list(counts.columns)), None, None, {"table": rows})


def contingency_table(name: str) -> Content:
    """Read a textbook contingency table of two raters: each count becomes that many items."""
    rows = table(f"agreement-textbook/{name}.csv")
    names = list(rows.columns[1:])
    pairs = [
        (first, second)
        for first, counts in zip(rows.iloc[:, 0], rows.iloc[:, 1:].to_numpy())
        for second, n in zip(names, counts)
        for _ in range(n)
    ]
    labels = Labels.from_matrix(pairs, annotators=["row rater", "column rater"], labels=names)
    return Content(labels, None, None, {"table": rows})


def anesthesia() -> Content:
    """Read the 45 patients of Dawid and Skene; the three readings of rater 1 are kept."""
    rows = table("agreement-textbook/anesthesia_long.csv")
    return Content(Labels.from_long(rows, annotator="rater", label="rating", duplicates="keep"))


def caries() -> Content:
    """Read five dentists' ratings of 3859 X-rays (1 sound, 2 carious), one item for each X-ray of a pattern."""
    rows = table("agreement-textbook/caries_patterns.csv")
    patterns = rows.drop(columns="n")
    matrix = np.repeat(patterns.to_numpy(), rows["n"], axis=0)
    return Content(Labels.from_matrix(matrix, annotators=list(patterns.columns)), None, None, {"table": rows})


def krippendorff() -> Content:
    """Read Krippendorff's nominal example; two of its items have no label."""
    answers = json_content("agreement-textbook/krippendorff_answers.json")
    rows = [[answers[item].get(rater) for rater in ("0", "1", "2")] for item in answers]
    return Content(Labels.from_matrix(rows, items=list(answers), annotators=["0", "1", "2"]))


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
    ratings = Ratings.from_long(rows, item="doc_id", annotator="unit_id", rating=f"{scale}_rel", scale=ends, step=1)
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


def chocolate() -> Content:
    """Read the liking (0 to 10) of six chocolates by 222 consumers, complete."""
    rows = table("perfume/chocolate_liking.csv").set_index("product")
    ratings = Ratings.from_matrix(
        rows.to_numpy(), items=list(rows.index), annotators=list(rows.columns), scale=(0, 10), step=1
    )
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
    labels = election.alternatives
    true_rank = None
    if "-dots/" in path or "-puzzle/" in path:
        # The names of the alternatives are their numbers of dots or moves: fewer is better.
        true_rank = pd.Series({name: rank for rank, name in enumerate(sorted(labels, key=int), 1)}, name="true_rank")
    return _one_item(election.title or path, election.rankings, labels, true_rank)


def rank_table(name: str) -> Content:
    """Read a table with one complete ranking a row: one column for each label, cells are ranks."""
    rows = table(f"rankings-plackettluce/{name}.csv")
    assessors = list(rows.pop("assessor")) if "assessor" in rows else None
    labels = list(rows.columns)
    orders = rows.to_numpy().argsort(axis=1, kind="stable")
    ranked = [[[labels[k]] for k in order] for order in orders]
    true_rank = None
    if name.startswith("potato"):
        true_rank = by_item(table("rankings-plackettluce/potato_true_ranking.csv"), "true_rank", "potato")
    return _one_item(name, ranked, labels, true_rank, assessors)


def _one_item(
    item: str, rankings: list[Any], labels: list[str], true_rank: pd.Series | None, annotators: list[str] | None = None
) -> Content:
    who = None if annotators is None else [annotators]
    built = Rankings.from_blocks([rankings], labels=labels, items=[item], annotators=who)
    if true_rank is None:
        return Content(built)
    gold = pd.Series([true_rank.idxmin()], index=[item], name="gold")
    return Content(built, None, gold, {"true_rank": true_rank})
