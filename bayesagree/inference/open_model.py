"""PyMC models that a user may change: annotations as data, and parts of one's own under the names of ours."""

from collections.abc import Callable
from typing import Any

import numpy as np

from bayesagree._types import Array


def named_part(name: str, variable: Any, dims: Any) -> Any:
    """Return a user's variable under our name, by which the rest of the package finds it."""
    import pymc as pm

    model: Any = pm.modelcontext(None)
    return variable if model.name_for(name) in model.named_vars else pm.Deterministic(name, variable, dims=dims)


def part(
    name: str, own: Callable[..., Any] | None, ours: Callable[[], Any], *given: Any, dims: Any = ()
) -> Any:
    """Return the user's part of a model, made by `own` of what is `given`, or ours."""
    return ours() if own is None else named_part(name, own(*given), dims)


def annotation_data(item: Array, annotator: Array | None) -> tuple[Any, Any]:
    """Add who annotated which item as data: ``item_of_annotation``, ``annotator_of_annotation``."""
    import pymc as pm

    def data(name: str, codes: Array | None) -> Any:
        return None if codes is None else pm.Data(name, codes.astype(np.int64), dims="annotation")

    return data("item_of_annotation", item), data("annotator_of_annotation", annotator)
