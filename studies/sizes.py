"""Agreement on random shares of the items of a data set (Checco et al. 2017, section 5.4 and figures 4 and 5)."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from typer import Option

from bayesagree.agreement._phi.likelihood import Kind
from bayesagree.agreement.coefficients import Level, krippendorff_alpha
from bayesagree.agreement.phi import common_agreement
from bayesagree.annotations import Ratings
from bayesagree.cli import _options, _output
from bayesagree.errors import InputError, one_of, positive_int
from bayesagree.inference.streams import Seed, seed_sequence
from bayesagree.plots._panels import Panels, new_panels, style
from studies._command import Figures, Repeats, run, save_figures
from studies.paradoxes import percent_agreement, squeezed


def agreement_by_size(
    ratings: Ratings,
    *,
    shares: Sequence[float] = (0.1, 0.25, 0.5, 0.75, 1.0),
    repeats: int = 20,
    level: Level = "interval",
    item_mean: Literal["hierarchical", "flat"] = "hierarchical",
    likelihood: Kind | Literal["squeezed"] = "averaged",
    ci_prob: float = 0.95,
    random_seed: Seed = None,
    progress: Callable[[int], None] = lambda done: None,
) -> xr.Dataset:
    """Return Phi, Krippendorff's alpha and percent agreement on random subsamples of the items.

    Parameters
    ----------
    ratings
        All ratings.
    shares
        Shares of the items to draw, each in (0, 1].
    repeats
        Subsamples per share.
    level
        Level of measurement of alpha.
    item_mean, likelihood
        As in `common_agreement`; the paper's are ``"flat"`` and ``"squeezed"``.
    ci_prob
        Probability of the intervals.
    random_seed
        Same seed, same subsamples.
    progress
        Called with the number of subsamples done since the last call.

    Returns
    -------
    Dataset
        ``phi`` (posterior mean), ``lower`` and ``upper`` (HDI), ``alpha``, ``percent`` (the share of
        agreeing pairs of ratings), dims (share, repeat).

    Raises
    ------
    InputError
        A share outside (0, 1].

    See Also
    --------
    bayesagree.common_agreement, bayesagree.krippendorff_alpha : both on all items.

    References
    ----------
    Checco et al., "Let's agree to disagree", HCOMP 2017, section 5.4, doi:10.1609/hcomp.v5i1.13306.

    Examples
    --------
    >>> from bayesagree.datasets.simulate import ratings
    >>> found = agreement_by_size(ratings(n_items=40, random_seed=1).ratings, shares=(0.5, 1), repeats=2, random_seed=1)
    >>> dict(found.sizes)
    {'share': 2, 'repeat': 2}
    """
    wrong = [share for share in shares if not 0 < share <= 1]
    if wrong:
        raise InputError(f"share {wrong[0]!r} of the items is not in (0, 1]")
    rng = np.random.default_rng(seed_sequence(random_seed))
    kind = "binned" if likelihood == "squeezed" else likelihood
    options: dict[str, Any] = {"item_mean": item_mean, "likelihood": kind, "ci_prob": ci_prob}
    rows = np.empty((len(shares), positive_int(repeats, "repeats"), 5))
    for s, share in enumerate(shares):
        n = max(1, round(share * ratings.items.size))
        for r in range(repeats):
            part = _items(ratings, np.sort(rng.permutation(ratings.items.size)[:n]))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # of parts: the whole is the user's
                read = squeezed(part) if likelihood == "squeezed" else part
                tree = common_agreement(read, draws=1, chains=1, random_seed=rng, **options)
            found = tree["agreement"].to_dataset()
            values = [float(found[name]) for name in ("mean", "lower", "upper")]
            rows[s, r] = [*values, krippendorff_alpha(part, level=level), percent_agreement(part)]
            progress(1)
    names = ("phi", "lower", "upper", "alpha", "percent")
    data = {name: (("share", "repeat"), rows[..., k]) for k, name in enumerate(names)}
    return xr.Dataset(data, {"share": list(shares)}, {"ci_kind": "hdi", "ci_prob": ci_prob, "level": level})


def _items(ratings: Ratings, kept: NDArray[np.int64]) -> Ratings:
    """Return the ratings of some items."""
    place = np.full(ratings.items.size, -1, np.int32)
    place[kept] = np.arange(kept.size)
    rows = np.flatnonzero(place[ratings.item_index] >= 0)
    found = {"annotator_index": ratings.annotator_index[rows], "rating": ratings.rating[rows]}
    return replace(ratings, items=ratings.items[kept], item_index=place[ratings.item_index[rows]], **found)


def plot_agreement_by_size(result: xr.Dataset, *, axes: Panels | None = None) -> Panels:
    """Draw Phi against the share of the items used, with its interval; beside it alpha and percent agreement.

    Parameters
    ----------
    result
        Result of `agreement_by_size`.
    axes
        An array of as many axes to draw in; by default a figure of its own.

    Returns
    -------
    array of Axes, shape (row, column)

    References
    ----------
    Checco et al. (2017), figures 4 and 5.

    Examples
    --------
    >>> from bayesagree.datasets.simulate import ratings
    >>> given = ratings(n_items=20, random_seed=1).ratings
    >>> result = agreement_by_size(given, shares=(0.5, 1), repeats=2, random_seed=1)
    >>> plot_agreement_by_size(result).size
    2
    """
    _, panels = new_panels(axes, 1, 2, width=3.6, height=3, sharex=True, sharey=True)
    share = 100 * result["share"].values
    mean = result.mean("repeat")
    left, right = panels[0]
    left.fill_between(share, mean["lower"].values, mean["upper"].values, alpha=0.3)
    left.plot(share, mean["phi"].values, **style(0))
    left.set_title("Phi, HDI 0.95", fontsize="medium")
    shown = {"phi": "Phi", "alpha": "alpha", "percent": "percent agreement"}
    for k, (name, label) in enumerate(shown.items()):
        spread = result[name].std("repeat").values
        right.errorbar(share, mean[name].values, yerr=spread, capsize=3, label=label, **style(k))
    right.set_title("means over subsamples, ± sd", fontsize="medium")
    right.legend()
    for panel in (left, right):
        panel.axhline(0, color="0.6", linewidth=1)
        panel.set_xlabel("share of the items (%)")
    left.set_ylabel("agreement")
    return panels


def main(
    source: _options.Source,
    shares: Annotated[str, Option(help="Shares of the items, comma separated.")] = "0.1,0.25,0.5,0.75,1",
    repeats: Repeats = 20,
    item_mean: Annotated[str, Option(help="hierarchical or flat (the paper's).")] = "hierarchical",
    likelihood: Annotated[str, Option(help="averaged, binned or squeezed (the paper's).")] = "averaged",
    random_seed: _options.Seed = 1,
    figures: Figures = None,
) -> _output.Answer:
    """Show Phi, alpha and percent agreement on shares of the items: Checco et al., figures 4 and 5.

    Example: python -m studies.sizes --data truthfulness/s6 --repeats 5 --figures folder
    """
    ratings, _ = source.read()
    if not isinstance(ratings, Ratings):
        raise InputError("Phi is of ratings; give --scale LOWEST HIGHEST")
    parts = _options.numbers(shares)
    means: Any = one_of(item_mean, "item_mean", ("hierarchical", "flat"))
    kind: Any = one_of(likelihood, "likelihood", ("averaged", "binned", "squeezed"))
    with _output.progress("subsamples", len(parts) * repeats) as advance:
        found = agreement_by_size(
            ratings,
            shares=parts,
            repeats=repeats,
            item_mean=means,
            likelihood=kind,
            random_seed=random_seed,
            progress=advance,
        )
    notes = save_figures(figures, {"figures-4-5": lambda: plot_agreement_by_size(found)})
    rows = found.mean("repeat").to_dataframe().reset_index()
    return _output.Answer([_output.Table("sizes", rows, "Means over the subsamples")], notes)


if __name__ == "__main__":
    run(main)
