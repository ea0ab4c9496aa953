"""The sampler against exact posteriors of one item of two labels, streams against kept draws, refusals."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from _groups import labels_of
from scipy.special import betainc, betaln, softmax

from bayesagree import InputError, Labels, Predictions, group_dirichlet
from bayesagree.draws.posterior import Request
from bayesagree.plausibility import GroupDirichlet, GroupDirichletPrior
from bayesagree.plausibility.group_dirichlet._gibbs import Chain
from bayesagree.plausibility.group_dirichlet._kernels import HIGHEST, LOWEST
from bayesagree.plausibility.group_dirichlet._problem import GroupProblem

MODEL = Path(__file__).parents[3] / "models" / "group_dirichlet.json"
GRID = (np.arange(200) + 0.5) / 200


@pytest.mark.parametrize("similarity", [2.0, 40.0])
def test_graded_on_a_grid(similarity):
    """With the parameters fixed by the prior, m of one item on 200 points gives E lambda of each group."""
    counts = np.array([[[1, 5]], [[4, 2]]])
    labels, members = labels_of(counts)
    prior = GroupDirichletPrior(similarity=similarity, similarity_sd=1e-4, shape_sd=1e-4, leaning=1e6)
    tree = group_dirichlet(labels, groups=members, prior=prior, draws=1000, chains=2, seed=1)
    s, m = similarity, GRID
    log_weight = -0.5 * np.log(m * (1 - m))
    for no, yes in counts[:, 0]:
        log_weight += betaln(s * m + no, s * (1 - m) + yes) - betaln(s * m, s * (1 - m))
    weight = softmax(log_weight)
    for g, (no, yes) in enumerate(counts[:, 0]):
        mean = weight @ ((s * m + no) / (s + no + yes))
        drawn = tree["posterior"]["plausibility"].values[:, :, g, 0, 0]
        assert drawn.mean() == pytest.approx(mean, abs=5 * 0.2 / np.sqrt(1000))


@pytest.mark.long
def test_reference_posterior():
    reference = json.loads(MODEL.read_text())
    expected, prior = (
        reference["posterior"],
        GroupDirichletPrior(similarity=10, similarity_sd=1, shape_sd=0.5, leaning=1e6),
    )
    labels, members = labels_of(reference["data"]["counts"])
    how = {"groups": members, "prior": prior, "draws": 1500, "chains": 2, "seed": 1}
    graded = group_dirichlet(labels, **how)["posterior"].to_dataset()
    # Of 3000 draws at least a tenth count as independent.
    near = 4 / np.sqrt(300)
    yes = graded["plausibility"].values[..., 1]
    np.testing.assert_allclose(yes.mean(axis=(0, 1)), expected["graded_yes"], atol=near * yes.std(axis=(0, 1)).max())
    similarity = np.log(graded["similarity"]).mean(("chain", "draw"))
    np.testing.assert_allclose(similarity, expected["log_similarity"], atol=near)
    divided = group_dirichlet(labels, form="divided", **how)
    apart = divided["posterior"]["apart"]
    np.testing.assert_allclose(apart.mean(("chain", "draw")), expected["apart"] * 2, atol=near * 0.3)
    found = divided["derived"]["prob_different"].sel(group="g").values
    np.testing.assert_allclose(found, expected["apart_items"], atol=near * 0.5)


def test_divided_in_closed_form():
    """With a uniform share the odds of one item to divide two groups are a ratio of Beta functions.

    Typical labels of the two views differ: (t, 1 - t) with the chances that two draws give them.
    """
    labels, members = labels_of(np.array([[[0, 4]], [[3, 2]]]))
    tree = group_dirichlet(
        labels, groups=members, form="divided", prior=GroupDirichletPrior(shape_sd=1e-4), draws=1500, chains=2, seed=2
    )

    def log_marginal(no, yes):
        return betaln(0.5 + no, 0.5 + yes) - betaln(0.5, 0.5)

    of_typical = np.array([2.5 / 6 * 0.5 / 5, 3.5 / 6 * 4.5 / 5])  # h yes and g no, h no and g yes
    apart = log_marginal(0, 4) + log_marginal(3, 2) + np.log(of_typical.sum() / 0.5)
    expected = 1 / (1 + np.exp(log_marginal(3, 6) - apart))
    share = tree["posterior"]["apart"].values
    assert share.mean() == pytest.approx((1 + expected) / 3, abs=5 * 0.3 / np.sqrt(1000))
    found = tree["derived"]["prob_different"].values[:, 0]
    assert found == pytest.approx(expected, abs=5 * 0.5 / np.sqrt(1000))
    g_yes = betainc([0.5 + 1, 0.5], [4.5, 4.5 + 1], 0.5)
    h_yes = betainc([3.5, 3.5 + 1], [2.5 + 1, 2.5], 0.5)
    differ = expected * softmax(np.log(of_typical)) @ (g_yes * (1 - h_yes) + h_yes * (1 - g_yes))
    best = tree["posterior"]["plausibility"].values[:, :, :, 0].argmax(axis=-1)
    assert (best[..., 0] != best[..., 1]).mean() == pytest.approx(differ, abs=5 * 0.5 / np.sqrt(1000))
    np.testing.assert_allclose(tree["posterior"]["divided"].mean(("chain", "draw")), found, rtol=1e-12)


@pytest.mark.parametrize("careful", [False, True])
@pytest.mark.parametrize("form", ["graded", "divided"])
def test_streams_have_the_draws_that_are_kept(form, careful):
    labels, members = labels_of(np.random.default_rng(1).integers(0, 3, (2, 70, 2)))
    specification = GroupDirichlet(members, form, careful)
    request = Request(draws=20, chains=2, seed=3)
    tree = specification.draw(labels, request)
    kept = tree["posterior"]["plausibility"]
    assert kept.dims == ("chain", "draw", "group", "item", "category")
    np.testing.assert_allclose(kept.sum("category"), 1, rtol=1e-12)
    posteriors = specification.fitted(labels, None, request).passes([1.0])
    for name, posterior in zip("gh", posteriors):
        blocks = posterior.blocks(labels, request, plausibility=True).blocks
        streamed = np.concatenate([block.plausibility for block in blocks])
        wanted = kept.sel(group=name).transpose("item", "chain", "draw", "category").values.reshape(streamed.shape)
        np.testing.assert_array_equal(streamed, wanted)
    best = group_dirichlet(labels, groups=members, form=form, careful=careful, draws=20, chains=2, seed=3, top_labels=1)
    np.testing.assert_array_equal(best["posterior"]["top_label"].values[..., 0], kept.values.argmax(axis=-1))


def test_careless_annotators_are_found():
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 2, 80)
    votes = np.where(np.arange(12) < 9, truth[:, None], rng.integers(0, 2, (80, 12)))
    labels = Labels.from_matrix(votes, annotators=range(12))
    members = {j: "ab"[j % 2] for j in range(12)}
    tree = group_dirichlet(labels, groups=members, form="divided", careful=True, draws=200, seed=4)
    care = tree["posterior"]["careful"].mean(("chain", "draw")).values
    assert care[:9].min() > 0.9
    assert care[9:].max() < 0.4
    assert tree["posterior"]["divided"].quantile(0.05).item() < 0.05


def crowd_with_model(n_items):
    """Give the shares of "yes" of 200 items, votes of two groups on the first, and a model that knows the shares."""
    rng = np.random.default_rng(5)
    yes = rng.random(200)
    counts = rng.binomial(4, yes, (2, 200))
    labels, members = labels_of(np.stack([4 - counts, counts], axis=2)[:, :n_items])
    return yes, labels, members, Predictions.from_scores({"A": np.stack([1 - yes, yes], axis=1)}, labels=[0, 1])


def test_predictions_tell_items_without_votes():
    yes, labels, members, models = crowd_with_model(150)
    tree = group_dirichlet(labels, groups=members, predictions=models, draws=100, seed=5)
    mean = tree["posterior"]["plausibility"].mean(("chain", "draw", "group")).values[150:, 1]
    assert np.corrcoef(mean, yes[150:])[0, 1] > 0.95


def test_means_that_predictions_give_are_drawn():
    # What few votes say of the model moves all items without votes together; with one mean each, their average over
    # 180 items would hardly move.
    _, labels, members, models = crowd_with_model(20)
    request = Request(draws=100, chains=2, seed=5)
    specification = GroupDirichlet(members, predictions=models)
    problem = specification.problem(*specification.prepare(labels, models)[:1], request)
    drawn = specification.draw(labels, request)["posterior"]["plausibility"][:, :, :, 20:, 1]
    given = problem.base[:, 20:, 1].mean(axis=1)
    kept = drawn.mean(("group", "item")).values.reshape(len(given), -1).mean(axis=1)
    assert given.std() > 0.02
    assert np.corrcoef(given, kept)[0, 1] > 0.9


def test_worth_is_around_its_prior_where_few_votes_tell_it():
    # Without two votes on an item nothing tells the worth: its prior is the posterior.
    votes = np.zeros((2, 40, 2), int)
    votes[[0, 1] * 20, range(40), 0] = 1
    labels, members = labels_of(votes)
    rng, logs = np.random.default_rng(1), []
    base = np.full((1, 40, 2), 0.5)
    problem = GroupProblem.of(labels, members, base=base, divided=False, careful=False, prior=GroupDirichletPrior())
    chain = Chain(problem, rng, base)
    for _ in range(400):
        chain.sweep()
        logs.append(chain.log_shape[0])
    assert np.mean(logs) == pytest.approx(np.log(10), abs=0.5)


def test_groups_of_one_vote_per_item():
    labels, members = labels_of(np.array([[[1, 0], [0, 1]] * 20, [[3, 0], [1, 3]] * 20]))
    with pytest.warns(UserWarning, match=r"no item has two votes of 'g'"):
        tree = group_dirichlet(labels, groups=members, draws=50, seed=6)
    different = tree["derived"]["prob_different"]
    assert np.isnan(different.sel(group="g")).all()
    assert not np.isnan(different.sel(group="h")).any()


def test_refusals():
    labels, members = labels_of(np.array([[[1, 2]], [[2, 1]]]))
    with pytest.raises(InputError, match="two groups or more"):
        group_dirichlet(labels, groups=dict.fromkeys(members, "all"))
    with pytest.raises(InputError, match="none of the annotators"):
        group_dirichlet(labels, groups={"nobody": "g"})
    with pytest.raises(InputError, match="these are counts"):
        group_dirichlet(Labels.from_counts([[1, 2]]), groups=members)
    with pytest.raises(InputError, match=r"form='graded\?'"):
        group_dirichlet(labels, groups=members, form="graded?")


@pytest.mark.slow
@pytest.mark.parametrize("form", ["graded", "divided"])
def test_pymc_has_the_same_posterior(form):
    from bayesagree import group_dirichlet_model
    from bayesagree._inference.nuts import sample_nuts

    labels, members = labels_of(np.random.default_rng(7).integers(0, 5, (3, 12, 2)), "ghi")
    how = {"groups": members, "form": form, "prior": GroupDirichletPrior(similarity=10, similarity_sd=1)}
    ours = group_dirichlet(labels, **how, draws=1000, seed=7)["posterior"].to_dataset()
    model = group_dirichlet_model(labels, **how)
    theirs = sample_nuts(model, draws=1000, chains=2, seed=7, sampler={"target_accept": 0.95})["posterior"].to_dataset()
    if form == "graded":
        first, second = ours["plausibility"], theirs["plausibility"]
        assert abs(first.mean(("chain", "draw")) - second.mean(("chain", "draw"))).max() < 0.03
        first, second = np.log(ours["similarity"]), np.log(theirs["similarity"])
        assert abs(first.mean(("chain", "draw")) - second.mean(("chain", "draw"))).max() < 0.25
    else:
        share = theirs["share_apart"]
        others = xr_product_of_others(share)
        expected = (1 - (1 - share) * (1 - others)).mean(("chain", "draw"))
        assert abs(ours["apart"].mean(("chain", "draw")).values - expected.values).max() < 0.05


def xr_product_of_others(share):
    """Return the product over all other groups."""
    parts = [share.drop_sel(group=g).prod("group") for g in share["group"].values]
    return share.copy(data=np.stack([p.values for p in parts], axis=-1))


def test_crossed_features_add_up():
    """Only age sees items differently; the combination without votes of its own is known from its two levels."""
    rng = np.random.default_rng(8)
    yes, flipped = rng.random(150) < 0.5, rng.random(150) < 0.4
    people = pd.DataFrame({"age": np.repeat(["old", "young"], 8), "gender": np.tile(["f", "m"], 8)})
    sees = np.where(people["age"] == "old", yes[:, None], (yes ^ flipped)[:, None])
    votes = Labels.from_matrix(np.where(rng.random((150, 16)) < 0.95, sees, ~sees).astype(int), annotators=range(16))
    tree = group_dirichlet(votes, groups=people, draws=100, chains=2, seed=8)
    posterior = tree["posterior"].to_dataset()
    assert posterior["group"].values.tolist() == ["old & f", "old & m", "young & f", "young & m"]
    assert posterior["weight"].sel(feature="age").mean() > 0.8
    similarity = np.log(posterior["similarity"]).mean(("chain", "draw"))
    assert similarity.sel(level="young") < similarity.sel(level="m")
    np.testing.assert_allclose(posterior["plausibility"].sum("category"), 1, rtol=1e-12)
    best = posterior["plausibility"].mean(("chain", "draw")).argmax("category").sel(group="young & m").values
    assert (best == (yes ^ flipped)).mean() > 0.95
    request = Request(draws=100, chains=2, seed=8)
    posteriors = GroupDirichlet(people).fitted(votes, None, request).passes([1.0])
    streamed = next(iter(posteriors[2].blocks(votes, request, plausibility=True).blocks)).plausibility
    kept = posterior["plausibility"].sel(group="young & f").transpose("item", "chain", "draw", "category").values[:64]
    np.testing.assert_array_equal(streamed, kept.reshape(streamed.shape))
    with pytest.raises(InputError, match="graded form only"):
        group_dirichlet(votes, groups=people, form="divided")


def test_a_group_that_leans():
    """A quarter of one group's votes is yes whatever the item, which is no distance from the common view."""
    rng = np.random.default_rng(10)
    yes = (rng.random(200) < 0.5)[:, None]
    votes = np.where(rng.random((200, 12)) < np.repeat([0.0, 0.25], [7, 5]), True, yes).astype(int)
    members = {j: "leans" if j > 6 else "plain" for j in range(12)}
    tree = group_dirichlet(Labels.from_matrix(votes, annotators=range(12)), groups=members, draws=250, seed=10)
    leaning = tree["posterior"]["leaning"].mean(("chain", "draw"))
    assert leaning.sel(group="leans") == pytest.approx(0.25, abs=4 * np.sqrt(0.25 * 0.75 / 500))
    assert leaning.sel(group="plain") == 0
    shares = tree["posterior"]["plausibility"].sel(group="leans", category=1).mean(("chain", "draw")).values
    assert shares[~yes[:, 0]].mean() == pytest.approx(votes[~yes[:, 0], 7:].mean(), abs=0.03)


