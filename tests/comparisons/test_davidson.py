"""The posterior: golden values of public data, gradients, invariants, the PyMC twin, calibration."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.optimize import minimize

from bayesagree import Comparisons, InputError, davidson
from bayesagree.comparisons import DavidsonPrior
from bayesagree.comparisons._cells import cells_of, outcome_probabilities, weights_of_passes
from bayesagree.comparisons._density import Density, Form
from bayesagree.comparisons.model import davidson_model

FOODS = {"Burger": 0, "Pasta": 1, "Pizza": 2, "Sushi": 3, "Tacos": 4}
# evalica's food.csv (Apache-2.0): left, right, and l, r or t.
FOOD = """PizzaSushil BurgerPastar TacosPizzal SushiTacosr BurgerPizzal PastaSushir TacosBurgerl PizzaPastat
SushiBurgerr PastaTacosl BurgerSushir TacosPizzal SushiPastat BurgerTacosl PizzaBurgerr PastaTacosr BurgerSushir
TacosPastal
PizzaTacosr SushiBurgerl PastaPizzar BurgerSushir TacosPastal PizzaSushil SushiBurgerr PastaTacosr
TacosPizzal
BurgerPastar SushiTacosl PizzaBurgerr"""
PRIOR = DavidsonPrior(strength_sd=1, order_sd=0.5)
ROOT, WINNERS = Path(__file__).parents[2], ("left", "right", "tie")
COMMON = {"ties": "common", "order": "common", "discrimination": None}


def food():
    words = {"l": "left", "r": "right", "t": "tie"}
    rows = []
    for game in FOOD.split():
        left = next(name for name in FOODS if game.startswith(name))
        rows.append((left, game[len(left) : -1], words[game[-1]]))
    return pd.DataFrame(rows, columns=["left", "right", "winner"])


def crowd(random_seed=1, n=400, n_models=5, n_annotators=6):
    """Return comparisons by annotators who differ in all respects."""
    rng = np.random.default_rng(random_seed)
    strength, tie = rng.normal(size=n_models), rng.normal(size=n_annotators)
    order, slope = rng.normal(0.2, 0.5, n_annotators), np.exp(rng.normal(0, 0.5, n_annotators))
    left = rng.integers(0, n_models, n)
    right, who = (left + rng.integers(1, n_models, n)) % n_models, rng.integers(0, n_annotators, n)
    half = (slope[who] * (strength[left] - strength[right]) + order[who]) / 2
    weight = np.exp(np.stack([half, -half, tie[who]], axis=1))
    outcome = (rng.random((n, 1)) > np.cumsum(weight / weight.sum(1, keepdims=True), axis=1)).sum(axis=1)
    return pd.DataFrame(
        {"left": left, "right": right, "winner": np.array(["left", "right", "tie"])[outcome], "who": who}
        | {"prompt": rng.integers(0, 3, n)}
    )


def maximum(comparisons, *, order):
    """Return the largest log likelihood with common effects, strengths, log nu and gamma."""
    form = Form("common", "common" if order else None, None, item_effects=False)
    density, n = Density(cells_of(comparisons, **form.cells), form, DavidsonPrior()), comparisons.models.size

    def loss(x):
        value, slope = density.log_likelihood(x)
        return -value, -slope

    found = minimize(loss, np.zeros(density.n_normal), jac=True, method="BFGS", options={"gtol": 1e-7})
    gamma = found.x[n + 1] if order else 0.0
    return -found.fun, found.x[:n] - found.x[:n].mean(), np.exp(found.x[n]), gamma


FOOD_MAXIMA = [
    (False, -24.26366, [-0.16992, -0.32546, -0.60529, 0.10357, 0.99710], 0.15728, 0.0),
    (True, -24.23033, None, 0.15748, -0.10749),
]


@pytest.mark.parametrize(("order", "height", "strength", "nu", "gamma"), FOOD_MAXIMA)
def test_maximum_likelihood_of_food(order, height, strength, nu, gamma):
    found = maximum(Comparisons.from_long(food()), order=order)
    assert found[0] == pytest.approx(height, abs=2e-5)
    if strength is not None:
        np.testing.assert_allclose(found[1], strength, atol=1e-5)
    assert found[2:] == pytest.approx((nu, gamma), abs=1e-5)


# Agresti's baseball, American League East 1987: home team, visitors, wins of each at the first one's home.
BASEBALL = """Mil Det 4 3 Mil Tor 4 2 Mil NY 4 3 Mil Bos 6 1 Mil Cle 4 2 Mil Bal 6 0 Det Mil 3 3 Det Tor 4 2 Det NY 4 3
Det Bos 6 0 Det Cle 6 1 Det Bal 4 3 Tor Mil 2 5 Tor Det 4 3 Tor NY 2 4 Tor Bos 4 3 Tor Cle 4 2 Tor Bal 6 0 NY Mil 3 3
NY Det 5 1 NY Tor 2 5 NY Bos 4 3 NY Cle 4 2 NY Bal 6 1 Bos Mil 5 1 Bos Det 2 5 Bos Tor 3 3 Bos NY 4 2 Bos Cle 5 2
Bos Bal 6 0 Cle Mil 2 5 Cle Det 3 3 Cle Tor 3 4 Cle NY 4 3 Cle Bos 4 2 Cle Bal 2 4 Bal Mil 2 5 Bal Det 1 5 Bal Tor 1 6
Bal NY 2 4 Bal Bos 1 6 Bal Cle 3 4"""


def games(rows):
    """Return comparisons from (first, second, wins of the first, wins of the second)."""
    table = [(a, b, side) for a, b, *wins in rows for side, n in zip(("left", "right"), wins) for _ in range(int(n))]
    return Comparisons.from_long(pd.DataFrame(table, columns=["left", "right", "winner"]))


@pytest.mark.parametrize(("order", "height", "home"), [(False, -172.2482, 0.0), (True, -169.5429, 0.3023)])
def test_maximum_likelihood_of_baseball(order, height, home):
    """Agresti, Categorical Data Analysis; log likelihood and strengths as BradleyTerry2 prints them."""
    words = BASEBALL.split()
    found = maximum(games([words[i : i + 4] for i in range(0, len(words), 4)]), order=order)
    assert found[0] == pytest.approx(height, abs=1e-3)
    assert found[3] == pytest.approx(home, abs=2e-3)
    if not order:  # teams by name: Bal, Bos, Cle, Det, Mil, NY, Tor
        np.testing.assert_allclose(found[1] - found[1][0], [0, 1.108, 0.684, 1.436, 1.581, 1.248, 1.295], atol=2e-3)


def test_strengths_of_journals_that_cite_each_other():
    """Stigler's citations: thousands of comparisons leave the prior no say, so the mean is the published maximum."""
    cited = ["Biometrika", "Comm", "JASA", "JRSSB"]
    wins = np.array([[0, 730, 498, 221], [33, 0, 68, 17], [320, 813, 0, 142], [284, 276, 325, 0]])
    rows = [(a, b, wins[i, j], wins[j, i]) for i, a in enumerate(cited) for j, b in enumerate(cited) if i < j]
    tree = davidson(games(rows), ties=None, order=None, discrimination=None, draws=500, chains=2, random_seed=1)
    strength = tree["posterior"]["strength"]
    found, spread = strength.mean(("chain", "draw")), strength.std(("chain", "draw"))
    np.testing.assert_array_less(np.abs(found - [0.7899, -2.1592, 0.3104, 1.0589]), spread / 2)


