"""The true label of items, learnt from items whose label is known: gold.

Gold is one label per item. What annotators and models say of it is learnt where it is known, and predicts it elsewhere:

    e_ik = a log v_ik + sum_l C_lk v_il + sum_j (s_j [k is j's top label] + s'_j log P_ijk + s''_j P_ijk)
    z_i ~ Categorical(softmax(e_i)),          v_ik = (n_ik + 1/K) / (n_i + 1),

where C says for what the annotators' answer l stands (up to sixteen labels; as Dawid and Skene's confusion matrix, of
the crowd as a whole). At the mode the expected number of right answers of every model on the items with gold is about
the true one (the score equations of the s_j), so that the estimate for the other items is right for any model,
however wrong annotators are, as long as the items with gold were chosen without regard to their label: a regression
estimator of a survey, in which votes and predictions of all items are the auxiliary information.

Source: Wu and Sitter, "A model-calibration approach to using complete auxiliary information from survey data", JASA 96
(2001), section 2, with a posterior in the place of their variance; its use for scores of models is Angelopoulos et al.
(2023).
"""

from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import log_softmax

from bayesagree._types import Array, Floats, Integers, Places, Rng
from bayesagree.annotations.gold import gold_codes
from bayesagree.errors import InputError, warn
from bayesagree.inference.posterior import Drawer, Request
from bayesagree.inference.slices import Likelihoods
from bayesagree.plausibility.informed._problem import LabelFrame
from bayesagree.plausibility.informed.frame import Parameters

# Prior standard deviations. A model that is always right needs a large slope of its label: one of 4 lets two hundred
# right answers of two hundred predict six hundred of six hundred about half of the time, as a beta distribution would.
SLOPE_SD, CONFUSION_SD, HIT_SD = 1.0, 1.5, 4.0
# Labels up to which each pair has a confusion of its own; of more, votes would say too little about a pair.
MOST_CONFUSED = 16
# Items with gold below which the prior decides.
FEW_GOLD = 10


class GoldProblem(LabelFrame):
    """Labels, predictions and gold: the truth is a label, known where there is gold, else predicted from the others.

    No annotator has a weight: what all of them say counts as it is right.
    """

    fewest_sets = 100

    @cached_property
    def codes(self) -> Integers:
        """Gold of all items, -1 where there is none."""
        return gold_codes(self.gold, self.annotations.items, self.annotations.categories)

    @cached_property
    def layout(self) -> Parameters:
        """Slopes of the votes, one as if they were probabilities, of models, and of confusions."""
        every, labels = {"votes": (1.0, SLOPE_SD)}, self.annotations.categories
        for name in self.covariates.names:
            every[name] = (0.0, HIT_SD if name.startswith("top_label:") else SLOPE_SD)
        if labels.size <= MOST_CONFUSED:
            every |= {f"confusion:{k}:{c}": (0.0, CONFUSION_SD) for k in labels for c in labels}
        return Parameters.of(every)

    def columns(self, items: Any) -> Floats:
        """Return the columns of some items, shape (item, label, column)."""
        n, n_labels = self.counts[items], self.annotations.categories.size
        share = (n + 1 / n_labels) / (n.sum(axis=1, keepdims=True) + 1)
        logs = np.log(share)
        parts = [(logs - logs.mean(axis=1, keepdims=True))[..., None], self.covariates.columns(items)]
        if n_labels <= MOST_CONFUSED:
            pairs = np.eye(n_labels)[:, None] * share[:, None, :, None]
            parts.append(pairs.reshape(len(n), n_labels, -1))
        return np.concatenate(parts, axis=2)

    @cached_property
    def known_items(self) -> tuple[Floats, Integers]:
        """Columns and label of the items with gold."""
        at = np.flatnonzero(self.codes >= 0)
        if at.size < FEW_GOLD:
            warn(
                f"gold of {at.size} items hardly tells what votes and models say of it: have {FEW_GOLD} or more judged"
            )
        return self.columns(at), self.codes[at]

    def likelihood(self, rng: Rng) -> tuple[Likelihoods, Floats]:
        """Return the log probability of the label of each item with gold."""
        rows, truth = self.known_items
        return lambda theta: log_softmax(rows @ theta.T, axis=1)[np.arange(truth.size), truth], np.ones(
            truth.size
        )

    def drawer(self, request: Request) -> Drawer:
        """Return the function that draws the label of each item of a block."""
        if (request.top_labels or 1) > 1:
            raise InputError(
                "gold is one label per item; metrics of several best labels need more: leave gold out"
            )
        return super().drawer(request)

    def draw_items(self, rng: Rng, theta: Floats, block: Places, each: int, *, best: bool) -> Array:
        """Draw labels (item, sample), or the same as plausibilities of 0 and 1."""
        odds = np.repeat(self.columns(block) @ theta.T, each, axis=2)
        # The largest of log weights plus Gumbel noise is a draw by these weights.
        label = (odds + rng.gumbel(size=odds.shape)).argmax(axis=1)
        known = self.codes[block, None]
        label = np.where(known < 0, label, known)
        return label if best else np.eye(odds.shape[1])[label]
