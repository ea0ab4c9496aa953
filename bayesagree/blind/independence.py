"""A check that systems err independently given the truth: where they do not, blind scores are overconfident."""

from typing import Any

import numpy as np
import xarray as xr

from bayesagree._types import Array, Booleans, Floats, Integers, Pair, Rng
from bayesagree.annotations.predictions import Predictions
from bayesagree.blind.pseudo_gold import as_labels
from bayesagree.blind.systems import Systems
from bayesagree.errors import positive_int
from bayesagree.inference.cells import row_shares
from bayesagree.inference.streams import Seed, seed_sequence, stream_apart
from bayesagree.metrics.concordant_pairs import ratio
from bayesagree.plausibility.dawid_skene.posterior import dawid_skene
from bayesagree.plausibility.dawid_skene.prior import DawidSkenePrior

# A confusion row worth one label: with few items of each label a stronger prior would itself look like misfit.
WEAK_PRIOR = DawidSkenePrior(strength=1.0, accuracy=0.8)


def independence_check(
    predictions: Predictions, *, draws: int = 250, chains: int = 4, random_seed: Seed = None
) -> xr.Dataset:
    """Check that systems agree as often, and as unevenly, as independent errors would make them.

    A posterior predictive check of the Dawid-Skene model by discrepancies, each compared with that of labels simulated
    from the same draw. Pairs: a draw of prevalence pi and confusion theta expects systems a and b to agree on
    a share p_ab = sum_kl pi_k theta_akl theta_bkl of the n_ab items that both labelled; the discrepancy is
    sum_ab (agreements - n p)^2 / (n p (1 - p)). Items: the variance over items of the number of agreeing pairs, which
    grows where items that are hard for one system are hard for all.

    Parameters
    ----------
    predictions
        Hard labels of at least three systems: two can always be explained.
    draws, chains
        Posterior draws: `draws` in each chain.
    random_seed
        Same seed, same answer.

    Returns
    -------
    Dataset
        ``p_pairs``, ``p_items``: share of draws whose simulated labels deviate more than the data. ``p_value``: twice
        the smaller (both are far below their level); a small one says that errors are shared, that blind intervals are
        too narrow and blind scores of the systems that share them too high.
        ``excess`` (model, other_model): observed minus expected share of agreement, NaN where no item is common;
        large positive pairs are those that share errors.

    Notes
    -----
    A large p value is no proof: coverage suffers before the check has power. Errors shared by nearly all systems look
    like truth to any method that has nothing but their labels. With three systems of two labels the model fits any
    agreement, with four to six most: `blind_posterior` then warns of a difficulty that systems share.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> truth = rng.integers(0, 2, 400)
    >>> own = {f"s{i}": np.where(rng.random(400) < 0.8, truth, 1 - truth) for i in range(4)}
    >>> copied = own | {"copy": own["s0"]}
    >>> float(independence_check(Predictions.from_labels(copied), random_seed=1)["p_value"])
    0.0
    """
    systems = Systems.of(predictions, None, None, random_seed)
    root = seed_sequence(random_seed)
    run: Any = {"draws": positive_int(draws, "draws"), "thin": 5, "chains": chains, "random_seed": root}
    tree: Any = dawid_skene(as_labels(systems), variant="full", prior=WEAK_PRIOR, **run, top_labels=1)[
        "posterior"
    ]
    prevalence = tree["prevalence"].values.reshape(-1, systems.n_labels)
    confusion = row_shares(tree["confusion"].values.astype(float).reshape(-1, *tree["confusion"].shape[2:]))
    rng = np.random.default_rng(stream_apart(root, "replicated systems"))
    common, agreed = agreements(systems.predicted, systems.n_labels)
    shares = np.einsum("dk,dakl,dbkl->dab", prevalence, confusion, confusion, optimize=True)
    simulated = np.empty_like(shares)
    uneven = np.empty(len(shares))
    for draw, (pi, theta) in enumerate(zip(prevalence, confusion)):
        labels = _simulated(rng, pi, theta, systems.predicted >= 0)
        simulated[draw] = agreements(labels, systems.n_labels)[1]
        uneven[draw] = unevenness(labels, systems.n_labels)
    excess = ratio(agreed, common) - shares.mean(axis=0)
    np.fill_diagonal(excess, np.nan)
    p_pairs = (_discrepancies(simulated, common, shares) >= _discrepancies(agreed, common, shares)).mean()
    p_items = (uneven >= unevenness(systems.predicted, systems.n_labels)).mean()
    found: Any = {"p_value": min(1.0, 2 * p_pairs, 2 * p_items), "p_pairs": p_pairs, "p_items": p_items}
    found |= {"excess": (("model", "other_model"), excess)}
    result = xr.Dataset(found, {"model": systems.models, "other_model": systems.models})
    return result.sel(model=predictions.models, other_model=predictions.models)


def agreements(predicted: Array, n_labels: int) -> Pair:
    """Count the items that two systems both labelled, and on which they agree, both shape (model, model)."""
    given = (predicted >= 0).astype(float)
    same = sum(of_label @ of_label.T for of_label in ((predicted == k).astype(float) for k in range(n_labels)))
    return given @ given.T, np.asarray(same)


def unevenness(predicted: Array, n_labels: int) -> float:
    """Return the variance over items of the number of pairs of systems that agree."""
    votes = np.stack([(predicted == k).sum(axis=0) for k in range(n_labels)])
    return float(np.var((votes * (votes - 1) / 2).sum(axis=0)))


def _simulated(
    rng: Rng,
    prevalence: Floats,
    confusion: Floats,
    given: Booleans,
) -> Integers:
    """Draw truths, and labels where the systems gave some."""
    n_models, n_items = given.shape
    truth = rng.choice(prevalence.size, size=n_items, p=prevalence / prevalence.sum())
    cumulative = np.cumsum(confusion, axis=-1)[..., :-1]
    drawn = np.stack([(cumulative[m, truth] < rng.random((n_items, 1))).sum(axis=1) for m in range(n_models)])
    return np.where(given, drawn, -1)


def _discrepancies(agreed: Floats, common: Floats, share: Floats) -> Floats:
    """Return the discrepancy of the pairs of systems, shape (draw,), of shares (draw, model, model)."""
    variance = np.maximum(common * share * (1 - share), 1e-12)
    return np.triu((agreed - common * share) ** 2 / variance, 1).sum(axis=(1, 2))
