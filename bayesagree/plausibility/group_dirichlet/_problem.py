"""What `group_dirichlet` starts from: the votes of each group, and the prior."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesagree._numerics.types import Floats
from bayesagree.annotations import Labels
from bayesagree.annotations.annotators import Annotators
from bayesagree.annotations.groups import Groups
from bayesagree.errors import InputError, shorten
from bayesagree.plausibility.group_dirichlet.prior import GroupDirichletPrior

# Group of each annotator: a mapping or a series by annotator, ready groups, or a table with a column per feature.
type MembersOfGroups = Mapping[Any, Any] | pd.Series | Groups | pd.DataFrame


@dataclass(frozen=True, eq=False)
class GroupProblem:
    """Votes and prior.

    A group is a combination of levels, one of each feature; of one feature groups and levels are the same.

    Attributes
    ----------
    names, levels
        Of the groups, shape (group,), and of the levels of all features, shape (level,).
    parts
        Levels of each group, shape (group, feature).
    votes
        Counts (level, item, category), all of them for the level of the first feature.
    sizes
        Votes of each group, shape (group, item).
    repeated
        Groups whose levels all have an item of two votes or more; of others no claim about an item can be made.
    single
        Item, label, annotator and levels of each vote in the order of items, shape (3 + feature, vote).
    base
        Means of the common distribution that predictions give, (item, category); ones (1, category) without them.
    divided, careful
        The form, and whether annotators may be careless.
    """

    names: NDArray[Any]
    levels: NDArray[Any]
    parts: NDArray[np.int32]
    votes: NDArray[np.int32]
    sizes: NDArray[np.int64]
    repeated: NDArray[np.bool_]
    single: NDArray[np.int32]
    n_annotators: int
    base: Floats
    prior: GroupDirichletPrior
    divided: bool
    careful: bool

    @classmethod
    def of(
        cls,
        labels: Labels,
        groups: "MembersOfGroups",
        *,
        base: Floats | None = None,
        prior: GroupDirichletPrior | None = None,
        divided: bool = False,
        careful: bool = False,
    ) -> "GroupProblem":
        """Count the votes of each group that has any."""
        crossed = isinstance(groups, pd.DataFrame)
        features = [groups_of(labels, groups[name]) for name in groups] if crossed else [groups_of(labels, groups)]
        if divided and len(features) > 1:
            raise InputError("crossed features add up in the graded form only; join them into one for form='divided'")
        codes = np.stack([known.of_rows(labels) for known in features])
        inside, levels = (codes >= 0).all(axis=0), []
        for known, code in zip(features, codes):
            used = np.bincount(code[inside], minlength=known.names.size) > 0
            if used.sum() < 2:
                raise InputError(f"there must be votes of two groups or more; only {shorten(known.names[used])} voted")
            code[:] = np.where(inside, (np.cumsum(used) - 1)[code] + len(levels), -1)
            levels += known.names[used].tolist()
        given = labels.item_index, labels.label_index, labels.annotator_index
        single = np.repeat(np.vstack([*given, codes]), labels.count * inside, axis=1).astype(np.int32)
        parts, group = np.unique(single[3:].T, axis=0, return_inverse=True)
        n_items = labels.items.size
        votes = np.zeros((len(levels), n_items, labels.categories.size), np.int32)
        np.add.at(votes, (single[3], single[0], single[1]), 1)
        sizes, of_level = np.zeros((len(parts), n_items), np.int64), np.zeros((len(levels), n_items), np.int64)
        np.add.at(sizes, (group.ravel(), single[0]), 1)
        np.add.at(of_level, (single[3:], single[0]), 1)
        repeated = (of_level > 1).any(axis=1)[parts].all(axis=1)
        means = np.ones((1, labels.categories.size)) if base is None else base
        names = np.array([" & ".join(levels[part] for part in row) for row in parts])
        return cls(
            names, np.array(levels), parts, votes, sizes, repeated, single, labels.annotators.size, means,
            prior or GroupDirichletPrior(), divided, careful,
        )  # fmt: skip

    @property
    def crossed(self) -> bool:
        """Whether groups are combinations of several features."""
        return self.parts.shape[1] > 1

    @property
    def varies(self) -> bool:
        """Whether it is drawn which votes count for a level: of careless annotators, or of crossed features."""
        return self.careful or self.crossed

    @property
    def informed(self) -> bool:
        """Whether predictions give the mean of each item."""
        return len(self.base) > 1

    @cached_property
    def most(self) -> NDArray[np.bool_]:
        """Whether a level is the one of most votes."""
        return np.arange(self.levels.size) == self.votes.sum(axis=(1, 2)).argmax()

    @property
    def free(self) -> NDArray[np.bool_]:
        """Groups that may be apart: of two groups one may, since only whether they differ can be known."""
        return (self.names.size > 2) | ~self.most

    @property
    def leans(self) -> NDArray[np.bool_]:
        """Levels that may lean: without predictions not that of most votes, as all leaning alike is the common view."""
        return self.informed | ~self.most


def groups_of(labels: Labels, groups: Any) -> Groups:
    """Return the groups of the annotators of labels; those without a group are one, called unknown."""
    if isinstance(groups, Groups):
        return groups
    if not labels.annotators_known:
        raise InputError("groups= needs to know who gave each label, and these are counts; read one row per annotation")
    given: dict[Any, Any] = dict(groups)
    if not set(given) & set(labels.annotators.tolist()):
        raise InputError(
            f"groups= names {shorten(given)}, none of the annotators {shorten(labels.annotators)}; give "
            "{annotator: group}"
        )
    table = pd.DataFrame({"annotator": list(given), "group": [None if pd.isna(g) else str(g) for g in given.values()]})
    return Groups.by_features(labels, Annotators.from_table(table), ["group"])
