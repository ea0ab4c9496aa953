"""The sampler against exact posteriors of two labels, streams against kept draws, warnings, refusals."""

import itertools
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from _groups import labels_of
from scipy.special import betainc, betaln, softmax
from scipy.stats import chi2

from bayesagree import InputError, Labels, Predictions, group_dirichlet
from bayesagree.inference.posterior import Request
from bayesagree.plausibility import GroupDirichlet, GroupDirichletPrior
from bayesagree.plausibility.group_dirichlet._sampler import Chains, GroupVotes, States

MODEL = Path(__file__).parents[3] / "models" / "group_dirichlet.json"
# Every second of 2000 draws has a state of its own, of which at least a fifth count as independent.
NEAR = 4.5 / np.sqrt(400)


@pytest.mark.parametrize("draws", [200, pytest.param(1000, marks=pytest.mark.long)])
def test_reference_posterior(draws):
    reference = json.loads(MODEL.read_text())
    labels, members = labels_of(reference["data"]["counts"])
    tree = group_dirichlet(
        labels, groups=members, prior=GroupDirichletPrior(shape_sd=0.5), draws=draws, chains=4, random_seed=1
    )
    near = 4.5 / np.sqrt(0.4 * draws)
    apart, expected = tree["posterior"]["apart"], reference["posterior"]
    np.testing.assert_allclose(apart.mean(("chain", "draw")), expected["apart"] * 2, atol=near * 0.3)
    found = tree["derived"]["prob_different"].sel(group="g").values
    np.testing.assert_allclose(found, expected["apart_items"], atol=near * 0.5)
    assert tree["diagnostics"]["ess"].min() > 0.4 * draws


@pytest.mark.long
def test_one_item_in_closed_form():
    """With a uniform share the odds of one item to divide two groups are a ratio of Beta functions.

    Typical labels of the two views differ: (t, 1 - t) with the chances that two draws give them.
    """
    labels, members = labels_of(np.array([[[0, 4]], [[3, 2]]]))
    tree = group_dirichlet(labels, groups=members, prior=GroupDirichletPrior(shape_sd=1e-4), draws=1000, random_seed=2)

    def log_marginal(no, yes):
        return betaln(0.5 + no, 0.5 + yes) - betaln(0.5, 0.5)

    of_typical = np.array([2.5 / 6 * 0.5 / 5, 3.5 / 6 * 4.5 / 5])  # h yes and g no, h no and g yes
    apart = log_marginal(0, 4) + log_marginal(3, 2) + np.log(of_typical.sum() / 0.5)
    expected = 1 / (1 + np.exp(log_marginal(3, 6) - apart))
    share = tree["posterior"]["apart"].values
    assert share.mean() == pytest.approx((1 + expected) / 3, abs=NEAR * 0.3)
    found = tree["derived"]["prob_different"].values[:, 0]
    assert found == pytest.approx(expected, abs=NEAR * 0.5)
    g_yes = betainc([0.5 + 1, 0.5], [4.5, 4.5 + 1], 0.5)
    h_yes = betainc([3.5, 3.5 + 1], [2.5 + 1, 2.5], 0.5)
    differ = expected * softmax(np.log(of_typical)) @ (g_yes * (1 - h_yes) + h_yes * (1 - g_yes))
    best = tree["posterior"]["plausibility"].values[:, :, 0].argmax(axis=-1)
    assert (best[..., 0] != best[..., 1]).mean() == pytest.approx(differ, abs=NEAR * 0.5)
    np.testing.assert_allclose(tree["posterior"]["divided"].mean(("chain", "draw")), found, rtol=1e-12)


def test_streams_have_the_draws_that_are_kept(monkeypatch):
    monkeypatch.setattr("bayesagree.plausibility.group_dirichlet._sampler.WARM_UP", 5)
    labels, members = labels_of(np.random.default_rng(1).integers(0, 3, (2, 70, 2)))
    specification, request = GroupDirichlet(members), Request(draws=5, chains=4, random_seed=3)
    kept = specification.draw(labels, request)["posterior"]["plausibility"]
    assert kept.dims == ("chain", "draw", "item", "group", "category")
    np.testing.assert_allclose(kept.sum("category"), 1, rtol=1e-12)
    models = Predictions.from_labels({"A": [0] * 70}, items=labels.items, labels=[0, 1])
    for name, posterior in zip("gh", specification.truths(labels, models, request).posteriors):
        blocks = posterior.blocks(labels, replace(request, plausibility=True)).blocks
        streamed = np.concatenate([block.plausibility for block in blocks])
        wanted = kept.sel(group=name).transpose("item", "chain", "draw", "category").values.reshape(streamed.shape)
        np.testing.assert_array_equal(streamed, wanted)
    how, done = {"draws": 5, "chains": 4, "random_seed": 3, "top_labels": 1}, []
    best = group_dirichlet(labels, groups=members, **how, progress=done.append)
    assert sum(done) == 4 * 5 + 70
    np.testing.assert_array_equal(best["posterior"]["top_label"].values[..., 0], kept.values.argmax(axis=-1))