def llmfao(public_data):
    table = pd.read_csv(public_data / "comparisons" / "llmfao.csv.gz")
    return Comparisons.from_long(table, annotator="annotator", item="prompt")


@pytest.mark.parametrize(
    ("order", "height", "nu", "gamma"), [(False, -8995.839704, 1.479708, 0.0), (True, -8981.583189, 1.484334, 0.15968)]
)
def test_maximum_likelihood_of_llmfao(public_data, order, height, nu, gamma):
    found = maximum(llmfao(public_data), order=order)
    assert found[0] == pytest.approx(height, abs=5e-5)
    assert found[2:] == pytest.approx((nu, gamma), abs=1e-5)


@pytest.fixture(scope="module")
def food_posterior():
    return davidson(Comparisons.from_long(food()), **COMMON, prior=PRIOR, draws=2000, random_seed=1)


@pytest.mark.long
def test_posterior_of_food(food_posterior):
    draws = food_posterior["posterior"].to_dataset()
    over = ("chain", "draw")
    np.testing.assert_allclose(draws["strength"].sum("model"), 0, atol=1e-12)
    np.testing.assert_allclose(draws["strength"].mean(over), [-0.131, -0.311, -0.501, 0.104, 0.839], atol=0.025)
    np.testing.assert_allclose(draws["strength"].std(over), [0.451, 0.488, 0.488, 0.467, 0.477], atol=0.02)
    assert float(draws["tie"].mean()) == pytest.approx(-1.347, abs=0.025)
    assert float(draws["order"].mean()) == pytest.approx(-0.081, abs=0.015)
    best = np.bincount(draws["strength"].argmax("model").values.ravel(), minlength=5) / 8000
    np.testing.assert_allclose(best, [0.060, 0.031, 0.016, 0.137, 0.756], atol=0.015)
    assert food_posterior["diagnostics"]["r_hat"].max() < 1.01


