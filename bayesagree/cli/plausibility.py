"""`bayesagree plausibility`: the posterior of the truth of each item, as a file."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from bayesagree.cli import _options
from bayesagree.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

    from bayesagree.annotations import Annotations


def plausibility(
    source: _options.Source,
    sampling: _options.Sampling,
    plausibility: str | None = None,
    reliability: float | None = None,
    top_labels: int | None = None,
    output: Path | None = Path("plausibility.nc"),
) -> None:
    """Draw the plausibilities of each item and write them as a DataTree that ArviZ reads.

    Example: bayesagree plausibility annotations.csv --reliability 2 -o plausibility.nc
    """
    from bayesagree.io.files import write_result

    truth, _ = source.read()
    options: dict[str, Any] = {} if top_labels is None else {"top_labels": top_labels}
    tree = posterior(truth, plausibility, reliability=reliability, **vars(sampling), **options)
    write_result(tree, output or "plausibility.nc")
    sizes = ", ".join(f"{n} {dim}" for dim, n in tree["posterior"].sizes.items())
    typer.echo(f"{output}: {', '.join(map(str, tree['posterior'].data_vars))} ({sizes})", err=True)


def posterior(truth: "Annotations", name: str | None, *, reliability: float | None, **options: Any) -> "xr.DataTree":
    """Draw from the named posterior of the truth, or from the one that fits the annotations."""
    from bayesagree.draws.posterior import Request
    from bayesagree.plausibility.registry import fitting_posteriors, posterior_for

    chosen = posterior_for(truth, name or fitting_posteriors(truth)[0].name)
    if chosen.takes_predictions:
        raise InputError(
            f"{chosen.name} learns from predictions too; use bayesagree evaluate --plausibility {chosen.name}"
        )
    if chosen.learns_reliability and reliability not in (None, 1):
        raise InputError(f"{chosen.name} learns the reliability of each annotator; leave --reliability at 1")
    specification = chosen.specification
    if reliability is not None:
        (specification,) = specification.passes([reliability])
    return specification.draw(truth, Request(**options))
