"""Which column of a table is which, where its names are not ours: by name, then by what stands in the cells."""

from collections import Counter
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from bayesagree.annotations._words import missing_words, spelling_key
from bayesagree.errors import InputError

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
# Names that may be those of items and of people.
VAGUE = set(["id", "uid", "unit", "unitid"])
# So many annotators who all saw every item are raters of a test set; more may be items that all people answered.
FEW_ANNOTATORS = 5
# Distinct values of a column that is taken for labels by its cells: more are texts or names.
MOST_LABELS = 30
# Columns among which item, annotator and label are looked for by their cells: of more, never one choice alone fits.
MOST_CANDIDATES = 100


class Columns(NamedTuple):
    """Names of the columns, ours by default."""

    item: str = "item"
    annotator: str | None = "annotator"
    label: str = "label"
    rating: str = "rating"
    rank: str = "rank"

    def guessed(self, table: Any, notes: list[str]) -> "Columns":
        """Replace names of ours that the table lacks by the only column that fits: its name, then its cells."""
        found = self.by_name(table)
        if found.annotator is not None and not {found.label, found.rating} & set(map(str, table.columns)):
            found = _by_cells(table, found)
        self._check(table, found)
        for role, name in found._asdict().items():
            if name != getattr(self, role):
                notes.append(f"column {name!r} is taken for the {role}")
        return found

    def _check(self, table: Any, found: "Columns") -> None:
        """Refuse a guess of item and annotator that names and data leave open."""
        item, annotator = found.item, found.annotator
        if item not in table.columns or annotator not in table.columns:
            return
        if _is_clear("item", item, self.item) or _is_clear("annotator", annotator, self.annotator):
            return
        sizes = table[item].nunique(), table[annotator].nunique()
        crossed = sizes[0] * sizes[1] == len(table) and sizes[1] <= min(FEW_ANNOTATORS, sizes[0] - 1)
        if not crossed and max(sizes) < len(table):
            raise InputError(
                f"columns {item!r} ({sizes[0]} values) and {annotator!r} ({sizes[1]} values) may each name the items "
                f"or the annotators: both repeat; pass item={item!r} and annotator={annotator!r}, or the other way "
                "round"
            )

    def words_as_labels(self, table: Any, notes: list[str]) -> "Columns":
        """Take ratings of which none is a number for the labels, where there are none."""
        if self.label in table or self.rating not in table or nested(table[self.rating]):
            return self
        cells: Any = table[self.rating].dropna()
        numbers: Any = pd.to_numeric(cells, errors="coerce")
        if len(cells) == 0 or numbers.notna().any():
            return self
        notes.append(f"column {self.rating!r} is taken for the label, since it holds words")
        return self._replace(label=self.rating, rating="")

    def by_name(self, table: Any) -> "Columns":
        """Replace names of ours that the table lacks by the only column whose name fits."""
        names = {plain(name): str(name) for name in table.columns}
        found = self._asdict()
        for role, ours in Columns()._asdict().items():
            fits = [names[name] for name in NAMES[role].split() if name in names and names[name] not in found.values()]
            if found[role] == ours and ours not in table.columns and fits:
                ids = [name for name in fits if plain(name).endswith("id")]
                chosen = fits if len(fits) == 1 else ids  # a text has an id beside it
                found[role] = chosen[0] if len(chosen) == 1 else ours
        return Columns(**found)


def _is_clear(role: str, name: Any, given: Any) -> bool:
    """Return whether a column was named by the user, has our name, or one that means this role alone."""
    return name == given or (plain(name) in NAMES[role].split() and plain(name) not in VAGUE)


def vocabulary(table: Any) -> list[str]:
    """Columns whose values are those of another column too, as annotators' and counts are and texts are not.

    Labels that one annotator alone gave are rare: most values are shared, and they are few. Words that stand for no
    answer and other spellings of a label do not tell annotators apart.
    """
    values = {name: _vocabulary_of(table[name]) for name in table.columns if not nested(table[name])}
    times = Counter(value for column in values.values() for value in column)
    shared = {name: sum(times[value] > 1 for value in column) for name, column in values.items()}
    found = [
        name
        for name, column in values.items()
        if column and (shared[name] == len(column) or (len(column) <= MOST_LABELS and 2 * shared[name] > len(column)))
    ]
    return found if len(found) > 1 else []


def _vocabulary_of(cells: Any) -> set[Any]:
    known = cells.dropna().unique().tolist()
    away = set(map(str, missing_words(known)))
    return {spelling_key(value) if isinstance(value, str) else value for value in known if str(value) not in away}


def nested(cells: Any) -> bool:
    """Return whether a column holds lists or objects."""
    first = cells.dropna() if cells.dtype == object else ()
    return len(first) > 0 and isinstance(first.iloc[0], list | tuple | dict | np.ndarray)


def only_key(table: Any) -> str | None:
    """First column that names every row once, in a table with a row per item."""
    for name in table.columns:
        cells = table[name]
        if not nested(cells) and cells.dtype.kind != "f" and cells.notna().all() and cells.is_unique:
            return str(name)
    return None


def _by_cells(table: Any, found: Columns) -> Columns:
    """Find item, annotator and label of a long table, if one choice of columns alone fits.

    Item and annotator name a row together and neither alone, there are more items than annotators, and labels are few.
    """
    few = [str(n) for n in table.columns if not nested(table[n]) and table[n].dtype.kind != "f"]
    sizes = {name: table[name].nunique() for name in few}
    few = [name for name in few if 1 < sizes[name] < len(table)]
    if len(few) > MOST_CANDIDATES:
        return found
    named = set(map(str, table.columns)) & {found.item, found.annotator}
    keys = [
        (item, annotator)
        for item, annotator in permutations(few, 2)
        if sizes[item] >= sizes[annotator]
        and sizes[item] * sizes[annotator] >= len(table)  # else some pair is there twice
        and named <= {item, annotator}
        and found.item in (item, "item")
        and found.annotator in (annotator, "annotator")
        and not table.duplicated([item, annotator]).any()
    ]
    choices = [
        (item, annotator, label)
        for item, annotator in keys
        for label in few
        if label not in (item, annotator) and sizes[label] <= MOST_LABELS and _varies(table, item, label)
    ]
    if len(choices) != 1:
        return found
    item, annotator, label = choices[0]
    return found._replace(item=item, annotator=annotator, label=label)


def _varies(table: Any, item: str, label: str) -> bool:
    """Return whether a column differs within an item: what does not is a feature of the item."""
    return bool((table.groupby(item)[label].nunique() > 1).any())


def plain(name: Any) -> str:
    """Return a name without case, spaces and underscores."""
    return "".join(part for part in str(name).lower() if part.isalnum())


def is_number(cells: Any) -> bool:
    """Return whether all columns hold numbers."""
    return all(pd.api.types.is_numeric_dtype(kind) for kind in cells.dtypes)
