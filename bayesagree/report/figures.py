"""Small figures, drawn as SVG by hand: they take the colours of the page, light or dark, and never rest on colour."""

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from bayesagree.plots._panels import sorted_curve

# Width of the drawing in its own units; text is 12 of them high, which stays legible on a phone.
WIDTH = 440
_DASHES = ("", "7 4", "2 3", "10 3 2 3", "1 5")
# Points of a curve: every second unit of the width, so that more would not be seen.
_POINTS = 200


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
    description = (
        f"At reliability {levels[0]:g}, {np.mean(certainty[0] < limit):.1%} of the items are below {limit:g}."
    )
    return _svg(bottom + (44 if len(levels) == 1 else 62 + 18 * len(levels)), title, description, parts)


def bars(rows: Sequence[tuple[float, float, float]]) -> list[Markup]:
    """Draw a value with its interval for each row of a table, all on one axis; nothing where there is no value.

    Parameters
    ----------
    rows
        Value, lower and upper end of each row.
    """
    known = np.array([row for row in rows if np.isfinite(row[0])])
    if not known.size:
        return [Markup("")] * len(rows)
    low, high = np.nanmin(known), np.nanmax(known)
    span = max(high - low, 1e-9)
    drawn = []
    for row in rows:
        x, start, end = (6 + 108 * (value - low) / span for value in row)
        bar = _line("bar", start, end, 8) if np.isfinite(start + end) else Markup("")
        dot = Markup('<circle class="reference" cx="{:.1f}" cy="8" r="4"/>').format(x)
        whole = Markup('<svg class="row" viewBox="0 0 120 16" aria-hidden="true">{}{}</svg>').format(bar, dot)
        drawn.append(whole if np.isfinite(row[0]) else Markup(""))
    return drawn


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
    return Markup(
        '<line class="{}" stroke-dasharray="{}" x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}"/>'
    ).format(cls, dashes, x1, x2, y, y)


def _text(x: float, y: float, text: str, *, anchor: str = "start") -> Markup:
    """Write text, escaped."""
    return Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>').format(x, y, anchor, text)


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
