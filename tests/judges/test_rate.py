"""Corrected rates against NUTS, the plain twin, and what must not change them."""

import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy as sp
from _paths import ROOT

from bayesagree import Comparisons, InputError, Labels, Ratings, corrected_rate, corrected_rate_model
from bayesagree.judges import CorrectedRatePrior, judge_table, warnings_of
from bayesagree.judges._gibbs import _eliminate, _log_posterior, _moved, _solve_back
from bayesagree.judges._hamiltonian import Truths
from bayesagree.judges._panel import Factor, Panel, design, panel_of
from bayesagree.judges._regression import regression
from bayesagree.judges.rate import Fit, _averages, _warn_not_converged

REFERENCE = json.loads((ROOT / "models" / "corrected_rate.json").read_text())
pytestmark = pytest.mark.filterwarnings("ignore:people labelled fewer", "ignore:rates of")


def data(seed=3, n=240, asked=90, votes=3, judges=2) -> tuple[Labels, Labels, dict[int, str]]:
    """Three systems, judges who are right four times in five, votes of people on some items."""
    rng = np.random.default_rng(seed)
    good = rng.random(n) < np.array([0.5, 0.65, 0.8])[np.arange(n) % 3]
    said = np.where(rng.random((n, judges)) < 0.8, good[:, None], ~good[:, None]).astype(int)
    share = np.where(good, 0.85, 0.2)[:asked, None]
    verdicts = Labels.from_matrix(said, annotators=[f"judge-{j}" for j in range(judges)], labels=[0, 1])
    people = Labels.from_matrix((rng.random((asked, votes)) < share).astype(int), labels=[0, 1])
    return verdicts, people, {i: "abc"[i % 3] for i in range(n)}


def means(votes, coefficient):
    """Return the mean utility of each item."""
    return np.hstack([votes.shared, *(votes.own * is_of[:, None] for is_of in votes.member)]) @ coefficient


