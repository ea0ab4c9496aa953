"""From chains of a Dawid-Skene sampler to the result tree, with convergence diagnostics."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from bayesagree._types import Array, Floats, Integers, Rng
from bayesagree.annotations import Labels
from bayesagree.errors import ConvergenceError, as_python, shorten, warn
from bayesagree.inference.blocks import best_labels, category_axis, check_depth
from bayesagree.inference.convergence import ENOUGH_DRAWS, MODES_APART, ONE_APART, diagnostics, warn_of_numbers
from bayesagree.inference.posterior import Request
from bayesagree.inference.results import check_size, result_tree
from bayesagree.plausibility.dawid_skene._crowd import Sampler
from bayesagree.plausibility.dawid_skene.em import EMResult

DIMS: dict[str, Any] = {
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
    "label_probability": ("monitored",),
}
# How many items and annotators have convergence diagnostics: they are exchangeable, and a sample tells of all.
MONITORED = 50
# Variables without convergence diagnostics: those of the items' probabilities tell of them.
UNWATCHED = ("plausibility", "top_label", "confusion", "crowd_confusion", "latent_truth")
# Settings that say what ``variant="auto"`` averages.
CHOSEN = ("variant", "weights")
Draws = Mapping[str, Array]


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
    if weights := settings.get("weights"):
        *others, last = (f"{n} ({w:.2f})" for n, w in sorted(weights.items(), key=lambda part: -part[1]))
        what = f"average of {', '.join(others)} and {last}" if others else f"{next(iter(weights))} alone"
        notes.append(f"Model: {what}, weighted by how well each variant predicts annotators held out.")
    return notes


def check_result(labels: Labels, request: Request, *, confusion: bool) -> None:
    """Refuse a result that would not fit, before anything is drawn."""
    once, n = {"chain": request.chains, "draw": request.draws}, labels.categories.size
    of_items = once | {"item": labels.items.size}
    matrix = {"annotator": labels.annotators.size, "category": n, "observed_category": n}
    if request.top_labels is None:
        check_size(
            of_items | {"category": n}, 8, "pass top_labels=L to keep only the L best labels of each draw"
        )
    else:
        check_size(of_items | {"rank": check_depth(request.top_labels, n)}, 2, "pass fewer draws")
    if confusion:
        check_size(once | matrix, 4, "pass confusion=False to keep accuracies only")
    check_size({"chain": request.chains} | matrix, 8, "merge rare labels, or use fewer chains")


class Part(NamedTuple):
    """What one variant has of a result.

    Attributes
    ----------
    at
        Positions of its draws among all.
    names
        Its variables.
    expected
        Mean of the conditional expectations of its plausibilities, (item, category).
    judged
        R-hat and effective draws of what is watched, by variable.
    """

    at: Integers
    names: set[str]
    expected: Floats
    judged: dict[str, tuple[Floats, Floats]]

    @classmethod
    def of(
        cls,
        sampler: Sampler,
        rng: Rng,
        at: Any,
        kept: Any,
        request: Request,
        thin: int,
        before: "Part | None",
        *,
        confusion: bool,
    ) -> "Part":
        """Run chains for draws at these positions of what is kept, (chain, draw, ...) by name.

        Of the draws `before`, half as far apart, every second one stays, and the chains go on from there.
        ``label_probability`` are the conditional expectations of the label with most votes of the monitored items.
        """
        apart = rng.spawn(1)[0]  # what is kept does not change the draws
        items = monitored_items(sampler.crowd.n_items)
        best = sampler.crowd.shares[items].argmax(axis=1)
        now, expected, stay = {}, np.zeros(1), 0
        if before is not None:
            stay = at.size // 2
            expected = before.expected * (stay / at.size)
            for new, old in zip(at, at[1::2]):
                for values in kept.values():
                    values[:, new] = values[:, old]
        for place in at[stay:]:
            drawn = sampler.draw(rng, thin)
            matrices = {"confusion": sampler.confusion(apart).astype(np.float32)} if confusion else {}
            right = np.diagonal(matrices["confusion"], axis1=2, axis2=3) if confusion else sampler.right(apart)
            now = {
                request.variable: best_labels(drawn, request.top_labels) if request.top_labels else drawn,
                "prevalence": sampler.prevalence,
                "accuracy": np.einsum("cjk,ck->cj", right, sampler.prevalence),
                "label_probability": sampler.expected[:, items, best],
            } | matrices | sampler.hyperparameters()  # fmt: skip
            for name, values in now.items():
                if name not in kept:
                    kept[name] = np.empty((len(values), request.draws, *values.shape[1:]), values.dtype)
                kept[name][:, place] = values
            expected = expected + sampler.expected.mean(axis=0) / at.size
            if request.progress is not None:
                request.progress(len(drawn))
        judged = {
            name: diagnostics(kept[name][:, at].reshape(request.chains, at.size, -1)[..., :MONITORED])
            for name in now
            if name not in UNWATCHED
        }
        return cls(at, set(now), expected, judged)

    @property
    def r_hat(self) -> float:
        """The largest R-hat."""
        return max(np.fmax.reduce(r_hat, initial=0.0) for r_hat, _ in self.judged.values())


def chains_tree(
    labels: Labels, parts: Mapping[str, Part], kept: Draws, random_seed: Any, settings: Mapping[str, Any]
) -> xr.DataTree:
    """Turn the parts of each variant, by name, and all draws into the result of `dawid_skene`.

    An average of models is a mixture: each draw is one of one model. The mean of the plausibilities of all models in
    every draw would leave out that the models differ, and a best label would be that of the heaviest one. Chains are
    compared within each part, because chains of two models differ however well each is drawn.
    """
    every = [*parts.values()]
    number = [part.at.size for part in every]
    kept = {name: values for name, values in kept.items() if all(name in part.names for part in every)}
    names = [name for name in kept if name not in UNWATCHED]
    share = np.array(number) / sum(number)
    # Of a mixture: r-hat of the mean variance ratio, and effective draws of the mean.
    judged = [np.concatenate([part.judged[name] for name in names], axis=1) for part in every]
    r_hat, ess = np.swapaxes(judged, 0, 1)
    pooled = {"r_hat": np.sqrt(share @ r_hat**2), "ess": 1 / (share**2 @ (1 / ess))}
    order = np.argsort(np.concatenate([part.at for part in every]))
    axes = coordinates(labels) | {"monitored": labels.items[monitored_items(labels.items.size)]}
    parameters = []
    for name in names:  # of one dimension or none
        parameters += [f"{name}[{as_python(v)}]" for dim in DIMS[name] for v in axes[dim][:MONITORED]] or [name]
    tree = _tree(
        labels,
        {name: values for name, values in kept.items() if name != "label_probability"},
        sum(part.expected * of for part, of in zip(every, share)),
        {name: (("parameter",), values) for name, values in pooled.items()},
        {"parameter": parameters},
        {"variant_of_draw": (("draw",), np.repeat([*parts], number)[order])} if len(every) > 1 else {},
        engine="gibbs",
        random_seed=random_seed,
        settings=settings,
    )
    if (why := disagreement(tree)) is not None:
        warn(why)
    else:
        # Tables print every number of these.
        warn_of_numbers({name: kept[name] for name in ("accuracy", "prevalence")}, "pass more draws and tune")
    return tree


def estimate_tree(fit: EMResult, labels: Labels, settings: Mapping[str, Any]) -> xr.DataTree:
    """Return a point estimate as the result of `dawid_skene`: one chain of one draw."""
    if not fit.converged:
        warn(f"EM did not converge in {fit.log_likelihood.size} iterations; draw with engine='gibbs'")
    drawn = {"plausibility": fit.label_probability, "prevalence": fit.prevalence, "confusion": fit.confusion}
    drawn["accuracy"] = np.nansum(np.diagonal(drawn["confusion"], axis1=1, axis2=2) * fit.prevalence, axis=1)
    drawn = {name: one[None, None] for name, one in drawn.items()}
    climb = {"log_likelihood": (("iteration",), fit.log_likelihood)}
    how = {"engine": "em", "random_seed": None, "settings": settings}
    return _tree(labels, drawn, fit.label_probability, climb, {}, {}, **how)


def _tree(
    labels: Labels, draws: Draws, probability: Any, judged: Any, axes: Any, constant: Any, **how: Any
) -> xr.DataTree:
    given = np.bincount(labels.annotator_index, minlength=labels.annotators.size)
    groups = {
        "posterior": {name: (("chain", "draw", *DIMS[name]), values) for name, values in draws.items()},
        "derived": {"label_probability": (("item", "category"), probability)},
        "constant_data": {"n_labels_given": (("annotator",), given)} | constant,
        "diagnostics": judged,
    }
    axes = coordinates(labels) | {"category": category_axis(labels.categories, labels.has_order)} | axes
    axes["rank"] = np.arange(1, draws["top_label"].shape[-1] + 1 if "top_label" in draws else 1)
    return result_tree(groups, axes, model="dawid_skene", **how)


def coordinates(labels: Labels) -> dict[str, Any]:
    """Return the names on each axis of a result."""
    return {
        "item": labels.items,
        "annotator": labels.annotators,
        "category": labels.categories,
        "observed_category": labels.categories,
        "boundary": [f"{low} | {high}" for low, high in zip(labels.categories, labels.categories[1:])],
    }


def monitored_items(n_items: int) -> Integers:
    """Choose items at even distances."""
    return np.unique(np.linspace(0, n_items - 1, min(MONITORED, n_items)).astype(np.int64))


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
    r_hat: Any = tree["diagnostics"]["r_hat"].to_series().fillna(0.0)
    of_one = r_hat.index.str.startswith(("label_probability", "accuracy"))
    excess = (r_hat / np.where(of_one, ONE_APART, MODES_APART)).sort_values(ascending=False, kind="stable")
    worst = excess.index[excess > 1]
    if not worst.size:
        return None
    return (
        f"the chains disagree about {shorten(worst)} (r_hat up to {r_hat[worst].max():.2f}); pass more draws and tune, "
        "or a larger thin. Chains that still disagree have found different explanations of the labels: pass gold"
    )