def of_states(votes, shape, divided):
    """Return the probability of which groups are apart and of typical labels, (apart, typical, own) of each item.

    Votes are drawn one by one from urns; a view of its own has another typical label than the common one.
    """

    def urn(counts):
        held, found = shape.copy(), 1.0
        for label in np.repeat(np.arange(shape.size), counts):
            found *= held[label] / held.sum()
            held[label] += 1
        return found, held / held.sum()

    n_groups, n_items, n_labels = votes.shape
    items = []
    for i in range(n_items):
        found = {}
        for apart in itertools.product([False, True], repeat=n_groups):
            together, chance = urn(votes[~np.array(apart), i].sum(axis=0))
            for typical in range(n_labels):
                each = [[-1] if not own else [k for k in range(n_labels) if k != typical] for own in apart]
                for own in itertools.product(*each):
                    value = together * chance[typical]
                    for g, label in enumerate(own):
                        if label >= 0:
                            alone, typical_of_own = urn(votes[g, i])
                            value *= alone * typical_of_own[label] * shape.sum() / (shape.sum() - shape[typical])
                    # The typical label is not kept where no view is apart from it.
                    state = apart, typical if any(apart) else -1, own
                    found[state] = found.get(state, 0.0) + value
        items.append(found)
    total = {}
    for states in itertools.product(*(of.items() for of in items)):
        n_apart = np.sum([state[0] for state, _ in states], axis=0)
        weight = np.exp(betaln(1 + n_apart, divided + n_items - n_apart)).prod() * np.prod([p for _, p in states])
        total[tuple(state for state, _ in states)] = weight
    return {state: weight / sum(total.values()) for state, weight in total.items()}


def test_states_have_the_probabilities_that_urns_give_them():
    """Three groups on two items of two labels: a thousand chains, each far from its start."""
    votes = np.array([[[4, 0], [1, 1]], [[0, 2], [2, 0]], [[2, 1], [0, 1]]])
    problem = GroupVotes(np.array(list("ghi")), np.array([0, 1]), votes)
    prior, n = GroupDirichletPrior(divided=4.0, shape_sd=1e-4), 1000
    chains = Chains(problem, prior, n, np.random.default_rng(1))
    for _ in range(15):
        chains.sweep()
    seen = {}
    for c in range(n):
        parts = (chains.apart[c].T.tolist(), chains.typical[c].tolist(), chains.own[c].T.tolist())
        state = tuple((tuple(apart), typical, tuple(own)) for apart, typical, own in zip(*parts))
        seen[state] = seen.get(state, 0) + 1 / n
    expected = of_states(votes, np.full(2, 0.5), 4.0)
    assert set(seen) <= set(expected)
    p = np.array([*expected.values()])
    found = np.array([seen.get(state, 0.0) for state in expected])
    # Pearson's statistic of the states that are expected five times or more, and of all others together.
    often = n * p >= 5
    p, found = (np.append(of[often], of[~often].sum()) for of in (p, found))
    assert chi2(p.size - 1).sf(n * ((found - p) ** 2 / p).sum()) > 1e-4


@pytest.mark.parametrize("order", [["g", "h", "i"], pytest.param(["i", "g", "h"], marks=pytest.mark.long)])
def test_a_group_that_sees_half_of_the_items_its_own_way_is_found(order):
    """Whatever the order of the groups: of three, each may be apart."""
    rng = np.random.default_rng(4)
    yes, turned = rng.random(60) < 0.5, np.arange(60) % 2 == 0
    views = {"g": yes, "h": yes, "i": yes ^ turned}
    counts = np.stack([rng.binomial(5, np.where(views[name], 0.95, 0.05)) for name in order])
    labels, members = labels_of(np.stack([5 - counts, counts], axis=2), order)
    tree = group_dirichlet(labels, groups=members, draws=50, random_seed=4)
    divided = tree["posterior"]["divided"].mean(("chain", "draw"))
    assert divided.sel(group="i") == pytest.approx(0.5, abs=0.12)
    assert divided.sel(group=["g", "h"]).max() < 0.1
    seen = tree["derived"]["prob_different"].sel(group="i").values > 0.5
    assert (seen == turned).mean() > 0.95


