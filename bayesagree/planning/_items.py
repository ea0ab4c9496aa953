"""What one more vote on each item, or comparison of each pair, would tell: of votes alone exactly, else from draws."""

from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np
import pandas as pd
import scipy as sp

from bayesagree._types import Advance, Array, Codes, Floats, Named, silent
from bayesagree.annotations import Comparisons, Labels, Rankings
from bayesagree.annotations.missing_predictions import Missing, without_missing
from bayesagree.annotations.predictions import Predictions
from bayesagree.comparisons.posterior import davidson
from bayesagree.comparisons.prior import DavidsonPrior
from bayesagree.errors import InputError
from bayesagree.inference.blocks import DrawBlock
from bayesagree.inference.dirichlet_argmax import argmax_probabilities
from bayesagree.inference.posterior import Request
from bayesagree.inference.streams import Seed
from bayesagree.io.doors import as_annotations, as_predictions
from bayesagree.planning._outlook import Lead, Outlook
from bayesagree.planning._pairs import of_pairs
from bayesagree.plausibility.dirichlet._draws import Prior, prior_shape
from bayesagree.plausibility.dirichlet.posterior import Dirichlet
from bayesagree.plausibility.independence import warn_of_dependent
from bayesagree.plausibility.registry import Choice, Plausibility, default_posterior, is_auto, specification_for

# Lead of a label that is no lead: prior shapes such as 1/3 are not exact.
_ROUNDING = 1e-9
# Votes that draws look ahead: of more, a few draws carry all the weight.
MOST_VOTES = 10


def outlook_of(
    annotations: Labels | Rankings | Comparisons,
    predictions: Predictions | None = None,
    plausibility: Plausibility = "auto",
    prior: Prior | DavidsonPrior = None,
    missing: Missing = "error",
    random_seed: Seed = None,
    progress: Advance = silent,
) -> Outlook:
    """Return what the next answers would tell, of which `annotate_next` and `value_of_votes` are tables."""
    labels = as_annotations(annotations, (Labels, Rankings, Comparisons))
    predictions = as_predictions(predictions, labels, may_lack=True)
    games = isinstance(labels, Comparisons)
    if prior is not None and isinstance(prior, DavidsonPrior) != games:
        way_out = "a DavidsonPrior" if games else "a number"
        raise InputError(f"prior={prior!r} is none of {labels.kind}; pass {way_out}")
    given: Named = {} if prior is None else {"prior": prior}
    if games:
        return of_pairs(labels, davidson(labels, **given, random_seed=random_seed, progress=progress))
    if predictions is not None:
        labels, predictions = cast(Any, without_missing(labels, predictions, missing))
    request = Request(random_seed=random_seed, progress=progress)
    named = Choice(plausibility, "")
    chosen = default_posterior(labels, predictions, given) if is_auto(plausibility) else named
    posterior = specification_for(labels, chosen.name, given, ("plausibility", "prior"))
    models, predicted = np.empty(0), np.empty((0, labels.items.size), np.int32)
    if predictions is not None:
        truths = posterior.truths(labels, predictions, request, (getattr(posterior, "reliability", 1.0),))
        labels, posterior, known = truths.annotations, truths.posteriors[0], truths.predictions
        if not posterior.takes_predictions:
            warn_of_dependent(labels, known)
        models, predicted = known.models, known.hard_labels()
    drawn = None
    if isinstance(posterior, Dirichlet) and posterior.reliability == 1:
        shape = labels.counts() + prior_shape(posterior.prior, labels.categories.size)
        now, after, chance, certainty, rise, votes = _of_votes(shape, predicted)
    else:
        asked = replace(request, plausibility=True, then=partial(_of_draws, predicted))
        *parts, sums = zip(*posterior.blocks(labels, asked).blocks)
        now, after, chance, certainty, rise, votes = (np.concatenate(part, axis=-1) for part in parts)
        drawn = np.sum(sums, axis=0)

    def gain(score: Floats, later: Floats) -> Floats:
        return np.maximum(np.einsum("vi,v...i->...i", chance, later**2) - score**2, 0.0)

    gains, lead = {}, None
    if models.size > 1:
        first, second = best = np.argsort(-now.mean(axis=1), kind="stable")[:2]
        differs = predicted[first] != predicted[second]
        right = np.where(differs, now[best], 0.0)
        mean, later = right[0] - right[1], np.where(differs, after[:, first] - after[:, second], 0.0)
        variance = right.sum() - (mean**2).sum() if drawn is None else (drawn[first] - drawn[second]).var()
        gains["decision"] = {"gain": gain(mean, later)}
        taken = np.append(0.0, np.cumsum(np.sort(gains["decision"]["gain"][differs])[::-1]))
        left = np.maximum(variance - taken, 0.0)
        lead = Lead(models[best], mean.sum(), float(variance), np.arange(taken.size), left, mean.size)
    if models.size:
        gains["metric"] = {"gain": gain(now, after).mean(axis=0)}
    gains["certainty"] = {"gain": rise, "votes": votes}
    units = pd.DataFrame({"item": labels.items, "gain": 0.0, "votes": 1})
    return Outlook(units, gains, certainty, lead, "" if predictions is None else chosen.reason)


