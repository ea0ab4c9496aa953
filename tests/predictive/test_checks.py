import itertools

import numpy as np
import pytest
import xarray as xr
from _errors_of_draws import assert_mean, assert_share
from predictive.test_reliability import RANKINGS
from scipy import special, stats

from bayesagree import InputError, Labels, Ratings, common_agreement, dawid_skene, dirichlet, plackett_luce, prirn
from bayesagree.plausibility import DawidSkenePrior
from bayesagree.plausibility.dawid_skene.predictive import PREDICTIVE
from bayesagree.predictive.checks import prior_predictive, with_log_likelihood, with_posterior_predictive

CROWD = Labels.from_matrix(
    [["a", "b", "a"], ["b", "b", None], ["c", "a", "a"], [None, "c", "c"]], items=list("wxyz"), annotators=list("123")
)
RATED = Ratings.from_matrix([[4, 4, 5], [1, 2, 1], [3, 5, 4], [2, np.nan, 2]], scale=(1, 5), step=1)


def log_likelihood(tree, annotations, **options):
    return with_log_likelihood(tree, annotations, **options)["log_likelihood"]["annotations"]


def test_dirichlet_item_is_a_chain_of_predictive_probabilities():
    tree = dirichlet(CROWD, prior=[0.5, 1.0, 2.0], draws=3, chains=2, random_seed=1)
    found = log_likelihood(tree, CROWD)
    assert found.dims == ("chain", "draw", "item")
    for i, name in enumerate(CROWD.items):
        alpha, total = np.array([0.5, 1.0, 2.0]), 0.0
        for label in CROWD.label_index[CROWD.item_index == i]:
            total += np.log(alpha[label] / alpha.sum())
            alpha[label] += 1
        assert found.sel(item=name).values == pytest.approx(np.full((2, 3), total))


def rated_and_prior(mu, levels, p, prior, low, high):
    """Return the density of ratings and an item mean at means (mean,)."""
    cdf = stats.beta.cdf(np.arange(6)[:, None] / 5, mu * p, (1 - mu) * p)
    odds = np.zeros((5, mu.size))
    odds[0], odds[4] = low * (1 - mu) / mu, high * mu / (1 - mu)
    answered = (np.diff(cdf, axis=0) + odds)[levels.astype(int)]
    return np.prod(answered / (1 + odds.sum(axis=0)), axis=0) * prior.pdf(mu)


@pytest.mark.filterwarnings("ignore:.*ratings per item with flat item means")
@pytest.mark.parametrize("item_mean", ["flat", "hierarchical", {1: 1.5}])
def test_phi_item_is_the_integral_over_its_mean(item_mean):
    tree = common_agreement(RATED, item_mean=item_mean, draws=2, chains=1, random_seed=1)
    found = log_likelihood(tree, RATED)
    posterior = tree["posterior"].to_dataset()
    z = np.linspace(-6, 6, 2001)  # means 1 / (1 + e^-sinh z): the integrand dies at both ends
    mu, rest = special.expit(np.sinh(z)), special.expit(-np.sinh(z))
    step, inside = (z[1] - z[0]) * np.cosh(z) * mu * rest, (mu > 0) & (mu < 1)
    mu, step = mu[inside], step[inside]
    for draw, i in itertools.product(range(2), range(4)):
        p = 2 * (1 - np.log2(1 - posterior["phi"].values[0, draw]))
        prior = stats.uniform()
        if item_mean == "hierarchical":
            m, s = posterior["mean_location"].values[0, draw], posterior["mean_spread"].values[0, draw]
            prior = stats.beta(m * (s**-2 - 1), (1 - m) * (s**-2 - 1))
        elif isinstance(item_mean, dict) and i in item_mean:
            prior = stats.truncnorm(-0.125 / 0.1, 0.875 / 0.1, loc=0.125, scale=0.1)
        levels = RATED.rating[RATED.item_index == i] - 1
        shares = [posterior[f"{end}_end_share"].values[0, draw] for end in ("low", "high")]
        given = (levels, p, prior, *(share / (1 - share) for share in shares))
        expected = rated_and_prior(mu, *given) @ step
        assert float(found.isel(chain=0, draw=draw, item=i)) == pytest.approx(np.log(expected), abs=1e-5)


