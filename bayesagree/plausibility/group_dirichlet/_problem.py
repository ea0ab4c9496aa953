"""What `group_dirichlet` starts from: the votes of each group, and the prior."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import scipy as sp
from numpy.typing import NDArray

from bayesagree._numerics.types import Floats
from bayesagree.annotations import Labels
from bayesagree.annotations.annotators import Annotators
from bayesagree.annotations.groups import Groups
from bayesagree.errors import InputError, shorten, warn
from bayesagree.plausibility.group_dirichlet.prior import GroupDirichletPrior

# Members of a group, weighted by their votes, above which who they are hardly moves its mean.
MANY = 30
# Of the test whether members differ.
TEST_LEVEL = 0.01

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
        Means of the common distribution that predictions give, (chain x set, item, category); ones (1, 1, category)
        without them.
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
        row = labels.row_of_each()
        single = np.ascontiguousarray(np.vstack([*given, codes])[:, row[inside[row]]], np.int32)
        parts, group = np.unique(single[3:].T, axis=0, return_inverse=True)
        n_items = labels.items.size
        votes = np.zeros((len(levels), n_items, labels.categories.size), np.int32)
        np.add.at(votes, (single[3], single[0], single[1]), 1)
        sizes, of_level = np.zeros((len(parts), n_items), np.int64), np.zeros((len(levels), n_items), np.int64)
        np.add.at(sizes, (group.ravel(), single[0]), 1)
        np.add.at(of_level, (single[3:], single[0]), 1)
        repeated = (of_level > 1).any(axis=1)[parts].all(axis=1)
        means = np.ones((1, 1, labels.categories.size)) if base is None else base
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
        return self.base.shape[1] > 1

    @cached_property
    def few_who_differ(self) -> NDArray[Any]:
        """Names of levels whose votes come from few annotators who favour labels of their own whatever the item."""
        return self.levels[
            [_few_who_differ(self.single[:3, (self.single[3:] == g).any(axis=0)]) for g in range(len(self.levels))]
        ]

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

    def warn_of_few(self) -> None:
        """Warn of groups about which nothing can be known item by item, or little beyond the annotators who voted."""
        if not self.repeated.all():
            warn(
                f"no item has two votes of {shorten(self.names[~self.repeated])}: whether such a group sees an item "
                "its own way, or its one vote is by chance, cannot be known; averages over items are right, "
                "prob_different is NaN"
            )
        if self.few_who_differ.size:
            warn(
                f"the votes of {shorten(self.few_who_differ)} come from few annotators, who favour labels of their own "
                "whatever the item: intervals are about these annotators, too narrow for the group; ask more members"
            )


def _few_who_differ(votes: NDArray[np.int32]) -> bool:
    """Return whether few annotators gave votes (item, label, annotator; vote), and could not have exchanged them.

    Cochran's test of each label: had the annotators of an item exchanged their labels at random, each annotator's
    number of this label would have the sum of its shares p among the votes of these items as mean, and the sum of
    p (1 - p) as variance.
    """
    (item, label, annotator), n = (np.unique(codes, return_inverse=True)[1] for codes in votes), votes.shape[1]
    size = np.bincount(annotator)
    if size.size < 2 or n**2 >= MANY * (size**2).sum():
        return False
    given, p_value = np.bincount(item), 1.0
    for k in range(label.max() + 1):
        share = (np.bincount(item, weights=label == k) / given)[item]
        variance = np.bincount(annotator, weights=share * (1 - share))
        seen = variance > 0
        squares = np.bincount(annotator, weights=(label == k) - share)[seen] ** 2 / variance[seen]
        if squares.size > 1:
            freedom = squares.size - 1
            p_value = min(p_value, sp.special.gammaincc(freedom / 2, squares.mean() * freedom / 2))
    return bool(p_value * (label.max() + 1) < TEST_LEVEL)


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
