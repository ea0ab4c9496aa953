"""What the commands of all studies share: options, figures in files, exit codes of the package's own commands."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pandas as pd
from typer import Option

from bayesagree import cli
from bayesagree.cli._commands import as_command

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayesagree.plots._panels import Panels

type Drawings = Mapping[str, Callable[[], "Axes | Panels"]]
"""Name of a file to the function that draws it."""

Figures = Annotated[
    Path | None, Option("--figures", help="Folder to write the figures of the paper to, as PNG.")
]
Repeats = Annotated[int, Option(help="Repetitions of a setting.", min=1)]


def run(main: Callable[..., Any]) -> None:
    """Run the `main` of a study with the options of the command line."""
    cli.main(as_command(main, main.__module__))


def flat(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with its index as columns and one row of names."""
    plain = table.reset_index()
    plain.columns = [
        " ".join(str(p) for p in (c if isinstance(c, tuple) else (c,)) if p != "") for c in plain.columns
    ]
    return plain


def save_figures(folder: Path | None, figures: Drawings) -> list[str]:
    """Write the figures to a folder, where one is given; returns a note."""
    if folder is None:
        return []
    import matplotlib.pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in figures.items():
        figure = np.asarray(draw(), dtype=object).flat[0].figure
        figure.savefig(folder / f"{name}.png", dpi=150)
        plt.close(figure)
    return [f"Figures in {folder}: {', '.join(figures)}."]
