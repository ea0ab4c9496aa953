"""Limitations of agreement coefficients (Checco et al. 2017, section 3): the paper's values beside ours."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from types import SimpleNamespace
from typing import Annotated, Any

import numpy as np
import pandas as pd
import scipy as sp
from typer import Option

from bayesagree.agreement._formulas import observed_agreement
from bayesagree.agreement._patterns import collapse
from bayesagree.agreement._phi.posterior import joint_posterior, precision_of
from bayesagree.agreement._phi.problem import prepare
from bayesagree.agreement.coefficients import krippendorff_alpha
from bayesagree.annotations import Ratings
from bayesagree.cli import _options, _output
from bayesagree.errors import InputError
from bayesagree.plots._panels import LINES, Panels, new_panels
from studies._command import Figures, run, save_figures
from studies.maximum import posterior_mode

type Rows = tuple[tuple[tuple[int, ...], int], ...]
"""Pairs of an item's ratings and the number of such items."""

YES, NO, SPLIT = (1, 1), (0, 0), (1, 0)
TWO_LEVELS = "binned, two levels say almost nothing about Phi: the interval is wide"


@dataclass(frozen=True)
class Paradox:
    """Toy case: its items (ratings, number of such items), and the values of the paper's table 2."""

    case: str
    rows: Rows
    percent: float
    alpha: float
    phi: str
    remark: str = ""

    def ratings(self, n_levels: int = 2, *, inside: bool = False) -> Ratings:
        """Return the ratings on levels 0 to n_levels - 1: 0 and 1 are its ends, or the levels next to them."""
        matrix = np.repeat([row for row, _ in self.rows], [n for _, n in self.rows], axis=0)
        low, high = (1, n_levels - 2) if inside else (0, n_levels - 1)
        return Ratings.from_matrix(low + (high - low) * matrix.astype(float), scale=(0, n_levels - 1), step=1)


PARADOXES = (
    Paradox("2", (((1,) * 5, 10),), 1, np.nan, "1 [1, 1]", "alpha is undefined on a constant; Phi is 1"),
    Paradox("3", ((YES, 99), (SPLIT, 1)), 0.99, 0, "1 [1, 1]", "alpha is 0 at 99 % agreement"),
    Paradox("4a", ((YES, 98), (NO, 1), (SPLIT, 1)), 0.99, 0.66, "1 [1, 1]"),
    Paradox("4b", ((YES, 99), (SPLIT, 1)), 0.98, 0, "1 [1, 1]", "the table prints percent .98, the text .99"),
    Paradox("5a", ((YES, 90), (SPLIT, 10)), 0.90, -0.04, ".99 [.99, .99]"),
    Paradox("5b", ((YES, 98), (SPLIT, 2)), 0.98, -0.05, "1 [1, 1]", "alpha is -.005, printed -.05"),
    Paradox("5c", ((YES, 99), (SPLIT, 1)), 0.99, 0, "1 [1, 1]"),
    Paradox("5d", ((YES, 100),), 1, 1, "1 [1, 1]", "alpha is undefined; the paper takes it as 1"),
    Paradox("6a", ((YES, 40), (SPLIT, 20)), 0.66, -0.19, ".89 [.69, .97]", "more agreement than 6b, as claimed"),
    Paradox("6b", ((YES, 15), (NO, 15), (SPLIT, 30)), 0.50, 0, ".73 [.52, .88]"),
    Paradox("7a", ((YES, 40), (NO, 40), (SPLIT, 20)), 0.8, 0.73, ".7 [.6, .8]", "alpha is .602, printed .73"),
    Paradox("7b", ((NO, 80), (SPLIT, 20)), 0.8, 0.26, ".7 [.6, .8]", "alpha is -.106, printed .26; Phi as in 7a"),
    Paradox("7c", (((0, 0, 0, 0, 1), 2),), 0.33, -0.125, ".15 [-.4, .5]", "percent agreement is .60, printed .33"),
    Paradox(
        "7d", (((0, 0, 0, 0, 1), 1), ((1, 1, 1, 1, 0), 1)), 0.33, 0.28, ".15 [-.32, .5]",
        "percent agreement is .60, printed .33; Phi as in 7c",
    ),
    Paradox("8a", ((YES, 20), (NO, 10), (SPLIT, 10)), 0.75, 0.47, ".95 [.84, .99]"),
    Paradox("8b", ((YES, 200), (NO, 100), (SPLIT, 100)), 0.75, 0.46, ".97 [.94, .98]", "more items, narrower interval"),
    Paradox("8c", ((YES, 2), (NO, 1), (SPLIT, 1)), 0.75, 0.53, ".96 [.14, .99]", "fewer items, wider interval"),
)  # fmt: skip

