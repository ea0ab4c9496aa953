"""The log likelihood of items under a PyMC model of one's own, so that it compares with the package's posteriors."""

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy as sp
import xarray as xr

from bayesagree._types import Array, Floats, Named
from bayesagree.errors import InputError, positive_int, warn

if TYPE_CHECKING:
    import pymc as pm


# Nodes of the trapezoidal rule in w, the item's variable being centre + sd sinh(w), |w| up to 4: dense where the item
# is, and 27 standard deviations far, for items at an end of the scale have one long tail. The step is halved up to so
# many times, until no log likelihood moves by more: under a narrow prior an item may lie far from where it is.
NODES, REACH, HALVINGS, ENOUGH = 25, 4.0, 4, 0.01


def integrated_log_likelihood(
    result: xr.DataTree,
    model: "pm.Model",
    *,
    latent: str = "unit_item_mean",
    observed: str = "rating",
    item_of: str = "item_of_annotation",
    draws: int = 250,
) -> xr.DataTree:
    """Return a trace with the log likelihood of each item, the item's own variable integrated out.

    The package leaves out whole items (`with_log_likelihood`): with this, `arviz.loo` and `arviz.compare` take any two
    models of the same ratings, ours and one's own.

    Parameters
    ----------
    result
        Trace of the model: draws of all its free variables.
    model
        PyMC model in which each annotation depends on the variable of its own item alone, given all that items share.
    latent
        Name of the item's variable (item): free and continuous.
    observed
        Name of the observed variable, one value per annotation.
    item_of
        Name of the `pymc.Data` that says which item an annotation is of.
    draws
        Draws per chain, evenly taken from the trace: each evaluates the model 49 times, some more often.

    Returns
    -------
    DataTree
        The thinned posterior, and group ``log_likelihood``: `annotations` (chain, draw, item).

    Raises
    ------
    InputError
        A name that the model does not have, a trace without a free variable.

    Warns
    -----
    UserWarning
        Integrals that have not settled.

    See Also
    --------
    with_log_likelihood : the same for results of the package.
    common_agreement_model : a model to start from.

    References
    ----------
    E. C. Merkle, D. Furr, S. Rabe-Hesketh, "Bayesian comparison of latent variable models: conditional versus marginal
    likelihoods", Psychometrika 84 (2019), doi:10.1007/s11336-019-09679-0.

    Examples
    --------
    ::

        model = common_agreement_model(ratings, mean=my_function)
        with model:
            trace = pm.sample()
        az.compare({
            "mine": integrated_log_likelihood(trace, model),
            "plain": with_log_likelihood(common_agreement(ratings), ratings),
        })
    """
    for name in (latent, observed, item_of):
        if name not in model.named_vars:
            raise InputError(f"{name!r} is no variable of this model, which has {', '.join(model.named_vars)}")
    posterior = result["posterior"].to_dataset()
    free = [str(v.name) for v in model.free_RVs]
    if missing := [name for name in free if name not in posterior]:
        raise InputError(f"the trace has no draws of {missing[0]!r}, a free variable of the model")
    every = max(1, posterior.sizes["draw"] // positive_int(draws, "draws"))
    thinned = posterior.isel(draw=slice(None, None, every))
    flat = {name: thinned[name].values.reshape(-1, *thinned[name].shape[2:]) for name in free}
    item = np.asarray(model[item_of].get_value())  # pyright: ignore[reportAttributeAccessIssue]
    values = _integrate(model, flat, latent, observed, item)
    names = model.coords.get((model.named_vars_to_dims.get(latent) or ("item",))[0])
    items = np.arange(values.shape[1]) if names is None else np.asarray(names)
    coords = {"chain": thinned["chain"], "draw": thinned["draw"], "item": items}
    shaped = values.reshape(*thinned["chain"].shape, -1, values.shape[1])
    found = xr.Dataset({"annotations": (("chain", "draw", "item"), shaped)}, coords)
    return xr.DataTree.from_dict({"posterior": thinned, "log_likelihood": found})


def _integrate(model: Any, drawn: Named, latent: str, observed: str, item: Array) -> Floats:
    """Return the log likelihood of the items, shape (sample, item)."""
    from pymc.model.transform.conditioning import remove_value_transforms

    plain: Any = remove_value_transforms(model, [v for v in model.free_RVs if v.name != latent])
    own = plain[latent]
    transform = plain.rvs_to_transforms[own]
    place = drawn[latent]
    if transform is not None:
        place = np.asarray(transform.forward(place, *own.owner.inputs).eval())
    # By item: the rule sits where the item's posterior is, in the coordinate in which the sampler moves.
    centre = np.median(place, axis=0)
    sd = np.maximum(place.std(axis=0), 1e-6)
    steps = 2 * REACH / (NODES - 1) / 2.0 ** np.arange(HALVINGS + 1)
    rules = [np.linspace(-REACH, REACH, NODES)]
    rules += [np.arange(step - REACH, REACH, 2 * step) for step in steps[1:]]
    densities = [plain.logp(vars=[variable], sum=False)[0] for variable in (own, plain[observed])]
    log_density = plain.compile_fn(densities, inputs=plain.value_vars, on_unused_input="ignore")
    name, n_items = plain.rvs_to_values[own].name, place.shape[1]
    out, narrow = np.empty((len(place), n_items)), 0
    for s in range(len(place)):
        point = {key: values[s] for key, values in drawn.items() if key != latent}
        found = np.full(n_items, -np.inf)
        for w, step in zip(rules, steps):
            away, before = sd * np.sinh(w)[:, None], found
            pairs = (log_density(point | {name: nodes}) for nodes in centre + away)
            total = np.array([prior + np.bincount(item, likelihood, n_items) for prior, likelihood in pairs])
            found = np.logaddexp(found, sp.special.logsumexp(total + np.log(sd * np.cosh(w)[:, None]), axis=0))
            out[s] = found + np.log(step)
            if np.abs(found - np.log(2) - before).max() < ENOUGH:
                break
        else:
            narrow += 1
    if narrow:
        warn(
            f"{narrow} of {len(place)} draws: the items' priors are so narrow that log likelihoods moved by more than "
            f"{ENOUGH} at the last halving; they are rough"
        )
    return out
