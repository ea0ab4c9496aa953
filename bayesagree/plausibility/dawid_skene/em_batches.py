"""Expectation maximisation on more annotations than fit into memory: their codes wait on disk, block by block.

The model is "full" of `em`, with every label a possible truth. Of each annotation four bytes for the annotator and
four for the label are kept in files that every iteration reads once; memory holds confusion matrices and one block of
items.
"""

import tempfile
from collections.abc import Callable, Iterable
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree._inference.results import check_size, require_from
from bayesagree._inference.streams import map_blocks
from bayesagree._numerics.draws import normalise_logs
from bayesagree._numerics.types import Floats
from bayesagree._numerics.vectors import copy_to
from bayesagree.annotations import Labels
from bayesagree.draws.posterior import Request
from bayesagree.errors import InputError, as_python, positive_int, shorten
from bayesagree.plausibility.dawid_skene._results import Estimate, estimate_tree
from bayesagree.plausibility.dawid_skene.em import climb
from bayesagree.plausibility.dawid_skene.prior import DawidSkenePrior

# Annotations of a block: large beside the confusion matrices that come back from it.
ANNOTATIONS = 2**20
# Of each item its number of annotations, of each annotation its codes.
FILES = {"size": np.int32, "annotator": np.int32, "label": np.int32}


def fit_batches(
    batches: Iterable[Labels],
    prior: DawidSkenePrior | None,
    request: Request,
    tolerance: float,
    max_iterations: int,
    folder: str | Path | None,
    progress: Callable[[int], None],
) -> xr.DataTree:
    """Estimate prevalence and confusion by EM, in memory that does not grow with the number of annotations.

    The codes are kept in `folder`, 8 bytes per annotation and 4 per item, and removed at the end.
    """
    positive_int(max_iterations, "max_iterations")
    with tempfile.TemporaryDirectory(dir=folder, prefix="bayesagree-") as place:
        codes = _Codes.write(Path(place), batches)
        n_labels = codes.categories.size
        sizes = {"annotator": len(codes.annotators), "category": n_labels, "observed_category": n_labels}
        check_size(sizes, 8, request.max_bytes, "leave out annotators with few labels, or pass a larger max_bytes")
        steps = BlockSteps(codes, prior, request.client)
        history, converged = climb(steps, tolerance, max_iterations, progress)
    estimate = Estimate(steps.prevalence, steps.confusion, np.array(history), converged, codes.given)
    names = {"annotator": codes.annotators, "category": codes.categories, "observed_category": codes.categories}
    settings = {"variant": "full", "candidates": "all", "prior": None if prior is None else asdict(prior)}
    return estimate_tree(estimate, names, request.seed, settings)


def label_probability(truth: xr.DataTree, labels: Labels) -> xr.DataArray:
    """Pr(truth of item = label) under estimated prevalence and confusion, dims (item, category).

    Parameters
    ----------
    truth
        Result of ``dawid_skene(engine="em")``, of batches or of labels in memory.
    labels
        Any items, with annotators and labels of the fit; an item without labels gets the prevalence.

    Raises
    ------
    InputError
        An annotator or a label that the fit has not met; labels that are impossible together under the fit.
    """
    require_from("dawid_skene", truth, "posterior/confusion")
    fit = truth["posterior"].to_dataset().isel(chain=0, draw=0)
    if labels.categories.tolist() != fit["category"].values.tolist():
        raise InputError(f"the labels are {shorten(labels.categories)}, those of the fit {shorten(fit['category'])}")
    place = {as_python(name): code for code, name in enumerate(fit["annotator"].values)}
    unknown = [name for name in labels.annotators.tolist() if name not in place]
    if unknown:
        raise InputError(f"annotator {unknown[0]!r} is not among the {len(place)} of the fit; fit all annotators")
    annotator = np.array([place[name] for name in labels.annotators.tolist()], np.int32)[labels.annotator_index]
    size = np.bincount(labels.item_index, minlength=labels.items.size).astype(np.int32)
    with np.errstate(divide="ignore"):
        log_prevalence = np.log(fit["prevalence"].values)
        log_confusion = _by_given(np.log(np.nan_to_num(fit["confusion"].values)))
    probability = np.empty((size.size, log_prevalence.size))
    expect_block(size, annotator, labels.label_index, log_prevalence, log_confusion, probability)
    if not np.isfinite(probability).all():
        item = labels.items[int(np.argmin(np.isfinite(probability).all(axis=1)))]
        raise InputError(f"item {as_python(item)!r}: no label can be true under the fit; fit with a prior")
    return xr.DataArray(
        probability, dims=("item", "category"), coords={"item": labels.items, "category": fit["category"]}
    )