def test_elimination_is_that_of_numpy():
    rng = np.random.default_rng(7)
    half = rng.normal(size=(5, 9))
    square, right = half @ half.T, rng.normal(size=(5, 3))
    rows = np.hstack([square, right])
    log_det = _eliminate(rows)
    root = np.linalg.cholesky(square)
    assert log_det == pytest.approx(np.linalg.slogdet(square)[1] / 2, rel=1e-12)
    np.testing.assert_allclose(np.tril(rows[:, :5]), root, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(rows[:, 5:], np.linalg.solve(root, right), rtol=1e-10)
    x = rows[:, 5].copy()
    _solve_back(rows[:, :5], x)
    np.testing.assert_allclose(x, np.linalg.solve(square, right[:, 0]), rtol=1e-9)


def test_means_follow_the_coefficients_that_a_move_changes():
    """The first coefficient has one number in all rows of the design; five moves that are all accepted."""
    rng = np.random.default_rng(8)
    design_of = np.column_stack([np.full(7, 0.5), rng.normal(size=(7, 2))])
    coefficient, scale, free = rng.normal(size=3), rng.gamma(2.0, size=1), rng.normal()
    mean, before = design_of @ coefficient, (coefficient.copy(), scale.copy())
    drawn, root = 0.2 * rng.normal(size=(5, 3)), np.tril(rng.normal(size=(3, 3)))
    votes = np.array([3, 1, 2, 4, 1, 1, 2])
    given = rng.normal(size=7), rng.integers(0, votes + 1), votes, np.array([False, True, False]), np.array([1.5])
    height = 0.0
    for direction in drawn:
        free, height = _moved(tuple(direction), -1e9, root, 0.5, free, height, mean, *given, coefficient, scale)
    np.testing.assert_allclose(mean, design_of @ coefficient, rtol=1e-10)
    # The height that is handed on is that of the point reached.
    assert height == pytest.approx(_log_posterior(0.0, 1.0, free, 0.5, mean, *given, coefficient, scale))
    # What is not shifted has the factor of the scales.
    factor = np.exp((drawn @ root[1]).sum())
    np.testing.assert_allclose(scale, factor * before[1])
    np.testing.assert_allclose(coefficient[1:], factor * before[0][1:])
    assert not np.allclose(coefficient[0], factor * before[0][0])


def test_rates_that_have_not_converged_are_named_with_the_largest_r_hat():
    levels = np.array(["a", "b", "c", "d"])
    panel: Any = SimpleNamespace(system=SimpleNamespace(levels=levels), judges=["gpt"])
    with pytest.warns(UserWarning, match=r"rates of 'b', 'd' have not converged \(r_hat up to 1\.73, limit 1\.1\)"):
        _warn_not_converged(panel, np.array([1.02, 1.73, np.nan, 1.2]))
    _warn_not_converged(panel, np.array([1.02, 1.1, np.nan, 1.0]))


@pytest.mark.long
def test_same_posterior_as_the_plain_model():
    """The reference of models/corrected_rate.json; the twin counts every item once, so that means alone agree there."""
    known = REFERENCE["data"]
    verdicts = Labels.from_matrix(np.array(known["verdict"])[:, None], annotators=["judge"], labels=[0, 1])
    positive = np.array(known["positive"])
    people = Labels.from_counts(np.column_stack([3 - positive, positive]), labels=[0, 1])
    systems = {i: str(s) for i, s in enumerate(known["system"])}
    tree = corrected_rate(verdicts, people, system=systems, positive=1, draws=1500, seed=1)
    posterior = tree["posterior"].to_dataset()
    for name in ("rate", "intercept", "slope", "vote_correlation"):
        expected = REFERENCE["posterior"][name]
        draws = np.atleast_2d(posterior[name].values.reshape(6_000, -1).T)
        # Chains of 1,500 correlated draws are worth some 300 independent ones of the slowest parameter.
        error = np.hypot(draws.std(axis=1) / np.sqrt(300), expected["mcse_mean"])
        assert (np.abs(draws.mean(axis=1) - expected["mean"]) < 4 * error).all(), name
        if name != "rate":
            np.testing.assert_allclose(draws.std(axis=1), expected["sd"], rtol=0.15)


@pytest.mark.slow
@pytest.mark.nuts
@pytest.mark.parametrize("target", ["share", "truth"])
def test_same_posterior_as_nuts(target):
    verdicts, people, systems = data()
    options: dict[str, Any] = {"system": systems, "positive": 1, "target": target, "tune": 1000, "seed": 1}
    ours = corrected_rate(verdicts, people, draws=3000, **options)
    theirs = corrected_rate(verdicts, people, draws=1000, engine="nuts", sampler={"target_accept": 0.95}, **options)
    names = {"share": ["vote_correlation"], "truth": ["people_sensitivity", "people_specificity"]}[target]
    for name in ("rate", "intercept", "slope", "sensitivity", "specificity", *names):
        one, other = (t["posterior"][name].values.reshape(-1, *t["posterior"][name].shape[2:]) for t in (ours, theirs))
        error = np.hypot(one.std(axis=0) / np.sqrt(400), other.std(axis=0) / np.sqrt(400))
        assert (np.abs(one.mean(axis=0) - other.mean(axis=0)) < 4.5 * error).all(), name
        np.testing.assert_allclose(one.std(axis=0), other.std(axis=0), rtol=0.2)


FEW: dict[str, Any] = {"positive": 1, "draws": 200, "chains": 2, "tune": 100}


def test_same_seed_same_draws_in_any_order_of_rows():
    verdicts, people, systems = data()
    table = pd.DataFrame({
        "item": verdicts.item_index, "annotator": verdicts.annotators[verdicts.annotator_index],
        "label": verdicts.categories[verdicts.label_index],
    })  # fmt: skip
    shuffled = Labels.from_long(table.sample(frac=1, random_state=1), labels=[0, 1])
    first = corrected_rate(verdicts, people, system=systems, seed=5, **FEW)
    second = corrected_rate(shuffled, people, system=dict(reversed(systems.items())), seed=5, **FEW)
    np.testing.assert_array_equal(first["posterior"]["rate"], second["posterior"]["rate"])


def test_a_perfect_judge_is_believed_and_a_useless_one_is_not():
    rng = np.random.default_rng(1)
    good = (rng.random(3000) < 0.7).astype(int)
    people = Labels.from_matrix(good[:200, None], labels=[0, 1])
    perfect, useless = (Labels.from_matrix(v[:, None], annotators=["j"]) for v in (good, rng.integers(0, 2, 3000)))
    by_perfect = corrected_rate(perfect, people, seed=1, **FEW)["derived"]
    by_useless = corrected_rate(useless, people, seed=1, **FEW)["derived"]
    assert float(by_perfect["saving"][0]) > 3
    assert float(by_useless["saving"][0]) == pytest.approx(1, abs=0.3)
    assert by_perfect["rate_mean"].item() == pytest.approx(good.mean(), abs=0.02)


def test_shares_agree_with_prediction_powered_inference_on_much_data():
    verdicts, people, _ = data(n=6000, asked=1500, judges=1)
    tree = corrected_rate(verdicts, people, seed=1, **FEW)
    checks, derived = tree["checks"].to_dataset(), tree["derived"].to_dataset()
    assert derived["rate_mean"].item() == pytest.approx(checks["ppi"].item(), abs=0.006)
    width = (derived["rate_upper"] - derived["rate_lower"]).item()
    assert width == pytest.approx((checks["ppi_upper"] - checks["ppi_lower"]).item(), rel=0.15)


def test_scores_and_repeats_count_as_verdicts():
    verdicts, people, systems = data(judges=1)
    rows = np.repeat(verdicts.label_index, 2) * 9 + 1
    table = pd.DataFrame({"item": np.repeat(verdicts.item_index, 2), "annotator": "j", "rating": rows})
    scores = Ratings.from_long(table, scale=(1, 10), step=1, duplicates="keep")
    rated = corrected_rate(scores, people, system=systems, seed=1, **FEW)
    labelled = corrected_rate(verdicts, people, system=systems, seed=1, **FEW)
    np.testing.assert_allclose(rated["posterior"]["rate"], labelled["posterior"]["rate"])


def test_features_and_missing_verdicts():
    verdicts, people, systems = data()
    some = verdicts.select(np.arange(verdicts.n_annotations) % 7 > 0)
    length = {i: "long" if i % 4 else "short" for i in systems}
    tree = corrected_rate(some, people, system=systems, by={"length": length}, seed=1, **FEW)
    assert np.isfinite(tree["posterior"]["sensitivity"].values).all()
    with pytest.raises(InputError, match="length= names no group for the items 0; name one"):
        corrected_rate(some, people, by={"length": {i: "x" for i in range(1, 240)}}, seed=1, **FEW)


def test_table_and_warnings():
    verdicts, people, systems = data()
    tree = corrected_rate(verdicts, people, system=systems, seed=1, **FEW)
    table = judge_table(tree)
    assert len(table) == 6
    assert ((table["lower"] < table["rate"]) & (table["rate"] < table["upper"])).all()
    assert table["raw_rate"].tolist() == pytest.approx(tree["raw"]["rate"].values.ravel().tolist())
    assert warnings_of(tree)[0].startswith("People labelled 90 items")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"positive": 7}, "positive=7 is not one of the labels"),
        ({"target": "gold"}, "target='gold' is not one of"),
        ({"system": {0: "a"}}, "system= names no group for the items 1, 2"),
        ({"engine": "magic"}, "engine='magic' is not one of"),
    ],
)
def test_input_is_refused(change, message):
    verdicts, people, _ = data()
    with pytest.raises(InputError, match=message):
        corrected_rate(verdicts, people, **(FEW | change))


