"""The Dawid-Skene family as PyMC models: the same posteriors as the Gibbs samplers, with the true labels summed out.

Change a prior or join a model here. Observed data are long: one entry per annotation.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayesagree._arguments import checked
from bayesagree._inference.nuts import sample_nuts, sampler_stats
from bayesagree._inference.streams import block_generators
from bayesagree._numerics.draws import categories
from bayesagree.annotations import Labels
from bayesagree.annotations.gold import Gold, gold_codes
from bayesagree.errors import InputError
from bayesagree.plausibility._draws.blocks import label_dtype
from bayesagree.plausibility._draws.run import Request
from bayesagree.plausibility.dawid_skene._gibbs import CONDITIONAL_SHARE, ChainDraws
from bayesagree.plausibility.dawid_skene._results import chains_tree, watched_items
from bayesagree.plausibility.dawid_skene.prior import DawidSkenePrior

if TYPE_CHECKING:
    import pymc as pm

    from bayesagree.plausibility.dawid_skene._engines import DawidSkenePosterior

KEPT = ("prevalence", "accuracy", "confusion", "concentration", "crowd_confusion", "difficulty", "ambiguity")


@checked
def dawid_skene_model(
    labels: Labels,
    *,
    variant: str = "full",
    prior: DawidSkenePrior | None = None,
    gold: Gold | None = None,
) -> "pm.Model":
    """Build the PyMC model of a Dawid-Skene variant.

    Parameters
    ----------
    labels
        Single labels by known annotators.
    variant
        As in `dawid_skene`.
    prior
        By default `DawidSkenePrior()`.
    gold
        Items whose true label is known.

    Returns
    -------
    pymc.Model
        ``prevalence`` (category), ``confusion`` (annotator, category, observed_category), ``label_probability``
        (item, category): Pr(truth | parameters, annotations), or in mixed membership the free variable
        ``plausibility`` (item, category);
        and the variant's parameters. The true labels are summed out: the likelihood is a potential per item. Mixed
        membership has one observed categorical ``label_index`` (annotation).

    Examples
    --------
    >>> labels = Labels.from_matrix([[0, 0, 1], [1, 1, 1]])
    >>> [v.name for v in dawid_skene_model(labels).free_RVs]
    ['prevalence', 'confusion']

    References
    ----------
    Dawid and Skene (1979), equation 2.7: the likelihood with true labels summed out.
    """
    import pymc as pm

    prior = prior or DawidSkenePrior()
    names = {"item": labels.items, "annotator": labels.annotators, "category": labels.categories}
    coords = names | {"observed_category": labels.categories, "annotation": np.arange(labels.item_index.size)}
    codes = gold_codes(gold, labels.items, labels.categories)
    with pm.Model(coords=coords) as model:
        prevalence = pm.Dirichlet("prevalence", np.full(labels.categories.size, prior.prevalence), dims="category")
        if variant == "mixed_membership":
            _mixed_membership(labels, prior, prevalence, codes)
        else:
            _sum_out_truth(labels, prevalence, _log_chance(labels, variant, prior), codes)
    return model


def _confusion(labels: Labels, variant: str, prior: DawidSkenePrior) -> Any:
    """Confusion matrices (annotator, category, observed_category), with or without population hyperparameters."""
    import pymc as pm

    base = prior.confusion(labels.categories.size)
    dims = ("annotator", "category", "observed_category")
    shape: Any = np.broadcast_to(base, (labels.annotators.size, *base.shape))
    if variant != "full":
        population: Any = pm.Dirichlet("crowd_confusion", base, dims=("category", "observed_category"))
        concentration = pm.LogNormal(
            "concentration", np.log(prior.concentration), prior.concentration_sd, dims="category"
        )
        shape = (concentration[:, None] * population)[None].repeat(labels.annotators.size, axis=0)
    return pm.Dirichlet("confusion", shape, dims=dims)


def _log_chance(labels: Labels, variant: str, prior: DawidSkenePrior) -> Any:
    """Return log Pr(given label | true label) of each annotation, shape (annotation, label)."""
    import pymc as pm
    import pytensor.tensor as pt

    annotator, n_labels = labels.annotator_index, labels.categories.size
    if variant in ("full", "hierarchical"):
        log_confusion: Any = pt.log(_confusion(labels, variant, prior))
        return log_confusion[annotator, :, labels.label_index]
    if variant == "item_difficulty":
        ability: Any = pm.Normal("ability", prior.ability, prior.ability_sd, dims="annotator")
        difficulty: Any = pm.Normal("difficulty", 0, prior.difficulty_sd, dims="item")
        accuracy: Any = pt.outer(pt.sigmoid(ability), pt.ones(n_labels))
        logit: Any = ability[annotator] - difficulty[labels.item_index]
        chance: Any = pt.sigmoid(logit[:, None])
    elif variant in ("one_coin", "class_conditional"):
        right, wrong = prior.strength * prior.accuracy, prior.strength * (1 - prior.accuracy)
        dims = ("annotator",) if variant == "one_coin" else ("annotator", "category")
        coin: Any = pm.Beta("right", right, wrong, dims=dims)
        accuracy = coin[:, None].repeat(n_labels, axis=1) if variant == "one_coin" else coin
        chance = accuracy[annotator]
    else:
        raise InputError(f"variant={variant!r} is not one of the Dawid-Skene variants")
    same = np.eye(n_labels, dtype=bool)
    matrix = pt.where(same, accuracy[:, :, None], (1 - accuracy[:, :, None]) / (n_labels - 1))
    pm.Deterministic("confusion", matrix, dims=("annotator", "category", "observed_category"))
    return pt.log(pt.where(same[labels.label_index], chance, (1 - chance) / (n_labels - 1)))


def _sum_out_truth(labels: Labels, prevalence: Any, log_chance: Any, gold: NDArray[np.int64]) -> None:
    import pymc as pm
    import pytensor.tensor as pt

    possible = (gold[:, None] < 0) | (gold[:, None] == np.arange(labels.categories.size))
    start: Any = pt.zeros((labels.items.size, labels.categories.size)) + pt.log(prevalence)
    joint: Any = pt.where(possible, pt.inc_subtensor(start[labels.item_index], log_chance), -np.inf)
    total: Any = pm.math.logsumexp(joint, axis=1, keepdims=True)
    labelled = np.bincount(labels.item_index, minlength=labels.items.size) > 0
    pm.Potential("log_likelihood", pt.sum(total[labelled]))
    pm.Deterministic("label_probability", pt.exp(joint - total), dims=("item", "category"))


def _mixed_membership(labels: Labels, prior: DawidSkenePrior, prevalence: Any, gold: NDArray[np.int64]) -> None:
    import pymc as pm
    import pytensor.tensor as pt

    ambiguity: Any = pm.LogNormal("ambiguity", np.log(prior.ambiguity), prior.ambiguity_sd)
    shape = (ambiguity * prevalence)[None].repeat(labels.items.size, axis=0)
    plausibility: Any = pm.Dirichlet("plausibility", shape, dims=("item", "category"))
    confusion = _confusion(labels, "mixed_membership", prior)
    chance = (plausibility[labels.item_index][:, :, None] * confusion[labels.annotator_index]).sum(axis=1)
    known = np.flatnonzero(gold >= 0)
    if known.size:  # an expert's latent labels
        expert: Any = pt.log(plausibility[known, gold[known]])
        pm.Potential("log_gold", expert.sum())
    pm.Categorical("label_index", p=chance, observed=labels.label_index, dims="annotation")


def sample_dawid_skene(
    fit: "DawidSkenePosterior", request: Request, *, confusion: bool, tune: int | None
) -> xr.DataTree:
    """Sample the PyMC model into the same result as the Gibbs samplers."""
    labels, variant = fit.labels, fit.variant
    model = dawid_skene_model(labels, variant=variant, prior=fit.prior, gold=fit.gold)
    how = {"draws": request.draws, "chains": request.chains, "seed": request.seed, "sampler": request.sampler}
    sampled = sample_nuts(model, tune=tune, **how)
    posterior = sampled["posterior"].to_dataset()
    variables = {name: posterior[name].values for name in KEPT if name in posterior}
    right = np.diagonal(posterior["confusion"].values, axis1=3, axis2=4)
    variables["accuracy"] = (right * posterior["prevalence"].values[:, :, None]).sum(axis=3)
    name = "plausibility" if variant == "mixed_membership" else "label_probability"
    probability = posterior[name].transpose("chain", "draw", "item", "category").values
    chains = []
    for c, rng in enumerate(block_generators(request.seed, request.chains)):
        kept = {n: v[c] for n, v in variables.items() if confusion or n != "confusion"}
        drawn = probability[c] if variant == "mixed_membership" else _draw_truth(probability[c], rng)
        kept |= _best(drawn, request.top_labels)
        chains.append(ChainDraws(kept, probability[c].mean(axis=0).ravel(), _watched(probability[c])))
    return chains_tree(
        labels, fit.all_cells(), chains, engine="nuts", seed=request.seed, settings=fit.settings,
        sampler=sampled.attrs["sampler"], sample_stats=sampler_stats(sampled),
    )  # fmt: skip


def _draw_truth(probability: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw true labels from their conditional probabilities, as plausibilities (draw, item, label)."""
    truth = np.eye(probability.shape[2])[categories(rng, probability)]
    return (1 - CONDITIONAL_SHARE) * truth + CONDITIONAL_SHARE * probability


def _best(plausibility: NDArray[np.float64], top_labels: int | None) -> dict[str, NDArray[Any]]:
    if top_labels is None:
        return {"plausibility": plausibility.astype(np.float32)}
    order = np.argsort(-plausibility, axis=2, kind="stable")[:, :, :top_labels]
    return {"top_label": order.astype(label_dtype(plausibility.shape[2]))}


def _watched(probability: NDArray[np.float64]) -> NDArray[np.float64]:
    items = watched_items(probability.shape[1])
    best = probability[:, items].mean(axis=0).argmax(axis=1)
    return probability[:, items, best]