class _Codes(NamedTuple):
    """All annotations as codes in files, and the names that they stand for."""

    folder: Path
    blocks: list[tuple[slice, slice]]
    """Items of a block, and their annotations."""
    annotators: list[Any]
    categories: NDArray[Any]
    given: NDArray[np.int64]

    @classmethod
    def write(cls, folder: Path, batches: Iterable[Labels]) -> "_Codes":
        """Write the codes of all batches, one behind the other."""
        known: dict[Any, int] = {}
        categories, given, blocks = None, np.zeros(0, np.int64), []
        for number, labels in enumerate(batches):
            categories = labels.categories if categories is None else categories
            if not labels.annotators_known:
                raise InputError(f"batch {number}: its annotators are unknown (from_counts); confusion is theirs")
            if labels.categories.tolist() != categories.tolist():
                differ = f"{shorten(labels.categories)}, those of the first are {shorten(categories)}"
                raise InputError(f"batch {number}: the labels are {differ}; name them all with labels=")
            place = [known.setdefault(name, len(known)) for name in labels.annotators.tolist()]
            annotator = np.array(place, np.int32)[labels.annotator_index]
            given = np.pad(given, (0, len(known) - given.size)) + np.bincount(annotator, minlength=len(known))
            size = np.bincount(labels.item_index, minlength=labels.items.size)
            blocks += _blocks(size, *(blocks[-1][k].stop if blocks else 0 for k in range(2)))
            for name, values in (("annotator", annotator), ("label", labels.label_index), ("size", size)):
                with (folder / name).open("ab") as file:
                    values.astype(FILES[name]).tofile(file)
        if categories is None or not given.any():
            raise InputError("there is no annotation; an iterator gives its batches once")
        return cls(folder, blocks, list(known), categories, given)

    def read(self, block: tuple[slice, slice]) -> tuple[NDArray[np.int32], ...]:
        """Return the number of annotations of each item of a block, and their annotators and labels."""
        items, rows = block
        return tuple(
            np.fromfile(self.folder / name, kind, part.stop - part.start, offset=part.start * np.dtype(kind).itemsize)
            for (name, kind), part in zip(FILES.items(), (items, rows, rows))
        )


def _blocks(size: NDArray[np.int64], first_item: int, first_row: int) -> list[tuple[slice, slice]]:
    """Cut the items of a batch into blocks of about `ANNOTATIONS` annotations."""
    row = np.concatenate([[0], np.cumsum(size)])
    cut = np.unique([0, *np.searchsorted(row, np.arange(0, row[-1], ANNOTATIONS)), size.size])
    item, row = cut + first_item, row[cut] + first_row
    return [(slice(*items), slice(*rows)) for items, rows in zip(pairwise(item.tolist()), pairwise(row.tolist()))]


class _Counts(NamedTuple):
    """Expected counts of an E step: of true labels (category,), of answers (annotator, given label, true label)."""

    label: Floats
    answer: Floats
    log_likelihood: float


