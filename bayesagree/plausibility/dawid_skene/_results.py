"""From chains of a Dawid-Skene sampler to the result tree, with convergence diagnostics."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree._inference.results import check_size, result_tree
from bayesagree.annotations import Labels
from bayesagree.draws.blocks import check_depth
from bayesagree.draws.convergence import ENOUGH_DRAWS, R_HAT_LIMIT, R_HAT_LIMIT_OF_ONE, diagnostics
from bayesagree.draws.posterior import Request
from bayesagree.errors import UnmixedError, as_python, shorten
from bayesagree.plausibility.dawid_skene._cells import AnnotationCells
from bayesagree.plausibility.dawid_skene._gibbs import ChainDraws

DIMS: dict[str, tuple[str, ...]] = {
    "plausibility": ("item", "category"),
    "top_label": ("item", "rank"),
    "prevalence": ("category",),
    "accuracy": ("annotator",),
    "confusion": ("annotator", "category", "observed_category"),
    "concentration": ("category",),
    "crowd_confusion": ("category", "observed_category"),
    "difficulty": ("item",),
    "ambiguity": (),
}
# Each costs half a millisecond, and items and annotators are exchangeable: a sample tells of all.
WATCHED = 50
"""How many items and annotators have convergence diagnostics."""


CHOSEN = ("variant", "chosen_from")
"""Settings that say which variant ``variant="auto"`` chose, and from what."""


def choice_notes(settings: Mapping[str, Any]) -> list[str]:
    """Return which posterior and which variant were chosen and why, where they were.

    Examples
    --------
    >>> made = {"variant": "hierarchical", "chosen_from": {"hierarchical": -0.5, "mixed_membership": -0.625}}
    >>> choice_notes(made)[0].split(",")[0]
    'Model: hierarchical'
    >>> choice_notes({"variant": "full"})
    []
    """
    notes = [settings["choice"]] if settings.get("choice") else []
    if scores := settings.get("chosen_from", {}):
        each = ", ".join(f"{name} {score:.4f}" for name, score in scores.items())
        best = f"{settings['variant']}, which best predicts an annotation from all others"
        notes.append(f"Model: {best} (mean log score: {each}).")
    return notes


def check_result(labels: Labels, request: Request, *, confusion: bool) -> None:
    """Refuse a result that would not fit, before anything is drawn."""
    sizes, most = {"chain": request.chains, "draw": request.draws}, request.max_bytes
    items = {"item": labels.items.size}
    n_labels = labels.categories.size
    if request.top_labels is None:
        way_out = "pass top_labels=L to keep only the L best labels of each draw, or fewer draws"
        check_size(sizes | items | {"category": n_labels}, 8, most, way_out)
    else:
        depth = check_depth(request.top_labels, n_labels)
        check_size(sizes | items | {"rank": depth}, 2, most, "use fewer draws")
    if confusion:
        matrix = {"annotator": labels.annotators.size, "category": n_labels, "observed_category": n_labels}
        check_size(sizes | matrix, 4, most, "pass confusion=False to keep accuracies only")
    check_size(items | {"category": n_labels}, 8, most, "use fewer items at a time")


def chains_tree(
    labels: Labels,
    cells: AnnotationCells,
    chains: Sequence[ChainDraws],
    *,
    engine: str,
    seed: Any,
    settings: Mapping[str, Any],
    sampler: str = "",
    sample_stats: Mapping[str, Any] | None = None,
) -> xr.DataTree:
    """Stack chains into the result of `dawid_skene`."""
    drawn = {name: np.stack([c.variables[name] for c in chains]) for name in chains[0].variables}
    probability = sum(c.expected for c in chains) / len(chains)
    worst = _diagnostics(drawn | {"label_probability": np.stack([c.watched for c in chains])})
    if all(c.spread.size for c in chains):
        candidates = _between_chains(np.stack([c.expected for c in chains]), np.stack([c.spread for c in chains]))
        worst["item_r_hat"] = (("item",), np.fmax.reduceat(candidates, cells.candidate_start[:-1]))
        accuracy = drawn["accuracy"]
        worst["annotator_r_hat"] = (("annotator",), _between_chains(accuracy.mean(axis=1), accuracy.var(axis=1)))
    posterior = {name: (("chain", "draw", *DIMS[name]), values) for name, values in drawn.items()}
    derived = {
        "label_probability": (("item", "category"), cells.expand(np.asarray(probability), labels.categories.size))
    }
    groups: dict[str, Any] = {
        "posterior": posterior,
        "diagnostics": worst,
        "derived": derived,
        "constant_data": {"n_labels_given": (("annotator",), labels_given(labels))},
    }
    if sample_stats:
        groups["sample_stats"] = sample_stats
    ranks = drawn["top_label"].shape[-1] if "top_label" in drawn else 0
    coords = coordinates(labels, ranks) | {"parameter": _parameter_names(drawn, labels)}
    tree = result_tree(
        groups, coords, model="dawid_skene", engine=engine, sampler=sampler, seed=seed, settings=settings
    )
    warn_unless_converged(tree)
    return tree


class Estimate(NamedTuple):
    """Result of EM; `label_probability` (item, category) is None where the items are not in memory."""

    prevalence: NDArray[np.float64]
    confusion: NDArray[np.float64]
    log_likelihood: NDArray[np.float64]
    converged: bool
    labels_given: NDArray[np.int64]
    label_probability: NDArray[np.float64] | None = None


def estimate_tree(estimate: Estimate, coords: Mapping[str, Any], seed: Any, settings: Mapping[str, Any]) -> xr.DataTree:
    """Return a point estimate as the result of `dawid_skene`: one chain of one draw."""
    if not estimate.converged:
        n = estimate.log_likelihood.size
        warnings.warn(f"EM did not converge in {n} iterations; raise max_iterations", UserWarning, stacklevel=4)
    prevalence, confusion, probability = estimate.prevalence, estimate.confusion, estimate.label_probability
    accuracy = np.nansum(np.diagonal(confusion, axis1=1, axis2=2) * prevalence, axis=1)
    drawn = {"plausibility": probability, "prevalence": prevalence, "confusion": confusion, "accuracy": accuracy}
    groups: dict[str, dict[str, Any]] = {
        "posterior": {
            name: (("chain", "draw", *DIMS[name]), one[None, None]) for name, one in drawn.items() if one is not None
        },
        "diagnostics": {"log_likelihood": (("iteration",), estimate.log_likelihood)},
        "constant_data": {"n_labels_given": (("annotator",), estimate.labels_given)},
    }
    if probability is not None:
        groups["derived"] = {"label_probability": (("item", "category"), probability)}
    return result_tree(groups, coords, model="dawid_skene", engine="em", seed=seed, settings=settings)


def coordinates(labels: Labels, n_ranks: int = 0) -> dict[str, NDArray[Any]]:
    """Return the names on each axis of a result."""
    return {
        "item": labels.items,
        "annotator": labels.annotators,
        "category": labels.categories,
        "observed_category": labels.categories,
        "rank": np.arange(1, n_ranks + 1),
    }


def labels_given(labels: Labels) -> NDArray[np.int64]:
    """Count the annotations of each annotator, shape (annotator,)."""
    return np.bincount(labels.annotator_index, minlength=labels.annotators.size)


def watched_items(n_items: int) -> NDArray[np.int64]:
    """Choose items at even distances."""
    return np.unique(np.linspace(0, n_items - 1, min(WATCHED, n_items)).astype(np.int64))


def watched_candidates(cells: AnnotationCells, shares: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the position of the label with most votes of each watched item."""
    items = watched_items(cells.n_items)
    start, stop = cells.candidate_start[items], cells.candidate_start[items + 1]
    return np.array([a + np.argmax(shares[a:b]) for a, b in zip(start, stop)], dtype=np.int64)


