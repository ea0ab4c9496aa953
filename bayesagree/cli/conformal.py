"""`bayesagree conformal`: sets of labels that cover what annotators say."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayesagree.cli import _options, _output
from bayesagree.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

# Items on the screen: what fits beside the table; the document has all.
_SHOWN = 10


def conformal(
    source: _options.Source,
    columns: _options.PredictionColumns,
    predictions: Path | None = None,
    plausibility: str | None = None,
    coverage: float = 0.9,
    method: str = "exact",
    score: str = "probability",
    mass: float = 0.9,
    folds: int = 2,
    new: Path | None = None,
    seed: int = 1,
    json: bool = False,
    output: Path | None = None,
) -> None:
    """Show coverage and size of prediction sets, against what annotators say and against vote winners.

    Example: bayesagree conformal annotations.csv probabilities.csv --coverage 0.9 --score aps -o sets.csv
    """
    from bayesagree.conformal import cross_sets, set_coverage, widest_sets
    from bayesagree.conformal.calibration import conformalize

    annotations, models = source.read(predictions, columns)
    if models is None:
        raise InputError("there are no predictions: give a file with a score for every label")
    chosen = _options.one_of(method, "--method", ("exact", "monte_carlo", "majority"))
    options: dict[str, Any] = {
        "coverage": coverage,
        "method": chosen,
        "score": _options.one_of(score, "--score", ("probability", "aps", "raps", "margin")),
    }
    truth = _truth(annotations, plausibility, seed)
    tested = cross_sets(truth, models, folds=folds, seed=seed, **options)
    table = set_coverage(truth, tested, mass=mass)
    sets = conformalize(truth, models, seed=seed, **options)
    found = tested if new is None else sets.predict_set(source.predictions(new, columns))
    if output is not None:
        _output.write_table(_rows(found), output)
    settings = options | {"mass": mass, "folds": folds, "seed": seed, "plausibility": plausibility or "vote shares"}
    thresholds = sets.threshold.to_dataframe().reset_index()
    _output.show(
        [
            _output.Table("settings", [settings], most=0),
            _output.Table("coverage", table, f"Sets for a coverage of {coverage:g}, 95 % intervals"),
            _output.Table("thresholds", thresholds, most=0),
            _output.Table("widest", widest_sets(found), "Widest sets", most=_SHOWN),
        ],
        json=json,
        notes=[
            f"the coverage of sets from {annotations.items.size} items scatters: of such sets 95 % cover between "
            f"{' and '.join(f'{end:.2f}' for end in sets.coverage_range.values)} (one label per item; less with more)",
            f"coverage is on items that did not calibrate ({folds} folds); thresholds are of all items",
        ],
    )


def _truth(annotations: Any, plausibility: str | None, seed: int) -> Any:
    """Return what calibrates: vote shares, or a posterior."""
    from bayesagree.annotations import Labels, Ratings
    from bayesagree.cli.plausibility import posterior

    if isinstance(annotations, Ratings):
        raise InputError("prediction sets are sets of labels, and these are ratings: read them with --kind labels")
    if plausibility is None and isinstance(annotations, Labels):
        return annotations
    return posterior(annotations, plausibility, reliability=None, seed=seed)


def _rows(sets: "xr.DataArray") -> "pd.DataFrame":
    from bayesagree.conformal import widest_sets

    table = widest_sets(sets, most=sets.sizes["item"])
    return table.assign(labels=[" ".join(map(str, labels)) for labels in table["labels"]])
