"""Expectation maximisation on more annotations than fit into memory: their codes wait on disk, block by block.

The model is "full" of `em`, with every label a possible truth. Of an annotation four bytes for the annotator and four
for the label are kept in files that every iteration reads once; memory holds confusion matrices and one block of items.
"""

import tempfile
import warnings
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree._inference.arguments import checked
from bayesagree._inference.results import MAX_BYTES, check_size
from bayesagree._inference.streams import map_blocks
from bayesagree._numerics.draws import normalise_logs
from bayesagree._numerics.types import Floats
from bayesagree._numerics.vectors import copy_to
from bayesagree.annotations import Labels
from bayesagree.errors import InputError, as_python, positive_int, shorten
from bayesagree.plausibility.dawid_skene.prior import DawidSkenePrior

ANNOTATIONS = 2**20
"""Annotations of a block: large beside the confusion matrices that come back from it."""
FILES = {"size": np.int32, "annotator": np.int32, "label": np.int32}
"""Of each item its number of annotations, of each annotation its codes."""


@checked
def dawid_skene_batches(
    batches: Iterable[Labels],
    *,
    prior: DawidSkenePrior | None = None,
    tolerance: float = 1e-8,
    max_iterations: int = 1000,
    folder: str | Path | None = None,
    max_bytes: int = MAX_BYTES,
    client: Any = None,
    progress: Callable[[int], None] | None = None,
) -> xr.Dataset:
    """Estimate prevalence and annotators' confusion by expectation maximisation, in memory that no file size changes.

    The climb is that of ``dawid_skene(engine="em")``: from the vote shares, until an iteration gains less than
    ``tolerance * |log L|``. `label_probability` then tells the truth of the items of any batch.

    Parameters
    ----------
    batches
        `Labels` with the same categories, each item in one of them, for instance a `LabelBatches`; read once.
    prior
        Pseudo-counts of prevalence and confusion; None is maximum likelihood.
    tolerance, max_iterations
        When to stop.
    folder
        Where the codes wait: 8 bytes an annotation and 4 an item, removed at the end; by default that of temporary
        files. Workers of a cluster read them there, so it must be theirs too.
    max_bytes
        Largest confusion matrices: annotators x labels x labels x 8 bytes, a few times in memory.
    client
        A `distributed.Client` to run the E step on instead of threads of this process. Of a block, a million
        annotations, confusion matrices go there and back.
    progress
        Called with 1 after every iteration.

    Returns
    -------
    Dataset
        ``prevalence`` (category,); ``confusion`` (annotator, category, observed_category), NaN in a row whose true
        label was never met; ``n_labels_given`` (annotator,); ``log_likelihood`` (iteration,), with the log prior where
        there is one.

    Raises
    ------
    InputError
        No annotation; labels that differ from those of the first batch; annotators that are not known.
    SizeError
        Confusion matrices above `max_bytes`.

    Warns
    -----
    UserWarning
        No convergence in `max_iterations`.

    References
    ----------
    .. [1] A. P. Dawid, A. M. Skene, Applied Statistics 28 (1979) 20-28, equations 2.3-2.5.

    Examples
    --------
    >>> first = Labels.from_matrix([["a", "a", "b"], ["b", "b", "b"]])
    >>> second = Labels.from_matrix([["a", "a", "b"], ["b", "b", "a"]])
    >>> fit = dawid_skene_batches([first, second])
    >>> label_probability(fit, second).round(3).values.tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    positive_int(max_iterations, "max_iterations")
    with tempfile.TemporaryDirectory(dir=folder, prefix="bayesagree-") as place:
        codes = _Codes.write(Path(place), batches)
        shape = (len(codes.annotators), codes.categories.size, codes.categories.size)
        sizes = {"annotator": shape[0], "category": shape[1], "observed_category": shape[2]}
        check_size(sizes, 8, max_bytes, "leave out annotators with few labels, or pass a larger max_bytes")
        pseudo = (0.0, np.zeros(shape[1:])) if prior is None else (prior.prevalence, prior.confusion(shape[1]))
        prevalence, confusion, history = _climb(codes, shape, pseudo, tolerance, max_iterations, client, progress)
    if not _converged(history, tolerance):
        warnings.warn(f"EM did not converge in {max_iterations} iterations; raise max_iterations", stacklevel=3)
    return xr.Dataset(
        {
            "prevalence": ("category", prevalence),
            "confusion": (("annotator", "category", "observed_category"), confusion),
            "n_labels_given": ("annotator", codes.given),
            "log_likelihood": ("iteration", np.array(history)),
        },
        coords={
            "annotator": codes.annotators, "category": codes.categories, "observed_category": codes.categories,
        },
    )  # fmt: skip


@checked
def label_probability(fit: xr.Dataset, labels: Labels) -> xr.DataArray:
    """Pr(truth of item = label) under estimated prevalence and confusion, dims (item, category).

    Parameters
    ----------
    fit
        Result of `dawid_skene_batches`, or any data set with such a ``prevalence`` and ``confusion``.
    labels
        Any items, with annotators and labels of the fit; an item without labels gets the prevalence.

    Raises
    ------
    InputError
        An annotator or a label that the fit has not met; labels that the fit holds to be impossible together.
    """
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
                told = f"{shorten(labels.categories)}, those of the first are {shorten(categories)}"
                raise InputError(f"batch {number}: the labels are {told}; name them all with labels=")
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


def _climb(
    codes: _Codes,
    shape: tuple[int, ...],
    pseudo: tuple[float, Floats],
    tolerance: float,
    max_iterations: int,
    client: Any,
    progress: Callable[[int], None] | None,
) -> tuple[Floats, Floats, list[float]]:
    """Return prevalence, confusion (annotator, true label, given label) and the log likelihood of each iteration."""
    counts = _sum_up(codes, shape, None, client)
    prevalence, confusion, log_prior = _maximise(counts, pseudo)
    history: list[float] = []
    while len(history) < max_iterations:
        with np.errstate(divide="ignore"):
            logs = np.log(prevalence), _by_given(np.log(np.nan_to_num(confusion)))
        counts = _sum_up(codes, shape, logs, client)
        history.append(counts.log_likelihood + log_prior)
        if progress is not None:
            progress(1)
        if _converged(history, tolerance):
            break
        prevalence, confusion, log_prior = _maximise(counts, pseudo)
    return prevalence, confusion, history


def _converged(history: list[float], tolerance: float) -> bool:
    return len(history) > 1 and history[-1] - history[-2] <= tolerance * abs(history[-1])


class _Counts(NamedTuple):
    """Expected counts of an E step: of true labels (category,), of answers (annotator, given label, true label)."""

    label: Floats
    answer: Floats
    log_likelihood: float


def _sum_up(codes: _Codes, shape: tuple[int, ...], logs: tuple[Floats, Floats] | None, client: Any) -> _Counts:
    """Add up the E step of all blocks; without logarithms the shares of votes take the place of probabilities."""

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
    for one in map_blocks(count, codes.blocks, client):
        label += one.label
        answer += one.answer
        log_likelihood += one.log_likelihood
    return _Counts(label, answer, log_likelihood)


def _maximise(counts: _Counts, pseudo: tuple[float, Floats]) -> tuple[Floats, Floats, float]:
    """M step: prevalence, confusion (annotator, true label, given label), and their log prior."""
    label, answer = counts.label + pseudo[0], counts.answer.swapaxes(1, 2) + pseudo[1]
    with np.errstate(invalid="ignore"):
        prevalence, confusion = label / label.sum(), answer / answer.sum(axis=2, keepdims=True)
    log_prior = 0.0
    if pseudo[0] > 0:  # priors have no zeros
        log_prior = float(pseudo[0] * np.log(prevalence).sum() + (pseudo[1] * np.log(confusion)).sum())
    return prevalence, confusion, log_prior


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
