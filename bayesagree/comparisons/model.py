"""The model of Davidson in PyMC."""

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesagree.annotations.comparisons import OUTCOMES, Comparisons
from bayesagree.comparisons._cells import cells_of
from bayesagree.comparisons._density import Density, Effect, form_of
from bayesagree.comparisons.prior import DavidsonPrior

if TYPE_CHECKING:
    import pymc as pm


def davidson_model(
    comparisons: Comparisons,
    *,
    prior: DavidsonPrior | None = None,
    ties: Effect = "common",
    order: Effect = "common",
    discrimination: Effect = None,
    item_effects: bool = False,
) -> "pm.Model":
    """PyMC model of comparisons, the same posterior as `davidson`'s.

    Parameters
    ----------
    comparisons, ties, order, discrimination, item_effects, prior
        As `davidson`, which chooses effects that are "auto"; here each is given.

    Returns
    -------
    pymc.Model
        Free coordinates in units of their standard deviation (``strength_unit``, ``tie_unit``, ...) and the scales;
        deterministic ``strength`` (model), ``tie``, ``order``, ``discrimination``; observed ``outcomes`` (cell,
        outcome): comparisons that differ in nothing else are counted.

    Raises
    ------
    InputError
        As `davidson`.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"left": list("AAB"), "right": list("BCC"), "winner": ["A", "tie", "B"]})
    >>> davidson_model(Comparisons.from_long(table)).observed_RVs
    [outcomes]
    """
    requested = {"ties": ties, "order": order, "discrimination": discrimination}
    form = form_of(comparisons, requested, item_effects)
    return model_of(Density(cells_of(comparisons, **form.cells), form, prior or DavidsonPrior()), comparisons)


def model_of(density: Density, comparisons: Comparisons) -> "pm.Model":
    """Build the model of a density."""
    import pymc as pm
    import pytensor.tensor as pt

    cells, form, prior = density.cells, density.form, density.prior
    coords = {"model": comparisons.models, "annotator": comparisons.annotators}
    n_outcomes = 2 if form.ties is None else 3
    coords |= {"outcome": OUTCOMES[:n_outcomes], "cell": np.arange(cells.first.size)}

    def by_annotator(name: str) -> Any:
        return scale[f"{name}_sd"] * pm.Normal(f"{name}_by_annotator_unit", dims="annotator")

    def effect(name: str, mean: float, sd: float, kind: Effect) -> Any:
        """Add an effect, common or of each annotator around an average, and return that of each cell."""
        average: Any = pm.Deterministic(f"average_{name}", mean + sd * pm.Normal(f"{name}_unit"))
        if kind == "common":
            return pm.Deterministic(name, average + 0.0)
        own: Any = pm.Deterministic(name, average + by_annotator(name), dims="annotator")
        return own[cells.annotator]

    with pm.Model(coords=coords) as graph:
        scale = {name: pm.HalfNormal(name, sd) for name, sd in density.scale_prior.items()}
        strength = pm.Normal("strength_unit", dims="model") * scale.get("strength_sd", prior.strength_sd)
        pm.Deterministic("strength", strength - strength.mean(), dims="model")
        entry: Any = strength[cells.entry_model]
        if form.item_effects:
            entry = entry + scale["item_sd"] * pm.Normal("item_unit", shape=cells.entry_model.size)
        distance = entry[cells.first] - entry[cells.second]
        if form.discrimination:
            log_slope = by_annotator("discrimination")
            slope: Any = pt.exp(log_slope - log_slope.mean())
            slope = pm.Deterministic("discrimination", slope, dims="annotator")
            distance = distance * slope[cells.annotator]
        if form.order:
            distance = distance + effect("order", 0.0, prior.order_sd, form.order)
        odds: Any = pt.exp(effect("tie", prior.tie_mean, prior.tie_sd, form.ties)) if form.ties else 0.0
        weights = [pt.exp(distance / 2), pt.exp(-distance / 2), odds * pt.ones_like(distance)]
        probability: Any = pt.stack(weights[:n_outcomes], axis=-1)
        probability = probability / probability.sum(axis=-1, keepdims=True)
        observed, dims = cells.counts[:n_outcomes].T, ("cell", "outcome")
        if (observed % 1).any():  # comparisons made again weigh less than one
            pm.Potential("outcomes", pt.as_tensor(observed) * pt.log(probability), dims=dims)
        else:
            counts = observed.astype(int)
            pm.Multinomial("outcomes", counts.sum(axis=1), probability, observed=counts, dims=dims)
    return graph
