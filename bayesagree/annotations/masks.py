"""Masks of images as labels: every pixel that somebody marked is an item."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesagree.errors import InputError, opening, require_file, shorten


def read_masks(masks: Any) -> NDArray[Any]:
    """Read masks, shape (annotator, row, column), from an array or from image files, one per annotator."""
    if isinstance(masks, Sequence) and all(isinstance(path, str | Path) for path in masks):
        if not masks:
            raise InputError("there is no mask: pass one per annotator")
        from matplotlib.image import imread  # of the extra `plot`

        masks = [_image(imread, Path(path)) for path in masks]
        shapes = {mask.shape for mask in masks}
        if len(shapes) > 1:
            raise InputError(f"the masks have the shapes {shorten(sorted(shapes))}; all must be of one image")
    array = np.asarray(masks)
    if array.ndim != 3 or not array.size:
        raise InputError(f"masks must have the shape (annotator, row, column), not {array.shape}")
    if array.dtype.kind not in "biu" and not (array.dtype.kind == "f" and (array == np.floor(array)).all()):
        raise InputError("masks must hold whole numbers, 0 for the background; threshold probabilities first")
    return array.astype(np.int64)


def _image(read: Any, path: Path) -> NDArray[Any]:
    require_file(path)
    with opening(path, "image"):
        pixels = np.asarray(read(path))
    if pixels.ndim == 3:
        pixels = pixels[:, :, 0]
    # PNG files are read as shares of the largest value.
    return np.round(pixels * 255).astype(np.int64) if pixels.dtype.kind == "f" else pixels


def marked_pixels(masks: NDArray[Any], background: int) -> NDArray[np.int64]:
    """Number (row x width + column) of each pixel that somebody marked, increasing."""
    marked = np.flatnonzero((masks != background).any(axis=0))
    if not marked.size:
        raise InputError(f"nobody marked anything: every pixel of every mask is {background}")
    return marked