VARIANTS = ["full", "one_coin", "class_conditional", "hierarchical", "mixed_membership"]


@pytest.mark.filterwarnings("ignore:the chains disagree")
@pytest.mark.parametrize("variant", ["full", *(pytest.param(v, marks=pytest.mark.long) for v in VARIANTS[1:4])])
def test_crowd_item_is_the_sum_over_its_truth(variant):
    tree = dawid_skene(CROWD, variant=variant, draws=2, chains=1, tune=20, random_seed=1)
    found = log_likelihood(tree, CROWD)
    posterior = tree["posterior"].to_dataset().isel(chain=0)
    for draw, i in itertools.product(range(2), range(4)):
        at = CROWD.item_index == i
        who, said = CROWD.annotator_index[at], CROWD.label_index[at]
        pi, theta = posterior["prevalence"].values[draw], posterior["confusion"].values[draw].astype(float)
        total = sum(pi[k] * np.prod(theta[who, k, said]) for k in range(3))
        assert float(found.isel(chain=0, draw=draw, item=i)) == pytest.approx(np.log(total), abs=1e-5)


def test_log_prior_is_the_density_of_the_prior(capfd):
    tree = dawid_skene(CROWD, variant="full", draws=2, chains=1, tune=20, random_seed=1)
    found, drawn = with_log_likelihood(tree, CROWD)["log_prior"], tree["posterior"].to_dataset().isel(chain=0, draw=1)
    rows = drawn["confusion"].values.astype(float).reshape(9, 3)
    base = np.tile(DawidSkenePrior().confusion(3), (3, 1))
    expected = sum(stats.dirichlet(b).logpdf(r / r.sum()) for b, r in zip(base, rows))
    assert float(found["confusion"][0, 1]) == pytest.approx(expected, rel=1e-5)
    pi = drawn["prevalence"].values.astype(float)
    assert capfd.readouterr() == ("", "")  # no bar of PyMC's own
    assert float(found["prevalence"][0, 1]) == pytest.approx(stats.dirichlet([3, 3, 3]).logpdf(pi / pi.sum()), rel=1e-5)


def drawn_crowd(variant, rng):
    """Return two draws of a crowd's parameters, rounded as results keep them, without a sampler."""
    accuracy = rng.uniform(0.4, 0.9, (1, 2, 3, 1 if variant == "one_coin" else 3)) * np.ones(3)
    confusion = (1 - accuracy[..., None]) / 2 * (1 - np.eye(3)) + accuracy[..., None] * np.eye(3)
    plausibility = rng.dirichlet(np.ones(3), (1, 2, 4)).astype(np.float32)
    names = ("chain", "draw")
    return xr.Dataset(
        {
            "prevalence": ((*names, "category"), rng.dirichlet(np.full(3, 4), (1, 2)).astype(np.float32)),
            "confusion": ((*names, "annotator", "category", "observed_category"), confusion.astype(np.float32)),
            "plausibility": ((*names, "item", "category"), plausibility),
        }
    )


@pytest.mark.parametrize("variant", ["one_coin", "class_conditional"])
def test_log_prior_of_accuracies_is_a_beta_density(variant):
    posterior = drawn_crowd(variant, np.random.default_rng(1))
    settings = {"variant": variant, "prior": {"strength": 10.0, "accuracy": 0.7, "prevalence": 2.0}}
    found = PREDICTIVE.log_prior(CROWD, posterior, settings)
    assert set(found) == {"prevalence", "right"}
    accuracy = np.diagonal(posterior["confusion"].values[0].astype(float), axis1=2, axis2=3)
    accuracy = accuracy[..., :1] if variant == "one_coin" else accuracy
    np.testing.assert_allclose(found["right"], stats.beta(7, 3).logpdf(accuracy).sum(axis=(1, 2)), rtol=1e-5)
    shares = posterior["prevalence"].values[0].astype(float)
    expected = [stats.dirichlet([2, 2, 2]).logpdf(p / p.sum()) for p in shares]
    np.testing.assert_allclose(found["prevalence"], expected, rtol=1e-5)


