"""Corrected rates against NUTS, the plain twin, and what must not change them."""

import json
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy as sp
import xarray as xr
from _paths import ROOT

from bayesagree import InputError, Labels, Ratings, corrected_rate
from bayesagree.judges import CorrectedRatePrior, prediction_powered_mean
from bayesagree.judges._panel import Factor, Panel, panel_of, regression
from bayesagree.judges._sampler import Votes
from bayesagree.judges.model import corrected_rate_model
from bayesagree.judges.rate import Fit, _averages
from bayesagree.judges.tables import judge_table

REFERENCE = json.loads((ROOT / "models" / "corrected_rate.json").read_text())
pytestmark = pytest.mark.filterwarnings("ignore:people labelled fewer")


def data(random_seed=3, n=240, asked=90, votes=3, judges=2) -> tuple[Labels, Labels, dict[int, str]]:
    """Three systems, judges who are right four times in five, votes of people on some items."""
    rng = np.random.default_rng(random_seed)
    good = rng.random(n) < np.array([0.5, 0.65, 0.8])[np.arange(n) % 3]
    said = np.where(rng.random((n, judges)) < 0.8, good[:, None], ~good[:, None]).astype(int)
    share = np.where(good, 0.85, 0.2)[:asked, None]
    verdicts = Labels.from_matrix(said, annotators=[f"judge-{j}" for j in range(judges)], labels=[0, 1])
    people = Labels.from_matrix((rng.random((asked, votes)) < share).astype(int), labels=[0, 1])
    return verdicts, people, {i: "abc"[i % 3] for i in range(n)}


@pytest.mark.parametrize("target", ["share", "truth"])
def test_density_is_that_of_the_pymc_model_at_twenty_points(target):
    """Item effects are integrated out of the model by the trapezoid rule: votes of an item depend on its own alone."""
    pytensor = pytest.importorskip("pytensor")
    verdicts, people, systems = data(n=30, asked=12)
    panel = panel_of(verdicts, people, systems, 1, None)
    votes = Votes(panel, regression(panel, CorrectedRatePrior()), target, CorrectedRatePrior())
    model = corrected_rate_model(verdicts, people, system=systems, positive=1, target=target)
    mode = pytensor.compile.Mode(linker="py", optimizer=None)  # neither compiled nor simplified
    seen, rest = model["positive_votes"], [v for v in model.free_RVs if v.name != "item_effect"]
    of_votes = model.compile_logp(vars=[seen], sum=False, mode=mode)
    of_rest = model.compile_logp(vars=rest, mode=mode)
    nodes = np.linspace(-8, 8, 41) if target == "share" else np.zeros(1)
    points, theirs = 0.3 * np.random.default_rng(1).normal(size=(20, votes.size)), []
    points[:, votes.n : votes.end] -= 1
    for point in points:
        unit, log_scale, odds = np.split(point, [votes.n, votes.end])
        at = {"coefficient": unit, "scale_log__": log_scale}
        at |= {f"{name}_interval__": value for name, value in zip(votes.names, odds)}
        effects = {"item_effect": np.zeros(12)} if target == "share" else {}
        parts = [of_votes(at | {name: np.full(12, e) for name in effects})[0] for e in nodes]
        if target == "share":
            parts = sp.special.logsumexp(parts + sp.stats.norm.logpdf(nodes)[:, None], axis=0) + np.log(0.4)
        theirs.append(float(np.sum(parts)) + float(of_rest(at | effects)))
    gaps = np.array(theirs) - votes.density(points)
    np.testing.assert_allclose(gaps, gaps[0], atol=1e-5)  # constants apart


@pytest.mark.long
def test_same_posterior_as_the_plain_model():
    """The reference of models/corrected_rate.json; the twin counts every item once, so that means alone agree there."""
    known = REFERENCE["data"]
    verdicts = Labels.from_matrix(np.array(known["verdict"])[:, None], annotators=["judge"], labels=[0, 1])
    positive = np.array(known["positive"])
    people = Labels.from_counts(np.column_stack([3 - positive, positive]), labels=[0, 1])
    systems = {i: str(s) for i, s in enumerate(known["system"])}
    tree = corrected_rate(verdicts, people, system=systems, positive=1, draws=1500, random_seed=1)
    posterior = tree["posterior"].to_dataset()
    for name in ("rate", "intercept", "slope", "vote_correlation"):
        expected = REFERENCE["posterior"][name]
        draws = np.atleast_2d(posterior[name].values.reshape(6_000, -1).T)
        # Chains of 1,500 correlated draws are worth some 300 independent ones of the slowest parameter.
        error = np.hypot(draws.std(axis=1) / np.sqrt(300), expected["mcse_mean"])
        assert (np.abs(draws.mean(axis=1) - expected["mean"]) < 4 * error).all(), name
        if name != "rate":
            np.testing.assert_allclose(draws.std(axis=1), expected["sd"], rtol=0.15)


