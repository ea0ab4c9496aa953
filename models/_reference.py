"""How a reference posterior is written: every model of this folder ends its `main()` here."""

import json
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import arviz as az
import numpy as np
import xarray as xr

PACKAGES = ("numpy", "scipy", "pymc", "arviz")


def write_draws(
    script: str, *, data: Mapping[str, Any], tree: xr.DataTree, names: list[str], random_seed: int, source: str
) -> None:
    """Write mean, sd and quantiles of sampled parameters with their Monte-Carlo errors, and the checks made."""
    posterior = tree["posterior"].to_dataset()[names]
    record: dict[str, Any] = {}
    for name in names:
        draws = posterior[name]
        over = ("chain", "draw")
        record[name] = {
            "dims": [d for d in draws.dims if d not in over],
            "mean": draws.mean(over).values.tolist(),
            "sd": draws.std(over, ddof=1).values.tolist(),
            "mcse_mean": _over_draws(az.mcse, draws, method="mean"),
            "mcse_sd": _over_draws(az.mcse, draws, method="sd"),
            "quantile_05_50_95": np.moveaxis(draws.quantile([0.05, 0.5, 0.95], over).values, 0, -1).tolist(),
        }
    r_hat = max(float(np.nanmax(_over_draws(az.rhat, posterior[n]))) for n in names)
    ess = min(float(np.nanmin(_over_draws(az.ess, posterior[n]))) for n in names)
    stats = tree["sample_stats"].to_dataset()
    energy = stats["energy"].values
    e_bfmi = float(np.min(np.mean(np.diff(energy, axis=1) ** 2, axis=1) / np.var(energy, axis=1)))
    checks = {
        "r_hat_max": r_hat,
        "ess_bulk_min": ess,
        "divergences": int(stats["diverging"].sum()),
        "e_bfmi_min": e_bfmi,
    }
    passed = {
        "r_hat_below_1_01": r_hat < 1.01,
        "ess_above_400": ess > 400,
        "no_divergences": checks["divergences"] == 0,
        "e_bfmi_above_0_2": e_bfmi > 0.2,
    }
    _write(script, {"route": "nuts", "source": source, "random_seed": random_seed, "data": data, "posterior": record}
           | {"checks": checks, "checks_made": passed})  # fmt: skip


def summary(value: np.ndarray, weight: np.ndarray) -> dict:
    """Return mean, deviation and Monte-Carlo error of weighted samples, weights adding up to 1."""
    mean = np.tensordot(weight, value, 1)
    gap = (value - mean) ** 2
    sd, error = np.sqrt(np.tensordot(weight, gap, 1)), np.sqrt(np.tensordot(weight**2, gap, 1))
    return {key: np.round(x, 6).tolist() for key, x in (("mean", mean), ("sd", sd), ("error", error))}


def write_exact(script: str, *, data: Mapping[str, Any], posterior: Mapping[str, Any], source: str) -> None:
    """Write posterior quantities known without Monte-Carlo error, and say how exactly."""
    errors = [e for v in posterior.values() if isinstance(v, Mapping) for e in np.ravel(v.get("error", []))]
    print(f"exact: {source}" + (f"; largest error {max(errors):.1e}" if errors else ""))
    _write(script, {"route": "exact", "source": source, "data": data, "posterior": posterior})


def _over_draws(function: Any, draws: xr.DataArray, **kwargs: Any) -> Any:
    """Apply an ArviZ diagnostic to every scalar of a variable."""
    return function(draws.to_dataset(name="x"), **kwargs)["x"].values.tolist()


def _write(script: str, record: dict[str, Any]) -> None:
    record = {"name": Path(script).stem, "versions": {p: version(p) for p in PACKAGES}} | record
    path = Path(script).with_suffix(".json")
    path.write_text(json.dumps(record, indent=1, default=lambda v: np.asarray(v).tolist()) + "\n")
    for key in ("checks", "checks_made"):
        for name, value in record.get(key, {}).items():
            print(f"{name}: {value}")
    print(f"wrote {path.name}")
