"""Runs: the answers that a model gave when it was asked several times.

Predictions have one row for each run of a model, as if it were a model of its own; `Runs` says whose run each row is.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesagree._types import Floats
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

    models: NDArray[Any]
    code: NDArray[np.intp]
    names: NDArray[Any]

    @classmethod
    def of(cls, rows: NDArray[Any], known: Mapping[Any, tuple[Any, Any]]) -> Self:
        """Return the runs of rows by the model and run of each name, as `with_runs` gives them."""
        code, models = pd.factorize(np.array([known[row][0] for row in rows.tolist()], object))
        return cls(np.array(models.tolist()), code, np.array([known[row][1] for row in rows.tolist()]))

    def rows(self, models: NDArray[Any]) -> NDArray[Any]:
        """Return the names of models, of the names of rows."""
        return np.append(self.models, models[self.code.size :])

    def mean(self, values: Floats) -> Floats:
        """Average values (..., row, sample) over the runs of each model: (..., model, sample)."""
        each = [values[..., np.flatnonzero(self.code == m), :].mean(axis=-2) for m in range(self.models.size)]
        return np.concatenate([np.stack(each, axis=-2), values[..., self.code.size :, :]], axis=-2)

    def apart(self, values: Floats) -> tuple[NDArray[Any], Floats]:
        """Return the names of runs, and values (..., row, sample) as (..., run, model, sample), NaN for no run."""
        run, names = pd.factorize(self.names)
        n_models = self.models.size + values.shape[-2] - self.code.size
        out = np.full((*values.shape[:-2], names.size, n_models, values.shape[-1]), np.nan)
        out[..., run, self.code, :] = values[..., : self.code.size, :]
        return np.array(names), out

    def variance(self, values: Floats) -> Floats:
        """Variance of the mean over the runs of each model (..., model), from that between them; 0 for one run."""
        out = np.zeros((*values.shape[:-2], self.models.size + values.shape[-2] - self.code.size))
        for m, n in enumerate(np.bincount(self.code)):
            if n > 1:
                out[..., m] = (
                    values[..., np.flatnonzero(self.code == m), :].var(axis=-2, ddof=1).mean(axis=-1) / n
                )
        return out


def with_runs(
    keys: pd.DataFrame, run: str | None, columns: Sequence[str]
) -> tuple[NDArray[Any], dict[str, tuple[Any, Any]]] | None:
    """Return a name of each row's model and run, and the model and run of each name; None of a table without runs.

    Parameters
    ----------
    keys
        Columns model and item, and those of `columns` that name runs.
    run
        The column of runs; None takes the only one of `NAMES` that differs within a model's rows of an item.
    columns
        Names of the columns of the table that say nothing else.
    """
    if run is None:
        pairs = keys.groupby(["model", "item"], sort=False)
        named = [name for name in columns if str(name).lower() in NAMES]
        found = [name for name in named if pairs[name].nunique().to_numpy().max() > 1]
        if not found:
            return None
        if len(found) > 1:
            raise InputError(
                f"columns {shorten(found)} all tell rows of one model and item apart; name one with run="
            )
        run = found[0]
        warn(f"column {run!r} is taken for the run")
    missing = keys[run].isna().to_numpy()
    if missing.any():
        raise InputError(f"row {int(missing.argmax())}: the run is missing; every row needs one")
    pair = list(zip(keys["model"].tolist(), keys[run].tolist()))
    names = {one: f"{one[0]} ({run} {one[1]})" for one in dict.fromkeys(pair)}
    rows = np.array([None if pd.isna(one[0]) else names[one] for one in pair], object)
    return rows, {name: one for one, name in names.items()}
