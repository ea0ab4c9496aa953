"""Annotations laid out for the engines, what an annotator is in each variant, and the frame of all samplers."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from bayesagree._types import Booleans, Floats, Integers, Rng
from bayesagree.annotations import Labels
from bayesagree.errors import InputError, shorten
from bayesagree.inference.cells import cell_sums, row_shares
from bayesagree.plausibility.dawid_skene.prior import DawidSkenePrior


class Variant(NamedTuple):
    """What a variant of named labels supposes: see the table of `posterior`.

    An annotator has one Dirichlet row for each true label, of all labels ("matrix") or of right and wrong
    ("accuracies"), or one of right and wrong for all true labels ("accuracy"); its population may be `learnt`. An item
    has one true label, or plausibilities of which each annotation draws its own (`mixed`).
    """

    annotator: Literal["matrix", "accuracies", "accuracy"]
    learnt: bool = False
    mixed: bool = False


VARIANTS = {
    "full": Variant("matrix"),
    "one_coin": Variant("accuracy"),
    "class_conditional": Variant("accuracies"),
    "hierarchical": Variant("matrix", learnt=True),
    "mixed_membership": Variant("matrix", learnt=True, mixed=True),
    "mixed_one_coin": Variant("accuracy", learnt=True, mixed=True),
}


class Rows(NamedTuple):
    """Dirichlet rows of an annotator: to the true label k he says l with probability p[row_k, column_kl] share_column.

    Attributes
    ----------
    row, column, share
        Shapes (category,), (category, observed category), (column,).
    base
        Prior counts, shape (row, column).
    """

    row: Integers
    column: Integers
    share: Floats
    base: Floats

    @classmethod
    def of(cls, variant: Variant, n_labels: int, prior: DawidSkenePrior) -> "Rows":
        """Lay out the rows of a variant."""
        label = np.arange(n_labels)
        if variant.annotator == "matrix":
            return cls(label, np.tile(label, (n_labels, 1)), np.ones(n_labels), prior.confusion(n_labels))
        row = label * (variant.annotator == "accuracies")
        base = prior.strength * np.array([prior.accuracy, 1 - prior.accuracy])
        wrong = (label[:, None] != label).astype(np.int64)
        return cls(row, wrong, np.array([1.0, 1 / max(n_labels - 1, 1)]), np.tile(base, (row[-1] + 1, 1)))

    def matrices(self, p: Any) -> Any:
        """Return whole confusion matrices, (..., category, observed category), of probabilities (..., row, column)."""
        return p[..., self.row[:, None], self.column] * self.share[self.column]


@dataclass(frozen=True, eq=False)
class Crowd:
    """Annotations sorted by item, annotator and label, so that their order never changes a result.

    Attributes
    ----------
    n_items, n_annotators, n_labels
        Sizes of the axes.
    item, annotator, label
        Of each annotation, shape (annotation,).
    known
        True label of each item, -1 where unknown, shape (item,).
    """

    n_items: int
    n_annotators: int
    n_labels: int
    item: Integers
    annotator: Integers
    label: Integers
    known: Integers

    @classmethod
    def of(cls, codes: Any, sizes: tuple[int, int, int], known: Integers | None = None) -> "Crowd":
        """Lay out codes of item, annotator and label of each annotation."""
        truth = np.full(sizes[0], -1) if known is None else np.asarray(known, np.int64)
        order = np.lexsort(codes[::-1])
        item, annotator, label = (np.asarray(code, np.int64)[order] for code in codes)
        return cls(*sizes, item, annotator, label, truth)

    @classmethod
    def of_labels(cls, labels: Labels, known: Integers | None = None) -> "Crowd":
        """Lay out single labels of known annotators."""
        codes = labels.item_index, labels.annotator_index, labels.label_index
        return cls.of(codes, (labels.items.size, labels.annotators.size, labels.categories.size), known)

    @cached_property
    def sizes(self) -> Integers:
        """Number of annotations of each item."""
        return np.bincount(self.item, minlength=self.n_items)

    @cached_property
    def votes(self) -> Integers:
        """Votes of each item for each label, shape (item, category)."""
        return cell_sums((self.n_items, self.n_labels), self.item, self.label)

    @cached_property
    def gold(self) -> Booleans:
        """Whether an item is known to have a label, shape (item, category)."""
        return self.known[:, None] == np.arange(self.n_labels)

    @cached_property
    def shares(self) -> Floats:
        """Shares of the votes of each item, or its known label, from which engines start; shape (item, category)."""
        count = np.where(self.known[:, None] < 0, self.votes, self.gold)
        count = np.where(count.any(axis=1, keepdims=True), count, 1)
        return row_shares(count)


class Sampler(ABC):
    """Chains of one variant.

    Attributes
    ----------
    prevalence
        Share of each label, (chain, category).
    expected
        Expectation of the plausibilities given the other unknowns, (chain, item, category).
    tune, thin
        Sweeps before the first draw, and from one to the next, where nobody says how many.
    """

    tune, thin = 200, 1
    crowd: Crowd
    prevalence: Floats
    expected: Floats

    @abstractmethod
    def sweep(self, rng: Rng) -> None:
        """Draw every unknown."""

    @abstractmethod
    def plausibility(self, rng: Rng) -> Floats:
        """Return the present draw of the plausibilities; bring `expected` and `prevalence` up to date."""

    @abstractmethod
    def confusion(self, rng: Rng) -> Floats:
        """Return whole confusion matrices, (chain, annotator, category, observed category)."""

    def right(self, rng: Rng) -> Floats:
        """Return the chance of the right label, (chain, annotator, category)."""
        return np.diagonal(self.confusion(rng), axis1=2, axis2=3)

    @abstractmethod
    def hyperparameters(self) -> dict[str, Floats]:
        """Return what items or annotators share, and parameters of items, (chain, ...)."""

    def draw(self, rng: Rng, sweeps: int) -> Floats:
        """Return the draw of the plausibilities after some sweeps."""
        for _ in range(sweeps):
            self.sweep(rng)
        return self.plausibility(rng)


def check(labels: Labels, variant: str) -> None:
    """Refuse labels that a variant does not take."""
    if not labels.annotators_known:
        raise InputError("dawid_skene needs to know who gave which label; counts go to dirichlet()")
    if labels.n_annotations == 0:
        raise InputError("there is no label: every annotation is missing")
    if labels.categories.size < 2:
        only = shorten(labels.categories)
        raise InputError(f"there is only the label {only}; name all possible labels with labels=[...]")
    if variant == "ordered" and not labels.has_order:
        raise InputError("variant='ordered' needs Labels(..., ordered=True)")
