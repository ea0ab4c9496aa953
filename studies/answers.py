"""How often random answers are called agreement, by the number of raters (Checco et al. 2017, figure 3)."""

import warnings
from collections.abc import Callable, Sequence
from itertools import product
from typing import Annotated, Any

import numpy as np
import scipy as sp
import xarray as xr
from typer import Option

from bayesagree.agreement._phi.likelihood import Kind
from bayesagree.agreement.phi import common_agreement
from bayesagree.annotations import Ratings
from bayesagree.cli import _options, _output
from bayesagree.errors import positive_int
from bayesagree.inference.streams import Seed, seed_sequence
from bayesagree.plots._panels import Panels, new_panels, style
from studies._command import Figures, Repeats, run, save_figures

ITEM_MEANS = ("flat", "hierarchical")


def random_answers(
    *,
    n_annotators: Sequence[int] = (3, 5, 10, 20, 30, 50),
    n_levels: Sequence[int] = (5, 11),
    item_mean: Sequence[Any] = ITEM_MEANS,
    likelihood: Kind = "averaged",
    n_items: int = 100,
    repeats: int = 40,
    ci_prob: float = 0.95,
    random_seed: Seed = None,
    progress: Callable[[int], None] = lambda done: None,
) -> xr.Dataset:
    """Return Phi of answers drawn uniformly from the levels of a scale, and how often it is called agreement.

    The paper's item means are ``"flat"``: the mean of an item bends to its few answers, and what is left looks like
    agreement.

    Parameters
    ----------
    n_annotators, n_levels, item_mean
        Settings, all combined; every rater answers every item.
    likelihood
        As in `common_agreement`.
    n_items, repeats
        Items of a data set, and data sets of a setting.
    ci_prob
        Probability of the intervals.
    random_seed
        Same seed, same answers.
    progress
        Called with the number of data sets done since the last call.

    Returns
    -------
    Dataset
        ``phi``, ``lower``, ``upper`` (item_mean, n_levels, n_annotators, repeat); ``false_agreement`` and
        ``false_disagreement`` (item_mean, n_levels, n_annotators), the shares of intervals above and below 0.

    See Also
    --------
    plot_random_answers : the figure.

    References
    ----------
    Checco et al., "Let's agree to disagree", HCOMP 2017, section 5.2, doi:10.1609/hcomp.v5i1.13306.

    Examples
    --------
    >>> found = random_answers(n_annotators=[3], n_levels=[5], n_items=20, repeats=2, random_seed=1)
    >>> found["false_agreement"].sizes["item_mean"], found["phi"].sizes["repeat"]
    (2, 2)
    """
    rng = np.random.default_rng(seed_sequence(random_seed))
    shape = (len(item_mean), len(n_levels), len(n_annotators), positive_int(repeats, "repeats"))
    summary = np.empty((*shape, 3))
    for (k, levels), (j, raters), r in product(enumerate(n_levels), enumerate(n_annotators), range(repeats)):
        answers = rng.integers(1, levels + 1, (n_items, raters)).astype(float)
        ratings = Ratings.from_matrix(answers, scale=(1, levels), step=1)
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", UserWarning
            )  # that a few raters do not identify Phi is what is measured
            for m, means in enumerate(item_mean):
                tree = common_agreement(
                    ratings,
                    item_mean=means,
                    likelihood=likelihood,
                    ci_prob=ci_prob,
                    draws=1,
                    chains=1,
                    random_seed=rng,
                )
                found = tree["agreement"].to_dataset()
                summary[m, k, j, r] = [float(found[name]) for name in ("mean", "lower", "upper")]
        progress(1)
    dims = ("item_mean", "n_levels", "n_annotators")
    data = {name: ((*dims, "repeat"), summary[..., i]) for i, name in enumerate(("phi", "lower", "upper"))}
    data["false_agreement"] = (dims, (summary[..., 1] > 0).mean(axis=-1))  # type: ignore[assignment]
    data["false_disagreement"] = (dims, (summary[..., 2] < 0).mean(axis=-1))  # type: ignore[assignment]
    coords = {"item_mean": list(item_mean), "n_levels": list(n_levels), "n_annotators": list(n_annotators)}
    return xr.Dataset(data, coords, {"ci_kind": "hdi", "ci_prob": ci_prob, "n_items": n_items})


def plot_random_answers(result: xr.Dataset, *, axes: Panels | None = None) -> Panels:
    """Draw how often random answers are called agreement, by the number of raters, with Jeffreys intervals.

    Parameters
    ----------
    result
        Result of `random_answers`.
    axes
        An array of as many axes to draw in; by default a figure of its own.

    Returns
    -------
    array of Axes
        The axes drawn in.

    References
    ----------
    Checco et al. (2017), figure 3.

    Examples
    --------
    >>> found = random_answers(n_annotators=[3], n_levels=[5], n_items=20, repeats=2, random_seed=1)
    >>> plot_random_answers(found)[0, 0].get_title()
    '5 levels'
    """
    levels, raters = result["n_levels"].values, result["n_annotators"].values
    n = result.sizes["repeat"]
    _, panels = new_panels(axes, 1, levels.size, width=3.2, height=2.8, sharey=True)
    for panel, level in zip(panels[0], levels):
        for k, means in enumerate(result["item_mean"].values.tolist()):
            share = result["false_agreement"].sel(n_levels=level, item_mean=means).values
            ends = sp.stats.beta.ppf([[0.025], [0.975]], share * n + 0.5, n - share * n + 0.5)
            bars = np.maximum([share - ends[0], ends[1] - share], 0)
            panel.errorbar(raters, share, yerr=bars, capsize=3, label=f"{means} item means", **style(k))
        panel.axhline(1 - result.attrs["ci_prob"], color="0.6", linewidth=1)
        panel.set_title(f"{level} levels")
        panel.set_xlabel("raters of an item")
    panels[0, 0].set_ylabel("called agreement")
    panels[0, 0].legend(fontsize="small")
    return panels


def main(
    raters: Annotated[str, Option(help="Raters of an item, comma separated.")] = "3,5,10,20,30,50",
    levels: Annotated[str, Option(help="Levels of the scale, comma separated.")] = "5,11",
    n_items: Annotated[int, Option(help="Items of a data set.", min=2)] = 100,
    repeats: Repeats = 40,
    random_seed: _options.Seed = 1,
    figures: Figures = None,
) -> _output.Answer:
    """Show how often random answers are called agreement: Checco et al., figure 3.

    Example: python -m studies.answers --raters 3,10 --levels 5 --repeats 10 --figures folder
    """
    counts = _options.numbers(raters)
    scales = _options.numbers(levels)
    with _output.progress("data sets", len(counts) * len(scales) * repeats) as advance:
        found = random_answers(
            n_annotators=counts,
            n_levels=scales,
            n_items=n_items,
            repeats=repeats,
            random_seed=random_seed,
            progress=advance,
        )
    table = found[["false_agreement", "false_disagreement"]].assign(mean_phi=found["phi"].mean("repeat"))
    notes = save_figures(figures, {"figure-3": lambda: plot_random_answers(found)})
    rows = table.to_dataframe().reset_index()
    return _output.Answer([_output.Table("answers", rows, "Share of intervals above and below 0")], notes)


if __name__ == "__main__":
    run(main)
