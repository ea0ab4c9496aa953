"""Drawings in the cells of a table: they take the colours of the page, light or dark, and never rest on colour."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from bayesagree._types import Floats
from bayesagree.report.wording import probability

# Width and height of a drawing in its own units.
WIDTH, HEIGHT = 120, 16
_SVG = Markup('<svg class="row" viewBox="0 0 120 16" aria-hidden="true">{}</svg>')
_BAR = Markup('<line class="bar" x1="{:.1f}" x2="{:.1f}" y1="8" y2="8"/>')
_DOT = Markup('<circle class="reference" cx="{:.1f}" cy="8" r="4"/>')
_SHADE = Markup('<span class="share" style="--share:{:.3f}">{}</span>')


def bars(values: Any) -> list[Markup]:
    """Draw a value with its interval for each row (value, lower, upper), all on one axis; nothing without a value."""
    rows = np.asarray(values, float).reshape(-1, 3)
    low, high = np.fmin.reduce(rows, None, initial=np.inf), np.fmax.reduce(rows, None, initial=-np.inf)
    drawn = []
    for x, start, end in 6 + (WIDTH - 12) * (rows - low) / max(high - low, 1e-9):
        bar = _BAR.format(start, end) if np.isfinite(start + end) else Markup()
        drawn.append(_SVG.format(bar + _DOT.format(x)) if np.isfinite(x) else Markup())
    return drawn


def curve(values: Floats) -> Markup:
    """Draw values from 0 to 1, sorted: the further right the curve reaches the top, the more of them are low."""
    y = HEIGHT - 1 - (HEIGHT - 2) * np.quantile(values, np.linspace(0, 1, WIDTH // 2))
    points = " ".join(f"{2 * k},{one:.1f}" for k, one in enumerate(y))
    return _SVG.format(Markup('<polyline class="curve" points="{}"/>').format(points))


def shade(share: float, text: str = "") -> Markup:
    """Write a share over a bar of its length."""
    return _SHADE.format(0 if np.isnan(share) else share, text or probability(share))


def with_bars(rows: Sequence[tuple[Any, ...]], values: Any, at: int) -> list[tuple[Any, ...]]:
    """Put the drawing of the values (row, 3) before the cell at a place of each row."""
    return [(*row[:at], bar, *row[at:]) for row, bar in zip(rows, bars(values), strict=True)]
