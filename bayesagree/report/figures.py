"""Small figures, drawn as SVG by hand: they take the colours of the page, light or dark, and never rest on colour."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from bayesagree.plots._panels import sorted_curve

# Width of the drawing in its own units; text is 12 of them high, which stays legible on a phone.
WIDTH = 440
_DASHES = ("", "7 4", "2 3", "10 3 2 3", "1 5")
# Points of a curve: every second unit of the width, so that more would not be seen.
_POINTS = 200


class Mark(NamedTuple):
    """One value with its interval; `kind` is reference or other, `note` stands beside it."""

    value: float
    lower: float
    upper: float
    note: str
    kind: str = "reference"


class MarkGroup(NamedTuple):
    """Marks under one heading."""

    name: str
    marks: tuple[Mark, ...]


def certainty_curve(levels: Sequence[float], certainty: NDArray[np.float64], limit: float) -> Markup:
    """Draw the annotation certainty of the items, sorted, one curve for each reliability.

    Parameters
    ----------
    levels
        Reliabilities, the reference first.
    certainty
        Shape (reliability, item).
    limit
        Items below it are open.
    """
    left, right, top, bottom = 40, WIDTH - 10, 10, 220
    low = min(0.9, np.floor(certainty.min() * 10) / 10)
    parts = [_grid(left, right, top, bottom, low)]
    y_limit = bottom - (bottom - top) * (limit - low) / (1 - low)
    parts.append(_line("limit", left, right, y_limit))
    for k, (level, values) in enumerate(zip(levels, certainty)):
        share, ordered = sorted_curve(values, _POINTS)
        y = bottom - (bottom - top) * (ordered - low) / (1 - low)
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(left + (right - left) * share, y))
        style = ("curve" if k == 0 else "curve other", _DASHES[k % len(_DASHES)])
        parts.append(Markup('<polyline class="{}" stroke-dasharray="{}" points="{}"/>').format(*style, points))
        if len(levels) == 1:
            break
        y_key = bottom + 62 + 18 * k
        parts.append(_line(style[0], left, left + 44, y_key - 4, dashes=style[1]))
        parts.append(_text(left + 52, y_key, f"reliability {level:g}{' (reference)' if k == 0 else ''}"))
    parts.append(_text(right, bottom + 36, "share of items, least certain first", anchor="end"))
    title = "Annotation certainty of the items, sorted"
    description = f"At reliability {levels[0]:g}, {np.mean(certainty[0] < limit):.1%} of the items are below {limit:g}."
    return _svg(bottom + (44 if len(levels) == 1 else 62 + 18 * len(levels)), title, description, parts)


def interval_plot(
    rows: Sequence[MarkGroup], *, title: str, axis: str, limits: tuple[float, float] = (-np.inf, np.inf)
) -> Markup:
    """Draw values with their intervals below each other, in groups under headings; nothing where there is no value.

    Reference values are filled circles, others open circles; every mark has its note.

    Parameters
    ----------
    rows
        Groups of marks.
    title, axis
        What the figure shows, and what its axis is in.
    limits
        Smallest and largest possible value.
    """
    left, right, y = 8, WIDTH - 150, 4
    values = [v for row in rows for mark in row.marks for v in mark[:3] if np.isfinite(v)]
    if not values:
        return Markup("")
    low, high, ticks = _ticks(min(values), max(values), limits)

    def at(value: float) -> float:
        return left + (right - left) * (value - low) / (high - low)

    parts: list[Markup] = []
    for row in rows:
        if row.name:
            y += 20
            parts.append(_text(0, y, row.name, cls="heading", longest=48))
        for mark in row.marks:
            y += 17
            parts.append(_mark(mark, at, y))
            parts.append(_text(right + 10, y + 4, mark.note, longest=22))
        y += 4
    upright = Markup('<line class="grid" x1="{0:.1f}" x2="{0:.1f}" y1="4" y2="{1:.1f}"/>')
    lines = [upright.format(at(t), y + 8) for t in ticks]
    labels = [_text(at(t), y + 22, f"{t:g}", anchor="middle") for t in ticks]
    axis_name = _text(left, y + 40, axis)
    description = f"{sum(len(row.marks) for row in rows)} values with intervals; the table gives the numbers."
    return _svg(y + 46, title, description, [*lines, *parts, *labels, axis_name])


def _mark(mark: Mark, at: Callable[[float], float], y: float) -> Markup:
    if not np.isfinite(mark.value):
        return Markup("")
    x = at(mark.value)
    bar = _line("bar", at(mark.lower), at(mark.upper), y) if np.isfinite(mark.lower) else Markup("")
    return bar + Markup('<circle class="{}" cx="{:.1f}" cy="{:.1f}" r="4.5"/>').format(mark.kind, x, y)


def _grid(left: float, right: float, top: float, bottom: float, low: float) -> Markup:
    """Draw the lines and labels of a certainty from `low` to 1 over shares of items."""
    parts = []
    for value in _round_values(low, 1.0):
        y = bottom - (bottom - top) * (value - low) / (1 - low)
        parts.append(_line("grid", left, right, y))
        parts.append(_text(left - 6, y + 4, f"{value:.2g}", anchor="end"))
    for share in (0, 0.25, 0.5, 0.75, 1):
        x = left + (right - left) * share
        parts.append(_text(x, bottom + 18, f"{share:.0%}", anchor="end" if share == 1 else "middle"))
    return Markup("").join(parts)


def _line(cls: str, x1: float, x2: float, y: float, *, dashes: str = "") -> Markup:
    """Draw a level line."""
    return Markup('<line class="{}" stroke-dasharray="{}" x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}"/>').format(
        cls, dashes, x1, x2, y, y
    )


def _text(x: float, y: float, text: str, *, anchor: str = "start", cls: str = "", longest: int = 60) -> Markup:
    """Write text, escaped; long text is cut, and a tooltip has all of it."""
    shown = text if len(text) <= longest else text[: longest - 1] + "…"
    full = Markup("<title>{}</title>").format(text) if shown != text else ""
    return Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="{}" class="{}">{}{}</text>').format(
        x, y, anchor, cls, full, shown
    )


def _ticks(low: float, high: float, limits: tuple[float, float]) -> tuple[float, float, list[float]]:
    """Choose the ends of an axis and round values on it."""
    span = max(high - low, 1e-3)
    low, high = max(low - 0.06 * span, limits[0]), min(high + 0.06 * span, limits[1])
    high = max(high, low + 1e-3)
    return low, high, _round_values(low, high)


def _round_values(low: float, high: float) -> list[float]:
    """List three to eight round values from `low` to `high`."""
    step = 10 ** np.floor(np.log10((high - low) / 3))
    step = next(step * k for k in (1, 2, 5, 10) if (high - low) / (step * k) <= 5)
    first = np.ceil(low / step - 1e-9) * step
    return [round(float(value), 10) for value in np.arange(first, high + 1e-9, step)]


def _svg(height: float, title: str, description: str, parts: Sequence[Markup]) -> Markup:
    head = Markup('<svg viewBox="0 0 {} {:.0f}" role="img" aria-label="{}">').format(
        WIDTH, height, f"{title}. {description}"
    )
    return head + Markup("").join(parts) + Markup("</svg>")
