"""Plausibilities from annotators of individual reliability: the Dawid-Skene family.

Every item has one true label z_i ~ prevalence; annotator j who sees truth k gives label l with probability
confusion_jkl. The variants differ in what an annotator is:

==================  =================================================================================================
variant             confusion
==================  =================================================================================================
one_coin            one accuracy per annotator; wrong answers are uniform
class_conditional   one accuracy per annotator and true label; wrong answers are uniform
full                row k of annotator j ~ Dirichlet(prior row k)
hierarchical        row k of annotator j ~ Dirichlet(kappa_k phi_k): kappa and phi of the population are learnt
item_difficulty     logit Pr(right) = ability_j - difficulty_i; wrong answers are uniform
mixed_membership    full rows with learnt kappa and phi, but the item has no single truth: lambda_i ~ Dirichlet(alpha
                    prevalence), and each annotation answers for a latent label c ~ lambda_i of its own
==================  =================================================================================================

All but the last suppose that annotators err independently given the truth. Where items are ambiguous they do not, and
the posterior is overconfident; by how much cannot be learnt from labels alone. Discount by
`variant="mixed_membership"`, and calibrate against a small gold set (`bayesagree.calibrate`).

Sources: Dawid and Skene, Applied Statistics 28 (1979); Paun et al., "Comparing Bayesian models of annotation", TACL 6
(2018) (the hierarchical and item-difficulty variants).
"""

from collections.abc import Iterator
from typing import Any, Literal

import xarray as xr

from bayesagree._inference.arguments import checked
from bayesagree._inference.nuts import Sampler
from bayesagree._inference.results import MAX_BYTES, settings_of
from bayesagree._inference.streams import Seed, item_blocks
from bayesagree.annotations import Labels
from bayesagree.annotations.gold import Gold
from bayesagree.annotations.predictions import Predictions
from bayesagree.draws.blocks import LOCAL, Schedule
from bayesagree.draws.run import Request
from bayesagree.draws.top_labels import truth_draws
from bayesagree.errors import InputError
from bayesagree.plausibility.dawid_skene._cells import Candidates
from bayesagree.plausibility.dawid_skene._engines import DawidSkenePosterior, Variant
from bayesagree.plausibility.dawid_skene._results import CHOSEN, check_result, require_mixed
from bayesagree.plausibility.dawid_skene.prior import DawidSkenePrior
from bayesagree.plausibility.informed.covariates import on_items_of