COLUMNS = ("squeezed flat", "binned flat", "binned hierarchical")


ARGUMENTS = {
    "1": "random guesses are no agreement",
    "2": "unanimous answers are agreement",
    "3": "99 % agreement is agreement",
    "4": "the same agreement on another answer is the same Phi",
    "5": "fewer disagreements are more agreement, without a jump",
    "6": "honest work is better than coin flips",
    "7": "a question turned around has the same Phi",
    "8": "more items: the same Phi, a narrower interval",
}

SAME = 0.05
"""Means of Phi that differ by less are the same, and random guesses are no agreement below this."""

FIVE = ("5a", "5b", "5c", "5d")
"""Cases of limitation 5 by their number of disagreements, most first."""


def _unanimous(found: Any, *cases: str) -> bool:
    return all(found[c].lower > 0 for c in cases)


def _alike(found: Any, case: str, other: str) -> bool:
    return abs(found[case].mean - found[other].mean) < SAME


def _narrower(found: Any, case: str, other: str) -> bool:
    return found[case].upper - found[case].lower < found[other].upper - found[other].lower


HOLDS: dict[str, Callable[[Any], bool]] = {
    "1": lambda f: f["1"].mean < SAME,
    "2": lambda f: _unanimous(f, "2"),
    "3": lambda f: _unanimous(f, "3"),
    "4": lambda f: _unanimous(f, "4a", "4b") and _alike(f, "4a", "4b"),
    "5": lambda f: _unanimous(f, *FIVE) and all(f[a].mean <= f[b].mean for a, b in pairwise(FIVE)),
    "6": lambda f: f["6a"].mean > f["6b"].mean,
    "7": lambda f: _alike(f, "7a", "7b") and _alike(f, "7c", "7d"),
    "8": lambda f: (
        abs(f["8a"].map - f["8b"].map) < SAME and _narrower(f, "8b", "8a") and _narrower(f, "8a", "8c")
    ),
}


def random_guessing(n_levels: int = 2) -> Ratings:
    """Return the ratings of limitation 1: 100 workers guess at 1000 items (seeded); 10 on more than two levels."""
    workers = (
        100 if n_levels == 2 else 10
    )  # patterns of a hundred ratings on five levels are all different: minutes
    guesses = np.random.default_rng(1).integers(0, n_levels, (1000, workers))
    return Ratings.from_matrix(guesses.astype(float), scale=(0, n_levels - 1), step=1)


