"""The table of data sets: name, one line about it, its folder and its reader."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import PurePosixPath
from typing import NamedTuple

from bayesagree.datasets import _label_sets as labels
from bayesagree.datasets import _ranking_sets as rankings
from bayesagree.datasets import _rating_sets as ratings
from bayesagree.datasets._content import Content
from bayesagree.datasets._files import registry


class Entry(NamedTuple):
    """One line of the table."""

    title: str
    folder: str
    read: Callable[[], Content]


_CROWD_GOLD = {
    "bluebird": "2 bird species, 108 items x 39 annotators",
    "rte": "textual entailment, 800 items x 10 labels",
    "trec2011": "relevance of 19033 topic-document pairs, 2275 with gold",
    "relevance2010": "graded relevance of 20232 pairs, 4460 with gold; repeated annotations kept",
    "adult2": "adult content of 11040 web sites, 333 with gold; repeated annotations kept",
    "product": "are two products the same, 8315 items x 3 labels",
    "face": "4 sentiments of 584 faces",
    "sentiment-polarity": "polarity of 4999 film-review sentences",
    "music-genre": "10 music genres of 700 songs",
    "weather-cf": "5 weather sentiments of 300 tweets",
}
_LEWIDI2023 = {
    "hs-brexit": "hate speech in 1120 tweets, 6 annotators of two groups",
    "armis": "misogyny in 943 Arabic tweets, 3 annotators of three groups",
    "convabuse": "abuse of conversational agents, -3 to 1, 4050 items, 8 annotators",
}
_TEXTBOOK = {
    "cac.raw4raters": ("Krippendorff's 12 subjects x 4 raters, 5 categories", labels.rating_table),
    "cac.raw5obser": ("15 subjects x 5 observers, levels 0 to 3", labels.rating_table),
    "cac.raw.g1g2": ("14 subjects x 4 raters in two groups", labels.rating_table),
    "cac.raw.gender": ("15 subjects x 4 raters in two groups", labels.rating_table),
    "cac.ben.gerry": ("12 subjects x 2 raters", labels.rating_table),
    "distrib.6raters": ("Fleiss' 15 patients x 6 psychiatrists, counts", labels.count_table),
    "cac.dist.g1g2": ("14 subjects x 4 raters, counts", labels.count_table),
    "cac.dist4cat": ("15 subjects x 4 raters, counts", labels.count_table),
    "cont3x3abstractors": ("100 pregnancies x 2 abstractors", labels.contingency_table),
    "cont4x4diagnosis": ("223 patients x 2 diagnosticians", labels.contingency_table),
}
_PREFLIB = {
    "00002-debian": "Debian elections, incomplete ballots",
    "00003-nasa": "10 science teams on 32 Mariner trajectories, ties",
    "00005-burlington": "mayoral election, incomplete ballots",
    "00006-skate": "figure skating judges 1998",
    "00017-berkley": "city council election 2010, incomplete ballots",
    "00023-takomapark": "city council election 2007, incomplete ballots",
    "00024-dots": "which picture has fewer dots, true order known",
    "00025-puzzle": "which puzzle needs fewer moves, true order known",
}
_PLACKETT_LUCE = {"netflix.soc": "588 users, 4 films", "shirt.soc": "30 voters, 11 designs", "skaters.toc": "9 judges"}


def _preflib_sets() -> dict[str, Entry]:
    paths = [PurePosixPath(p) for p in registry() if p.startswith("rankings-preflib/")]
    return {
        f"rankings-preflib/{p.stem}": Entry(
            f"rankings: {_PREFLIB[p.parent.name]}", "rankings-preflib", partial(rankings.preflib, str(p))
        )
        for p in paths
    }


def _group(folder: str, titles: Mapping[str, str], read: Callable[[str], Content], kind: str) -> dict[str, Entry]:
    return {f"{folder}/{n}": Entry(f"{kind}: {title}", folder, partial(read, n)) for n, title in titles.items()}


SETS: dict[str, Entry] = {
    "derm-ddx": Entry("rankings: 1947 skin cases, 419 conditions, risk levels", "derm-ddx", rankings.derm_ddx),
    "cifar10h": Entry("labels: 10000 images, about 51 votes each; 4 models, gold", "cifar10h", labels.cifar10h),
    "chaosnli-snli": Entry(
        "labels: 1514 SNLI pairs, 100 votes each; 5 models, original label", "chaosnli-snli", labels.chaosnli
    ),
    **_group("crowd-gold", _CROWD_GOLD, labels.crowd_gold, "labels with gold"),
    **_group(
        "human-objects",
        {"edge": "10 observers, 160 edge images", "sketch": "7 observers, 800 sketches"},
        labels.human_objects,
        "labels with gold",
    ),
    "popquorn": Entry(
        "ratings: offensiveness 1 to 5 of 1500 comments, 262 annotators with demographics",
        "popquorn-offensiveness",
        ratings.popquorn,
    ),
    "snow-affect": Entry(
        "ratings with gold: six emotions 0 to 100 in 100 headlines, 10 annotators per item",
        "snow-affect",
        partial(ratings.snow_affect, None),
    ),
    **_group(
        "snow-affect",
        {e: f"{e} in 100 headlines, 10 annotators per item" for e in (*ratings.EMOTIONS, "valence")},
        ratings.snow_affect,
        "ratings with gold",
    ),
    "truthfulness/s100": Entry(
        "ratings with gold: truthfulness 0 to 100 of 122 statements, 200 annotators with demographics",
        "truthfulness-ecir2020",
        partial(ratings.truthfulness, "S100"),
    ),
    "truthfulness/s6": Entry(
        "ratings with gold: truthfulness 1 to 6 of 122 statements, 200 other annotators",
        "truthfulness-ecir2020",
        partial(ratings.truthfulness, "S6"),
    ),
    "lewidi2025-csc": Entry(
        "ratings: sarcasm 1 to 6 in 704 replies, 850 annotators with gender and age",
        "lewidi2025-csc",
        ratings.lewidi2025_csc,
    ),
    **_group("lewidi2023", _LEWIDI2023, labels.lewidi2023, "labels"),
    **_group(
        "perfume",
        {a: f"{a} of 14 perfumes by 103 raters" for a in (*ratings.PERFUME, "liking")},
        ratings.perfume,
        "ratings",
    ),
    "perfume/chocolate": Entry("ratings: liking 0 to 10 of 6 chocolates, 222 raters", "perfume", ratings.chocolate),
    "jester5k": Entry("ratings: 100 jokes, 5000 raters, -10 to 10, 27 % missing", "jester5k", ratings.jester5k),
    "dices350": Entry("labels with gold: 350 chatbot replies, 123 raters, expert", "dices350", labels.dices350),
    "trec2011-teams": Entry(
        "labels: relevance of 3200 documents by 8 teams, who are the models too; gold for 395",
        "trec2011-teams",
        labels.trec2011_teams,
    ),
    **{
        f"agreement-textbook/{n}": Entry(f"labels: {title}", "agreement-textbook", partial(read, n))
        for n, (title, read) in _TEXTBOOK.items()
    },
    "agreement-textbook/anesthesia": Entry(
        "labels: 45 patients, 5 anaesthetists (Dawid & Skene), repeated readings kept",
        "agreement-textbook",
        labels.anesthesia,
    ),
    "agreement-textbook/caries": Entry("labels: 3859 X-rays, 5 dentists", "agreement-textbook", labels.caries),
    "agreement-textbook/krippendorff": Entry(
        "labels: Krippendorff's nominal example, 15 items x 3 annotators", "agreement-textbook", labels.krippendorff
    ),
    **_group(
        "crowdtruth",
        {
            "relex-binary": "is there a relation, 10 sentences",
            "relex-multiple-choice": "which relations, 10 sentences, several labels an annotation",
            "rte": "textual entailment, 800 items, with gold",
        },
        labels.crowdtruth,
        "labels with published quality scores",
    ),
    **{
        f"rankings-plackettluce/{PurePosixPath(f).stem}": Entry(
            f"rankings: {title}", "rankings-plackettluce", partial(rankings.preflib, f"rankings-plackettluce/{f}")
        )
        for f, title in _PLACKETT_LUCE.items()
    },
    **_group(
        "rankings-plackettluce",
        {
            "salad": "32 judges, 4 dressings by tartness",
            "potato_visual": "12 assessors, 20 potatoes by weight seen, true order known",
            "potato_weighing": "12 assessors, 20 potatoes by weight felt, true order known",
        },
        rankings.rank_table,
        "rankings",
    ),
    **_preflib_sets(),
}
