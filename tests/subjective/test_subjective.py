"""Groups of annotators: disagreement rates, performance tables, the hierarchical posterior, spread against chance."""

import json
from collections import Counter

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from _errors_of_draws import assert_same_mean
from _paths import ROOT
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, betabinom, norm

from bayesagree import InputError, Labels, Predictions, Ratings, common_agreement
from bayesagree._inference.nuts import sample_nuts
from bayesagree.annotations.annotators import Annotators
from bayesagree.subjective._beta_binomial import beta_binomial_posterior
from bayesagree.subjective.agreement import group_agreement, group_evaluate, group_phi
from bayesagree.subjective.disagreement import SETUPS, disagreement_rate, recode, without_items
from bayesagree.subjective.dispersion import dispersion_null
from bayesagree.subjective.group_model import (
    group_counts,
    group_performance_model,
    group_posterior,
    group_summary,
    minimum_group_size,
    prob_worse,
)
from bayesagree.subjective.groups import Groups
from bayesagree.subjective.normal_model import normal_group_model, normal_group_posterior
from bayesagree.subjective.performance import annotator_performance, group_performance, left_out

MODELS = ROOT / "models"


@st.composite
def sparse_votes(draw):
    shape = draw(st.tuples(st.integers(1, 6), st.integers(1, 5)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    cells = rng.integers(0, 3, shape).astype(object)
    cells[rng.random(shape) < 0.3] = None
    cells[0, 0] = 0
    return cells


@pytest.mark.filterwarnings("ignore:.*annotators have no item")
@given(sparse_votes(), st.sampled_from(["agree", "exclude"]), st.booleans())
def test_disagreement_rate_equals_its_definition(cells, ties, own_vote):
    ours = disagreement_rate(Labels.from_matrix(cells, labels=[0, 1, 2]), ties=ties, own_vote=own_vote)
    for j in range(cells.shape[1]):
        differs = []
        for i in range(cells.shape[0]):
            if cells[i, j] is None:
                continue
            jury = Counter(v for k, v in enumerate(cells[i]) if v is not None and (own_vote or k != j))
            modes = [label for label, n in jury.items() if n == max(jury.values())]
            if not jury or (ties == "exclude" and len(modes) > 1):
                continue
            differs.append(cells[i, j] not in modes)
        expected = np.mean(differs) if differs else np.nan
        np.testing.assert_equal(float(ours[j]), float(expected))


def test_a_tie_between_labels_that_are_not_ones_own_does_not_count():
    votes = Labels.from_matrix([["a", "b", "c"]], annotators=list("xyz"))
    for own_vote in (True, False):
        with pytest.warns(UserWarning, match="3 annotators have no item"):
            rate = disagreement_rate(votes, ties="exclude", own_vote=own_vote)
        assert np.isnan(rate).all()


@pytest.mark.parametrize("rates", [[0.0, 0.0, 0.0], [0.3, 0.3, 0.3], [0.5, 0.5001, 0.5002]])
def test_groups_of_nearly_equal_rates_have_names_of_their_own(rates):
    rate = xr.DataArray(rates, {"annotator": list("xyz")}, ("annotator",))
    groups = Groups.by_disagreement(rate, bins=5)
    assert np.unique(groups.names).size == groups.names.size
    assert groups.sizes().sum() == 3
    assert groups.names.size == (5 if np.ptp(rates) else 1)


def test_an_annotator_without_majority_has_no_rate():
    labels = Labels.from_matrix([["a", "b", None], ["a", "a", "a"]])
    with pytest.warns(UserWarning, match="2 annotators have no item"):
        rate = disagreement_rate(Labels.from_matrix([["a", "b"]]), ties="exclude")
    assert np.isnan(rate).all()
    assert disagreement_rate(labels).values.tolist() == [0, 0, 0]


def test_four_readings_of_the_toxicity_scale():
    ratings = Ratings.from_matrix([[-2, -1, 0, 1, 2]], scale=(-2, 2), step=1)
    sizes = {n: recode(ratings, setup).counts().tolist()[0] for n, setup in SETUPS.items()}
    assert sizes == {1: [2, 3], 2: [3, 2], 3: [2, 1, 2], 4: [1, 1, 1, 1, 1]}
    with pytest.raises(InputError, match="rating 2 has no label"):
        recode(ratings, {k: v for k, v in SETUPS[1].items() if k < 2})


@pytest.fixture
def four():
    """Give four annotators in two groups and one unknown, three items, two models."""
    labels = Labels.from_matrix([list("aabba"), list("abbab"), list("aaabb")], annotators=list("vwxyz"))
    people = Annotators.from_table(
        pd.DataFrame({"annotator": list("vwxyq"), "gender": ["f", "f", "m", "m", "x"], "age": [20, 20, 20, None, 30]})
    )
    models = Predictions.from_labels({"A": list("aaa"), "B": list("abb")}, labels=["a", "b"])
    return labels, people, models


def test_group_table(four):
    labels, people, models = four
    with pytest.warns(UserWarning, match=r"1 of 4 groups have no annotator with a value.*'x'"):
        result = group_performance(labels, models, people, by=["gender"])
    assert result["group"].values.tolist() == ["f", "m", "x", "unknown"]
    assert result["n_annotators"].values.tolist() == [2, 2, 0, 1]
    assert result["n_annotations"].values.tolist() == [6, 6, 0, 3]
    table = result["performance"].sel(model="A").values
    np.testing.assert_allclose(table, [5 / 6, 1 / 3, np.nan, 1 / 3])
    known = [5 / 6, 1 / 3, 1 / 3]
    assert float(result["mean_performance"].sel(model="A")) == pytest.approx(np.mean(known))
    assert float(result["dispersion"].sel(model="A")) == pytest.approx(1 - np.std(known))
    without = left_out(result)["dispersion"].sel(model="A")
    assert float(without.sel(left_out="f")) == pytest.approx(1)


@pytest.mark.filterwarnings("ignore:.*groups have no annotator")
def test_combinations_list_the_gaps(four):
    labels, people, models = four
    result = group_performance(labels, models, people, by=["gender", "age"])
    sizes = dict(zip(result["group"].values.tolist(), result["n_annotators"].values.tolist()))
    assert sizes["f & 20.0"] == 2
    assert sizes["f & 30.0"] == 0
    assert sizes["m & unknown"] == 1
    assert sizes["unknown & unknown"] == 1
    assert people.missing(labels.annotators).loc["age"].tolist() == [5, 1, 1]


def test_the_oracle_is_perfect_and_even(four):
    labels, people, _ = four
    index = pd.MultiIndex.from_arrays([labels.items[labels.item_index], labels.annotators[labels.annotator_index]])
    oracle = {"oracle": pd.Series(labels.categories[labels.label_index], index=index)}
    groups = Groups.by_features(labels, people, ["gender"]).without(["x"])
    result = group_performance(labels, oracle, groups)
    assert float(result["mean_performance"][0]) == 1
    assert float(result["dispersion"][0]) == 1


@pytest.mark.parametrize("seed", range(5))
def test_built_in_metrics_equal_functions(seed):
    rng = np.random.default_rng(seed)
    labels = Labels.from_matrix(rng.integers(0, 3, (8, 4)), labels=[0, 1, 2])
    models = Predictions.from_labels({"A": rng.integers(0, 3, 8)}, labels=[0, 1, 2])
    ours = annotator_performance(labels, models)
    function = annotator_performance(labels, models, metric=lambda said, predicted: np.mean(said == predicted))
    np.testing.assert_allclose(ours, function, rtol=1e-15)
    ratings = Ratings.from_matrix(rng.integers(1, 6, (8, 4)), scale=(1, 5), step=1)
    predicted = {"A": pd.Series(rng.normal(3, 1, 8), index=range(8))}
    error = annotator_performance(ratings, predicted)
    by_hand = annotator_performance(ratings, predicted, metric=lambda x, y: np.abs(x - y).mean())
    np.testing.assert_allclose(error, by_hand, rtol=1e-13)
    r = annotator_performance(ratings, predicted, metric="correlation")
    assert float(r[0, 1]) == pytest.approx(
        np.corrcoef(ratings.rating[ratings.annotator_index == 1], predicted["A"])[0, 1]
    )


def test_bins_of_disagreement_have_a_stated_range():
    labels = Labels.from_matrix(
        [["a", "a", "a", "b"], ["a", "a", "b", "b"], ["a", "a", "b", "b"], ["a", "a", "a", "b"]]
    )
    rate = disagreement_rate(labels, own_vote=True)
    assert rate.values.tolist() == [0, 0, 0, 0.5]
    groups = Groups.by_disagreement(rate, bins=2)
    assert groups.sizes().tolist() == [3, 1]
    narrow = Groups.by_disagreement(rate, bins=2, value_range=(0, 0.2))
    assert narrow.index.tolist() == [0, 0, 0, -1]


def test_errors_name_the_value_and_the_way_out(four):
    labels, people, models = four
    with pytest.raises(InputError, match="no feature 'sex'; they have 'gender', 'age'"):
        group_performance(labels, models, people, by=["sex"])
    with pytest.raises(InputError, match="name the features to group by"):
        group_performance(labels, models, people)
    with pytest.raises(InputError, match="metric='absolute_error' is not one of 'accuracy' for Labels"):
        group_performance(labels, models, people, by=["gender"], metric="absolute_error")
    with pytest.raises(InputError, match="has no prediction for 2 items: 1, 2"):
        group_performance(labels, {"A": pd.Series(["a"], index=[0])}, people, by=["gender"])
    with pytest.raises(InputError, match="predicts 'c', which is no label"):
        group_performance(labels, {"A": pd.Series(list("aac"), index=range(3))}, people, by=["gender"])
    with pytest.raises(InputError, match="annotator 'v' has several values of 'gender'"):
        Annotators.from_table(pd.DataFrame({"annotator": ["v", "v"], "gender": ["f", "m"]}))
    with pytest.raises(InputError, match="needs to know who gave each label"):
        disagreement_rate(Labels.from_counts([[1, 2]]))


def reference():
    return json.loads((MODELS / "group_performance.json").read_text())


def as_annotations(agree, total, group):
    """Turn agreements into labels: one item per label, the model always says 1."""
    rows = [(f"{j}-{k}", j, int(k < s)) for j, (s, n) in enumerate(zip(agree, total)) for k in range(n)]
    labels = Labels.from_long(pd.DataFrame(rows, columns=["item", "annotator", "label"]), labels=[0, 1])
    people = Annotators.from_table(pd.DataFrame({"annotator": range(len(group)), "g": group}))
    return labels, Predictions.from_labels({"A": pd.Series(1, index=labels.items)}, labels=[0, 1]), people


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_exact_engine_equals_brute_force(seed):
    record = reference()
    posterior = group_posterior(*as_annotations(**record["data"]), ["g"], seed=seed)["posterior"].to_dataset()
    for name in ("performance", "within_spread", "between_spread"):
        draws = posterior[name].sel(model="A").values.reshape(4000, -1)
        known = record["posterior"][name]
        assert max(known["error"]) < 1e-4
        # The cells of the engine are about a thousandth wide at most where a group's mean lies.
        error = draws.std(axis=0) / np.sqrt(4000) + 1e-3
        assert (np.abs(draws.mean(axis=0) - known["mean"]) < 4.5 * error).all()
        if name == "performance":
            sd = np.array(record["posterior"]["performance_sd"]["mean"])
            assert np.abs(draws.std(axis=0) / sd - 1).max() < 4.5 / np.sqrt(2 * 4000) * 1.5


def test_pymc_twin_has_the_density_of_the_definition():
    record = reference()["data"]
    labels, models, people = as_annotations(**record)
    counts = group_counts(labels, models, Groups.by_features(labels, people, ["g"]))
    graph = group_performance_model(counts)
    density = graph.compile_logp(jacobian=False)
    rng = np.random.default_rng(1)
    agree, total, group = (np.array(record[k]) for k in ("agree", "total", "group"))
    for _ in range(5):
        m, b, w, mu = rng.random(), rng.random(), rng.random(), rng.random(3)
        logit = {
            "location_interval__": m, "between_spread_interval__": b, "within_spread_interval__": w,
            "performance_logodds__": mu,
        }  # fmt: skip
        point = {name: np.log(value) - np.log1p(-value) for name, value in logit.items()}
        kappa, phi = b**-2 - 1, w**-2 - 1
        expected = beta.logpdf(mu, m * kappa, (1 - m) * kappa).sum()
        expected += betabinom.logpmf(agree, total, mu[group] * phi, (1 - mu[group]) * phi).sum()
        assert float(density(point)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.slow
def test_nuts_equals_the_exact_engine():
    rng = np.random.default_rng(3)
    group = np.repeat(np.arange(8), 15)
    mean = np.array([0.4, 0.9, 0.6, 0.75, 0.5, 0.8, 0.65, 0.7])[group]
    rate = rng.beta(12 * mean, 12 * (1 - mean))
    agree = rng.binomial(15, rate)
    data = as_annotations(agree, np.full(120, 15), group)
    nuts, exact = (group_posterior(*data, ["g"], engine=engine, seed=1) for engine in ("nuts", "exact"))
    for name in ("performance", "within_spread", "between_spread", "dispersion"):
        assert_same_mean(nuts, exact, name)


def test_one_group_equals_quadrature():
    """One annotator: integrate the definition by brute force over w, m, b and mu."""
    agree, total = 7, 9
    posterior = beta_binomial_posterior(np.array([agree]), np.array([total]), np.array([0]), 1)
    draws = posterior.sample(40_000, np.random.default_rng(1))["performance"][:, 0]
    # Without other groups mu has density p(mu) = E over (m, b) of the Beta density.
    grid = (np.arange(400) + 0.5) / 400
    middle = (np.arange(60) + 0.5) / 60
    m, b = (x.ravel()[:, None] for x in np.meshgrid(middle, middle))
    kappa = b**-2 - 1
    prior = np.diff(beta.cdf(np.linspace(0, 1, 401), m * kappa, (1 - m) * kappa), axis=1).mean(axis=0)
    phi = middle**-2 - 1
    likelihood = betabinom.pmf(agree, total, grid[:, None] * phi, (1 - grid[:, None]) * phi).mean(axis=1)
    mean = (grid * prior * likelihood).sum() / (prior * likelihood).sum()
    # Both sides have cells: their width is the accuracy of the quadrature.
    assert abs(draws.mean() - mean) < 4.5 * draws.std() / 200 + 1 / 400


def test_small_groups_are_drawn_to_the_others():
    rng = np.random.default_rng(5)
    group = np.repeat(np.arange(6), [400, 400, 400, 400, 400, 3])
    total = np.full(group.size, 10)
    agree = np.where(group == 5, 2, rng.binomial(10, 0.7, group.size))
    posterior = beta_binomial_posterior(agree, total, group, 6)
    mean = posterior.sample(4000, rng)["performance"].mean(axis=0)
    assert mean[:5] == pytest.approx([0.7] * 5, abs=0.03)
    assert 0.2 < mean[5] < 0.65


@pytest.fixture(scope="module")
def uneven():
    """Give labels of 40 annotators, with whom a model agrees at 0.9 (group f) or 0.6 (group m)."""
    rng = np.random.default_rng(2)
    cells = (rng.random((60, 40)) < np.where(np.arange(40) < 20, 0.9, 0.6)).astype(int)
    labels = Labels.from_matrix(cells, labels=[0, 1])
    people = Annotators.from_table(pd.DataFrame({"annotator": range(40), "gender": ["f"] * 20 + ["m"] * 20}))
    models = Predictions.from_labels({"A": [1] * 60, "B": [0] * 60}, labels=[0, 1])
    return labels, models, people


def test_probabilities_of_being_served_worse(uneven):
    tree = group_posterior(*uneven, by=["gender"], seed=1)
    worse = prob_worse(tree)
    assert float(worse.sel(model="A", group="m", other_group="f")) > 0.999
    assert float(worse.sel(model="B", group="f", other_group="m")) > 0.999
    assert float(prob_worse(tree, margin=0.5).sel(model="A", group="m", other_group="f")) < 0.01
    dispersion = tree["posterior"]["dispersion"].sel(model="A")
    assert abs(float(dispersion.mean()) - 0.85) < 4.5 * float(dispersion.std())


def test_minimum_group_size_gives_the_stated_precision(uneven):
    tree = group_posterior(*uneven, by=["gender"], seed=1)
    size = minimum_group_size(tree, half_width=0.05, labels_per_annotator=10)
    f = tree["posterior"].to_dataset().mean(("chain", "draw")).sel(model="A", group="m")
    n, mu, spread = int(size.sel(model="A", group="m")), float(f["performance"]), float(f["within_spread"])
    rng = np.random.default_rng(1)
    phi = spread**-2 - 1
    means = rng.binomial(10, rng.beta(mu * phi, (1 - mu) * phi, (4000, n))).mean(axis=1) / 10
    assert np.mean(np.abs(means - mu) < 0.05) == pytest.approx(0.95, abs=0.02)
    assert (minimum_group_size(tree, half_width=0.1) < size).all()


def test_group_size_counts_the_labels_of_one_annotator_as_alike(uneven):
    tree = group_posterior(*uneven, by=["gender"], seed=1)
    mean = tree["posterior"]["performance"]
    z = norm.ppf(0.975)
    alone = np.ceil((mean * (1 - mean)).mean(("chain", "draw")) * (z / 0.05) ** 2)
    one = minimum_group_size(tree, half_width=0.05, labels_per_annotator=1)  # one label each: nothing to be alike
    np.testing.assert_array_equal(one, alone.transpose("model", "group"))


def test_spread_beyond_chance(uneven):
    labels, models, people = uneven
    null = dispersion_null(group_performance(labels, models, people, by=["gender"]), seed=1)
    assert null["biased"].values.all()
    assert (null["excess_spread"] < null["spread"]).all()
    rng = np.random.default_rng(1)
    mixed = Annotators.from_table(pd.DataFrame({"annotator": range(40), "gender": rng.permutation(["f", "m"] * 20)}))
    null = dispersion_null(group_performance(labels, models, mixed, by=["gender"]), seed=1)
    assert not null["biased"].values.any()


def test_same_seed_same_draws(uneven):
    one, two = (group_posterior(*uneven, by=["gender"], draws=50, seed=3) for _ in range(2))
    assert one.identical(two)


def test_agreement_within_one_group_is_krippendorffs_alpha(four):
    """Krippendorff (2004: 224): two coders, ten items, alpha .0952381."""
    votes = Labels.from_matrix([[1, 0], [1, 1], [0, 1], [0, 0], [0, 0], [0, 1], [0, 0], [0, 1], [0, 0], [0, 0]])
    people = Annotators.from_table(pd.DataFrame({"annotator": [0, 1], "group": ["g", "g"]}))
    assert float(group_agreement(votes, people, ["group"])["alpha"][0, 0]) == pytest.approx(0.0952381, abs=5e-8)


def test_camps_agree_within_and_not_between():
    ratings = Ratings.from_matrix([[1, 1, 5, 5], [5, 5, 1, 1], [1, 1, 5, 5]], scale=(1, 5), step=1)
    people = Annotators.from_table(pd.DataFrame({"annotator": range(4), "camp": list("xxyy")}))
    alpha = group_agreement(ratings, people, ["camp"])["alpha"]
    assert alpha.sel(group="x", other_group="x") == 1
    assert alpha.sel(group="x", other_group="y") < -0.5


def test_every_group_has_its_own_truth(uneven):
    tree = group_evaluate(*uneven, by=["gender"], draws=50, seed=1)
    score = tree["posterior"]["top_1_accuracy"].mean(("chain", "draw")).sel(model="A")
    assert float(score.sel(group="f").squeeze()) > 0.99
    assert tree["constant_data"]["n_items"].values.tolist() == [60, 60]


@pytest.fixture
def errors():
    """Give the absolute errors of two models on ratings of 24 annotators in three groups."""
    rng = np.random.default_rng(8)
    ratings = Ratings.from_matrix(rng.integers(1, 6, (30, 24)), scale=(1, 5), step=1)
    people = Annotators.from_table(pd.DataFrame({"annotator": range(24), "g": np.repeat(list("xyz"), [3, 9, 12])}))
    models = {name: pd.Series(rng.normal(3, sd, 30), index=range(30)) for name, sd in (("A", 0.5), ("B", 1.5))}
    return group_performance(ratings, models, people, by=["g"])


def test_any_metric_has_a_posterior(errors):
    tree = normal_group_posterior(errors, seed=1)
    assert prob_worse(tree).shape == (2, 3, 3)
    assert float((group_summary(tree)["mean"] - errors["performance"]).max()) < 0.2
    with pytest.raises(InputError, match="at least two"):
        normal_group_posterior(errors.assign(group_of=("annotator", np.zeros(24, int))))
    with pytest.raises(InputError, match="do not differ"):
        normal_group_posterior(errors.assign(annotator_performance=errors["annotator_performance"] * 0 + 1))


@pytest.mark.slow
def test_nuts_equals_the_exact_engine_for_any_metric(errors):
    value, group = errors["annotator_performance"].sel(model="A").to_numpy(), errors["group_of"].to_numpy()
    graph = normal_group_model(value, group.astype(np.int64))
    nuts = sample_nuts(graph, draws=2000, chains=4, seed=1)["posterior"]["performance"]
    exact = normal_group_posterior(errors, seed=1)["posterior"]["performance"].sel(model="A")
    error = np.hypot(
        nuts.std(("chain", "draw")).values / np.sqrt(800), exact.std(("chain", "draw")).values / np.sqrt(4000)
    )
    gap = np.abs(nuts.mean(("chain", "draw")).values - exact.mean(("chain", "draw")).values)
    assert (gap < 4.5 * error).all()


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_any_metric_equals_brute_force(seed):
    record = json.loads((MODELS / "group_performance_normal.json").read_text())
    values, group = record["data"]["value"], record["data"]["group"]
    result = xr.Dataset(
        {"annotator_performance": (("model", "annotator"), [values]), "group_of": ("annotator", group)},
        {"model": ["A"], "group": list("xyz")},
    )
    posterior = normal_group_posterior(result, seed=seed)["posterior"].to_dataset()
    for name in ("performance", "between_share"):
        draws = posterior[name].sel(model="A").values.reshape(4000, -1)
        known = record["posterior"][name]
        error = draws.std(axis=0) / np.sqrt(4000) + np.array(known["error"])
        assert (np.abs(draws.mean(axis=0) - known["mean"]) < 4.5 * error).all()


def test_within_a_group_phi_is_that_of_its_ratings():
    rng = np.random.default_rng(4)
    centre = rng.integers(1, 6, (40, 1))
    ratings = Ratings.from_matrix(np.clip(centre + rng.integers(-1, 2, (40, 6)), 1, 5), scale=(1, 5), step=1)
    people = Annotators.from_table(pd.DataFrame({"annotator": range(6), "g": list("xxxyyy")}))
    tree = group_phi(ratings, people, ["g"], chains=2, seed=1)
    own = Ratings.from_matrix(ratings.rating.reshape(40, 6)[:, :3], scale=(1, 5), step=1)
    ours = tree["posterior"]["phi"].sel(group="x", other_group="x").values.ravel()
    alone = common_agreement(own, seed=2)["posterior"]["phi"].values.ravel()
    assert abs(ours.mean() - alone.mean()) < 4.5 * np.sqrt(ours.var() / ours.size + alone.var() / alone.size)
    assert tree["constant_data"]["n_items"].values.tolist() == [[40, 40], [40, 40]]
    again = group_phi(ratings, people, ["g"], chains=2, seed=1)
    assert again.identical(tree)


@pytest.mark.filterwarnings("ignore:the sign of Phi depends")  # a disagreeing crowd answers at the ends
@pytest.mark.parametrize("true_phi", [-0.3, 0.5])
def test_between_groups_that_are_alike_phi_is_the_common_one(true_phi):
    """Groups sampled from one crowd: every cell, also the panels of two, covers the Phi that made the ratings."""
    rng = np.random.default_rng(6)
    precision = 2 * (1 - np.log2(1 - true_phi))
    mean = rng.beta(2, 2, (400, 1))
    x = rng.beta(mean * precision, (1 - mean) * precision, (400, 6))
    ratings = Ratings.from_matrix(np.floor(5 * np.minimum(x, 1 - 1e-12)) + 1, scale=(1, 5), step=1)
    people = Annotators.from_table(pd.DataFrame({"annotator": range(6), "g": list("xxxyyy")}))
    phi = group_phi(ratings, people, ["g"], seed=1)["posterior"]["phi"]
    gap = np.abs(phi.mean(("chain", "draw")) - true_phi)
    assert (gap < 3.5 * phi.std(("chain", "draw"))).all()
    # Panels of two of 400 items say less than all ratings of a group.
    spread = phi.std(("chain", "draw"))
    assert float(spread[0, 1]) > float(spread[0, 0])


@pytest.mark.filterwarnings("ignore:.*histogram of item means")
def test_phi_between_camps_and_without_common_items():
    rows = [[1, 2, 5, 4, None], [5, 4, 1, 2, None], [2, 1, 4, 4, None], [4, 5, 2, 1, None]] * 6
    camps = Ratings.from_matrix([*rows, [1, 2, 5, 4, 3]], scale=(1, 5), step=1)
    people = Annotators.from_table(pd.DataFrame({"annotator": range(5), "camp": list("xxyyz")}))
    with pytest.warns(UserWarning, match=r"fewer than two items.*'x with z', 'y with z', 'z'"):
        phi = group_phi(camps, people, ["camp"], draws=200, chains=2, seed=1)["posterior"]["phi"].mean(
            ("chain", "draw")
        )
    assert float(phi.sel(group="x", other_group="x")) > 0 > float(phi.sel(group="x", other_group="y"))
    assert np.isnan(phi.sel(other_group="z")).all()


def test_the_rate_from_some_items_is_that_of_only_those():
    rng = np.random.default_rng(9)
    labels = Labels.from_matrix(rng.integers(0, 2, (30, 8)), labels=[0, 1])
    some, others = labels.items[:12], labels.items[12:]
    np.testing.assert_array_equal(
        disagreement_rate(labels, items=some), disagreement_rate(without_items(labels, others))
    )
    rest = without_items(labels, some)
    assert rest.items.tolist() == others.tolist()
    assert rest.annotators.tolist() == labels.annotators.tolist()
    with pytest.raises(InputError, match="item 99 has no annotation"):
        disagreement_rate(labels, items=[99])
    with pytest.raises(InputError, match="leave out fewer"):
        without_items(labels, labels.items)


def test_a_rate_from_other_items_does_not_make_bias():
    """Everybody guesses: binned by the labels scored, chance looks like bias; binned by other labels it does not."""
    rng, called = np.random.default_rng(3), [0, 0]
    for _ in range(40):
        labels = Labels.from_matrix((rng.random((40, 60)) < 0.7).astype(int), labels=[0, 1])
        models = {"A": pd.Series(1, index=labels.items)}
        half = labels.items[:20]
        rest = without_items(labels, half)
        for k, rate in enumerate((disagreement_rate(rest), disagreement_rate(labels, items=half))):
            groups = Groups.by_disagreement(rate, bins=3)
            null = dispersion_null(group_performance(rest, models, groups), permutations=199, seed=rng)
            called[k] += bool(null["biased"][0])
    assert called[0] == 40
    assert called[1] <= 40 * 0.05 + 3 * np.sqrt(40 * 0.05 * 0.95)


def test_larger_errors_are_worse(errors):
    tree = normal_group_posterior(errors, seed=1)
    mean = group_summary(tree)["mean"].sel(model="A")
    worst, best = mean.idxmax().item(), mean.idxmin().item()
    assert float(prob_worse(tree).sel(model="A", group=worst, other_group=best)) > 0.5


def test_alpha_between_groups_counts_every_annotation_once():
    rng = np.random.default_rng(12)
    cells = rng.integers(0, 3, (9, 7)).astype(object)
    cells[rng.random(cells.shape) < 0.3] = None
    votes = Labels.from_matrix(cells, labels=[0, 1, 2])
    people = Annotators.from_table(pd.DataFrame({"annotator": range(7), "g": list("xxxyyyy")}))
    distances, common = [], ([], [])
    for row in cells:
        x, y = ([v for v in part if v is not None] for part in (row[:3], row[3:]))
        if x and y:
            for own, other in ((x, y), (y, x)):
                distances += [np.mean([v != w for w in other]) for v in own]
            common[0].extend(x)
            common[1].extend(y)
    expected = np.mean([v != w for v in common[0] for w in common[1]])
    ours = group_agreement(votes, people, ["g"])["alpha"].sel(group="x", other_group="y")
    assert float(ours) == pytest.approx(1 - np.mean(distances) / expected)
