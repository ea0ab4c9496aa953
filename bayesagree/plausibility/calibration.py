"""Recalibration of label probabilities against a small gold set.

Labels alone do not identify how overconfident a posterior is: two crowds with nearly the same labels may have
gaps of .03 and .20 between confidence and accuracy, depending on how often annotators err together. A few
gold items do. Probabilities p_ik are raised to one power, and labels are weighted,

    q_ik = p_ik^eta exp(b_k) / sum_l p_il^eta exp(b_l),        log eta ~ N(-0.7, 1),  b_k ~ N(0, 0.5^2),

and eta and b have a posterior given the gold labels, so that the calibrated confidences come with their own
uncertainty. eta < 1 lowers the confidence; b_k > 0 raises a label that the crowd names too rarely. This is
vector scaling with one temperature.

Source: C. Guo et al., "On calibration of modern neural networks", ICML 2017, section 4.2 (temperature and vector
scaling); `bayesagree.inference.slices` draws its posterior.
"""

import numpy as np
import scipy as sp
import xarray as xr

from bayesagree._types import SAMPLE, Advance, Floats, Integers, Rng, silent
from bayesagree.annotations.gold import Gold, gold_codes
from bayesagree.errors import InputError
from bayesagree.inference.blocks import best_labels, label_dtype
from bayesagree.inference.kernel_draws import categories
from bayesagree.inference.results import check_size, result_tree, settings_of
from bayesagree.inference.slices import Prior, chains_of, climb, posterior
from bayesagree.inference.streams import Seed, seed_sequence
from bayesagree.inference.top_labels import plausibility_draws
from bayesagree.plausibility.certainty import label_certainty
from bayesagree.plausibility.dawid_skene._labels import CONDITIONAL_SHARE

# Smallest probability: an impossible label stays possible enough for a gold label to disagree.
FLOOR = 1e-12


def calibrate(
    tree: xr.DataTree, gold: Gold, *, random_seed: Seed = None, progress: Advance = silent
) -> xr.DataTree:
    """Calibrate the label probabilities of a posterior against items whose true label is known.

    Parameters
    ----------
    tree
        Posterior of any plausibility of labels, fitted *without* these gold labels.
    gold
        Item to true label; 50 to 300 items drawn at random from those the posterior is used for. Gold items
        chosen otherwise, such as easy or disputed ones, calibrate only items like themselves.
    random_seed
        Same seed, same draws.
    progress
        Called with 1 after every draw of a chain.

    Returns
    -------
    DataTree
        Shape of the input. Group ``posterior``: ``plausibility`` (or ``top_label``), whose mean is the calibrated
        probability: each draw of eta and b draws every item's true label; ``exponent`` = eta (chain, draw),
        ``offset`` = b (chain, draw, category) and ``mean_confidence`` (chain, draw), the mean probability of the items'
        best labels. Group ``derived``: ``label_probability`` (item, category). Group ``constant_data``:
        ``uncalibrated_probability`` (item, category) and ``is_gold`` (item).

    Raises
    ------
    InputError
        No gold, gold that names no item or label, a posterior without labels or with gold inside.
    SizeError
        A result too large for memory.

    Examples
    --------
    >>> from bayesagree.plausibility.dirichlet.posterior import dirichlet
    >>> labels = Labels.from_counts([[9, 1], [8, 2], [1, 9], [2, 8]], labels=["a", "b"])
    >>> calibrated = calibrate(dirichlet(labels, random_seed=1), {0: "a", 1: "b", 2: "b", 3: "a"}, random_seed=1)
    >>> bool((calibrated["derived"]["label_probability"].max("category") < 0.8).all())
    True
    """
    probability = label_probability(tree)
    items, labels = probability["item"].values, probability["category"].values
    codes = gold_codes(gold, items, labels)
    if not (codes >= 0).any():
        raise InputError("gold is empty: calibration needs items whose true label is known, 50 or more")
    if settings_of(tree).get("n_gold", 0):
        raise InputError("this posterior was fitted with gold labels; fit it without, then calibrate")
    log_p = np.log(np.maximum(probability.values, FLOOR))
    rng = np.random.default_rng(seed_sequence(random_seed))
    chains, draws, depth = (int(tree["posterior"].sizes.get(dim, 0)) for dim in ("chain", "draw", "rank"))
    name, last, dtype = (
        ("top_label", "rank", label_dtype(labels.size)) if depth else ("plausibility", "category", "f4")
    )
    sizes = {"chain": chains, "draw": draws, "item": items.size, last: depth or labels.size}
    check_size(sizes, np.dtype(dtype).itemsize, "pass a posterior with fewer draws or with top_labels=L")
    drawn = draw_parameters(log_p[codes >= 0], codes[codes >= 0], draws, chains, rng)
    kept, mean = np.empty(tuple(sizes.values()), dtype), np.zeros(log_p.shape)
    confidence = np.empty((chains, draws))
    for at in np.ndindex(chains, draws):
        q = np.exp(log_q(log_p, drawn[at][None])[0])
        mean += q / confidence.size
        confidence[at] = q.max(axis=1).mean()
        # The true label of every item has all but a conditional share.
        plausibility = CONDITIONAL_SHARE * q
        plausibility[np.arange(items.size), categories(rng, q)] += 1 - CONDITIONAL_SHARE
        kept[at] = best_labels(plausibility, depth) if depth else plausibility
        progress(1)
    return result_tree(
        {
            "posterior": {
                name: (tuple(sizes), kept),
                "exponent": (SAMPLE, np.exp(drawn[:, :, 0])),
                "offset": ((*SAMPLE, "category"), drawn[:, :, 1:]),
                "mean_confidence": (SAMPLE, confidence),
            },
            "derived": {"label_probability": (("item", "category"), mean)},
            "constant_data": {
                "uncalibrated_probability": (("item", "category"), probability.values),
                "is_gold": (("item",), codes >= 0),
            },
        },
        {"item": items, "category": labels, "rank": np.arange(1, depth + 1)},
        model=str(tree.attrs.get("model", "")),
        engine="calibrate",
        random_seed=random_seed,
        settings=settings_of(tree) | {"calibrated": True, "n_calibration_gold": int((codes >= 0).sum())},
    )