def test_three_people_with_habits_are_no_group():
    """Whatever the item, three people often say yes: as persons they explain it, as a group they would see it so."""
    rng = np.random.default_rng(9)
    truth = rng.integers(0, 2, 120)
    habit = np.where(np.arange(12) < 3, 0.5, 0.02)
    votes = np.where(rng.random((120, 12)) < habit, 1, truth[:, None])
    labels, members = (
        Labels.from_matrix(votes, annotators=range(12)),
        {j: "three" if j < 3 else "rest" for j in range(12)},
    )
    divided = [
        group_dirichlet(labels, groups=members, form="divided", careful=careful, draws=150, chains=2, seed=9)[
            "posterior"
        ]["divided"].sel(group="three")
        for careful in (False, True)
    ]
    assert divided[0].mean() > 2 * divided[1].mean()
    assert divided[1].mean() < 0.1


def test_similarities_start_where_a_slice_step_returns():
    """A start beyond the ends has density zero everywhere near it, so that stepping out would never end."""
    labels, members = labels_of(np.array([[[1, 2]], [[2, 1]]]))
    problem = GroupProblem.of(labels, members, prior=GroupDirichletPrior(similarity=1e9))
    for seed in range(5):
        start = Chain(problem, np.random.default_rng(seed), problem.base).log_similarity
        assert (start >= LOWEST).all()
        assert (start <= HIGHEST).all()
    low = GroupProblem.of(labels, members, prior=GroupDirichletPrior(similarity=1e-9))
    assert Chain(low, np.random.default_rng(1), low.base).log_similarity.min() >= LOWEST
    tree = group_dirichlet(
        labels, groups=members, prior=GroupDirichletPrior(similarity=1e9), draws=20, chains=1, seed=1
    )
    assert np.log(tree["posterior"]["similarity"]).max() <= HIGHEST