FEW: dict[str, Any] = {"positive": 1, "draws": 100, "chains": 1}


TARGETS = pytest.mark.parametrize("target", ["truth", "share"])


@TARGETS
def test_same_seed_same_draws_in_any_order_of_rows(target):
    verdicts, people, systems = data(n=48, asked=24)
    table = pd.DataFrame({
        "item": verdicts.item_index, "annotator": verdicts.annotators[verdicts.annotator_index],
        "label": verdicts.categories[verdicts.label_index],
    })  # fmt: skip
    shuffled = Labels.from_long(table.sample(frac=1, random_state=1), labels=[0, 1])
    by = {"length": {i: "long" if i % 4 else "short" for i in systems}}
    how = {"by": by, "random_seed": 5, "target": target, **FEW, "draws": 10}
    first = corrected_rate(verdicts, people, system=systems, **how, progress=(done := []).append)
    assert sum(done) == 2 * 10 * 1  # with the judges and without
    second = corrected_rate(shuffled, people, system=dict(reversed(systems.items())), **how)
    np.testing.assert_array_equal(first["posterior"]["rate"], second["posterior"]["rate"])


def test_a_perfect_judge_is_believed_and_a_useless_one_is_not():
    rng = np.random.default_rng(1)
    good = (rng.random(3000) < 0.7).astype(int)
    people = Labels.from_matrix(good[:200, None], labels=[0, 1])
    perfect, useless = (Labels.from_matrix(v[:, None], annotators=["j"]) for v in (good, rng.integers(0, 2, 3000)))
    by_perfect, by_useless = (
        corrected_rate(judge, people, random_seed=1, **(FEW | {"draws": 400}))["derived"]
        for judge in (perfect, useless)
    )
    assert float(by_perfect["saving"][0]) > 3
    assert float(by_useless["saving"][0]) == pytest.approx(1, abs=0.3)
    assert by_perfect["rate_mean"].item() == pytest.approx(good.mean(), abs=0.02)


def test_shares_agree_with_prediction_powered_inference_on_much_data():
    verdicts, people, _ = data(n=6000, asked=1500, judges=1)
    tree = corrected_rate(verdicts, people, random_seed=1, **(FEW | {"draws": 500}))
    derived, said = tree["derived"].to_dataset(), verdicts.label_index.astype(float)
    found = prediction_powered_mean(people.counts()[:, 1] / 3, said[:1500], said[1500:])
    assert derived["rate_mean"].item() == pytest.approx(found.estimate, abs=0.006)
    width = (derived["rate_upper"] - derived["rate_lower"]).item()
    assert width == pytest.approx(found.upper - found.lower, rel=0.15)


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
    tree = corrected_rate(judges, people, system=systems, positive=1, target="truth", draws=1000, random_seed=1)
    assert (tree["diagnostics"]["r_hat"] < 1.05).all()
    for name in ("people_sensitivity", "people_specificity"):
        draws = tree["posterior"][name].values
        assert abs(draws.mean() - 0.85) < 4 * draws.std()
    found = tree["derived"].to_dataset()
    assert (np.abs(found["rate_mean"] - rates) < 0.06).all()  # four posterior standard deviations


SHORT: Any = {"draws": 200, "chains": 1, "random_seed": 1}


@pytest.mark.parametrize("votes", [1, 2])
def test_the_truth_needs_two_votes_on_most_items(votes):
    said = np.arange(40)[:, None] % 2
    judges, people = (Labels.from_matrix(np.tile(said, n), labels=[0, 1]) for n in (2, votes))
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        corrected_rate(judges, people, positive=1, target="truth", **SHORT)
    assert any("one vote on most items" in str(one.message) for one in heard) == (votes == 1)


def test_sensitivity_and_false_positive_rate_are_equal_where_verdicts_tell_nothing():
    """The same chance of every item, whatever its verdict: both are the weighted share of positive verdicts."""
    rng = np.random.default_rng(1)
    code = np.repeat([0, 1], [7, 13])
    verdict = rng.integers(0, 2, (20, 2)).astype(float)
    verdict[3, 0] = np.nan
    votes = np.ones(20, int)
    panel = Panel(np.arange(20), np.array(["j", "k"]), verdict, (Factor("system", np.arange(2), code),), votes, votes)
    level = np.linspace(-1, 1, 9)
    found = _averages(panel, Fit(np.ones((20, 1)), level[:, None], {}), rng)
    np.testing.assert_allclose(found["rate"], np.repeat(sp.stats.norm.cdf(level)[:, None], 2, axis=1))
    np.testing.assert_allclose(found["sensitivity"], 1 - found["specificity"])
    assert found["sensitivity"].std(axis=0).min() > 0.05  # items are weighted anew in every draw