def label_probability(tree: xr.DataTree) -> xr.DataArray:
    """Return the probability of each label, (item, category): the mean plausibility, or how often it was the best."""
    if "derived" in tree and "label_probability" in tree["derived"]:
        return tree["derived"].to_dataset()["label_probability"]
    if "plausibility" in tree["posterior"]:
        return plausibility_draws(tree).mean(SAMPLE, skipna=False)  # no copy of all draws
    return label_certainty(tree)


def calibration_scores(probability: xr.DataArray, gold: Gold) -> dict[str, float]:
    """Compare the confidence in each item's most probable label with gold labels.

    Parameters
    ----------
    probability
        Probability of each label (item, category), as `label_probability` returns it.
    gold
        Item to true label; items used for calibration do not belong here.

    Returns
    -------
    dict
        ``mean_confidence``, ``mean_accuracy``, ``gap`` (confidence minus accuracy), ``calibration_error`` (mean
        absolute gap of ten equally wide bins of confidence, weighted by items) and ``log_score`` (mean log probability
        of the gold label, floored at 1e-12).

    Examples
    --------
    >>> names = {"item": [1, 2], "category": ["a", "b"]}
    >>> p = xr.DataArray([[0.9, 0.1], [0.6, 0.4]], names, ("item", "category"))
    >>> round(calibration_scores(p, {1: "a", 2: "b"})["gap"], 3)
    0.25
    """
    probability = probability.transpose("item", "category")
    codes = gold_codes(gold, probability["item"].values, probability["category"].values)
    p, truth = probability.values[codes >= 0], codes[codes >= 0]
    if truth.size == 0:
        raise InputError("gold is empty: pass {item: true label} to compare the confidence with")
    confidence, right = p.max(axis=1), p.argmax(axis=1) == truth
    of_bins = np.bincount(np.ceil(10 * confidence).astype(int), confidence - right)
    return {
        "mean_confidence": float(confidence.mean()),
        "mean_accuracy": float(right.mean()),
        "gap": float(confidence.mean() - right.mean()),
        "calibration_error": float(np.abs(of_bins).sum() / truth.size),
        "log_score": float(np.log(np.maximum(p[np.arange(truth.size), truth], FLOOR)).mean()),
    }


# Mean and standard deviation of log eta.
LOG_EXPONENT_PRIOR = (-0.7, 1.0)
# Standard deviation of b.
OFFSET_SD = 0.5


def log_q(log_p: Floats, parameters: Floats) -> Floats:
    """Return log q (draw, item, category) of draws of log eta and b, shape (draw, 1 + category)."""
    return sp.special.log_softmax(np.exp(parameters[:, :1, None]) * log_p + parameters[:, None, 1:], axis=2)


def draw_parameters(log_p: Floats, gold: Integers, draws: int, chains: int, rng: Rng) -> Floats:
    """Draw log eta and b from their posterior, shape (chain, draw, 1 + label), by elliptical slices."""
    prior = Prior(*np.column_stack([LOG_EXPONENT_PRIOR, *[(0.0, OFFSET_SD)] * log_p.shape[1]]))

    def of_items(x: Floats) -> Floats:
        return log_q(log_p, x)[:, np.arange(gold.size), gold].T

    density = posterior(lambda x: of_items(x).sum(axis=0), prior)
    return chains_of(density, [climb(of_items, prior, np.ones(gold.size))], draws, chains, rng, sweeps=3)