def _watched_parameters(name: str, values: NDArray[Any]) -> NDArray[Any] | None:
    """Return the draws to be diagnosed, shape (chain, draw, parameter)."""
    if name in ("plausibility", "top_label", "confusion", "crowd_confusion", "difficulty"):
        return None
    return values.reshape(*values.shape[:2], -1)[:, :, :WATCHED]


def _diagnostics(drawn: Mapping[str, NDArray[Any]]) -> dict[str, tuple[tuple[str, ...], Any]]:
    chosen = [c for c in (_watched_parameters(n, v) for n, v in drawn.items()) if c is not None]
    r_hat, ess = diagnostics(np.concatenate(chosen, axis=2))
    return {"r_hat": (("parameter",), r_hat), "ess": (("parameter",), ess)}


def _parameter_names(drawn: Mapping[str, NDArray[Any]], labels: Labels) -> list[str]:
    axis = coordinates(labels)
    names = []
    for name, values in drawn.items():
        chosen = _watched_parameters(name, values)
        if chosen is not None and not DIMS[name]:
            names.append(name)
        elif chosen is not None:
            names += [f"{name}[{as_python(v)}]" for v in axis[DIMS[name][0]][: chosen.shape[2]]]
    return names + [f"label_probability[{as_python(labels.items[i])}]" for i in watched_items(labels.items.size)]


