"""Shared parts of the figures: panels that are given or new, marks that differ in more than colour, preparation.

The figures of the report are drawn by other means and share the preparation.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesagree._types import Array, Floats, Integers, Named
from bayesagree.errors import InputError, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# An array of matplotlib axes, shape (row, column).
Panels = Array

COLOURS = ("#0b57a4", "#d95f02", "#3b7f5c", "#8a4b9c", "#6baed6", "#8a6d00", "#b3376b", "#59636e")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
LINES = ("-", "--", ":", "-.")


def new_panels(
    axes: Panels | None,
    n_rows: int = 1,
    n_columns: int = 1,
    *,
    width: float = 4.5,
    height: float = 3.2,
    margin: tuple[float, float] = (0, 0),
    **options: Any,
) -> tuple["Figure", Panels]:
    """Return the axes that are given, as a grid, or make a figure with panels of `width` x `height` inches each.

    A figure is pyplot's, so that notebooks show it and `plt.show()` does; `options` are those of `plt.subplots`.
    """
    if axes is not None:
        given = np.asarray(axes, dtype=object)
        if given.size != n_rows * n_columns:
            raise InputError(f"axes: {n_rows} x {n_columns} panels are drawn, not {given.size}")
        return given.flat[0].figure, given.reshape(n_rows, n_columns)
    import matplotlib.pyplot as plt

    size = (width * n_columns + margin[0], height * n_rows + margin[1])
    figure, panels = plt.subplots(
        n_rows, n_columns, squeeze=False, figsize=size, layout="constrained", **options
    )
    for panel in panels.ravel():
        panel.spines[["top", "right"]].set_visible(False)
    return figure, panels


def wrapped_panels(axes: Panels | None, number: int, most: int, **options: Any) -> tuple["Figure", Panels]:
    """Return this number of panels in rows of at most `most`; `options` as `new_panels`."""
    n_columns = min(most, number)
    if axes is not None:
        return new_panels(axes, 1, number)
    figure, panels = new_panels(None, -(-number // n_columns), n_columns, **options)
    for panel in panels.ravel()[number:]:
        panel.set_axis_off()
    return figure, panels


def one_panel(axes: "Axes | None", *, width: float = 4.5, height: float = 3.2) -> "Axes":
    """Return the axes that are given, or those of a figure with one panel."""
    _, panels = new_panels(None if axes is None else np.array([[axes]]), width=width, height=height)
    return panels[0, 0]


def style(number: int, *, line: bool = True) -> Named:
    """Return colour, marker and line of a series, so that no two of the first eight look alike without colour."""
    looks = {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)], "markersize": 5}
    return looks | {"linestyle": LINES[number % len(LINES)] if line else "none"}


def positions(wanted: Any, names: Array, role: str) -> Integers:
    """Return where the wanted names stand, or refuse those that are not there."""
    place = {name: k for k, name in enumerate(names.tolist())}
    missing = [name for name in wanted if name not in place]
    if missing:
        raise InputError(f"there is no {role} {missing[0]!r}; there is {shorten(names, 10)}")
    return np.array([place[name] for name in wanted])


def plain(name: Any) -> str:
    """Return a name as text that matplotlib does not read as a formula, without what breaks an SVG."""
    return "".join(c if c.isprintable() else "\ufffd" for c in str(name)).replace("$", r"\$")


def heat_map(
    panel: "Axes",
    table: Floats,
    text: Callable[[float, int, int], str],
    *,
    label: str,
    middle: float,
    **options: Any,
) -> None:
    """Draw a table as an image with a bar of its colours, its cells named by texts (of value, row, column).

    Texts stand out: white above the value `middle`, black below. `options` are those of `imshow`.
    """
    image = panel.imshow(table, cmap="Blues", **options)
    for (row, column), value in np.ndenumerate(table):
        colour = "white" if value > middle else "black"
        panel.text(column, row, text(float(value), row, column), ha="center", va="center", color=colour)
    panel.figure.colorbar(image, ax=panel, label=label)


def with_sizes(names: Iterable[Any], sizes: Iterable[int]) -> list[str]:
    """Return names of groups with their numbers of annotators."""
    return [f"{plain(name)} ({size})" for name, size in zip(names, sizes)]
