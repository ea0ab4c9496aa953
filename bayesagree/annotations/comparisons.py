"""Comparisons: of two models one wins, or neither."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd

from bayesagree._types import Array, Codes
from bayesagree.annotations._columns import (
    Duplicates,
    coded,
    column,
    encode,
    pandas_frame,
    values_of,
)
from bayesagree.annotations._container import parts_met, rows_of
from bayesagree.annotations._display import Displayed
from bayesagree.annotations._words import SIDES, WINNERS, sides_of
from bayesagree.annotations.labels import Labels
from bayesagree.errors import as_python, place_of, refuse

OUTCOMES = np.array(["left", "right", "tie"])
FIRST, SECOND, TIE = range(3)
# Words for the winner, beside the names of the two models.
_SAID = (
    "left, model_a, model_1, first",
    "right, model_b, model_2, second",
    "tie, draw, both_bad, tie (bothbad)",
)
WORDS = {word: outcome for outcome, words in enumerate(_SAID) for word in words.split(", ")}
# Letters of the sides, where no model has such a name.
LETTERS = {"A": FIRST, "a": FIRST, "B": SECOND, "b": SECOND}
NUMBERS = {1.0: FIRST, 0.0: SECOND, 0.5: TIE}


@dataclass(frozen=True, eq=False, repr=False)
class Comparisons(Displayed):
    """One comparison of two models per row: the first wins, the second wins, or they tie.

    Attributes
    ----------
    models, annotators, items
        Names. `annotators` and `items` are empty where they are unknown.
    first, second
        Positions of the two models in `models`, in the order in which people saw them, shape (row,).
    outcome
        0: the first wins, 1: the second wins, 2: a tie, shape (row,).
    annotator_index, item_index
        Positions in `annotators` and `items`, -1 where these are unknown, shape (row,).
    order_known
        Whether people saw the first model first; else who stands first means nothing.
    """

    kind: ClassVar[Literal["comparisons"]] = "comparisons"

    models: Array
    annotators: Array
    items: Array
    first: Codes
    second: Codes
    outcome: Codes
    annotator_index: Codes
    item_index: Codes
    order_known: bool = True

    @classmethod
    def from_long(
        cls,
        frame: Any,
        *,
        first: str = "left",
        second: str = "right",
        winner: str = "winner",
        annotator: str | None = None,
        item: str | None = None,
        order_known: bool = True,
    ) -> Self:
        """Read a table with one row per comparison.

        Parameters
        ----------
        frame
            pandas, polars or pyarrow table.
        first, second
            Columns with the names of the two models, in the order in which they were shown; unless they are passed,
            also ``model_a`` and ``model_b`` and their like. Two orders of a pair are two rows.
        winner
            Column with the winner: the name of the model; "left", "right" or "tie"; "model_a", "model_b", "tie" or
            "both_bad" (a tie); "A", "B" or "draw" where no model is named so; or 1 (the first), 0 (the second) and 0.5
            (a tie).
        annotator, item
            Columns with who compared, and on what, such as the prompt; None where this is unknown.
        order_known
            Whether the first model is the one that was shown first; False: the file does not say which one was.

        Raises
        ------
        InputError
            Empty table, missing column, a missing value, a model compared with itself, an unknown winner.

        Examples
        --------
        >>> import pandas as pd
        >>> table = pd.DataFrame({"left": ["A", "B"], "right": ["B", "C"], "winner": ["B", "tie"]})
        >>> Comparisons.from_long(table.assign(who=["ann", "bob"]), annotator="who")
        Comparisons(3 models, 2 annotators, items unknown, 2 comparisons, 1 ties, 1 components)
        """
        table = pandas_frame(frame)
        if (first, second) == SIDES[0]:
            first, second = sides_of(table.columns) or SIDES[0]
        if winner == WINNERS[0]:
            winner = next((name for name in WINNERS if name in table.columns), winner)
        names, n_rows = {first: "first", second: "second"}, len(table)
        sides = [np.asarray(values_of(column(table, *role)), dtype=object) for role in names.items()]
        place = lambda at: f"row {table.index[at % n_rows]}, column {[*names][at // n_rows]!r}"  # noqa: E731
        codes, models = encode(np.concatenate(sides), "model", place=place)
        refuse(codes < 0, lambda at: f"{place(at)}: the model is missing; name it or drop the row")
        left, right = codes.reshape(2, n_rows)
        refuse(
            left == right,
            lambda row: (
                f"row {table.index[row]}: {place_of(model=models[left[row]])} is compared with itself; a comparison "
                "needs two models; correct or drop the row"
            ),
        )
        outcome = _outcomes(table, winner, (left, right), models)
        who, annotators = coded(table, annotator, "annotator")
        what, items = coded(table, item, "item")
        codes = left, right, who, what, outcome
        rows = np.lexsort(codes[::-1])  # results do not depend on the order of a file
        left, right, who, what, outcome = (code[rows].astype(np.int32) for code in codes)
        return cls(models, annotators, items, left, right, outcome, who, what, order_known)

    def overview(self) -> dict[str, Any]:
        """Sizes by what they are."""
        roles = ("models", "annotators", "items")
        sizes: dict[str, Any] = {role: getattr(self, role).size or "unknown" for role in roles}
        sizes |= {"comparisons": self.n_comparisons, "ties": int((self.outcome == TIE).sum())}
        return sizes | {"components": int(self._component().max()) + 1}

    @property
    def n_comparisons(self) -> int:
        """Number of comparisons."""
        return self.first.size

    def components(self) -> pd.DataFrame:
        """Table of the models with their components: models of two components were never compared, not even indirectly.

        Examples
        --------
        >>> import pandas as pd
        >>> table = pd.DataFrame({"left": ["A", "C"], "right": ["B", "D"], "winner": ["left", "tie"]})
        >>> Comparisons.from_long(table).components()["component"].tolist()
        [0, 0, 1, 1]
        """
        games = np.bincount(np.concatenate([self.first, self.second]), minlength=self.models.size)
        return pd.DataFrame({"model": self.models, "component": self._component(), "comparisons": games})

    def to_long(self) -> pd.DataFrame:
        """Table of one row per comparison: left, right, winner; item and annotator where they are known.

        Examples
        --------
        >>> import pandas as pd
        >>> table = pd.DataFrame({"left": ["A", "B"], "right": ["B", "C"], "winner": ["B", "tie"]})
        >>> Comparisons.from_long(table).to_long()["winner"].tolist()
        ['right', 'tie']
        """
        sides = {"left": self.models[self.first], "right": self.models[self.second]}
        return pd.DataFrame(sides | {"winner": OUTCOMES[self.outcome]} | rows_of(self))

    def to_labels(self, duplicates: Duplicates = "error") -> Labels:
        """Convert to labels: in each pair, the model that comes first in `models` wins, ties or loses.

        Both orders of a pair are one question, so agreement coefficients apply (`agreement_table`). Each pair on each
        item is an item; the labels are ordered: loses, ties, wins.

        Parameters
        ----------
        duplicates
            As `Labels.from_long`, for pairs that an annotator compared twice, such as in both orders.

        Examples
        --------
        >>> import pandas as pd
        >>> table = pd.DataFrame({"left": ["A", "B"], "right": ["B", "A"], "winner": ["A", "tie"], "who": ["x", "y"]})
        >>> Comparisons.from_long(table, annotator="who").to_labels().to_long()["label"].tolist()
        ['wins', 'ties']
        """
        turned = self.first > self.second
        pairs = [f"{a} against {b}" for a, b in self.models[np.sort([self.first, self.second], axis=0)].T]
        known = rows_of(self)
        if "item" in known:
            pairs = [f"{pair}, {item}" for pair, item in zip(pairs, known["item"])]
        outcome = np.where(turned & (self.outcome != TIE), 1 - self.outcome, self.outcome)
        table = pd.DataFrame(known | {"item": pairs, "label": np.array(["wins", "loses", "ties"])[outcome]})
        who, names = "annotator" if "annotator" in known else None, ["loses", "ties", "wins"]
        return Labels.from_long(table, annotator=who, duplicates=duplicates, ordered=True, labels=names)

    def _component(self) -> Array:
        """Component of each model, shape (model,)."""
        return parts_met(np.append(self.first, self.second), np.tile(np.arange(self.n_comparisons), 2))


def _outcomes(table: pd.DataFrame, name: str, sides: tuple[Codes, Codes], models: Array) -> Codes:
    """Return who wins each row."""
    given = column(table, name, "winner").tolist()
    values: Any = pd.Series([v if isinstance(v, Hashable) else repr(v) for v in given], dtype=object)
    refuse(
        values.isna(),
        lambda row: f"row {table.index[row]}: the winner is missing; name it, write 'tie', or drop the row",
    )
    known = dict(zip(models.tolist(), range(models.size)))
    words: dict[Any, int] = WORDS | ({} if known.keys() & LETTERS.keys() else LETTERS)
    if models.dtype.kind not in "iuf" or values.isin([*words, *NUMBERS]).all():  # others are names of models
        words |= NUMBERS
    refuse(
        values.isin(known.keys() & words.keys()),
        lambda row: (
            f"row {table.index[row]}, column {name!r}: {values[row]!r} is the name of a model and a word for the "
            "winner; rename the model"
        ),
    )
    at = values.map(known).to_numpy(float)
    outcome = np.select(
        [at == sides[0], at == sides[1]], [FIRST, SECOND], values.map(words).fillna(-1).to_numpy(int)
    )
    refuse(
        outcome < 0,
        lambda row: (
            f"row {table.index[row]}: winner {values[row]!r} is neither of the models compared "
            f"({', '.join(repr(as_python(models[side[row]])) for side in sides)}), nor a word "
            "for the outcome ('left', 'right', 'tie'; 'model_a', 'model_b', 'both_bad'; 'A', 'B', 'draw'; 1, 0, "
            "0.5); correct the row"
        ),
    )
    return outcome.astype(np.int32)
