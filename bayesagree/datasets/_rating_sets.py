"""Readers of the sets whose annotations are ratings."""

import numpy as np

from bayesagree.annotations import Ratings
from bayesagree.datasets._files import Content, arrays, by_item, features, json_content, table

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
