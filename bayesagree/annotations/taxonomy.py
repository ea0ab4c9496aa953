"""Labels of a tree: a vote for a label that has others below it is a vote for one of these, nobody knows which."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from bayesagree._numerics.types import Codes, Floats
from bayesagree.annotations.labels import Labels
from bayesagree.annotations.rankings import Rankings
from bayesagree.errors import InputError, shorten


class Taxonomy:
    """A tree of labels, and what it makes of votes, distances and scores.

    Its methods are distances and metrics as functions: ``agreement_table(labels, distance=tree.path_length)``,
    ``score(posterior, predictions, tree.hierarchical_f1)``. A metric takes names of true and predicted labels, shape
    (item,), as functions of scikit-learn do.

    Parameters
    ----------
    parents
        The label above each label: ``{child: parent}``. Labels that are no child are at the top.

    Raises
    ------
    InputError
        A label above itself.

    References
    ----------
    Kiritchenko, Matwin, Nock and Famili, "Learning and evaluation in the presence of class hierarchies", AI 2006.

    Examples
    --------
    >>> tree = Taxonomy({"poodle": "dog", "beagle": "dog", "dog": "animal", "cat": "animal"})
    >>> tree.leaves("dog"), tree.path_length({"poodle"}, {"cat"})
    (['beagle', 'poodle'], 3)
    >>> round(tree.hierarchical_f1(["poodle", "cat"], ["beagle", "cat"]), 3)
    0.667
    """

    def __init__(self, parents: Mapping[Any, Any]):
        self.parents = dict(parents)
        self.names = sorted({*self.parents, *self.parents.values()}, key=str)
        inner = set(self.parents.values())
        self._leaves = [name for name in self.names if name not in inner]
        self.lineage = {name: self._lineage(name) for name in self.names}
        tops = {line[-1] for line in self.lineage.values()}
        # A single label at the top holds for every item: it says nothing and does not count.
        self._counted = {
            name: frozenset(line) - (tops if len(tops) == 1 else set()) for name, line in self.lineage.items()
        }

    def _lineage(self, name: Any) -> list[Any]:
        line = [name]
        while line[-1] in self.parents:
            line.append(self.parents[line[-1]])
            if line[-1] in line[:-1]:
                raise InputError(f"{' < '.join(map(str, line))}: a label is above itself; parents must form a tree")
        return line

    def leaves(self, label: Any) -> list[Any]:
        """Return the labels below a label that have none below them; of such a label, itself."""
        self._require([label])
        return [name for name in self._leaves if label in self.lineage[name]]

    def votes(self, labels: Labels) -> Rankings:
        """Votes as rankings of leaves: a label with others below it ties all of its leaves.

        `prirn` and `plackett_luce` compute the posterior of the leaves.

        Parameters
        ----------
        labels
            Their categories are labels of the tree.

        Returns
        -------
        Rankings
            One ranking per annotation; annotators stay where they are known.

        Raises
        ------
        InputError
            A category that the tree does not have.
        """
        self._require(labels.categories.tolist())
        below = [self.leaves(label) for label in labels.categories.tolist()]
        cases: list[list[list[list[Any]]]] = [[] for _ in labels.items]
        who: list[list[Any]] = [[] for _ in labels.items]
        known = labels.annotators_known
        annotators = labels.annotators.tolist() if known else []
        by_row = zip(
            labels.item_index, labels.annotator_index if known else labels.item_index, labels.label_index, labels.count
        )
        for item, annotator, label, count in by_row:
            cases[item] += [[below[label]]] * int(count)
            who[item] += [annotators[annotator]] * int(count) if known else []
        names = {"labels": self._leaves, "items": labels.items.tolist()}
        return Rankings.from_blocks(cases, **names, annotators=who if known else None)

    def path_length(self, first: Any, second: Any) -> int:
        """Return the number of edges between two labels, each a set of one; of larger sets, what is above one alone."""
        self._require([*first, *second])
        above = [frozenset().union(*(self.lineage[name] for name in names)) for names in (first, second)]
        return len(above[0] ^ above[1])

    def hierarchical_precision(self, true: Any, predicted: Any) -> float:
        """Share of predicted labels and those above them that are also true or above the true label."""
        both, _, given = self._sums(true, predicted)
        return float(both / given) if given else float("nan")

    def hierarchical_recall(self, true: Any, predicted: Any) -> float:
        """Share of true labels and those above them that are also predicted or above the predicted label."""
        both, wanted, _ = self._sums(true, predicted)
        return float(both / wanted) if wanted else float("nan")

    def hierarchical_f1(self, true: Any, predicted: Any) -> float:
        """Harmonic mean of hierarchical precision and recall."""
        both, wanted, given = self._sums(true, predicted)
        return float(2 * both / (wanted + given)) if wanted + given else float("nan")

    @cached_property
    def _shared(self) -> Floats:
        """Number of labels above (or equal to) both of two labels, shape (label, label)."""
        counted = np.array([[other in self._counted[name] for other in self.names] for name in self.names], np.float64)
        return counted @ counted.T

    def _sums(self, true: Any, predicted: Any) -> tuple[float, float, float]:
        i, j = self._codes(true), self._codes(predicted)
        own = self._shared.diagonal()
        return float(self._shared[i, j].sum()), float(own[i].sum()), float(own[j].sum())

    def _codes(self, names: Any) -> Codes:
        known, inverse = np.unique(np.asarray(names), return_inverse=True)
        self._require(known.tolist())
        at = {name: k for k, name in enumerate(self.names)}
        return np.array([at[name] for name in known.tolist()], np.int32)[inverse]

    def _require(self, names: list[Any]) -> None:
        unknown = [name for name in names if name not in self.lineage]
        if unknown:
            raise InputError(f"{shorten(unknown)} is not in the tree of labels; it has {shorten(self.names)}")
