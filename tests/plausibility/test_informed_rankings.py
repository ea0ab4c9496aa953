"""The informed posterior of rankings: against a plain twin, quadrature, other engines and planted defects."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import betainc, betaln, logsumexp
from scipy.stats import dirichlet_multinomial, norm

import bayesagree as ba
from bayesagree.errors import InputError
from bayesagree.plausibility import InformedPlackettLuce
from bayesagree.plausibility.informed.covariates import Covariates
from bayesagree.plausibility.informed_plackett_luce._problem import (
    DEPTH,
    NAMES,
    Said,
    Tilt,
    common_shape,
    first_choices,
)
from bayesagree.plausibility.plackett_luce._sampler import Run
from bayesagree.plausibility.registry import default_posterior

MODEL = json.loads((Path(__file__).parents[2] / "models" / "informed_plackett_luce.json").read_text())

pytestmark = pytest.mark.filterwarnings("ignore:.*all rankings name 2 of 6 labels")


def readers_and_model(n: int = 60, n_labels: int = 6, right: float = 0.85, seed: int = 1):
    """Readers who name two of the labels, and a model that names the best label in some items, any in the others."""
    rng = np.random.default_rng(seed)
    theta = rng.dirichlet(np.full(n_labels, 0.2), n)
    order = (rng.standard_exponential((n, 4, n_labels)) / np.maximum(theta[:, None], 1e-300)).argsort(axis=2)[:, :, :2]
    truth = theta.argmax(axis=1)
    said = np.where(rng.random(n) < right, truth, rng.integers(0, n_labels, n))
    rankings = ba.Rankings.from_blocks(np.expand_dims(order, 3).tolist(), labels=n_labels)
    return (
        rankings,
        ba.Predictions.from_labels({"m": said.tolist()}, labels=list(range(n_labels))),
        (said == truth).mean(),
    )


def test_a_result_that_keeps_the_best_labels_alone_names_all() -> None:
    rankings, models, _ = readers_and_model(n=20)
    best = ba.informed_plackett_luce(rankings, models, top_labels=1, draws=20, chains=2, tune=5, random_seed=1)
    assert best["constant_data"]["category"].values.tolist() == list(range(6))
    assert best["posterior_parameters"]["parameter"].values.tolist() == NAMES
    assert 0 < ba.score(best, models, "accuracy").mean() < 1  # it was refused


def test_reference_posterior() -> None:
    data, expected = MODEL["data"], MODEL["posterior"]
    rankings = ba.Rankings.from_blocks(data["rankings"], labels=3)
    models = ba.Predictions.from_labels({"m": data["predictions"]}, labels=[0, 1, 2])
    tree = ba.informed_plackett_luce(rankings, models, shape=data["shape"], draws=250, chains=8, random_seed=1)
    draws = tree["posterior"]["plausibility"].values
    for name, of in {"plausibility": draws, "best": draws.argmax(-1)[..., None] == np.arange(3)}.items():
        # Eight chains tell their own error: a t distribution of seven degrees of freedom.
        of_chain = of.mean(axis=1)
        error = of_chain.std(axis=0, ddof=1) / np.sqrt(8) + np.array(expected[name]["error"])
        assert (np.abs(of_chain.mean(axis=0) - expected[name]["mean"]) < 5.5 * error).all()


def test_features_are_the_shares_and_best_labels_of_the_likely_ones() -> None:
    """Of items that are not the first ones: logs of the slots that hold their labels, 0 where a label is absent."""
    rankings, models, _ = readers_and_model(n=12)
    problem, items = InformedPlackettLuce(models).problem(rankings), slice(7, 11)
    start, slots = problem.alone.races.slot_start, problem.alone.races.label
    rng = np.random.default_rng(1)
    theta = rng.random((5, start[items.stop] - start[items.start]))
    best = rng.integers(0, 6, (4, 5))
    found = problem.features(items, theta, best)
    for i, item in enumerate(range(7, 11)):
        own = slots[start[item] : start[item + 1] - 1].tolist()
        for d, label in enumerate(problem.said.label[item].tolist()):
            share = theta[:, start[item] - start[7] + own.index(label)] if label < 6 else np.ones(5)
            np.testing.assert_allclose(found[i, :, d], np.log(share))
            assert (found[i, :, DEPTH + d] == (best[i] == label)).all()


def test_a_model_is_surest_of_the_items_whose_best_labels_are_farthest_apart() -> None:
    sure = np.random.default_rng(1).permutation(np.linspace(0.4, 0.95, 30))
    scores = np.stack([sure, *[(1 - sure) * share for share in (0.5, 0.3, 0.2)]], axis=1)
    readers = np.zeros((30, 4), np.int64)
    readers[:, 0] = 3
    said = Said.of(Covariates.of(ba.Predictions.from_scores({"m": scores})), readers)
    order = np.argsort(scores[:, 0])
    np.testing.assert_array_equal(said.sure[order], np.repeat([-1.0, 0.0, 1.0], 10))
    assert (said.label[:, 0] == 0).all()


@pytest.mark.parametrize(("n_labels", "shape"), [(3, 0.3), (8, 0.3), (60, 0.3), (8, 0.005)])
def test_the_constant_is_the_mean_weight_of_the_prior(n_labels: int, shape: float) -> None:
    """Draws of the symmetric Dirichlet distribution, weighted: the constant makes their mean weight one."""
    rng, n = np.random.default_rng(n_labels), 50_000
    label = np.minimum(np.arange(DEPTH), n_labels)[None]
    said = Said(label, np.zeros((1, DEPTH)), np.array([1.0]))
    tilt = Tilt.of(
        np.concatenate([rng.normal(0, 0.7, DEPTH), rng.normal(1, 1, DEPTH), [0, 0, 0.3, 0.5]])[:, None], said, n_labels
    )
    log = np.log(rng.standard_gamma(shape + 1, (n, n_labels))) - rng.standard_exponential((n, n_labels)) / shape
    log -= logsumexp(log, axis=1, keepdims=True)
    best = np.append(tilt.best[0, :, 0], 0.0)[np.minimum(log.argmax(axis=1), DEPTH)]
    log = log[:, : min(DEPTH, n_labels)]
    weight = np.exp(log @ tilt.readers[0, : log.shape[1], 0] + best - tilt.log_constant(shape, n_labels)[0, 0])
    assert abs(weight.mean() - 1) < 5 * weight.std() / np.sqrt(n)


@pytest.mark.parametrize("shape", [0.002, 0.05, 1.0])
def test_the_constant_of_two_labels_is_a_ratio_of_beta_functions(shape: float) -> None:
    """Of which label is best the incomplete one tells; shares of tiny shapes differ by more than floats hold."""
    readers, best = np.zeros((2, 1, DEPTH, 3))
    readers[0, :2], best[0, :2] = [[0.0, 0.01, 2.0], [0.0, 0.5, 0.3]], [[1.0, -1.0, 0.4], [0.0, 2.0, -3.0]]
    a, b = shape + readers[0, :2]
    first = betainc(b, a, 0.5)
    weight = first * np.exp(best[0, 0]) + (1 - first) * np.exp(best[0, 1])
    expected = betaln(a, b) - betaln(shape, shape) + np.log(weight)
    np.testing.assert_allclose(Tilt(readers, best).log_constant(shape, 2)[0], expected, atol=1e-4)


def test_a_tilt_is_what_its_named_parameters_say() -> None:
    """Agreement counts for every likely label, confidence for the likeliest alone, and labels that lack for nothing."""
    rng = np.random.default_rng(4)
    label = np.array([[2, 0, 1, 3, 4], [1, 3, 0, 5, 5]])  # of five labels; 5 is none
    said = Said(label, rng.normal(size=(2, DEPTH)), np.array([-1.0, 1.0]))
    theta = rng.normal(size=len(NAMES))
    of = dict(zip(NAMES, theta))
    found = Tilt.of(theta[:, None], said, 5)
    for i in range(2):
        for d in range(DEPTH):
            sure = said.sure[i] * (d == 0)
            readers = of[f"log_readers_{d + 1}"] + of["log_readers_agreement"] * said.first[i, d]
            readers += of["log_readers_confidence"] * sure
            best = of[f"best_{d + 1}"] + of["best_agreement"] * said.first[i, d] + of["best_confidence"] * sure
            here = label[i, d] < 5
            assert found.readers[i, d, 0] == pytest.approx(np.exp(min(readers, 3.0)) * here)
            assert found.best[i, d, 0] == pytest.approx(best * here)


def test_kinds_of_items_are_those_of_one_prior_but_for_names() -> None:
    rng = np.random.default_rng(5)
    label = np.where(rng.random((40, DEPTH)) < 0.2, 6, np.argsort(rng.random((40, 6)), axis=1)[:, :DEPTH])
    said = Said(label, rng.integers(0, 2, (40, DEPTH)) * [1.0, 0, 0, 0, 0], rng.integers(-1, 2, 40).astype(float))
    alike, number, of_item = said.kinds(6)
    np.testing.assert_array_equal(alike.first[of_item], said.first)
    np.testing.assert_array_equal(alike.sure[of_item], said.sure)
    np.testing.assert_array_equal(alike.label[of_item] < 6, said.label < 6)
    np.testing.assert_array_equal(np.bincount(of_item), number)
    assert len({(*a, b, *c) for a, b, c in zip(alike.first, alike.sure, alike.label < 6)}) == number.size < 40


def test_likely_labels_stand_by_how_many_models_put_them_first() -> None:
    """Three times their share, less all of it in the first place; labels that no model names are none."""
    models = ba.Predictions.from_labels({"a": [0, 1, 2], "b": [0, 1, 0], "c": [0, 2, 2]}, labels=range(4))
    said = Said.of(Covariates.of(models), np.array([[3, 0, 0, 0], [0, 3, 0, 0], [0, 0, 3, 0]]))
    assert said.label.tolist() == [[0, 4, 4, 4, 4], [1, 2, 4, 4, 4], [2, 0, 4, 4, 4]]
    np.testing.assert_allclose(said.first, [[0, 0, 0, 0, 0], [-1, 1, 0, 0, 0], [-1, 1, 0, 0, 0]], atol=1e-12)
    assert said.sure.tolist() == [0, 0, 0]  # labels alone say nothing of it


@pytest.mark.parametrize("concentration", [0.1, 1.0, 8.0])
def test_the_shape_of_all_labels_is_the_most_probable_one(concentration: float) -> None:
    """Of four items, the logarithm of the sum of shapes being normal around 0 with sd 1.5; to a step of its grid."""
    rng = np.random.default_rng(3)
    first = [rng.choice(5, 3, p=rng.dirichlet(np.full(5, concentration))) for _ in range(4)]
    counts = np.array([np.bincount(item, minlength=5) for item in first])

    def loss(log_sum: float) -> float:
        height = dirichlet_multinomial(np.full(5, np.exp(log_sum) / 5), 3).logpmf(counts).sum()
        return -height - norm(0, 1.5).logpdf(log_sum)

    best = minimize_scalar(loss, bounds=(np.log(0.02), np.log(50)), method="bounded").x
    nobody = np.full((4, DEPTH), 5)
    assert np.log(5 * common_shape(counts, nobody)) == pytest.approx(best, abs=np.log(2500) / 119)


@pytest.mark.parametrize("total", [0.5, 3.0])
def test_the_shape_of_other_labels_is_what_likely_ones_leave(total: float) -> None:
    """Of 12 labels the first five have .9 of the mass: of many items the shape of the others is that they come from."""
    shape = total * np.append([0.5, 0.2, 0.1, 0.07, 0.03], np.full(7, 0.1 / 7))
    rng = np.random.default_rng(4)
    counts = rng.multinomial(8, rng.dirichlet(shape, 3000))
    likely = np.tile(np.arange(DEPTH), (3000, 1))
    assert common_shape(counts, likely) == pytest.approx(shape[-1], rel=0.12)


def test_a_model_that_says_nothing_changes_nothing() -> None:
    rankings, _, _ = readers_and_model(n=20)
    coin = ba.Predictions.from_labels({"coin": (np.arange(20) % 6).tolist()}, labels=list(range(6)))
    how = {"draws": 200, "random_seed": 1}
    informed = ba.informed_plackett_luce(rankings, coin, **how)["posterior"]["plausibility"].mean(("chain", "draw"))
    shape = common_shape(first_choices(rankings), np.full((20, DEPTH), 6))
    alone = ba.plackett_luce(rankings, shape=shape, **how)["posterior"]["plausibility"]
    assert np.abs(informed - alone.mean(("chain", "draw"))).mean() < 0.02


def test_a_model_that_is_excluded_informs_nothing() -> None:
    rankings, models, _ = readers_and_model(n=10)
    said = {"m": models.hard_labels()[0].tolist()}
    both = ba.Predictions.from_labels(said | {"reader": [0, 1] * 5}, labels=list(range(6)))
    how = {"draws": 5, "chains": 1, "tune": 2, "random_seed": 1}
    one, other = (
        ba.informed_plackett_luce(rankings, given, exclude=exclude, **how)["posterior"]["plausibility"]
        for given, exclude in ((models, ()), (both, ["reader"]))
    )
    np.testing.assert_array_equal(one, other)


def test_what_it_does_not_take() -> None:
    rankings, models, _ = readers_and_model(n=6)
    chosen = ba.Rankings.from_blocks([[[["a"], ["b"]]]], labels=[*"abc"], offered=[[["a", "b"]]])
    one = ba.Predictions.from_labels({"m": ["a"]}, labels=[*"abc"])
    with pytest.raises(InputError, match="all labels as on offer"):
        ba.informed_plackett_luce(chosen, one)
    with pytest.raises(InputError, match="give them as predictions"):
        InformedPlackettLuce().draw(rankings, None)
    assert default_posterior(rankings, models).name == "informed_plackett_luce"
    assert default_posterior(rankings).name == "plackett_luce"
    with pytest.raises(InputError, match=r"reliability=... is no argument of informed_plackett_luce"):
        default_posterior(rankings, models, {"reliability": 3})


RACES = [[list("acbde")]] * 3 + [[list("abdce")]] + [[list("bcde")]] * 3 + [[list("be")]] * 2 + [[list("badec")]]


def test_races_without_offers_are_warned_of() -> None:
    """A public case: of five, some races had two, four or five; by maximum likelihood a is first, .815."""
    races = [[[[name] for name in order] for [order] in RACES]]
    with pytest.warns(UserWarning, match=r"rankings of item 0 name 2 to 5 labels.*offered="):
        ba.plackett_luce(ba.Rankings.from_blocks(races, labels="abcde"), draws=100, random_seed=1)
    offered = ba.Rankings.from_blocks(races, labels="abcde", offered=[[order for [order] in RACES]])
    mean = ba.plackett_luce(offered, draws=500, random_seed=1)["posterior"]["plausibility"].mean(("chain", "draw"))
    assert mean.values[0].argmax() == 0
    assert mean.values[0, 0] > 0.6


def test_a_shape_of_zero_is_refused() -> None:
    rankings, models, _ = readers_and_model(n=6)
    with pytest.raises(InputError, match="shape=0 must be a positive number"):
        ba.informed_plackett_luce(rankings, models, shape=0, draws=2, random_seed=1)


def test_the_likelihood_does_not_depend_on_the_readers_under_which_it_is_learnt() -> None:
    """Differences of log likelihood between parameters, from draws under none, some and many readers of a label."""
    rankings, models, _ = readers_and_model(n=10)
    problem = InformedPlackettLuce(models).problem(rankings)
    centre = problem.layout.prior.mean
    at = centre + np.outer([0, 0.7, 0], np.eye(len(NAMES))[0]) + np.outer([0, 0, 2.0], np.eye(len(NAMES))[DEPTH])
    found = []
    for readers in (0.01, 0.5, 1.5):
        under = np.where(np.arange(len(NAMES)) == 0, np.log(readers), centre)
        seeds = [np.random.default_rng([seed, int(100 * readers)]) for seed in range(6)]
        values = np.array([problem.taught(under, Run(4, 50, 50, 5), rng)(at).sum(axis=0) for rng in seeds])
        of_seed = values[:, 1:] - values[:, :1]
        found.append((of_seed.mean(axis=0), of_seed.std(axis=0, ddof=1) / np.sqrt(6)))
    for one, other in ((0, 1), (0, 2), (1, 2)):
        gap, error = found[one][0] - found[other][0], np.hypot(found[one][1], found[other][1])
        assert (np.abs(gap) < 5 * error).all()
        assert (error < 0.2).all()  # less than a tenth of what the differences are