@pytest.mark.parametrize(("most", "shared"), [(6, 2), (5, 3), (12, 1)])
def test_draws_of_large_sets_share_states(monkeypatch, most, shared):
    """Of twelve draws at most so many states are kept, each for as many draws."""
    for name, value in (("WARM_UP", 2), ("MOST_KEPT", 2 * 3 * most), ("FEWEST_STATES", 2)):
        monkeypatch.setattr(f"bayesagree.plausibility.group_dirichlet._sampler.{name}", value)
    labels, members = labels_of(np.random.default_rng(1).integers(1, 4, (2, 3, 2)))
    done = []
    tree = group_dirichlet(labels, groups=members, draws=12, chains=2, random_seed=1, progress=done.append)
    apart = tree["posterior"]["apart"].values[:, :, 1].reshape(2, 12 // shared, shared)
    assert (apart == apart[:, :, :1]).all()
    assert np.unique(apart).size == 2 * 12 // shared
    assert done == [2] * (12 // shared) + [3]


def test_groups_of_one_vote_per_item():
    labels, members = labels_of(np.array([[[1, 0], [0, 1]] * 20, [[3, 0], [1, 3]] * 20]))
    with pytest.warns(UserWarning, match=r"no item has two votes of 'g'"):
        tree = group_dirichlet(labels, groups=members, draws=50, random_seed=6)
    different = tree["derived"]["prob_different"]
    assert np.isnan(different.sel(group="g")).all()
    assert not np.isnan(different.sel(group="h")).any()


def test_refusals():
    labels, members = labels_of(np.array([[[1, 2]], [[2, 1]]]))
    with pytest.raises(InputError, match="two groups or more"):
        group_dirichlet(labels, groups=dict.fromkeys(members, "all"))
    with pytest.raises(InputError, match="none of the annotators"):
        group_dirichlet(labels, groups={"nobody": "g"})
    with pytest.raises(InputError, match="counts have none"):
        group_dirichlet(Labels.from_counts([[1, 2]]), groups=members)


@pytest.mark.slow
def test_pymc_has_the_same_posterior():
    from bayesagree.inference.nuts import sample_nuts
    from bayesagree.plausibility.group_dirichlet.model import group_dirichlet_model

    labels, members = labels_of(np.random.default_rng(7).integers(0, 5, (3, 12, 2)), "ghi")
    ours = group_dirichlet(labels, groups=members, draws=1000, random_seed=7)["posterior"]["apart"].mean(
        ("chain", "draw")
    )
    model = group_dirichlet_model(labels, groups=members)
    sampled = sample_nuts(model, draws=1000, chains=2, random_seed=7, sampler={"target_accept": 0.95})
    share = sampled["posterior"]["share_apart"]
    others = np.stack([share.drop_sel(group=g).prod("group") for g in "ghi"], axis=-1)
    expected = (1 - (1 - share) * (1 - others)).mean(("chain", "draw"))
    assert abs(ours.values - expected.values).max() < 0.05


def test_a_group_with_a_view_of_its_own_has_it_and_the_others_the_typical_one():
    """Shapes all but zero, no votes: plausibilities are the typical label of the view."""
    n_items, n_labels = 3, 4
    problem = SimpleNamespace(votes=np.zeros((2, n_items, n_labels)))
    typical, own = np.array([[[0, 1, 2]]]), np.full((1, 1, 2, n_items), -1)
    own[0, 0, 1] = [3, -1, 0]
    states = States(problem, 2, np.full((1, 1, n_labels), -9.0), np.zeros((1, 1, 2)), typical, own)
    first, second = states.draw(slice(0, n_items), np.random.default_rng(1), (0, 1))
    assert first.shape == (n_items, 2, n_labels)
    assert first.argmax(axis=2).tolist() == [[0, 0], [1, 1], [2, 2]]
    assert second.argmax(axis=2).tolist() == [[3, 3], [1, 1], [0, 0]]