class BlockSteps:
    """EM over blocks of annotations on disk, with every label a possible truth."""

    def __init__(self, codes: _Codes, prior: DawidSkenePrior | None, client: Any) -> None:
        self.codes, self.client, n_labels = codes, client, codes.categories.size
        self.shape = (len(codes.annotators), n_labels, n_labels)
        self.pseudo = (
            (0.0, np.zeros(self.shape[1:])) if prior is None else (prior.prevalence, prior.confusion(n_labels))
        )
        self.prevalence = self.confusion = np.empty(0)  # made in each iteration
        self.counts = self._sum_up(None)

    def maximise(self) -> float:
        """Estimate prevalence and confusion (annotator, true label, given label); return their log prior."""
        label, answer = self.counts.label + self.pseudo[0], self.counts.answer.swapaxes(1, 2) + self.pseudo[1]
        with np.errstate(invalid="ignore"):
            self.prevalence, self.confusion = label / label.sum(), answer / answer.sum(axis=2, keepdims=True)
        if self.pseudo[0] == 0:
            return 0.0
        log_prior = self.pseudo[0] * np.log(self.prevalence).sum() + (self.pseudo[1] * np.log(self.confusion)).sum()
        return float(log_prior)

    def expect(self) -> float:
        """Add up the expected counts of all blocks; return the log likelihood."""
        with np.errstate(divide="ignore"):
            logs = np.log(self.prevalence), _by_given(np.log(np.nan_to_num(self.confusion)))
        self.counts = self._sum_up(logs)
        return self.counts.log_likelihood

    def _sum_up(self, logs: tuple[Floats, Floats] | None) -> _Counts:
        """Without logarithms the shares of votes take the place of probabilities."""
        codes, shape = self.codes, self.shape

        def count(block: tuple[slice, slice]) -> _Counts:
            size, annotator, label = codes.read(block)
            found, answer, log_likelihood = np.empty((size.size, shape[1])), np.zeros(shape), 0.0
            if logs is None:
                cell = np.repeat(np.arange(size.size), size) * shape[1] + label
                found = np.bincount(cell, minlength=found.size).reshape(found.shape) / np.maximum(size, 1)[:, None]
            else:
                log_likelihood = expect_block(size, annotator, label, *logs, found)
            count_answers(size, annotator, label, found, answer)
            return _Counts(found[size > 0].sum(axis=0), answer, log_likelihood)

        label, answer, log_likelihood = np.zeros(shape[1]), np.zeros(shape), 0.0
        for one in map_blocks(count, codes.blocks, self.client):
            label += one.label
            answer += one.answer
            log_likelihood += one.log_likelihood
        return _Counts(label, answer, log_likelihood)


def _by_given(log_confusion: Floats) -> Floats:
    """Put the true labels last, next to each other in memory."""
    return np.ascontiguousarray(log_confusion.swapaxes(1, 2))


@numba.njit(cache=True, nogil=True)
def expect_block(size, annotator, label, log_prevalence, log_confusion, probability):
    """E step: write the probability of each true label of each item, shape (item, category); return log L.

    `log_confusion` has shape (annotator, given label, true label).
    """
    t, log_likelihood, joint = 0, 0.0, np.empty(log_prevalence.size)
    for i in range(size.size):
        copy_to(joint, log_prevalence)
        for _ in range(size[i]):
            for k in range(joint.size):
                joint[k] += log_confusion[annotator[t], label[t], k]
            t += 1
        log_total = normalise_logs(joint)
        copy_to(probability[i], joint)
        if size[i] > 0:
            log_likelihood += log_total
    return log_likelihood


@numba.njit(cache=True, nogil=True)
def count_answers(size, annotator, label, probability, answer):
    """Add the probabilities of each item to the answers that it got, shape (annotator, given label, true label)."""
    t = 0
    for i in range(size.size):
        for _ in range(size[i]):
            for k in range(probability.shape[1]):
                answer[annotator[t], label[t], k] += probability[i, k]
            t += 1
