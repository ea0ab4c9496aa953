"""Truths of each group of annotators: functions of one truth, applied to that of each group."""

import functools
from collections.abc import Callable
from typing import Any

import pandas as pd
import xarray as xr

from bayesagree.errors import InputError


def is_grouped(truth: Any) -> bool:
    """Whether a truth is of each group of annotators."""
    kept: Any = truth["posterior"] if isinstance(truth, xr.DataTree) and "posterior" in truth else {}
    return any("group" in kept[name].dims for name in ("plausibility", "top_label") if name in kept)


def require_one_truth(truth: Any) -> None:
    """Refuse a truth of each group of annotators."""
    if is_grouped(truth):
        raise InputError("this posterior has a truth for each group; take one of them: truth.sel(group=...)")


def each_group(function: Callable[..., xr.DataArray]) -> Callable[..., xr.DataArray]:
    """Apply a function of a truth, its first argument, to that of each group, and join what it returns as `group`."""

    @functools.wraps(function)
    def call(truth: Any, *args: Any, **given: Any) -> xr.DataArray:
        if not is_grouped(truth):
            return function(truth, *args, **given)
        names = pd.Index(truth["posterior"]["group"].values, name="group")
        parts = [
            function(truth.isel(group=g), *args, **given).drop_vars("group", errors="ignore")
            for g in range(names.size)
        ]
        joined = xr.concat(parts, names, combine_attrs="override")
        return joined.transpose("chain", "draw", "group", ..., missing_dims="ignore")

    return call
