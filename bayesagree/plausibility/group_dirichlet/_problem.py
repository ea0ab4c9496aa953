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

type MembersOfGroups = Mapping[Any, Any] | pd.Series | Groups
"""Group of each annotator: a mapping or a series by annotator, or ready groups."""


@dataclass(frozen=True, eq=False)
class GroupProblem:
    """Votes and prior.

    Attributes
    ----------
    names
        Of the groups, shape (group,).
    votes
        Counts (group, item, category).
    single
        Item, group, label and annotator of each vote in the order of items, shape (4, vote).
    base
        Means of the common distribution that predictions give, (item, category); ones (1, category) without them.
    divided, careful
        The form, and whether annotators may be careless.
    """

    names: NDArray[Any]
    votes: NDArray[np.int32]
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
        known = groups_of(labels, groups)
        names, group = known.names, known.of_rows(labels)
        inside = group >= 0
        used = np.bincount(group[inside], minlength=names.size) > 0
        if used.sum() < 2:
            raise InputError(f"there must be votes of two groups or more; only {shorten(names[used])} voted")
        group, names = np.where(inside, (np.cumsum(used) - 1)[group], -1), names[used]
        codes = labels.item_index, group, labels.label_index, labels.annotator_index
        single = np.repeat(np.stack(codes), labels.count * inside, axis=1).astype(np.int32)
        votes = np.zeros((names.size, labels.items.size, labels.categories.size), np.int32)
        np.add.at(votes, (single[1], single[0], single[2]), 1)
        means = np.ones((1, labels.categories.size)) if base is None else base
        who = prior or GroupDirichletPrior()
        return cls(names, votes, single, labels.annotators.size, means, who, divided, careful)

    @property
    def informed(self) -> bool:
        """Whether predictions give the mean of each item."""
        return len(self.base) > 1

    @cached_property
    def free(self) -> NDArray[np.bool_]:
        """Groups that may be apart: of two groups one may, since only whether they differ can be known."""
        free = np.ones(self.names.size, bool)
        if free.size == 2:
            free[self.votes.sum(axis=(1, 2)).argmax()] = False
        return free

    @cached_property
    def repeated(self) -> NDArray[np.bool_]:
        """Groups with an item of two votes or more; of others no claim about an item can be made, (group,)."""
        return (self.votes.sum(axis=2) > 1).any(axis=1)


def groups_of(labels: Labels, groups: MembersOfGroups) -> Groups:
    """Return the groups of the annotators of labels; those without a group are one, called unknown."""
    if isinstance(groups, Groups):
        return groups
    if not labels.annotators_known:
        raise InputError("groups= needs to know who gave each label, and these are counts; read one row per annotation")
    given = dict(groups)
    if not set(given) & set(labels.annotators.tolist()):
        raise InputError(
            f"groups= names {shorten(given)}, none of the annotators {shorten(labels.annotators)}; give "
            "{annotator: group}"
        )
    table = pd.DataFrame({"annotator": list(given), "group": [None if pd.isna(g) else str(g) for g in given.values()]})
    return Groups.by_features(labels, Annotators.from_table(table), ["group"])