def _of_votes(shape: Floats, predicted: Codes) -> tuple[Array, ...]:
    """Return what Dirichlet posteriors of these shapes say of each item: see `_of_draws`.

    The rise of certainty is that by the fewest votes that can change the answer, for each of them.
    """
    now, total, (n_items, n_labels) = argmax_probabilities(shape), shape.sum(axis=1), shape.shape
    more = np.eye(n_labels) if len(predicted) else ()
    after = np.array([_of_label(argmax_probabilities(shape + vote), predicted) for vote in more])
    first = shape.argmax(axis=1)
    *_, second, largest = np.sort(np.pad(shape, ((0, 0), (1, 0)), constant_values=-np.inf), axis=1).T
    lead = largest - second
    votes = np.where(np.isfinite(lead), np.floor(lead + _ROUNDING) + 1, 1)
    gain = np.zeros(n_items)
    for label in range(n_labels):
        at = np.flatnonzero((first != label) & (shape[:, label] + votes > largest + _ROUNDING))
        moved = shape[at] + votes[at, None] * (np.arange(n_labels) == label)
        top = argmax_probabilities(moved)
        others = total[at] - shape[at, label]
        log_chance = sp.special.betaln(moved[:, label], others) - sp.special.betaln(shape[at, label], others)
        gain[at] += np.exp(log_chance) * (top[:, label] - top[np.arange(at.size), first[at]])
    known = _of_label(now, predicted), after, (shape / total[:, None]).T, now.max(axis=1)
    return *known, np.maximum(gain, 0.0) / votes, votes.astype(int)


def _of_label(top: Floats, label: Codes) -> Floats:
    """Probability that the label predicted of each item, (model, item), is the top; 0 where none is."""
    return np.where(label >= 0, top[np.arange(len(top)), label], 0.0)


def _of_draws(all_predicted: Codes, block: DrawBlock) -> tuple[Array, ...]:
    """Return what draws say of each item of a block: a vote for k weighs a draw of the truth by its plausibility of k.

    These are Pr(a model's label is the most plausible one), (model, item), and after each vote, (vote, model, item);
    the chance of that vote, (vote, item); the certainty, Pr(the most plausible label is k) of the best k; what it gains
    per vote by the fewest votes that can change the answer; their number, (item,); and how many items each model has
    right in each draw, (model, draw).
    """
    plausibility, top = np.asarray(block.plausibility), block.true_label
    n_items, n_draws, n_labels = plausibility.shape
    right = (all_predicted[:, block.items][..., None] == top).astype(float)
    chance = plausibility.mean(axis=1).T
    after = np.einsum("isk,mis->kmi", plausibility, right) / (n_draws * np.maximum(chance[:, None], 1e-300))
    is_top = (top[..., None] == np.arange(n_labels)).astype(float)
    share = is_top.mean(axis=1)
    lead = is_top - (top == share.argmax(axis=1)[:, None])[..., None]
    rise, votes, weight = np.zeros(n_items), np.ones(n_items, int), np.ones_like(plausibility)
    for m in range(1, MOST_VOTES + 1):
        weight *= plausibility
        open_ = rise == 0
        gain = np.maximum(np.einsum("isk,isk->ik", weight[open_], lead[open_]) / n_draws, 0.0).sum(axis=1) / m
        rise[open_] = gain
        votes[np.flatnonzero(open_)[gain > 0]] = m
    return right.mean(axis=2), after, chance, share.max(axis=1), rise, votes, right.sum(axis=1)