def test_predictors_that_are_the_same_but_for_rounding_are_zero():
    said = np.random.default_rng(0).integers(0, 2, (7, 3))
    same = Labels.from_matrix(np.vstack([said, said[::-1], said[[3, 1, 0, 2, 6, 5, 4]]]), annotators=[*"abc"])
    constant = Ratings.from_matrix(np.full((21, 3), 0.3), scale=(0, 1), annotators=[*"abc"])
    people = Labels.from_matrix([[0, 1], [1, 1]], items=[0, 8], labels=[0, 1])
    for verdicts in (same, constant):
        panel = panel_of(verdicts, people, {i: "uvw"[i // 7] for i in range(21)}, 1, None)
        found = regression(panel, CorrectedRatePrior())
        at = [name.startswith("mean verdict") or (verdicts is constant and name in [*"abc"]) for name in found.names]
        assert sum(at) == 1 + 3 * (verdicts is constant)
        np.testing.assert_allclose(found.columns[:, np.flatnonzero(at)], 0, atol=1e-12)


@TARGETS
def test_a_judge_lenient_to_one_system_is_named(target):
    verdicts, people, systems = data(n=900, asked=300, judges=1)
    kind = np.array([systems[item] == "a" for item in verdicts.items.tolist()])
    rng = np.random.default_rng(1)
    praised = np.where(kind & (rng.random(kind.size) < 0.6), 1, verdicts.label_index)
    lenient = Labels.from_matrix(praised[:, None], annotators=["judge-0"], labels=[0, 1])
    sentence = "Judge judge-0 is lenient to a compared with the other systems."
    for judge, said in ((lenient, True), (verdicts, False)):
        table = judge_table(corrected_rate(judge, people, system=systems, positive=1, target=target, **SHORT))
        assert (sentence in table.attrs["warnings"]) is said


def known_result(number=100, raw=0.5, share=0.98, saving=1.6):
    """A result of judge j and systems a and b: j says positive of a more often than of b in a share of the draws."""
    dims, names = ("chain", "draw", "system", "judge"), {"system": ["a", "b"], "judge": ["j"]}
    sensitivity = np.full((1, 1000, 2, 1), 0.8)
    sensitivity[0, :, 0, 0] += np.where(np.arange(1000) < 1000 * share, 0.05, -0.05)
    posterior = {"sensitivity": (dims, sensitivity), "specificity": (dims, np.full((1, 1000, 2, 1), 0.7))}
    posterior["max_saving"] = (dims, np.full((1, 1000, 2, 1), saving))
    derived = {name: ("system", [0.5, 0.6]) for name in ("rate_mean", "rate_lower", "rate_upper", "saving")}
    groups = {
        "posterior": xr.Dataset(posterior, names),
        "derived": xr.Dataset(derived, {"system": names["system"]}),
        "constant_data": xr.Dataset({"n_items_with_votes": ("system", [40, number - 40])}, {"system": names["system"]}),
        "raw": xr.Dataset({"rate": (("system", "judge"), [[raw], [0.4]])}, names),
    }
    tree = xr.DataTree.from_dict(groups)
    tree.attrs["settings"] = json.dumps({"target": "share"})
    return tree


@pytest.mark.parametrize(
    ("how", "sentences"),
    [
        ({"share": 0.975}, []),
        ({"share": 0.976}, ["Judge j is lenient to a", "Judge j is strict to b"]),
        ({"share": 0.025}, []),
        ({"share": 0.024}, ["Judge j is strict to a", "Judge j is lenient to b"]),
        ({"share": 0.5, "number": 100}, []),
        ({"share": 0.5, "number": 99}, ["People labelled 99 items in all; below 100 the intervals"]),
        ({"share": 0.5, "raw": 1.0}, ["Judge j gave one label to every item of a"]),
        ({"share": 0.5, "raw": 0.0}, ["Judge j gave one label to every item of a"]),
        ({"share": 0.5, "saving": 1.5}, []),
        ({"share": 0.5, "saving": 1.4}, ["On a a single judge can make a label", "On b a single judge"]),
    ],
)
def test_sentences_begin_at_their_limits(how, sentences):
    found = judge_table(known_result(**how)).attrs["warnings"]
    assert len(found) == len(sentences)
    assert all(one.startswith(start) for one, start in zip(found, sentences))


@pytest.mark.filterwarnings("always:people labelled fewer")
@pytest.mark.parametrize("asked", [9, 10])
def test_systems_of_few_people_are_named(asked, recwarn):
    """Systems a, b and c in turn: the first 3 n items hold n of each."""
    verdicts, people, systems = data(n=60, asked=3 * asked - 2)
    corrected_rate(verdicts, people, system=systems, target="truth", **(FEW | {"draws": 2}))
    said = [str(one.message) for one in recwarn if str(one.message).startswith("people labelled fewer")]
    named = {9: "items of 'a', 'b', 'c': their", 10: "items of 'b', 'c': their"}[asked]
    assert [named in text for text in said] == [True], said
    assert said[0].endswith("rest on the prior and the other systems")


@pytest.mark.filterwarnings("default:people labelled fewer")
def test_one_system_of_few_people_rests_on_the_prior():
    verdicts, people, _ = data(n=60, asked=5)
    with pytest.warns(UserWarning, match="items of 'all': their rates rest on the prior$"):
        corrected_rate(verdicts, people, **(FEW | {"draws": 2}))


def test_columns_of_the_regression_are_as_wide_as_their_priors():
    """Two systems: intercept, slopes of both judges, the systems' mean verdict; deviations of a system alone."""
    rng = np.random.default_rng(1)
    said = rng.integers(0, 2, (40, 2))
    verdicts = Labels.from_matrix(said, annotators=["j", "k"], labels=[0, 1])
    people = Labels.from_matrix(said[:20, :1], labels=[0, 1])
    prior = CorrectedRatePrior(intercept_sd=3.0, slope_sd=0.7)
    panel = panel_of(verdicts, people, {i: "ab"[i % 2] for i in range(40)}, 1, None)
    found = regression(panel, prior)
    column = dict(zip(found.names, found.columns.T))
    scaled = (said - said.mean(axis=0)) / said.std(axis=0)
    np.testing.assert_allclose(column["all"], 3.0)
    np.testing.assert_allclose(np.stack([column["j"], column["k"]], axis=1), 0.7 * scaled)
    of_a = np.arange(40) % 2 == 0
    np.testing.assert_allclose(column["system a: all"], of_a)
    np.testing.assert_allclose(column["system a: j"], np.where(of_a, scaled[:, 0], 0))
    np.testing.assert_allclose(column["1 judges positive"], said.sum(axis=1) == 1)
    # What all systems share has a known standard deviation; deviations of a system have a learnt one.
    learnt = {name for name, scale in zip(found.names, found.scale_index) if scale >= 0}
    assert learnt == {name for name in found.names if name.startswith("system") or name.endswith("judges positive")}


def test_what_is_refused():
    verdicts, people, _ = data()
    for change, message in (
        ({"positive": 7}, "positive=7 is not one of the labels"),
        ({"system": {0: "a"}}, "system= names no group for the items 1, 2"),
    ):
        with pytest.raises(InputError, match=message):
            corrected_rate(verdicts, people, **(FEW | change))
    with pytest.raises(InputError, match="no verdict: 999"):
        corrected_rate(verdicts, Labels.from_matrix([[1]], items=[999], labels=[0, 1]), **FEW)
    with pytest.raises(InputError, match="as often as right"):
        CorrectedRatePrior(people_right=1, people_wrong=2)


def test_scores_and_repeats_count_as_verdicts():
    verdicts, people, systems = data(judges=1)
    rows = np.repeat(verdicts.label_index, 2) * 9 + 1
    table = pd.DataFrame({"item": np.repeat(verdicts.item_index, 2), "annotator": "j", "rating": rows})
    scores = Ratings.from_long(table, scale=(1, 10), step=1, duplicates="keep")
    given = [panel_of(one, people, systems, 1, None) for one in (scores, verdicts)]
    np.testing.assert_allclose(given[0].verdict, given[1].verdict)
    # What a person answers again is one vote, the mean.
    again = people.to_long().assign(label=lambda rows: rows["label"].astype(int))
    thrice = Labels.from_long(pd.concat([again, again, again.assign(label=0)]), labels=[0, 1], duplicates="keep")
    panel = panel_of(verdicts, thrice, systems, 1, None)
    np.testing.assert_array_equal(panel.votes, given[1].votes)
    np.testing.assert_allclose(panel.positive, given[1].positive * 2 / 3)
