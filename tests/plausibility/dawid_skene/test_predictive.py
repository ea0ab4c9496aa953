"""Log likelihoods of items against sums and integrals by hand."""

import numpy as np
import pytest
import scipy as sp

from bayesagree import Labels, dawid_skene
from bayesagree.plausibility import DawidSkenePrior
from bayesagree.predictive import with_log_likelihood

VOTES = [["x", "y", "x"], ["z", None, "x"], [None, "y", None], ["z", "z", "y"]]
LABELS = Labels.from_matrix(VOTES, annotators=[*"abc"])
SD = DawidSkenePrior().difficulty_sd


def by_hand(variant, prevalence, confusion, sd):
    """Sum over the true label, of the variant with difficulties inside an integral over the item's."""
    found = []
    for item in range(LABELS.items.size):
        given = LABELS.item_index == item
        who, label = LABELS.annotator_index[given], LABELS.label_index[given]

        def chance(difficulty, who=who, label=label):
            total = 0.0
            for truth in range(3):
                rows = confusion[who, truth]
                if variant == "item_difficulty":
                    right = sp.special.expit(sp.special.logit(confusion[who, 0, 0]) - difficulty)[:, None]
                    rows = np.where(np.arange(3) == truth, right, (1 - right) / 2)
                total += prevalence[truth] * np.prod(rows[np.arange(label.size), label])
            return total * sp.stats.norm.pdf(difficulty, scale=sd)

        if variant == "item_difficulty":
            found.append(sp.integrate.quad(chance, -12 * sd, 12 * sd, epsabs=1e-12)[0])
        else:
            found.append(chance(0.0) / sp.stats.norm.pdf(0.0, scale=sd))
    return np.log(found)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("variant", ["full", "one_coin", "class_conditional", "item_difficulty"])
def test_log_likelihood_of_items(variant):
    tree = dawid_skene(LABELS, variant=variant, draws=3, chains=1, seed=1)
    found = with_log_likelihood(tree, LABELS, draws=3, seed=1)["log_likelihood"]["annotations"].values[0]
    posterior = tree["posterior"].to_dataset().isel(chain=0)
    confusion = posterior["confusion"].transpose("draw", "annotator", "category", "observed_category").values
    for draw in range(3):
        expected = by_hand(
            variant, posterior["prevalence"].values[draw], confusion[draw], DawidSkenePrior().difficulty_sd
        )
        np.testing.assert_allclose(found[draw], expected, rtol=1e-5)
