"""Annotators' levels: the sampler against a brute-force integral, the check that names them, their table."""

import warnings

import numpy as np
import pytest
from _phi import levels
from scipy.special import expit, logit, logsumexp
from scipy.stats import beta as beta_distribution

import bayesagree as ba
from bayesagree.agreement._effects_kernels import LOG_PRECISION, at_precision, log_probability
from bayesagree.agreement.annotator_effects import _level_table, level_share
from bayesagree.agreement.prior import AgreementPrior
from bayesagree.annotations import Ratings
from bayesagree.errors import InputError


def crowd(n_items=60, shift=(-1.0, 0.0, 1.0), phi=0.8, seed=1, n_levels=5):
    """Return ratings of annotators whose levels differ."""
    rng, precision = np.random.default_rng(seed), 2 * (1 - np.log2(1 - phi))
    mean = expit(logit(rng.beta(2, 2, n_items))[:, None] + np.asarray(shift))
    x = rng.beta(mean * precision, (1 - mean) * precision)
    return levels(np.minimum((x * n_levels).astype(int), n_levels - 1), n_levels)


def test_probability_of_a_level_is_interpolated_to_a_thousandth_at_high_agreement():
    """The table between its nodes, against scipy; 1e-3 where a level has probability 1e-9 at Phi .98, else 1e-4."""
    table, line = _level_table(5), np.empty((5, _level_table(5).shape[2]))
    rng = np.random.default_rng(1)
    for y in np.append(rng.uniform(np.log(0.1), np.log(15), 20), LOG_PRECISION[0]):
        at_precision(table, y, line)
        for z in rng.normal(0, 2, 5):
            a, b = np.exp(y) * expit([z, -z])
            expected = np.diff(beta_distribution.cdf(np.linspace(0, 1, 6), a, b))
            for level in np.flatnonzero(expected > 1e-9):
                found = log_probability(level, 0.0, 0.0, z, y, line)
                assert found == pytest.approx(np.log(expected[level]), abs=1e-4 if expected[level] > 1e-4 else 1e-3)


def brute_force(ratings):
    """Return posterior means of Phi and of the first of two annotators' shifts: flat means, a grid of everything."""
    y = np.linspace(-3, 5, 33)
    shift = np.linspace(-3, 3, 41)
    z = np.linspace(-12, 12, 121)
    edges = np.linspace(0, 1, 6)[1:-1]
    code = ratings.levels().reshape(-1, 2)
    sd = np.linspace(0.005, 4, 800)
    # Two shifts that add up to zero, h and -h: their square is 2 h^2, in one free dimension.
    log_prior = logsumexp(-np.log(sd) - shift[:, None] ** 2 / sd**2 - sd**2 / 2, axis=1)
    mean = {side: expit(z + side * shift[:, None]) for side in (1, -1)}
    log_post = np.empty((y.size, shift.size))
    for k, p in enumerate(np.exp(y)):
        total = np.zeros((shift.size, z.size, len(code)))
        for j, side in enumerate((1, -1)):
            m = mean[side]
            below = beta_distribution.cdf(edges, (m * p)[..., None], ((1 - m) * p)[..., None])
            log_p = np.log(np.maximum(np.diff(below, prepend=0, append=1), 1e-300))
            total += log_p[..., code[:, j]]
        flat = -np.log1p(np.exp(-z)) - np.log1p(np.exp(z))
        item = logsumexp(total + flat[:, None], axis=1)
        log_post[k] = item.sum(axis=1) + log_prior + y[k] - np.log(2) / 2 * p
    weight = np.exp(log_post - log_post.max())
    weight /= weight.sum()
    phi = 1 - 2 * np.exp(-np.log(2) / 2 * np.exp(y))
    return weight.sum(axis=1) @ phi, weight.sum(axis=0) @ shift


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_two_annotators_are_those_of_brute_force():
    ratings = levels([[1, 3], [0, 2], [2, 4], [3, 3], [0, 1]], 5)
    tree = ba.common_agreement(ratings, item_mean="flat", annotator_effects="shift", draws=4000, seed=1)
    drawn = tree["posterior"].to_dataset()
    phi, shift = brute_force(ratings)
    error = drawn["phi"].std().item() / np.sqrt(1500)
    assert drawn["phi"].mean().item() == pytest.approx(phi, abs=4 * error)
    first = drawn["annotator_shift"].isel(annotator=0)
    assert first.mean().item() == pytest.approx(shift, abs=4 * first.std().item() / np.sqrt(1500))
    assert np.abs(drawn["annotator_shift"].sum("annotator")).max() < 1e-9


