"""From chains of a Dawid-Skene sampler to the result tree, with convergence diagnostics."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree._types import Floats
from bayesagree.annotations import Labels
from bayesagree.errors import ConvergenceError, as_python, shorten, warn
from bayesagree.inference.blocks import category_axis, check_depth
from bayesagree.inference.convergence import ENOUGH_DRAWS, MODES_APART, ONE_APART, diagnostics, warn_of_numbers
from bayesagree.inference.posterior import Request
from bayesagree.inference.results import check_size, result_tree
from bayesagree.plausibility.dawid_skene._chains import Chains
from bayesagree.plausibility.dawid_skene.em import EMResult

DIMS: dict[str, tuple[str, ...]] = {
    "plausibility": ("item", "category"),
    "top_label": ("item", "rank"),
    "prevalence": ("category",),
    "accuracy": ("annotator",),
    "confusion": ("annotator", "category", "observed_category"),
    "concentration": ("category",),
    "crowd_confusion": ("category", "observed_category"),
    "ambiguity": (),
    "threshold": ("boundary",),
    "latent_truth": ("item",),
    "discrimination": ("annotator",),
    "severity": ("annotator",),
    "stretch": ("annotator",),
}
# How many items and annotators have convergence diagnostics: they are exchangeable, and a sample tells of all.
MONITORED = 50
# Variables without convergence diagnostics: those of the items' probabilities tell of them.
UNWATCHED = ("plausibility", "top_label", "confusion", "crowd_confusion", "latent_truth")
# Variables of which tables print every number.
PRINTED = ("accuracy", "prevalence")
# Settings that say what ``variant="auto"`` averages.
CHOSEN = ("variant", "weights")


def choice_notes(settings: Mapping[str, Any]) -> list[str]:
    """Return which posterior and which variants were chosen and why, where they were, and which models were left out.

    Examples
    --------
    >>> choice_notes({"weights": {"mixed_membership": 0.75, "votes": 0.25}})[0].split(",")[0]
    'Model: average of mixed_membership (0.75) and votes (0.25)'
    >>> choice_notes({"variant": "full"})
    []
    """
    notes = [settings["choice"]] if settings.get("choice") else []
    if left_out := settings.get("left_out"):
        notes.append(
            f"The predictions of {shorten(left_out)} inform no truth, not even their own: other models do."
        )
    if unsure := settings.get("unsure"):
        notes.append(
            f"These annotations are too few to tell whether {', '.join(unsure)} are independent of them: each interval "
            "also holds the score under a truth that does not learn from them (without_unsure)."
        )
    if weights := settings.get("weights", {}):
        why = "how well each predicts annotators held out"
        *others, last = (
            f"{name} ({weight:.2f})" for name, weight in sorted(weights.items(), key=lambda w: -w[1])
        )
        notes.append(
            f"Model: average of {', '.join(others)} and {last}, weighted by {why}."
            if others
            else f"Model: {next(iter(weights))}, which has all the weight of an average by {why}."
        )
    return notes


def check_result(labels: Labels, request: Request, *, confusion: bool) -> None:
    """Refuse a result that would not fit, before anything is drawn."""
    once, n_labels = {"chain": request.chains, "draw": request.draws}, labels.categories.size
    matrix = {"annotator": labels.annotators.size, "category": n_labels, "observed_category": n_labels}
    last, itemsize, way_out = (
        {"category": n_labels},
        8,
        "pass top_labels=L to keep only the L best labels of each draw",
    )
    if request.top_labels is not None:
        last, itemsize, way_out = {"rank": check_depth(request.top_labels, n_labels)}, 2, "use fewer draws"
    check_size(once | {"item": labels.items.size} | last, itemsize, way_out)
    if confusion:
        check_size(once | matrix, 4, "pass confusion=False to keep accuracies only")
    check_size({"chain": request.chains} | matrix, 8, "merge rare labels, or use fewer chains")


def convergence(
    draws: Mapping[str, NDArray[Any]], chains: Chains, names: Iterable[str] = ()
) -> tuple[Floats, Floats]:
    """Return r-hat and effective draws of what is watched of one variant."""
    drawn = [draws[name][:, chains.at] for name in names or chains.names if name not in UNWATCHED]
    return diagnostics(np.concatenate([_flat(values) for values in (*drawn, chains.watched)], axis=2))


def worst_r_hat(draws: Mapping[str, NDArray[Any]], chains: Chains) -> float:
    """Return the largest R-hat of what is watched, 0 where there is none."""
    return float(np.nan_to_num(convergence(draws, chains)[0], posinf=np.inf).max())


def chains_tree(
    labels: Labels,
    draws: Mapping[str, NDArray[Any]],
    parts: Mapping[str, Chains],
    *,
    random_seed: Any,
    settings: Mapping[str, Any],
) -> xr.DataTree:
    """Turn draws and the chains of each variant, by name, into the result of `dawid_skene`.

    An average of models is a mixture: each draw is one of one model. The mean of the plausibilities of all models in
    every draw would leave out that the models differ, and a best label would be that of the heaviest one. Chains are
    compared within each part, because chains of two models differ however well each is drawn.
    """
    number = np.array([part.at.size for part in parts.values()])
    share = number / number.sum()
    draws = {
        name: values for name, values in draws.items() if all(name in part.names for part in parts.values())
    }
    r_hat, ess = map(np.stack, zip(*(convergence(draws, part, draws) for part in parts.values())))
    probability = sum(s * part.expected.mean(axis=0) for s, part in zip(share, parts.values()))
    coords = coordinates(labels, draws["top_label"].shape[-1] if "top_label" in draws else 0)
    coords |= {"parameter": _parameter_names(draws, coords)}
    coords["category"] = category_axis(labels.categories, labels.has_order)
    groups = _groups(labels, draws, probability)
    # Of a mixture: r-hat of the mean variance ratio, and effective draws of the mean.
    pooled = {"r_hat": np.sqrt(share @ r_hat**2), "ess": 1 / (share**2 @ (1 / ess))}
    groups["diagnostics"] = {name: (("parameter",), values) for name, values in pooled.items()}
    if len(parts) > 1:
        variants = np.repeat([*parts], number)[np.argsort(np.concatenate([part.at for part in parts.values()]))]
        groups["constant_data"]["variant_of_draw"] = (("draw",), variants)
    how = {"model": "dawid_skene", "engine": "gibbs", "random_seed": random_seed}
    tree = result_tree(groups, coords, settings=settings, **how)
    if (why := disagreement(tree)) is not None:
        warn(why)
    else:
        warn_of_numbers({name: draws[name] for name in PRINTED if name in draws}, "pass more draws and tune")
    return tree


def estimate_tree(fit: EMResult, labels: Labels, random_seed: Any, settings: Mapping[str, Any]) -> xr.DataTree:
    """Return a point estimate as the result of `dawid_skene`: one chain of one draw."""
    if not fit.converged:
        warn(f"EM did not converge in {fit.log_likelihood.size} iterations; raise max_iterations")
    drawn = {"plausibility": fit.label_probability, "prevalence": fit.prevalence, "confusion": fit.confusion}
    drawn["accuracy"] = np.nansum(np.diagonal(drawn["confusion"], axis1=1, axis2=2) * fit.prevalence, axis=1)
    groups = _groups(labels, {name: one[None, None] for name, one in drawn.items()}, fit.label_probability)
    groups["diagnostics"] = {"log_likelihood": (("iteration",), fit.log_likelihood)}
    how = {"model": "dawid_skene", "engine": "em", "random_seed": random_seed}
    return result_tree(groups, coordinates(labels), settings=settings, **how)


def _groups(labels: Labels, draws: Mapping[str, NDArray[Any]], probability: Any) -> dict[str, dict[str, Any]]:
    given = np.bincount(labels.annotator_index, minlength=labels.annotators.size)
    return {
        "posterior": {name: (("chain", "draw", *DIMS[name]), values) for name, values in draws.items()},
        "derived": {"label_probability": (("item", "category"), probability)},
        "constant_data": {"n_labels_given": (("annotator",), given)},
    }


def coordinates(labels: Labels, n_ranks: int = 0) -> dict[str, Any]:
    """Return the names on each axis of a result."""
    return {
        "item": labels.items,
        "annotator": labels.annotators,
        "category": labels.categories,
        "observed_category": labels.categories,
        "rank": np.arange(1, n_ranks + 1),
        "boundary": [f"{low} | {high}" for low, high in zip(labels.categories, labels.categories[1:])],
    }


def monitored_items(n_items: int) -> NDArray[np.int64]:
    """Choose items at even distances."""
    return np.unique(np.linspace(0, n_items - 1, min(MONITORED, n_items)).astype(np.int64))


def _flat(values: NDArray[Any]) -> NDArray[Any]:
    """Return the draws to be diagnosed, shape (chain, draw, parameter)."""
    return values.reshape(*values.shape[:2], -1)[:, :, :MONITORED]


def _parameter_names(drawn: Mapping[str, NDArray[Any]], axis: Mapping[str, Any]) -> list[str]:
    names, items = [], axis["item"]
    for name, values in drawn.items():
        if name in UNWATCHED:
            continue
        along = axis[DIMS[name][0]][: _flat(values).shape[2]] if DIMS[name] else ()
        names += [f"{name}[{as_python(v)}]" for v in along] if DIMS[name] else [name]
    return names + [f"label_probability[{as_python(items[i])}]" for i in monitored_items(len(items))]


def require_mixed(tree: xr.DataTree) -> None:
    """Refuse a result whose chains disagree: a mean over them would be a number about nothing."""
    if (why := disagreement(tree)) is not None:
        raise ConvergenceError(f"{why}; or pass allow_unmixed=True for a mean over chains that disagree")


def disagreement(tree: xr.DataTree) -> str | None:
    """Return a sentence that names what chains disagree about, worst first; None if they agree.

    With fewer than a hundred draws r-hat is mostly noise, and no sentence is returned.
    """
    if tree["posterior"].sizes.get("draw", 0) < ENOUGH_DRAWS or "r_hat" not in tree["diagnostics"]:
        return None
    found = tree["diagnostics"].to_dataset()
    names, r_hat = (found[name].values for name in ("parameter", "r_hat"))
    limit = [ONE_APART if str(n).startswith(("label_probability", "accuracy")) else MODES_APART for n in names]
    excess = np.nan_to_num(r_hat / limit)
    worst = np.argsort(-excess, kind="stable")[: (excess > 1).sum()]
    if not worst.size:
        return None
    return (
        f"the chains disagree about {shorten(names[worst])} (r_hat up to {r_hat[worst].max():.2f}); pass more draws "
        "and tune, or a larger thin. Chains that still disagree have found different explanations of the labels: pass "
        "gold"
    )