def test_people_without_verdicts_are_refused():
    verdicts, _, _ = data(n=60, asked=60)
    fewer = verdicts.select(verdicts.item_index < 60)
    stranger = Labels.from_matrix([[1]], items=[999], labels=[0, 1])
    with pytest.raises(InputError, match="no verdict: 999"):
        corrected_rate(fewer, stranger, **FEW)


def test_one_vote_an_item_does_not_tell_how_often_people_are_right():
    verdicts, people, _ = data(votes=1)
    with pytest.warns(UserWarning, match="comes from the prior"):
        corrected_rate(verdicts, people, target="truth", seed=1, **FEW)


def test_prior_is_checked():
    with pytest.raises(InputError, match="as often as right"):
        CorrectedRatePrior(people_right=1, people_wrong=2)


def test_density_and_slopes_of_the_truths_are_those_of_the_definition():
    verdicts, people, systems = data(asked=40)
    panel = panel_of(verdicts, people, systems, 1, None)
    votes = regression(panel, design(panel), CorrectedRatePrior())
    target = Truths(votes, (8.0, 2.0))

    def plain(point):
        coefficient, scale, accuracy = target.parts(point)
        chance = sp.special.ndtr(means(votes, coefficient))
        seen, missed = (sp.stats.binom.pmf(votes.positive, votes.votes, p) for p in (accuracy[0], 1 - accuracy[1]))
        inside = 2 * accuracy - 1
        parts = [
            np.log(chance * seen + (1 - chance) * missed), sp.stats.norm.logpdf(point[: coefficient.size]),
            sp.stats.halfnorm.logpdf(scale, scale=votes.scale_prior), np.log(scale),
            sp.stats.beta.logpdf(accuracy, 8, 2), np.log(inside * (1 - inside)),
        ]  # fmt: skip
        return sum(part.sum() for part in parts)

    rng = np.random.default_rng(1)
    start = target.start(rng)
    point = start + rng.normal(0, 0.5, start.size)
    (height, slope), (other, _) = target.density(point), target.density(start)
    assert height - other == pytest.approx(plain(point) - plain(start), abs=1e-8)  # constants apart
    steps = [(plain(point + step) - plain(point - step)) / 2e-5 for step in 1e-5 * np.eye(point.size)]
    np.testing.assert_allclose(slope, steps, atol=1e-5)


