"""Held-out annotators of PrIRN, which has no sampling model of rankings and so no replicates.

The annotator draws labels without replacement, which is Plackett-Luce given the plausibilities.
"""

import numpy as np

from bayesagree._types import Floats
from bayesagree.annotations import Rankings
from bayesagree.errors import positive
from bayesagree.inference.predictive import HeldOutScores
from bayesagree.plausibility.dirichlet._draws import Prior, prior_shape
from bayesagree.plausibility.dirichlet.predictive import dirichlet_agreement
from bayesagree.plausibility.plackett_luce.likelihood import padded, rankings_log_probability
from bayesagree.plausibility.prirn.inverse_ranks import PRIOR, Ties, inverse_ranks


def held_out_scores(
    rankings: Rankings, levels: Floats, *, prior: Prior = PRIOR, ties: Ties = "split"
) -> HeldOutScores:
    """Score each ranking by the probability that PrIRN of the others of its item gives it."""
    shape = prior_shape(prior, rankings.categories.size)
    own, ranking = inverse_ranks(rankings, ties=ties), rankings.ranking_index()
    item = rankings.item_index[ranking].astype(int)
    n = np.bincount(rankings.item_index, minlength=rankings.items.size)
    cell, at = np.unique(item * shape.size + rankings.label_index, return_inverse=True)
    label_total = np.bincount(at, weights=own)
    item_total = np.bincount(item, weights=own, minlength=n.size)
    # The others' inverse ranks of the labels that each annotator names, normalised; none for an annotator alone.
    rest = item_total[item] - np.bincount(ranking, weights=own)[ranking]
    alone = n[item] < 2
    others = np.where(alone, 0.0, np.maximum(label_total[at] - own, 0.0) / np.where(alone, 1.0, rest))
    gamma = np.array([positive(float(level), "reliability", zero=True) for level in levels])[:, None]
    named = gamma * others + shape[rankings.label_index]
    unnamed = gamma + shape.sum() - np.add.reduceat(named, rankings.start[:-1], axis=1)
    worth = np.append(np.maximum(unnamed, 0.0)[:, :, None], padded(named, rankings.start, 0.0), axis=2)
    last = rankings.block[rankings.start[1:] - 1, None] + 1
    ranks = np.append(last, padded(rankings.block, rankings.start, last), axis=1)
    with np.errstate(divide="ignore"):
        log_worth = np.log(worth.reshape(-1, ranks.shape[1]))
    value = rankings_log_probability(log_worth, np.tile(ranks, (gamma.size, 1)))[0].reshape(gamma.size, -1)
    scored = np.where(n > 1, n, 0)
    log_score = np.stack([np.bincount(rankings.item_index, weights=row, minlength=n.size) for row in value])
    irn = np.zeros((n.size, shape.size))
    irn.ravel()[cell] = label_total / item_total[cell // shape.size]
    agreement = [dirichlet_agreement(g * irn + shape) for g in gamma[:, 0]]
    return HeldOutScores(np.where(scored > 0, log_score, 0.0), scored, np.stack(agreement))
