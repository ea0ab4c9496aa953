"""Words of tables: names of columns, words for no answer, spellings of one label."""

import unicodedata
from collections.abc import Callable, Collection, Iterable
from typing import Any

from bayesagree.errors import warn

# Names of columns by what they hold; compared without case, spaces and underscores.
NAMES = {
    "item": "item itemid task taskid unit unitid id uid questionid question doc docid document text textid image "
    "imageid sample sampleid exampleid example pairid tweetid postid commentid sentenceid case caseid queryid",
    "annotator": "annotator annotatorid worker workerid crowdworker rater raterid coder coderid judge judgeid reader "
    "user userid completedby labeler labeller expert expertid participant participantid person respondent reviewer "
    "doctor physician clinician radiologist pathologist grader",
    "label": "label labels answer annotation category class choice response judgment judgement verdict vote diagnosis",
    "rating": "rating score stars grade",
    "rank": "rank",
    "model": "model modelname modelid system systemname systemid classifier llm",
}
# Columns of two models, in the order in which they were shown, and of who won.
SIDES = (
    ("left", "right"),
    ("model_a", "model_b"),
    ("model_1", "model_2"),
    ("generator_1", "generator_2"),
    ("system_a", "system_b"),
    ("response_a", "response_b"),
)
WINNERS = ("winner", "preference", "g1_winner", "preferred", "verdict", "choice")

# Cells of text tables that are missing; every other word may well be a label.
MISSING_CELLS = ["", "NA", "NaN", "nan"]
_NO_ANSWERS = (
    ". - -- ? n/a n.a. #n/a na <na> nan none null nil missing unknown unanswered skipped k.a. -99 -999"
)
# Labels, in lower case, that often stand for no answer: kept as labels, but pointed out.
MISSING_WORDS = {"no_answer", "#ref!", "#value!", "#div/0!", "#name?", *_NO_ANSWERS.split()}
# Features of annotators that are missing, as platforms and forms write them: no group of people.
NO_ANSWER = ("DATA_EXPIRED", "CONSENT_REVOKED", "unknown", "Unknown", "n/a", "N/A", "")


def named_columns(columns: Collection[Any], **roles: str | None) -> list[Any]:
    """Columns by role: one that is named as its role, and not there, is the only column whose name fits.

    Examples
    --------
    >>> named_columns(["task_id", "worker", "answer"], item="item", annotator="annotator", label="label")
    ['task_id', 'worker', 'answer']
    """
    names, given = {plain(name): str(name) for name in columns}, set(map(str, columns))
    found = dict(roles)
    for role, name in roles.items():
        fits = [names[word] for word in NAMES.get(role, "").split() if word in names]
        fits = [one for one in fits if one not in found.values()]
        if name == role and role not in given and fits:
            ids = [one for one in fits if plain(one).endswith("id")]
            chosen = fits if len(fits) == 1 else ids  # a text has an id beside it
            found[role] = chosen[0] if len(chosen) == 1 else name
    return list(found.values())


def guessed_columns(
    columns: Collection[Any], note: Callable[[str], Any] = warn, **roles: str | None
) -> list[Any]:
    """Return the columns as `named_columns`, and note (by default warn of) those that are taken by their names."""
    found = named_columns(columns, **roles)
    taken = [(name, role) for role, name in zip(roles, found) if name != roles[role]]
    if taken:
        note("; ".join(f"column {name!r} is taken for the {role}" for name, role in taken))
    return found


def sides_of(names: Iterable[Any]) -> tuple[str, str] | None:
    """Return the columns of the two models."""
    return next((pair for pair in SIDES if set(pair) <= set(names)), None)


def plain(name: Any) -> str:
    """Return a name without case, spaces and underscores."""
    return "".join(part for part in str(name).lower() if part.isalnum())


def missing_words(labels: Iterable[Any]) -> list[Any]:
    """Labels that often stand for no answer."""
    return [label for label in labels if str(label).strip().casefold() in MISSING_WORDS]


def spelling_key(label: str) -> str:
    """Return what spellings of one label share: "Yes ", "yes"; "1", "1.0"; the two forms of "é" in Unicode."""
    key = " ".join(unicodedata.normalize("NFKC", label).casefold().split())
    try:
        return repr(float(key))
    except ValueError:
        return key


def name_key(name: str) -> str:
    """Return what spellings of one item or annotator share: blanks and the form of Unicode, not the case."""
    return " ".join(unicodedata.normalize("NFKC", name).split())


def person_key(name: str) -> str:
    """Return what spellings of one annotator share, the case too."""
    return name_key(name).casefold()


def similar(names: Iterable[Any], key: Callable[[str], str] = spelling_key) -> list[list[str]]:
    """Groups of names that differ in their spelling alone."""
    groups: dict[str, list[str]] = {}
    for name in names:
        if isinstance(name, str):
            groups.setdefault(key(name), []).append(str(name))
    return [group for group in groups.values() if len(group) > 1]