@pytest.mark.parametrize("target", ["share", "truth"])
def test_density_of_the_model_is_that_of_the_definition(target):
    pytensor = pytest.importorskip("pytensor")
    verdicts, people, systems = data(n=30, asked=12)
    panel = panel_of(verdicts, people, systems, 1, None)
    votes = regression(panel, design(panel), CorrectedRatePrior())
    model = corrected_rate_model(verdicts, people, system=systems, positive=1, target=target)
    assert [len(model.coords[dim]) for dim in ("item", "column")] == [12, votes.scale_index.size]
    rng = np.random.default_rng(1)
    unit, scale, effect = (rng.normal(size=n) for n in (votes.scale_index.size, votes.scale_prior.size, 12))
    scale = abs(scale)
    rho, right = 0.3, np.array([0.8, 0.9])
    mean = means(votes, unit * np.append(scale, 1.0)[votes.scale_index])
    expected = sp.stats.norm.logpdf(unit).sum() + sp.stats.halfnorm.logpdf(scale, scale=votes.scale_prior).sum()
    point = {"coefficient": unit, "scale_log__": np.log(scale)}
    if target == "share":
        share = sp.special.ndtr((mean + np.sqrt(rho) * effect) / np.sqrt(1 - rho))
        expected += sp.stats.norm.logpdf(effect).sum() + sp.stats.binom.logpmf(votes.positive, votes.votes, share).sum()
        point |= {"item_effect": effect, "vote_correlation_interval__": sp.special.logit(rho)}
    else:
        chance = sp.special.ndtr(mean)
        seen, missed = (sp.stats.binom.pmf(votes.positive, votes.votes, p) for p in (right[0], 1 - right[1]))
        expected += np.log(chance * seen + (1 - chance) * missed).sum()
        expected += (sp.stats.beta.logpdf(right, 8, 2) - sp.stats.beta.logsf(0.5, 8, 2)).sum()
        names = [f"people_{name}_interval__" for name in ("sensitivity", "specificity")]
        point |= dict(zip(names, sp.special.logit(2 * right - 1)))
    # Neither compiled nor simplified: one evaluation.
    density = model.compile_logp(jacobian=False, mode=pytensor.compile.Mode(linker="py", optimizer=None))
    assert float(density(point)) == pytest.approx(expected, rel=1e-7)
    # Far out, where a share is 1 in double precision.
    assert np.isfinite(density(point | {"coefficient": np.full(unit.size, 30.0)}))