def warn_unless_converged(tree: xr.DataTree) -> None:
    """Warn where chains disagree."""
    if (why := disagreement(tree)) is not None:
        warnings.warn(why, UserWarning, stacklevel=4)


def require_mixed(tree: xr.DataTree) -> None:
    """Refuse a result whose chains disagree: a mean over them would be a number about nothing."""
    if (why := disagreement(tree)) is not None:
        raise UnmixedError(f"{why}; or pass allow_unmixed=True for a mean over chains that disagree")


def disagreement(tree: xr.DataTree) -> str | None:
    """Say which parameter, items and annotators chains disagree about; None if they agree.

    With fewer than a hundred draws r-hat is mostly noise, and nothing is said.
    """
    if tree["posterior"].sizes.get("draw", 0) < ENOUGH_DRAWS or "r_hat" not in tree["diagnostics"]:
        return None
    found = tree["diagnostics"].to_dataset()
    names = [str(name) for name in found["parameter"].values]
    one = [name.startswith(("label_probability", "accuracy")) for name in names]
    excess = np.nan_to_num(found["r_hat"].values / np.where(one, R_HAT_LIMIT_OF_ONE, R_HAT_LIMIT))
    worst = int(excess.argmax())
    if excess[worst] <= 1:
        return None
    apart = [
        f"{axis}s {shorten(found[axis].values[values.argsort()[::-1]][: (values > R_HAT_LIMIT).sum()])}"
        for axis in ("item", "annotator")
        if (values := np.nan_to_num(found.get(f"{axis}_r_hat", xr.DataArray([0.0])).values)).max() > R_HAT_LIMIT
    ]
    return (
        f"the chains disagree about {names[worst]} (r_hat {float(found['r_hat'][worst]):.2f})"
        + (f" and differ on {' and '.join(apart)}" if apart else "")
        + "; pass more draws and tune, or a larger thin. Chains that still disagree have found different "
        "explanations of the labels: pass gold"
    )


def _between_chains(mean: NDArray[Any], variance: NDArray[Any]) -> NDArray[np.float64]:
    """Potential scale reduction of whole chains (Gelman and Rubin 1992) from their means, shape (chain, ...)."""
    if len(mean) < 2:
        return np.full(mean.shape[1:], np.nan)
    # Two plausibilities that differ by a thousandth do not differ: so much variance is always allowed.
    within = variance.mean(axis=0) + 1e-6
    return np.sqrt(1 + mean.var(axis=0, ddof=1) / within)