@pytest.mark.long
def test_levels_are_named_before_and_removed_after():
    ratings = crowd(shift=(-1.2, 0.2, 1.0))
    with pytest.warns(UserWarning, match="annotators' own levels make up"):
        plain = ba.common_agreement(ratings, draws=100, seed=1)
    tree = ba.common_agreement(ratings, annotator_effects="shift", draws=300, seed=1)
    found = tree["agreement"].to_dataset()
    assert float(plain["agreement"]["upper"]) < 0.8
    assert float(found["lower"]) < 0.8 < float(found["upper"])
    table = ba.agreement.annotator_levels(tree)
    assert table["annotator"].tolist() == [0, 1, 2]
    assert ((table["lower"] < [-1.2, 0.2, 1.0]) & (table["upper"] > [-1.2, 0.2, 1.0])).all()
    assert (table["prob_above"].round(2) == [0, 1, 1]).all() or table["prob_above"].is_monotonic_increasing


@pytest.mark.long
def test_equal_annotators_are_not_warned_of():
    for seed in range(5):
        ratings = crowd(shift=(0, 0, 0), seed=seed)
        share, p_value = level_share(ratings)
        assert share < 0.1 or p_value > 1e-3
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ba.common_agreement(ratings, draws=10, seed=1)


def test_share_of_levels_is_that_of_two_way_analysis_of_variance():
    """Complete tables have a closed form; a missing rating does not move it much."""
    rng = np.random.default_rng(2)
    x = rng.integers(0, 5, (30, 4)).astype(float)
    row, column = x.mean(axis=1, keepdims=True), x.mean(axis=0)
    within, left = ((x - row) ** 2).sum(), ((x - row - column + x.mean()) ** 2).sum()
    share, p_value = level_share(levels(x, 5))
    assert share == pytest.approx(1 - (left / 87) / (within / 90))
    assert 0 <= p_value <= 1
    x[3, 2] = np.nan
    assert level_share(levels(x, 5))[0] == pytest.approx(share, abs=0.05)


@pytest.mark.long
def test_same_seed_same_draws_and_rows_in_any_order():
    ratings = crowd(n_items=15)
    shuffled = Ratings.from_long(ratings.to_long().sample(frac=1, random_state=1), scale=(0, 4), step=1)
    first, second = (
        ba.common_agreement(r, annotator_effects="shift_and_spread", draws=20, chains=2, seed=3)["posterior"]
        for r in (ratings, shuffled)
    )
    assert np.array_equal(first["phi"].values, second["phi"].values)
    assert np.array_equal(first["annotator_shift"].values, second["annotator_shift"].values)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("known", [False, True])
def test_continuous_ratings_and_known_truths(known):
    """Shifts of four simulated crowds, in posterior standard deviations from their truth."""
    shift, precision, away = np.array([-0.8, 0.0, 0.8]), 8.0, []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        mu = rng.random(40)
        mean = expit(logit(mu)[:, None] + shift)
        x = np.clip(rng.beta(mean * precision, (1 - mean) * precision), 1e-9, 1 - 1e-9)
        ratings = Ratings.from_matrix(x, scale=(0, 1))
        item_mean = {i: float(m) for i, m in enumerate(mu[:20])} if known else "flat"
        options = {"annotator_effects": "shift", "draws": 150, "chains": 2, "seed": 1}
        drawn = ba.common_agreement(ratings, item_mean=item_mean, **options)["posterior"]["annotator_shift"]
        away.append((drawn.mean(("chain", "draw")) - shift) / drawn.std(("chain", "draw")))
    # Three shifts that add up to zero, four times: chi squared of eight degrees over eight, above 4.2 once in 20,000.
    assert np.mean(np.square(away)) < 4.2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"annotator_effects": "levels"}, "not one of 'none'"),
        ({"annotator_effects": "shift", "likelihood": "inflated"}, "has no annotator effects"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_what_is_not_known_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        ba.common_agreement(crowd(n_items=5), **options)


@pytest.mark.filterwarnings("ignore")
def test_one_annotator_has_no_level_and_continuous_ends_no_density():
    with pytest.raises(InputError, match="two annotators or more"):
        ba.common_agreement(levels([[1], [2]], 5), annotator_effects="shift")
    with pytest.raises(InputError, match="have no density"):
        ba.common_agreement(Ratings.from_matrix([[0, 0.5], [0.2, 0.3]], scale=(0, 1)), annotator_effects="shift")
    with pytest.raises(InputError, match="no annotator_shift"):
        ba.agreement.annotator_levels(ba.common_agreement(crowd(n_items=5), draws=5, seed=1))


@pytest.mark.nuts
@pytest.mark.filterwarnings("ignore")
def test_nuts_is_the_same_posterior():
    ratings = crowd(n_items=25, phi=0.6)
    prior = AgreementPrior(phi=(3, 2), mean_spread=(2, 3), annotator_shift=0.5)
    options = {"annotator_effects": "shift_and_spread", "prior": prior}
    ours = ba.common_agreement(ratings, **options, draws=1000, seed=1)["posterior"].to_dataset()
    nuts = ba.common_agreement(ratings, **options, engine="nuts", draws=400, chains=2, seed=1)["posterior"].to_dataset()
    for name in ours:
        # 250 effective draws of each at least.
        error = ours[name].std(("chain", "draw")) / np.sqrt(250)
        difference = ours[name].mean(("chain", "draw")) - nuts[name].mean(("chain", "draw"))
        assert (abs(difference) < 4.5 * error).all(), name
