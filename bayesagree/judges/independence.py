"""What a panel of judges is worth: judges that err together are fewer than they look.

The errors of a pair correlate by rho_jk over the items; J judges with mean correlation rho are worth
J / (1 + (J - 1) rho) judges with independent errors. The truth comes from gold or from people, never from the judges:
a posterior that assumes independent errors would find them.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import xarray as xr

from bayesagree._types import SAMPLE, Advance, Array, Booleans, Floats, Integers, Pair, Rng, silent
from bayesagree.annotations import Labels
from bayesagree.annotations._model_outputs import positions
from bayesagree.annotations.gold import Gold, gold_codes
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError, as_python, positive_int, shorten, warn
from bayesagree.inference.cells import cell_sums
from bayesagree.inference.kernel_draws import categories
from bayesagree.inference.results import result_tree
from bayesagree.inference.streams import Seed, seed_sequence
from bayesagree.judges._panel import verdict_codes, warn_of_one_answer
from bayesagree.metrics.concordant_pairs import ratio

# Mass of the pseudo-items and their number. Without them judges of two or three errors each have intervals that hold
# the number in a quarter to two thirds of the data sets.
PSEUDO, ATOMS = 4.0, 40
# Judges of fewer errors are warned of: pseudo-items then weigh about as much as what was seen.
FEW_ERRORS = 5
# Draws of the truth forget where they began after some sweeps: each redraws every item given the verdict patterns.
TUNE, THIN = 200, 5


def effective_judges(
    judges: Labels | Predictions,
    truth: Gold | xr.DataTree,
    *,
    draws: int = 1000,
    chains: int = 4,
    random_seed: Seed = None,
    progress: Advance = silent,
) -> xr.DataTree:
    """Estimate how many independent judges a panel is worth, and the correlations of errors.

    Items are a sample: draws weigh them anew, and the correlations also count four pseudo-items. On a share of these,
    any from 0 to 1 alike, all judges err together, on the others each alone (a Dirichlet process). Given a posterior
    the truth of an item is drawn from its plausibilities, combined with the votes on other items that have the same
    pattern of verdicts: any dependence among judges is allowed.

    Parameters
    ----------
    judges
        Two judges or more: labels with a verdict of each judge on each item, or predictions.
    truth
        True label of some items, or a posterior of the truth made of people's labels (`dawid_skene`, `dirichlet`) on
        some of the items; other items do not count.
    draws, chains
        Draws per chain and number of chains.
    random_seed
        Same seed, same draws.
    progress
        Called with 1 after every draw of a chain.

    Returns
    -------
    DataTree
        ``posterior``: ``n_effective`` (chain, draw), ``mean_correlation`` (chain, draw), ``correlation`` (chain, draw,
        judge, other_judge) of errors, NaN for a judge that never errs or always does, which no mean
        counts; ``error_rate`` (chain, draw, judge). ``constant_data``: ``n_items``.

    Raises
    ------
    InputError
        One judge, an item without a verdict, no item with a known truth.

    Warns
    -----
    UserWarning
        Judges that err on fewer than five items: in simulation (two to five judges, 50 items, error .05) intervals then
        hold the true number in .84 to .94 of the cases, least for many judges who err alone; beyond that .92 to .95.
        Judges who give one answer to all items.

    References
    ----------
    Kish (1965); Ferguson (1973), https://doi.org/10.1214/aos/1176342360; Rubin (1981), https://doi.org/10.1214/aos/1176345338.

    See Also
    --------
    corrected_rate, alternative_annotator_test

    Examples
    --------
    >>> truth = np.arange(200) % 2
    >>> twin = np.where(np.arange(200) % 5 == 0, 1 - truth, truth)
    >>> other = np.where(np.arange(200) % 7 == 0, 1 - truth, truth)
    >>> panel = Labels.from_matrix(np.stack([twin, twin, other], axis=1), annotators=["a", "copy of a", "b"])
    >>> tree = effective_judges(panel, dict(enumerate(truth)), random_seed=1)
    >>> f"{float(tree['posterior']['n_effective'].mean()):.1f} of 3"
    '1.8 of 3'
    """
    items, names, verdict, labels = _single_verdicts(judges)
    shape = (positive_int(chains, "chains"), positive_int(draws, "draws"))
    words = seed_sequence(random_seed).generate_state(shape[0])
    rngs = [np.random.default_rng([int(word), c]) for c, word in enumerate(words)]
    known, evidence = _known_truths(truth, items, labels)
    verdict = verdict[known]
    correlation, error_rate = map(
        np.stack, zip(*(_errors(verdict, evidence, shape[1], rng, progress) for rng in rngs))
    )
    warn_of_one_answer(names, verdict)
    pairs = correlation[..., *np.triu_indices(names.size, 1)]
    mean = ratio(np.nansum(pairs, axis=-1), np.isfinite(pairs).sum(axis=-1))  # NaN where no two judges err
    few = names[error_rate.mean(axis=(0, 1)) * known.sum() < FEW_ERRORS]
    if np.isnan(mean).all():
        warn(
            "no two judges err on some items and are right on others: n_effective and mean_correlation are NaN"
        )
    elif few.size:
        warn(
            f"judges {shorten(few)} err on fewer than {FEW_ERRORS} items with a known truth: in simulations such "
            "intervals of n_effective held the true number in .84 to .94 of the cases; find the truth of more items"
        )
    dims = ("chain", "draw", "judge", "other_judge")
    drawn = {"n_effective": worth_of(names.size, mean), "mean_correlation": mean, "correlation": correlation}
    posterior = {name: (dims[: v.ndim], v) for name, v in (drawn | {"error_rate": error_rate}).items()}
    groups = {"posterior": posterior, "constant_data": {"n_items": ((), int(known.sum()))}}
    settings = {"truth": "posterior" if isinstance(truth, xr.DataTree) else "gold"}
    coords = {"judge": names, "other_judge": names}
    return result_tree(
        groups, coords, model="effective_judges", engine="gibbs", random_seed=random_seed, settings=settings
    )


def worth_of(n_judges: int, correlation: Any) -> Any:
    """Return how many judges with independent errors a panel is worth, infinite where the errors cancel out.

    Source: Kish, "Survey sampling" (1965), section 5.4, the design effect of a cluster.
    """
    share = 1 + (n_judges - 1) * correlation
    return np.where(share <= 0, np.inf, ratio(n_judges, share))


def _errors(verdict: Integers, evidence: Floats, n_draws: int, rng: Rng, progress: Advance) -> Pair:
    """Return draws of the correlations of errors and of the error rates, items weighted by a Bayesian bootstrap."""
    n_items, n_judges = verdict.shape
    correlation = np.full((n_draws, n_judges, n_judges), np.nan)
    rate = np.empty((n_draws, n_judges))
    for draw, truth in enumerate(_truths(verdict, evidence, n_draws, rng)):
        error = (verdict != truth[:, None]).astype(float)
        weight = rng.standard_exponential(n_items)
        rate[draw] = weight @ error / weight.sum()
        # Judges err as often on pseudo-items as on items, drawn a little to one half; who never errs does not there.
        often = (0.7 * (error.sum(axis=0) + 1) / (n_items + 2) + 0.15) * error.any(axis=0)
        together = rng.random((ATOMS, 1))
        own = rng.random((ATOMS, n_judges))
        pseudo = np.where(rng.random((ATOMS, 1)) < rng.random(), together, own) < often
        weight = np.append(weight, rng.gamma(PSEUDO / ATOMS, size=ATOMS))
        covariance = np.cov(np.vstack([error, pseudo]), rowvar=False, aweights=weight, ddof=0)
        scale = np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))
        np.divide(covariance, scale, out=correlation[draw], where=scale > 1e-10)
        progress(1)
    return correlation, rate


def _truths(verdict: Integers, evidence: Floats, n_draws: int, rng: Rng) -> Iterator[Integers]:
    """Yield true labels of the items, drawn anew.

    The evidence on an item is combined with that on other items that have the same pattern of verdicts, whose joint
    probabilities with the true label have one item's worth of prior in all.
    """
    certain = bool((evidence.max(axis=1) == 1).all())
    _, pattern = np.unique(verdict, axis=0, return_inverse=True)
    prevalence = evidence.mean(axis=0)
    shape = (pattern.max() + 1, evidence.shape[1])
    likelihood = evidence / np.where(prevalence > 0, prevalence, 1.0)
    truth = categories(rng, evidence)
    for draw in range(n_draws):
        for _ in range(0 if certain else THIN if draw else TUNE):
            counts = cell_sums(shape, pattern, truth)
            joint = np.maximum(rng.standard_gamma(counts + 1 / counts.size), 1e-300)
            truth = categories(rng, likelihood * joint[pattern])
        yield truth


def _single_verdicts(judges: Labels | Predictions) -> tuple[Array, Array, Integers, Array]:
    """Return items, judges, the label each judge gave each item (item, judge), and the labels."""
    if isinstance(judges, Predictions):
        items = judges.items
        names = judges.models
        verdict = judges.hard_labels().T.astype(int)
    elif isinstance(judges, Labels) and judges.annotators_known and not judges.has_repeats:
        items = judges.items
        names = judges.annotators
        verdict = verdict_codes(judges)
    else:
        raise InputError("judges are Labels with one verdict of each named judge on each item, or Predictions")
    if names.size < 2:
        raise InputError(f"a panel of {names.size} judge has no correlation of errors; give two judges or more")
    if (verdict < 0).any():
        item, judge = (as_python(of[at]) for of, at in zip((items, names), np.argwhere(verdict < 0)[0]))
        raise InputError(f"item {item!r}: judge {judge!r} gave no verdict; leave the item out")
    return items, names, verdict, judges.categories


def _known_truths(truth: Gold | xr.DataTree, items: Array, labels: Array) -> tuple[Booleans, Floats]:
    """Return which items count, and the probability of each of their labels, (item, category)."""
    if isinstance(truth, xr.DataTree):
        if "plausibility" not in truth["posterior"]:
            raise InputError("this result holds no plausibility of every label; draw it without top_labels=")
        mean = truth["posterior/plausibility"].mean(SAMPLE).transpose("item", "category")
        order = positions(labels, mean["category"].values, "the truth", "label")
        known = np.isin(items, mean["item"].values)
        evidence = mean.sel(item=items[known]).values[:, order]
    else:
        code = gold_codes(truth, items, labels)
        known = code >= 0
        evidence = np.eye(labels.size)[code[code >= 0]]
    if not known.any():
        raise InputError(
            "the truth of no judged item is known; give gold or people's posterior of some of them"
        )
    return known, evidence
