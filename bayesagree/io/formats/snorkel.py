"""Snorkel: the matrix of votes that `LFApplier.apply` returns, saved by `np.save`; -1 is an abstention."""

from itertools import repeat

import numpy as np

from bayesagree.errors import InputError, opening
from bayesagree.io.formats._file import File
from bayesagree.io.formats._found import Found


def read(file: File, question: str | None) -> Found:
    """Read a row per item and a column per labelling function, both by their numbers; abstentions are left out."""
    with opening(file.path, "array of numpy"):
        votes = np.load(str(file.path), allow_pickle=False)
    if votes.ndim != 2 or votes.dtype.kind not in "iu":
        raise InputError(
            f"{file.name} holds an array of shape {votes.shape} and kind {votes.dtype}; a matrix of votes has whole "
            "numbers, a row per item and a column per labelling function"
        )
    item, who = np.nonzero(votes >= 0)
    found = Found(list(zip(repeat("label"), item.tolist(), who.tolist(), votes[item, who].tolist())))
    found.left_out["abstentions"] = int((votes < 0).sum())
    return found
