"""Runs: the answers that a model gave when it was asked several times.

Predictions have one row for each run of a model, as if it were a model of its own; `Runs` says whose run each row is.
"""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd

from bayesagree._types import Array, Floats, Places
from bayesagree.annotations._columns import column, objects, require_present
from bayesagree.errors import InputError, shorten, warn

# Names of columns that tell the runs of a model apart.
NAMES = ("run", "trial", "epoch", "replicate", "seed")


class Runs(NamedTuple):
    """The model and the run of each row of predictions; rows beyond are models that ran once.

    Attributes
    ----------
    models
        Names of the models, shape (model,).
    code
        Position of the model of each row, shape (row,).
    names
        Name of the run of each row, shape (row,).
    """

    models: Array
    code: Places
    names: Array

    @classmethod
    def of(cls, rows: Array, known: Mapping[Any, tuple[Any, Any]]) -> Self:
        """Return the runs of rows by the model and run of each name, as `one_row_a_run` gives them."""
        code, models = pd.factorize(np.array([known[row][0] for row in rows.tolist()], object))
        return cls(np.array(models.tolist()), code, np.array([known[row][1] for row in rows.tolist()]))

    def rows(self, models: Array) -> Array:
        """Return the names of models, of the names of rows."""
        return np.append(self.models, models[self.code.size :])

    @property
    def names_once(self) -> Array:
        """Names of the runs, each once."""
        return pd.unique(self.names)

    def models_of(self, rows: int) -> Places:
        """Position of the model of each of so many rows, also of those beyond the runs."""
        return np.append(self.code, self.models.size + np.arange(rows - self.code.size))

    def _of_each(self, values: Floats, axis: int) -> list[Floats]:
        """Values of the runs of each model, the axis of rows first."""
        rows, model = np.moveaxis(values, axis, 0), self.models_of(values.shape[axis])
        return [rows[model == m] for m in range(model.max() + 1)]

    def mean(self, values: Floats, axis: int = -2) -> Floats:
        """Average values over the runs of each model: the axis of rows becomes one of models."""
        return np.stack([runs.mean(axis=0) for runs in self._of_each(values, axis)], axis)

    def apart(self, values: Floats) -> Floats:
        """Return values (..., row, sample) as (..., run, model, sample), NaN where a model has no such run."""
        run = pd.Index(self.names_once).get_indexer(self.names)
        n_models = self.models_of(values.shape[-2]).max() + 1
        out = np.full((*values.shape[:-2], self.names_once.size, n_models, values.shape[-1]), np.nan)
        out[..., run, self.code, :] = values[..., : self.code.size, :]
        return out

    def variance(self, values: Floats) -> Floats:
        """Variance of the mean over the runs of each model (..., model), from that between them; 0 for one run."""
        runs = self._of_each(values, -2)
        return np.stack([one.var(axis=0, ddof=len(one) > 1).mean(axis=-1) / len(one) for one in runs], -1)


def one_row_a_run(
    table: pd.DataFrame, run: str | None, model: str, item: str, known: Collection[str | None]
) -> tuple[pd.DataFrame, dict[str, tuple[Any, Any]] | None]:
    """Return a table whose models are the runs of models, and the model and run of each name; without runs as it is.

    Parameters
    ----------
    table
        Columns model and item, and others.
    run
        The column of runs; None takes the only one of a name in `NAMES` that differs within a model's rows of an item.
    model, item
        Names of these columns.
    known
        Columns that hold something else.
    """
    columns: list[str] = [name for name in table.columns if str(name).lower() in NAMES and name not in known]
    if run is None and not columns:
        return table, None
    if not {model, item} <= {*table.columns}:
        raise InputError(
            "runs are read with one row for each model, item and run; name the columns model= and item="
        )
    if run is None:
        pairs = table.groupby([model, item], sort=False)
        found = [name for name in columns if pairs[name].nunique().to_numpy().max() > 1]
        if not found:
            return table, None
        if len(found) > 1:
            raise InputError(
                f"columns {shorten(found)} all tell rows of one model and item apart; name one with run="
            )
        run = found[0]
        warn(f"column {run!r} is taken for the run")
    require_present(column(table, run, "run").isna().to_numpy(), "run")
    pairs = list(zip(table[model].tolist(), table[run].tolist()))
    names = {pair: f"{pair[0]} ({run} {pair[1]})" for pair in dict.fromkeys(pairs)}
    rows = objects([None if pd.isna(pair[0]) else names[pair] for pair in pairs])
    of_rows = {name: pair for pair, name in names.items()}
    return table.drop(columns=[*{run, *columns}]).assign(**{model: rows}), of_rows