@pytest.mark.parametrize(("members", "warned"), [(4, True), (40, False)])
def test_few_members_who_differ_are_named(members, warned):
    """Half of the members of a group favour 1 whatever the item; the votes of four of them do not tell the others'."""
    rng = np.random.default_rng(1)
    item, annotator = np.repeat(np.arange(60), 4), np.tile(np.arange(4), 60)
    annotator = (annotator + 4 * item) % members
    chance = np.where(annotator % 2, 0.8, 0.3)
    one = pd.DataFrame({"item": item, "annotator": annotator, "label": (rng.random(240) < chance).astype(int)})
    other = one.assign(annotator=one["annotator"] + 100, label=(rng.random(240) < 0.5).astype(int))
    labels = Labels.from_long(pd.concat([one, other]))
    problem = GroupProblem.of(labels, {a: "left" if a < 100 else "right" for a in labels.annotators.tolist()})
    assert problem.few_who_differ.tolist() == (["left"] if warned else [])


def test_few_members_who_differ_are_a_warning():
    rows = [[1, 0, 0, 1] if i % 2 else [1, 0, 1, 0] for i in range(40)]
    labels = Labels.from_matrix(rows, annotators=list("abcd"))
    members = {"a": "left", "b": "left", "c": "right", "d": "right"}
    with pytest.warns(UserWarning, match="the votes of 'left' come from few annotators"):
        group_dirichlet(labels, groups=members, draws=10, chains=1, seed=1)