@pytest.mark.long
def test_ten_judges_who_err_together_mix():
    """Unanimous judges know less than nine of ten: chains that start anywhere find one answer, and the right one."""
    rng = np.random.default_rng(2)
    n, system = 4000, np.arange(4000) % 4
    rates = np.array([0.55, 0.65, 0.75, 0.85])
    good = rng.random(n) < rates[system]
    said = np.where(rng.random((n, 10)) < 0.8, good[:, None], ~good[:, None])
    together = rng.random(n) < 0.15
    said[together] = (rng.random(together.sum()) < 0.5)[:, None]
    seen = np.where(rng.random((500, 3)) < 0.85, good[:500, None], ~good[:500, None])
    judges, people = (Labels.from_matrix(v.astype(int), labels=[0, 1]) for v in (said, seen))
    systems = {i: f"s{s}" for i, s in enumerate(system)}
    tree = corrected_rate(judges, people, system=systems, positive=1, target="truth", draws=250, tune=200, seed=1)
    assert (tree["diagnostics"]["r_hat"] < 1.05).all()
    for name in ("people_sensitivity", "people_specificity"):
        draws = tree["posterior"][name].values
        assert abs(draws.mean() - 0.85) < 4 * draws.std()
    found = tree["derived"].to_dataset()
    assert (np.abs(found["rate_mean"] - rates) < 0.06).all()  # four posterior standard deviations


SHORT: Any = {"draws": 200, "chains": 1, "tune": 200, "thin": 1, "seed": 1}


def test_win_rates_of_comparisons():
    """A judge prefers the new model in three of ten pairs; people compared a quarter of the pairs."""
    inside, names = 0, np.array(["new", "old", "tie"])
    for seed in range(3):
        rng = np.random.default_rng(seed)
        winner = names[rng.choice(3, 300, p=[0.4, 0.4, 0.2])]
        said = np.where(rng.random(300) < 0.3, "new", winner)
        pairs = pd.DataFrame({"left": "new", "right": "old", "item": range(300)})
        judge, people = (
            Comparisons.from_long(table, annotator="who", item="item").to_labels()
            for table in (pairs.assign(winner=said, who="judge"), pairs.assign(winner=winner, who="ann")[::4])
        )
        draws = [
            np.sort(
                corrected_rate(judge, people, positive=word, draws=200, chains=1, tune=200, thin=1, seed=1)[
                    "posterior"
                ]["rate"],
                axis=None,
            )
            for word in ("wins", "loses")
        ]
        lower, upper = np.quantile((1 + draws[0] - draws[1][::-1]) / 2, [0.025, 0.975])
        assert upper - lower < 0.3
        inside += lower < 0.5 < upper
        assert (1 + np.mean(said == "new") - np.mean(said == "old")) / 2 > 0.57
    assert inside >= 2


def test_sensitivity_and_false_positive_rate_are_equal_where_verdicts_tell_nothing():
    """The same chance of every item, whatever its verdict: both are the weighted share of positive verdicts."""
    rng = np.random.default_rng(1)
    code = np.repeat([0, 1], [7, 13])
    verdict = rng.integers(0, 2, (20, 2)).astype(float)
    verdict[3, 0] = np.nan
    votes = np.ones(20, int)
    panel = Panel(np.arange(20), np.array(["j", "k"]), verdict, (Factor("system", np.arange(2), code),), votes, votes)
    level = np.linspace(-1, 1, 9)
    fit = Fit(level[:, None], np.empty((9, 0)), {})
    found = _averages(panel, fit, np.ones((20, 1)), np.empty((20, 0)), rng)
    np.testing.assert_allclose(found["rate"], np.repeat(sp.stats.norm.cdf(level)[:, None], 2, axis=1))
    np.testing.assert_allclose(found["sensitivity"], 1 - found["specificity"])
    assert found["sensitivity"].std(axis=0).min() > 0.05  # items are weighted anew in every draw


def test_predictors_that_are_the_same_but_for_rounding_are_zero():
    said = np.random.default_rng(0).integers(0, 2, (7, 3))
    same = Labels.from_matrix(np.vstack([said, said[::-1], said[[3, 1, 0, 2, 6, 5, 4]]]), annotators=[*"abc"])
    constant = Ratings.from_matrix(np.full((21, 3), 0.3), scale=(0, 1), annotators=[*"abc"])
    people = Labels.from_matrix([[0, 1], [1, 1]], items=[0, 8], labels=[0, 1])
    for verdicts in (same, constant):
        found = design(panel_of(verdicts, people, {i: "uvw"[i // 7] for i in range(21)}, 1, None))
        at = [name.startswith("mean verdict") or (verdicts is constant and name in [*"abc"]) for name in found.names]
        assert sum(at) == 1 + 3 * (verdicts is constant)
        np.testing.assert_allclose(found.shared[:, np.flatnonzero(at)], 0, atol=1e-12)