@checked
def dawid_skene(
    labels: Labels,
    *,
    variant: Variant = "full",
    prior: DawidSkenePrior | None = None,
    gold: Gold | None = None,
    candidates: Candidates = "all",
    predictions: Predictions | None = None,
    draws: int = 1000,
    chains: int = 4,
    tune: int | None = None,
    thin: int | None = None,
    restarts: int = 0,
    seed: Seed = None,
    engine: Literal["gibbs", "em", "nuts"] = "gibbs",
    sampler: Sampler = None,
    top_labels: int | None = None,
    confusion: bool = True,
    max_bytes: int = MAX_BYTES,
    client: Any = None,
) -> xr.DataTree:
    """Infer the true label of each item together with the confusion of each annotator.

    Parameters
    ----------
    labels
        Single labels by known annotators. Repeated labels of one item by one annotator (``duplicates="keep"``) are
        separate judgments, as in the data of Dawid and Skene, where an anaesthetist judged each patient three times:
        every one of them counts in full.
    variant
        What an annotator is; see the table of this module. ``"auto"`` draws from "hierarchical" and from
        "mixed_membership" and keeps the one that predicts an annotation better from all others (leave-one-out
        predictive density); the result's settings name it as ``variant`` and both scores as ``chosen_from``.
    engine
        ``"gibbs"`` draws from the posterior; ``"em"`` climbs to one point estimate (full, class_conditional and
        one_coin); ``"nuts"`` samples `dawid_skene_model`, where true labels are summed out, with PyMC.
    prior
        Hyperparameters; None is `DawidSkenePrior()` for the posterior, and no prior (maximum likelihood) for
        ``engine="em"``.
    gold
        Items whose true label is known: item to label. They teach the annotators' confusion. In mixed membership a
        gold label is an expert's latent label of the item, which stays as ambiguous as it is.
    candidates
        Which labels may be true: ``"all"``, or ``"observed"``, those that somebody gave the item. With thousands of
        labels the second keeps time and memory proportional to the annotations.
    predictions
        Models whose output tells the prior of each item's true label (of mixed membership: the mean of its
        plausibilities), by a regression that is learnt with the annotators (``engine="gibbs"`` and ``"em"``); items
        without labels take that prior, and ``prevalence`` is its mean over items. Not models that were trained on
        these labels.
    draws, chains, tune, thin
        Kept draws per chain; sweeps before the first of them (500; 1000 for hierarchical and with predictions, 1500 for
        mixed membership); sweeps per kept draw (1; 3 for hierarchical, 4 with predictions, 6 for mixed membership).
    restarts
        Further random starts of EM; the best likelihood wins.
    seed
        Same seed, same draws, on any number of threads.
    top_labels
        Keep only the L best labels of each draw instead of all plausibilities.
    confusion
        Keep the draws of whole confusion matrices; without them only each annotator's accuracy.
    max_bytes
        Largest result to keep in memory.
    client
        A `distributed.Client` to run on instead of threads of this process: one chain, or one start of EM, a task.

    Returns
    -------
    DataTree
        Group ``posterior``: ``plausibility`` (chain, draw, item, category) or ``top_label`` (chain, draw, item, rank);
        ``prevalence`` (chain, draw, category); ``confusion`` (chain, draw, annotator, category, observed_category);
        ``accuracy`` (chain, draw, annotator), the chance of a right answer to an item drawn by prevalence; and what
        the variant adds (``concentration``, ``crowd_confusion``, ``difficulty``, ``ambiguity`` = alpha). Where an item
        has one truth, a draw's plausibility is the drawn truth (all but a thousandth, which orders the other labels):
        its mean is the posterior probability, its best label the draw. Group ``derived``: ``label_probability``
        (item, category), the same mean with less Monte-Carlo error. Group ``diagnostics``: ``r_hat`` and ``ess`` of
        prevalence, the variant's parameters, up to 50 annotators' accuracies and up to 50 items; ``item_r_hat`` (item)
        and ``annotator_r_hat`` (annotator) compare whole chains, and name who differs.

        With ``engine="em"`` there is one chain of one draw, and ``diagnostics`` holds ``log_likelihood``
        (iteration).

    Raises
    ------
    InputError
        Unknown annotators, a single label, gold that names no item or label, an engine the variant does not have.
    SizeError
        A result above `max_bytes`, with its size and the way out.

    Warns
    -----
    UserWarning
        Chains of 100 draws or more that disagree (r-hat above 1.1 for shared parameters, above 1.5 for an annotator or
        an item): draw longer; chains that still disagree have found different explanations. EM that did not converge.

    References
    ----------
    .. [1] A. P. Dawid, A. M. Skene, Applied Statistics 28 (1979) 20-28.
    .. [2] S. Paun et al., "Comparing Bayesian models of annotation", TACL 6 (2018) 571-585.
    .. [3] V. C. Raykar et al., "Learning from crowds", JMLR 11 (2010) 1297-1322, for `predictions`.

    Examples
    --------
    >>> votes = Labels.from_matrix([["a", "a", "b"], ["b", "b", "b"], ["a", "a", "b"], ["b", "b", "a"]])
    >>> tree = dawid_skene(votes, draws=200, chains=2, seed=1)
    >>> tree["derived"]["label_probability"].idxmax("category").values.tolist()
    ['a', 'b', 'a', 'b']
    >>> dict(tree["posterior"]["confusion"].sizes)
    {'chain': 2, 'draw': 200, 'annotator': 3, 'category': 2, 'observed_category': 2}
    """
    if engine not in ("gibbs", "em", "nuts"):
        raise InputError(f"engine={engine!r} is not one of 'gibbs', 'em', 'nuts'")
    if predictions is not None:
        if engine == "nuts":
            raise InputError("predictions= exists for engine='gibbs' and 'em'; leave it out, or name one of them")
        labels = on_items_of(labels, predictions)
        predictions = predictions.aligned(labels.items, labels.categories)
    fit = DawidSkenePosterior(labels, variant, prior, gold, candidates, predictions)
    request = Request(draws, chains, seed, engine, sampler, top_labels, max_bytes, client)
    if engine == "em":
        return fit.em(request, restarts)
    check_result(labels, request, confusion=confusion)
    if engine == "nuts":
        return fit.nuts(request, confusion=confusion, tune=tune)
    return fit.gibbs(request, confusion=confusion, tune=tune, thin=thin)


def dawid_skene_blocks(
    labels: Labels,
    *,
    depth: int,
    variant: Variant = "full",
    prior: DawidSkenePrior | None = None,
    gold: Gold | None = None,
    candidates: Candidates = "all",
    draws: int = 1000,
    chains: int = 4,
    tune: int | None = None,
    thin: int | None = None,
    seed: Seed = None,
    max_bytes: int = MAX_BYTES,
    schedule: Schedule = LOCAL,
    plausibility: bool = False,
    allow_unmixed: bool = False,
) -> Iterator[Any]:
    """Give the `depth` best labels of each draw, block of items by block.

    Best is the drawn true label; the others follow by their probability in that draw. In mixed membership the order
    is that of the drawn plausibilities. The chains of all items run first, because annotators join the items. Chains
    that disagree raise `UnmixedError`, unless `allow_unmixed`.
    """
    tree = dawid_skene(
        labels, variant=variant, prior=prior, gold=gold, candidates=candidates, draws=draws, chains=chains, tune=tune,
        thin=thin, seed=seed, top_labels=None if plausibility else depth, confusion=False, max_bytes=max_bytes,
        client=schedule.client,
    )  # fmt: skip
    if not allow_unmixed:
        require_mixed(tree)
    if schedule.told is not None:
        schedule.told.update({name: value for name, value in settings_of(tree).items() if name in CHOSEN})
    draws_of_items = truth_draws(tree, depth, plausibility=plausibility)
    for items in item_blocks(labels.items.size)[schedule.first :]:
        block = draws_of_items.read(items)
        yield block if schedule.then is None else schedule.then(block)