def test_win_probabilities(food_posterior):
    draws = food_posterior["posterior"].to_dataset().isel(chain=0, draw=7)
    win, s, nu = draws["win_probability"].values, draws["strength"].values, float(np.exp(draws["tie"]))
    np.testing.assert_allclose(win + win.T, 1)
    weights = np.exp((s[0] - s[4]) / 2), np.exp((s[4] - s[0]) / 2), nu
    assert win[0, 4] == pytest.approx((weights[0] + nu / 2) / sum(weights))


FORMS = [Form("annotator", "annotator", "annotator", item_effects=True), Form("common", None, None, item_effects=False)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("prior", [DavidsonPrior(), DavidsonPrior(strength_sd=0.7, tie_mean=-0.5)])
def test_gradient(form, prior):
    crowded = Comparisons.from_long(crowd(), annotator="who", item="prompt")
    cells = cells_of(crowded, **form.cells)
    density = Density(cells, form, prior)
    point = np.random.default_rng(2).normal(0, 0.5, density.size)
    steps = 1e-5 * np.eye(density.size)
    differences = [(density(point + step)[0] - density(point - step)[0]) / 2e-5 for step in steps]
    np.testing.assert_allclose(density(point)[1], differences, rtol=1e-5, atol=1e-5)
    several = density(np.stack([0 * point, point]))
    np.testing.assert_allclose(several[0][1], density(point)[0], rtol=1e-12)
    np.testing.assert_allclose(several[1][1], density(point)[1], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_information_is_the_mean_curvature(form):
    """With the outcomes as often as they are expected, the curvature of the log likelihood is its information."""
    crowded = Comparisons.from_long(crowd(), annotator="who", item="prompt")
    cells = cells_of(crowded, **(form.cells | {"oriented": True}))
    density = Density(cells, form, DavidsonPrior())
    point = np.random.default_rng(2).normal(0, 0.3, density.size)
    quality, slope, tie, order = density.of_cells(density.factors(point)[0] * point[: density.n_normal])
    chances = outcome_probabilities(slope * quality + order, np.exp(tie))
    density.cells = replace(cells, counts=cells.counts.sum(axis=0) * np.stack(chances))
    steps = 1e-4 * np.eye(density.size)
    curvature = np.array([density(point - step)[1] - density(point + step)[1] for step in steps]) / 2e-4
    np.testing.assert_allclose(density.precision(point), curvature, rtol=1e-4, atol=1e-4)


def strengths(table, **options):
    found = Comparisons.from_long(table, **{k: options.pop(k) for k in ("annotator",) if k in options})
    return davidson(found, **(COMMON | options), draws=60, chains=2, random_seed=3)["posterior"]["strength"]


@pytest.mark.long
def test_rows_in_another_order():
    table = crowd()
    shuffled = table.sample(frac=1, random_state=1)
    for options in ({}, {"ties": "auto", "order": "auto", "discrimination": "auto", "annotator": "who"}):
        xr.testing.assert_identical(strengths(table, **options), strengths(shuffled, **options))


def test_a_model_that_never_loses_has_a_finite_strength():
    table = food()
    table.loc[table["left"] == "Tacos", "winner"] = "left"
    table.loc[table["right"] == "Tacos", "winner"] = "right"
    strength = strengths(table, order=None)
    assert strength.mean(("chain", "draw")).idxmax() == "Tacos"
    assert float(np.abs(strength).max()) < 12


def effects_of(table, **options):
    tree = davidson(Comparisons.from_long(table, annotator="who"), draws=10, chains=1, random_seed=1, **options)
    settings = json.loads(tree.attrs["settings"])
    return [settings[name] for name in ("ties", "order", "discrimination")]


def test_annotators_have_effects_of_their_own_from_ten_comparisons_on():
    assert effects_of(crowd(n=60)) == ["annotator"] * 3
    assert effects_of(crowd(n=59)) == ["common", "common", None]
    assert effects_of(crowd(n=60), item_effects=False, order=None) == ["annotator", None, "annotator"]
    assert effects_of(crowd().query("winner != 'tie'"))[0] is None
    assert effects_of(crowd().assign(who="ann")) == ["common", "common", None]


def test_consistent_wins_beside_an_order_effect_are_nearly_certain():
    """A wins six of 36 pairs in both orders, the first place wins the other 30: a sign test of the six has .984."""
    rows = [(*pair, "A") for pair in ("AB", "BA")] * 6 + [(*pair, pair[0]) for pair in ("AB", "BA")] * 30
    games = Comparisons.from_long(pd.DataFrame(rows, columns=["left", "right", "winner"]))
    win = davidson(games, draws=2000, random_seed=1)["posterior"]["strength"]
    assert float((win.sel(model="A") > win.sel(model="B")).mean()) == pytest.approx(0.98, abs=0.01)


def test_passes_of_an_annotator_weigh_by_their_design_effect():
    """Kappa by hand: (8 / 12 - 3 / 9) / (1 - 3 / 9) = 1 / 2, so that three passes weigh 3 / (1 + 2 / 2)."""
    passes = pd.DataFrame(
        {"left": "A", "right": "B", "winner": list("AAAABB"), "who": "j", "prompt": [0, 0, 0, 1, 1, 1]}
    )
    np.testing.assert_allclose(weights_of_passes(Comparisons.from_long(passes, annotator="who", item="prompt")), 0.5)
    once = food().assign(prompt=range(30), who="j")
    again, first = (Comparisons.from_long(pd.concat([once] * n), annotator="who", item="prompt") for n in (5, 1))
    how = Form("common", None, None, item_effects=False).cells
    np.testing.assert_allclose(cells_of(again, **how).counts, cells_of(first, **how).counts)


def test_progress_and_the_same_draws():
    games, how = Comparisons.from_long(food()), {"draws": 150, "chains": 3, "random_seed": 1}
    found = davidson(games, **how, progress=(done := []).append)
    assert len(done) > 10 and sum(done) == 3 * 150
    assert found["posterior"].to_dataset().equals(davidson(games, **how)["posterior"].to_dataset())


def test_components_are_warned_of():
    table = pd.DataFrame({"left": list("ACA"), "right": list("BDB"), "winner": list("ACB")})
    with pytest.warns(UserWarning, match="no comparison links the 2 components"):
        tree = davidson(Comparisons.from_long(table), **COMMON, draws=10, chains=1, random_seed=1)
    assert tree["components"]["component"].values.tolist() == [0, 0, 1, 1]


UNITS = {
    "strength_unit": "strength",
    "item_unit": "item",
    "tie_unit": "tie",
    "tie_by_annotator_unit": "tie_by",
    "order_unit": "order",
    "order_by_annotator_unit": "order_by",
    "discrimination_by_annotator_unit": "discrimination_by",
}


# No two numbers of a prior alike, none 0 or 1: a term that is left out shows.
ODD = {
    "strength_scale": 1.3, "tie_mean": -0.4, "tie_sd": 0.8, "order_sd": 0.6,
    "tie_scale": 0.9, "order_scale": 0.45, "discrimination_scale": 0.35, "item_scale": 0.75,
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_density_and_variables_of_the_pymc_twin(form):
    """The two log densities differ by a constant, and what is derived from a point does not differ."""
    pytensor = pytest.importorskip("pytensor")
    crowded = Comparisons.from_long(crowd(n=100), annotator="who", item="prompt")
    prior = DavidsonPrior(**ODD, strength_sd=None if form.item_effects else 1.1)
    graph = davidson_model(crowded, **form._asdict(), prior=prior)
    cells = cells_of(crowded, **form.cells)
    density = Density(cells, form, prior)
    mode = pytensor.compile.Mode(linker="py", optimizer=None)
    logp, gaps = graph.compile_logp(mode=mode), []
    derived = graph.compile_fn(
        graph.replace_rvs_by_values(graph.deterministics), inputs=graph.value_vars, mode=mode, on_unused_input="ignore"
    )
    for random_seed in range(20):
        point = np.random.default_rng(random_seed).normal(0, 0.5, density.size)
        values = {f"{name}_log__": point[density.place[name]][0] for name in density.scale_prior}
        for name, place in UNITS.items():
            if (part := point[density.place.get(place, slice(0, 0))]).size:
                values[name] = part[0] if name in ("tie_unit", "order_unit") else part
        gaps.append(float(logp(values)) - density(point)[0])
        ours = density.variables(point[None])
        for variable, theirs in zip(graph.deterministics, derived(values)):
            np.testing.assert_allclose(theirs, ours[variable.name][0], err_msg=variable.name, atol=1e-12)
    assert np.ptp(gaps) < 1e-8


def test_means_of_the_plain_twin():
    reference = json.loads((ROOT / "models" / "davidson.json").read_text())
    rows, found = reference["data"]["rows"], reference["posterior"]
    words = [(*pair, word) for *pair, a, b, c in rows for word, n in zip(WINNERS, (a, b, c)) for _ in range(n)]
    games = Comparisons.from_long(pd.DataFrame(words, columns=["left", "right", "winner"]))
    draws = davidson(games, **COMMON, prior=PRIOR, draws=2000, random_seed=1)["posterior"].to_dataset()
    over = ("chain", "draw")
    for name in ("strength", "tie", "order"):
        # Standard deviations are below .46, and 4000 effective draws of 8000 are few: four errors.
        np.testing.assert_allclose(np.ravel(draws[name].mean(over)), found[f"{name}_mean"]["value"], atol=0.03)
        np.testing.assert_allclose(np.ravel(draws[name].std(over)), found[f"{name}_sd"]["value"], rtol=0.05)
    best = np.bincount(draws["strength"].argmax("model").values.ravel(), minlength=4) / 8000
    np.testing.assert_allclose(best, found["best"]["value"], atol=0.03)


def test_item_effects_have_a_limit_and_no_chosen_discrimination():
    crowded = Comparisons.from_long(crowd(n=600), annotator="who", item="prompt")
    settings = json.loads(davidson(crowded, item_effects=True, draws=10, chains=1, random_seed=1).attrs["settings"])
    assert settings["discrimination"] is None
    many = crowd(n=3100).assign(prompt=range(3100))
    with pytest.raises(InputError, match=r"6200 strengths of a model on an item, more than 3000.*leave item_eff"):
        davidson(Comparisons.from_long(many, item="prompt"), item_effects=True, **COMMON)


@pytest.mark.parametrize(("discrimination", "item_effects"), [(None, False), ("annotator", True)])
def test_chains_that_disagree_are_warned_of(monkeypatch, discrimination, item_effects):
    """Numbers around another value in each chain, in the place of what NUTS draws."""
    games = Comparisons.from_long(crowd(n=60), annotator="who", item="prompt")

    def apart(model, *, draws, chains, **_):
        rng, found = np.random.default_rng(1), {}
        for variable in model.deterministics:
            dims = model.named_vars_to_dims.get(variable.name, ())
            shape = (chains, draws, *(len(model.coords[dim]) for dim in dims))
            found[variable.name] = (("chain", "draw", *dims), rng.normal(size=shape))
        found["strength"][1][:] += np.arange(chains)[:, None, None]
        tree = xr.DataTree.from_dict({"posterior": xr.Dataset(found)})
        tree.attrs["sampler"] = "random"
        return tree

    monkeypatch.setattr("bayesagree.comparisons.posterior.sample_nuts", apart)
    options = {"ties": "common", "order": "common", "discrimination": discrimination, "item_effects": item_effects}
    with pytest.warns(UserWarning, match=r"^strength: .* R-hat up to .*; raise draws=200") as said:
        tree = davidson(games, **options, engine="nuts", draws=200, chains=3, random_seed=1)
    both = discrimination is not None and item_effects
    assert str(said[0].message).endswith("or leave out discrimination or item_effects") == both
    assert f"R-hat up to {float(tree['diagnostics']['r_hat'].max()):.2f}" in str(said[0].message)
    assert tree.attrs["sampler"] == "random"