def paradox_table(
    cases: Sequence[str] | None = None, *, n_levels: int = 2, inside: bool = False
) -> pd.DataFrame:
    """Return percent agreement, alpha and Phi of every toy case, beside the values of the paper.

    The paper's findings are about the squeezed likelihood with flat item means. With the binned likelihood a two-level
    scale says almost nothing about Phi, and the intervals of the other two columns say so.

    Parameters
    ----------
    cases
        Names of cases such as ``"7c"``, by default all eighteen, which take minutes.
    n_levels
        Levels of the scale, the paper's two by default. Its answers 0 and 1 are the ends of a longer scale.
    inside
        Whether they are the levels next to the ends instead (five levels or more).

    Returns
    -------
    DataFrame
        case, percent, percent_paper, alpha, alpha_paper, `phi_squeezed_flat`, `phi_binned_flat` and
        `phi_binned_hierarchical` as "mean [lower, upper]" (HDI 0.95), phi_paper, remark.

    Raises
    ------
    InputError
        A case that the paper does not have; fewer than two levels, or than five where answers lie inside.

    See Also
    --------
    paradox_claims : whether the paper's argument holds in each.

    References
    ----------
    Checco et al., "Let's agree to disagree", HCOMP 2017, section 3 and table 2, doi:10.1609/hcomp.v5i1.13306.

    Examples
    --------
    >>> found = paradox_table(["7c"])
    >>> float(found["percent"].iloc[0]), found["phi_squeezed_flat"].iloc[0]
    (0.6, '-0.09 [-0.52, 0.38]')
    """
    _check_levels(n_levels, inside)
    names = ["1", *(paradox.case for paradox in PARADOXES)]
    unknown = set(cases or ()) - set(names)
    if unknown:
        raise InputError(f"cases {sorted(unknown)} are not among {', '.join(names)}")
    rows = []
    if cases is None or "1" in cases:
        remark = "our guesses have two levels; " + TWO_LEVELS
        paper = 0.5, 0.005, ".05 [.045, .053]"
        rows.append(_row("1", random_guessing(n_levels), *paper, remark if n_levels == 2 else ""))
    for paradox in PARADOXES:
        if cases is not None and paradox.case not in cases:
            continue
        remark = paradox.remark or ("squeezed as the paper claims; " + TWO_LEVELS if n_levels == 2 else "")
        ratings = paradox.ratings(n_levels, inside=inside)
        rows.append(_row(paradox.case, ratings, paradox.percent, paradox.alpha, paradox.phi, remark))
    return pd.DataFrame(rows)


def paradox_claims(
    limitations: Sequence[str] | None = None, *, n_levels: int = 5, inside: bool = False
) -> pd.DataFrame:
    """Return whether Phi does in the paper's toy cases what the paper argues, limitation by limitation.

    Parameters
    ----------
    limitations
        Their numbers, such as ``"2"``, by default all eight, which take a minute.
    n_levels, inside
        As `paradox_table`.

    Returns
    -------
    DataFrame
        Rows: limitations; columns: `argument`, and for each reading and prior (``"squeezed flat"``,
        the paper's, ``"binned flat"``, ``"binned hierarchical"``, the default inside the scale) whether it holds.

    Raises
    ------
    InputError
        A limitation that the paper does not have; fewer than two levels, or than five where answers lie inside.

    See Also
    --------
    paradox_table : the values.

    References
    ----------
    Checco et al., "Let's agree to disagree", HCOMP 2017, section 3 and table 1, doi:10.1609/hcomp.v5i1.13306.

    Examples
    --------
    >>> [bool(paradox_claims(["3"], n_levels=5, inside=inside)["binned flat"].item()) for inside in (True, False)]
    [True, False]
    """
    _check_levels(n_levels, inside)
    chosen = list(ARGUMENTS) if limitations is None else list(limitations)
    if unknown := set(chosen) - set(ARGUMENTS):
        raise InputError(f"limitations {sorted(unknown)} are not among {', '.join(ARGUMENTS)}")
    given = {p.case: p.ratings(n_levels, inside=inside) for p in PARADOXES if p.case[0] in chosen}
    if "1" in chosen:
        given["1"] = random_guessing(n_levels)
    arguments = pd.Series(ARGUMENTS, name="argument").loc[chosen]
    table = arguments.rename_axis("limitation").to_frame()
    for name in COLUMNS:
        found = {c: phi_of_column(r, name) for c, r in given.items()}
        table[name] = [HOLDS[limitation](found) for limitation in chosen]
    return table


def _check_levels(n_levels: int, inside: bool) -> None:
    if n_levels < (5 if inside else 2):
        raise InputError(f"n_levels={n_levels!r} is below {5 if inside else 2}")


def _row(case: str, ratings: Ratings, percent: float, alpha: float, phi: str, remark: str) -> dict[str, Any]:
    row: dict[str, Any] = {
        "case": case, "percent": percent_agreement(ratings), "percent_paper": percent,
        "alpha": krippendorff_alpha(ratings), "alpha_paper": alpha,
    }  # fmt: skip
    for name in COLUMNS:
        found = phi_of_column(ratings, name)
        row[f"phi_{name.replace(' ', '_')}"] = f"{found.mean:.2f} [{found.lower:.2f}, {found.upper:.2f}]"
    return row | {"phi_paper": phi, "remark": remark}


