"""The toy problem of Stutz et al. (figure 2): one observation, three classes, annotators who draw labels."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from typer import Option

from bayesagree.annotations import Labels
from bayesagree.cli import _options, _output
from bayesagree.errors import positive_int
from bayesagree.inference.streams import Seed, seed_sequence
from bayesagree.plausibility.dirichlet.posterior import dirichlet
from bayesagree.plots._panels import Panels, new_panels, style
from bayesagree.plots.plausibility import plot_simplex
from studies._command import Figures, run, save_figures
from studies.certainty import certainty_by_reliability

MARKED = [0, 16, 24]
"""Items that the figures mark: a clear one, one between two classes, one under the middle class."""


@dataclass(frozen=True, eq=False)
class ToyClasses:
    """Items on a line, the true share of each class there, and labels.

    Attributes
    ----------
    x
        Observation of each item, ascending, shape (item,).
    plausibility
        True distribution over the classes, shape (item, class).
    labels
        Labels that the annotators drew from it.
    """

    x: NDArray[np.float64]
    plausibility: NDArray[np.float64]
    labels: Labels


def toy_classes(
    *,
    n_items: int = 50,
    n_annotators: int = 5,
    centres: tuple[float, ...] = (-2.0, 0.0, 2.0),
    width: float = 1.0,
    random_seed: Seed = None,
) -> ToyClasses:
    """Simulate items on a line, classes with overlapping normal densities, and annotators who draw labels.

    At x the share of a class is its density over the sum of all; between two centres the truth itself is ambiguous.

    Parameters
    ----------
    n_items, n_annotators
        Sizes; every annotator labels every item.
    centres, width
        Means of the classes, and their common standard deviation.
    random_seed
        Same seed, same labels.

    References
    ----------
    Stutz et al., arXiv:2307.02191, section 2.1 and figure 2.

    Examples
    --------
    >>> toy = toy_classes(n_items=5, random_seed=1)
    >>> toy.plausibility.round(2)[:2].tolist()
    [[0.98, 0.02, 0.0], [0.73, 0.27, 0.0]]
    """
    rng = np.random.default_rng(seed_sequence(random_seed))
    x = np.linspace(min(centres) - width, max(centres) + width, positive_int(n_items, "n_items"))
    log_density = -0.5 * ((x[:, None] - np.array(centres)) / width) ** 2
    share = np.exp(log_density - log_density.max(axis=1, keepdims=True))
    share /= share.sum(axis=1, keepdims=True)
    cut = share.cumsum(axis=1)[:, None, :-1]
    drawn = (rng.random((n_items, positive_int(n_annotators, "n_annotators"), 1)) > cut).sum(axis=-1)
    return ToyClasses(x, share, Labels.from_matrix(drawn, labels=list(range(len(centres)))))


def plot_toy_classes(
    toy: ToyClasses, certainty: xr.DataArray, *, items: Sequence[int] = (), axes: Panels | None = None
) -> Panels:
    """Draw the true shares of the classes on the line, and below them the annotation certainty by reliability.

    Parameters
    ----------
    toy
        Result of `toy_classes`.
    certainty
        ``certainty`` of `certainty_by_reliability` on its labels.
    items
        Positions of items to mark.
    axes
        An array of as many axes to draw in; by default a figure of its own.

    Returns
    -------
    array of Axes
        The axes drawn in.

    References
    ----------
    Stutz et al. (2023), figure 2.

    Examples
    --------
    >>> toy = toy_classes(n_items=10, random_seed=1)
    >>> plot_toy_classes(toy, certainty_by_reliability(toy.labels, draws=20, random_seed=1)["certainty"]).size
    2
    """
    _, panels = new_panels(axes, 2, 1, width=5, height=2, sharex=True)
    above, below = panels[:, 0]
    for k, share in enumerate(toy.plausibility.T):
        above.plot(toy.x, share, label=f"class {k}", **style(k) | {"marker": ""})
    for k, level in enumerate(certainty["reliability"].values.tolist()):
        below.plot(toy.x, certainty.sel(reliability=level).values, label=f"reliability {level:g}", **style(k))
    for number, item in enumerate(items):
        above.axvline(toy.x[item], color="0.6", linewidth=1)
        above.text(toy.x[item], 1.02, f"({'i' * (number + 1)})", ha="center")
    above.set_ylabel("true share")
    below.set_ylabel("annotation certainty")
    below.set_xlabel("observation")
    for panel in (above, below):
        panel.legend(fontsize="x-small")
    return panels


def main(
    n_annotators: Annotated[int, Option(help="Labels per item.", min=1)] = 5,
    reliability: Annotated[str, Option(help="Reliabilities, comma separated.")] = "0.5,1,2,5",
    random_seed: _options.Seed = 1,
    figures: Figures = None,
) -> _output.Answer:
    """Show the certainty of the toy problem across reliabilities: Stutz et al., figure 2.

    Example: python -m studies.toy --figures folder
    """
    problem = toy_classes(n_annotators=n_annotators, random_seed=random_seed)
    levels = _options.numbers(reliability)
    certainty = certainty_by_reliability(problem.labels, reliability=levels, random_seed=random_seed)[
        "certainty"
    ]
    drawn = {
        "figure-2": lambda: plot_toy_classes(problem, certainty, items=MARKED),
        "figure-2-simplex": lambda: plot_simplex(dirichlet(problem.labels, random_seed=random_seed), MARKED),
    }
    rows = [
        {
            "reliability": level,
            "mean_certainty": float(np.mean(row)),
            **{f"item_{i}": float(row[i]) for i in MARKED},
        }
        for level, row in zip(levels, certainty.values)
    ]
    notes = save_figures(figures, drawn)
    return _output.Answer([_output.Table("certainty", rows, "Annotation certainty")], notes)


if __name__ == "__main__":
    run(main)