def test_replicates_of_a_crowd_are_of_its_truth_or_of_memberships():
    posterior = drawn_crowd("class_conditional", np.random.default_rng(2))
    values = posterior["plausibility"].values[0]
    one, mixed = (PREDICTIVE.variables(CROWD, posterior, {"variant": v}) for v in ("full", "mixed_membership"))
    np.testing.assert_array_equal(one["truth"], values.argmax(axis=2))
    assert "plausibility" not in one
    assert "truth" not in mixed
    np.testing.assert_allclose(mixed["plausibility"], values, rtol=1e-6)
    np.testing.assert_allclose(mixed["plausibility"].sum(axis=2), 1, rtol=1e-12)
    with pytest.raises(InputError, match="variant='mixed_membership' has no log likelihood of an item"):
        PREDICTIVE.item_log_likelihood(CROWD, posterior, {"variant": "mixed_membership"})


@pytest.mark.parametrize(
    ("annotations", "plausibility", "options"),
    [
        (CROWD, "dirichlet", {"prior": 0.5}),
        pytest.param(RATED, "common_agreement", {}, marks=pytest.mark.long),
        pytest.param(RATED, "common_agreement", {"item_mean": "flat"}, marks=pytest.mark.long),
        *((CROWD, "dawid_skene", {"variant": v}) for v in VARIANTS),
    ],
)
def test_prior_predictive_has_the_symmetry_of_the_prior(annotations, plausibility, options):
    """Priors that treat all labels alike, or both ends of the scale, give replicates that do."""
    tree = prior_predictive(annotations, plausibility=plausibility, draws=1000, random_seed=1, **options)
    drawn = next(iter(tree["prior_predictive"].to_dataset().data_vars.values())).values[0]
    assert drawn.shape[1] == next(iter(tree["observed_data"].to_dataset().data_vars.values())).size
    if isinstance(annotations, Ratings):
        assert_mean(drawn, np.full(drawn.shape[1], 3.0))
    else:
        for k in range(annotations.categories.size):
            assert_share(
                (drawn == k).mean(axis=0), np.full(drawn.shape[1], 1 / annotations.categories.size), len(drawn)
            )


@pytest.mark.long
def test_replicates_follow_the_draws():
    """Given parameters that leave no doubt, replicates are what the parameters say."""
    labels = Labels.from_counts([[900, 0], [0, 900]], labels=["a", "b"])
    drawn = with_posterior_predictive(dirichlet(labels, draws=200, chains=1, random_seed=1), labels, random_seed=2)
    replicate = drawn["posterior_predictive"]["label_index"].values[0]
    assert replicate[:, :900].mean() < 0.002 and replicate[:, 900:].mean() > 0.998
    rated = with_posterior_predictive(
        common_agreement(RATED, keep_item_means=True, draws=500, random_seed=1), RATED, random_seed=2
    )
    values = rated["posterior_predictive"]["rating"].values
    assert set(np.unique(values)) <= {1, 2, 3, 4, 5}
    assert values.dtype == rated["observed_data"]["rating"].dtype == np.int64  # which figures of ArviZ count
    assert values[..., :3].mean() > values[..., 3:6].mean() + 1


@pytest.mark.parametrize(
    ("tree", "annotations", "message"),
    [
        (lambda: prirn(RANKINGS, draws=1, chains=1), RANKINGS, "has no sampling model"),
        (lambda: dirichlet(CROWD, reliability=2, draws=1, chains=1), CROWD, "reliability=2 raises the likelihood"),
        (lambda: dirichlet(CROWD, draws=1, chains=1), RATED, "expected Labels, got Ratings"),
        (lambda: dawid_skene(CROWD, variant="full", draws=1, chains=1, confusion=False), CROWD, "pass confusion=True"),
        (lambda: dawid_skene(CROWD, variant="full", draws=1, chains=1, gold={"w": "a"}), CROWD, "without gold"),
        (lambda: dawid_skene(CROWD, variant="votes", draws=1, chains=1), CROWD, "no one model"),
        (lambda: plackett_luce(RANKINGS, draws=9), RANKINGS, "has no sampling model"),
    ],
)
def test_what_cannot_be_predicted_is_refused(tree, annotations, message):
    with pytest.raises(InputError, match=message):
        with_log_likelihood(tree(), annotations)