def squeezed(ratings: Ratings) -> Ratings:
    """Return the ratings as the published code reads them: continuous, squeezed into the open scale (0, 1).

    Of n, the length of a row of its table, whatever is missing in it.

    Examples
    --------
    >>> squeezed(Ratings.from_matrix([[0, 1], [1, 1]], scale=(0, 1), step=1)).rating.tolist()
    [0.25, 0.75, 0.75, 0.75]
    """
    n = np.bincount(ratings.item_index).max()
    return replace(ratings, rating=(ratings.unit() * (n - 1) + 0.5) / n, scale=(0.0, 1.0), step=None)


def phi_of_column(ratings: Ratings, name: str) -> Any:
    """Return mean, sd, lower, upper and, of flat means, the mode (map) of Phi in a column of the tables.

    Examples
    --------
    >>> round(phi_of_column(PARADOXES[0].ratings(), "squeezed flat").lower, 2)
    1.0
    """
    reading, means = name.split()
    options: Any = {"likelihood": "binned" if reading == "squeezed" else reading, "item_mean": means}
    problem = prepare(squeezed(ratings) if reading == "squeezed" else ratings, **options)
    summary = joint_posterior(problem).phi.summary()._asdict()
    return SimpleNamespace(**summary, map=posterior_mode(problem) if means == "flat" else summary["mean"])


def percent_agreement(ratings: Ratings) -> float:
    """Return the share of agreeing pairs of ratings, averaged over items with two or more.

    Examples
    --------
    >>> percent_agreement(Ratings.from_matrix([[0, 0, 0, 0, 1]], scale=(0, 1), step=1))
    0.6
    """
    patterns = collapse(ratings)
    counts = patterns.counts.toarray()
    return float(observed_agreement(patterns.weight[None], counts, np.eye(counts.shape[1]))[0])


def plot_beta_shapes(
    *,
    phi: Sequence[float] = (-0.5, 0.0, 0.4, 0.8),
    item_mean: Sequence[float] = (0.5, 0.2),
    axes: Panels | None = None,
) -> Panels:
    """Draw the four shapes that ratings of one item can have: two camps, random, weak and strong agreement.

    Parameters
    ----------
    phi
        Values of common agreement, each below 1; one panel each.
    item_mean
        Means of the item on the unit scale, one line each.
    axes
        An array of as many axes to draw in; by default a figure of its own.

    Returns
    -------
    array of Axes, shape (row, column)

    References
    ----------
    Checco et al. (2017), figure 1.

    Examples
    --------
    >>> plot_beta_shapes(phi=(0.0, 0.5)).size
    2
    """
    if not all(-np.inf < value < 1 for value in phi) or not all(0 < mean < 1 for mean in item_mean):
        raise InputError(f"phi={list(phi)} must lie below 1 and item_mean={list(item_mean)} between 0 and 1")
    _, panels = new_panels(axes, 1, len(phi), width=2.4, height=2.6, sharey=True)
    grid = np.linspace(0.002, 0.998, 250)
    for panel, value in zip(panels[0], phi):
        p = float(precision_of(value))
        for k, mean in enumerate(item_mean):
            line = {"color": f"C{k}", "linestyle": LINES[k % len(LINES)]}
            panel.plot(grid, sp.stats.beta.pdf(grid, mean * p, (1 - mean) * p), label=f"mean {mean:g}", **line)
        panel.set_title(f"Phi = {value:g}")
        panel.set_xlabel("rating, unit scale")
        panel.set_ylim(0, 4)
    panels[0, 0].set_ylabel("density")
    panels[0, 0].legend(fontsize="small")
    return panels


def main(
    cases: Annotated[str | None, Option(help="Cases such as 7c,8b; all eighteen take minutes.")] = None,
    figures: Figures = None,
) -> _output.Answer:
    """Show where percent agreement and alpha mislead: Checco et al., tables 1 and 2, figure 1.

    Example: python -m studies.paradoxes --cases 7c,8b
    """
    with _output.stderr().status("computing"):
        table = paradox_table(None if cases is None else _options.names(cases))
    notes = save_figures(figures, {"figure-1": plot_beta_shapes})
    return _output.Answer([_output.Table("paradoxes", table)], notes)


if __name__ == "__main__":
    run(main)
