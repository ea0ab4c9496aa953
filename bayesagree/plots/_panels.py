"""What all figures share: panels without global settings, and marks that differ in more than colour."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesagree.errors import InputError, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
LINES = ("-", "--", ":", "-.")


def new_panels(
    n_rows: int = 1, n_columns: int = 1, *, width: float = 4.5, height: float = 3.2, **options: Any
) -> tuple["Figure", "NDArray[Any]"]:
    """Make a figure with a grid of panels, `width` x `height` inches each; `options` as matplotlib's subplots."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * n_columns, height * n_rows), layout="constrained")
    return figure, figure.subplots(n_rows, n_columns, squeeze=False, **options)


def one_panel(*, width: float = 4.5, height: float = 3.2) -> tuple["Figure", "Axes"]:
    """Make a figure with one panel."""
    figure, panels = new_panels(width=width, height=height)
    return figure, panels[0, 0]


def style(number: int, *, line: bool = True) -> dict[str, Any]:
    """Return colour, marker and line of a series, so that no two of the first eight look alike without colour."""
    looks = {"color": f"C{number % 10}", "marker": MARKERS[number % len(MARKERS)], "markersize": 5}
    return looks | {"linestyle": LINES[number % len(LINES)] if line else "none"}


def positions(wanted: Any, names: NDArray[Any], role: str) -> NDArray[np.int64]:
    """Return where the wanted names stand, or refuse those that are not there."""
    place = {name: k for k, name in enumerate(names.tolist())}
    missing = [name for name in wanted if name not in place]
    if missing:
        raise InputError(f"there is no {role} {missing[0]!r}; there is {shorten(names, 10)}")
    return np.array([place[name] for name in wanted])
