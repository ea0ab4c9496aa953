"""Simulation-based calibration of `group_dirichlet`: parameters and plausibilities from the prior, then votes."""

import numpy as np
import pytest
from _groups import labels_of

from bayesagree import group_dirichlet
from bayesagree.plausibility import GroupDirichletPrior

PRIOR = GroupDirichletPrior(shape_sd=0.7)
SIZES = [(40, 1), pytest.param(1000, 2, marks=pytest.mark.slow)]
DRAWS = 49


def simulate(rng, n_items=25, n_groups=3, n_votes=4):
    """Draw the chance of each group to be alone, plausibilities (group, item, category) and counts of votes."""
    shape = np.exp(-np.log(2) + PRIOR.shape_sd * rng.standard_normal(2))
    common = np.maximum(rng.dirichlet(shape, n_items), 1e-12)
    share = rng.random(n_groups)
    apart = rng.random((n_groups, n_items)) < share[:, None]
    typical = 1 - (rng.random(n_items) > common[:, 0])  # of two labels, that of an own view is the other one
    alone = np.stack([rng.dirichlet(shape + np.eye(2)[t], n_groups) for t in typical], axis=1)
    own = np.where(apart[:, :, None], alone, common)
    chance = np.array([1 - (1 - share[g]) * (1 - np.delete(share, g).prod()) for g in range(n_groups)])
    return chance, own, rng.multinomial(n_votes, own)


@pytest.mark.parametrize(("n", "random_seed"), SIZES)
@pytest.mark.filterwarnings("ignore:the chains disagree")  # one short chain each
def test_ranks_of_the_truth_are_uniform(calibration, n, random_seed):
    rng = np.random.default_rng(random_seed)
    ranks, of_item = [], []
    for _ in range(n):
        chance, own, votes = simulate(rng)
        labels, members = labels_of(votes, "ghi")
        tree = group_dirichlet(labels, groups=members, prior=PRIOR, draws=3 * DRAWS, chains=1, random_seed=rng)
        drawn = tree["posterior"].to_dataset().isel(chain=0, draw=slice(None, None, 3))
        ranks.append((drawn["apart"].values < chance).sum(axis=0))
        # Plausibilities of 0 and 1, exactly, are frequent: ties are broken at random.
        values, true = (np.clip(p, 1e-9, 1 - 1e-9) for p in (drawn["plausibility"].values[:, 0, :, 0], own[:, 0, 0]))
        of_item.append((values < true).sum(axis=0) + rng.integers(0, (values == true).sum(axis=0) + 1))
    calibration.uniform("group_dirichlet", "apart", np.array(ranks)[:, 1], DRAWS + 1)
    calibration.uniform("group_dirichlet", "plausibility", np.array(of_item)[:, 1], DRAWS + 1)
