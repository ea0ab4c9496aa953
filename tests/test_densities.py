"""Each engine against its PyMC model: log densities at twenty random points differ by one constant, without sampling.

A wrong sign, exponent or constant of a term changes from point to point, on either side.
"""

import importlib
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from _groups import labels_of
from scipy import special, stats

import bayesagree as ba
from bayesagree.plausibility.informed.posterior import kind_of
from bayesagree.plausibility.informed_plackett_luce._problem import DEPTH, Tilt

LABELS = ba.Labels.from_matrix([["no", "no", "yes"], ["yes", "perhaps", None], ["yes", "yes", "yes"]])
RATINGS = ba.Ratings.from_matrix([[1, 2, 2], [4, 5, 3], [3, 3, 5]], scale=(1, 5))
BLOCKS = [[[[0], [1, 2]], [[0, 2]], [[2], [0], [1]], [[1]]], [[[1], [0]]]]
RANKINGS = ba.Rankings.from_blocks(BLOCKS, labels=3)
FEW: dict[str, Any] = {"draws": 2, "chains": 1, "random_seed": 1}


@pytest.fixture(scope="module", autouse=True)
def pymc():
    """Import PyMC before the first test: it takes seconds."""
    return importlib.import_module("pymc")


def plain_mode() -> Any:
    """Return a way to evaluate a model that neither compiles nor simplifies it."""
    return importlib.import_module("pytensor").compile.Mode(linker="py", optimizer=None)


def at_random_points(model: Any, names: list[str], n: int = 20, of: Any = None) -> tuple[Any, dict[str, Any]]:
    """Return the log density of a model or of variables, without Jacobians, and variables at random free points."""
    values = {v.name: v for v in model.value_vars}
    wanted = model.replace_rvs_by_values([model[name] for name in names])
    function = model.compile_fn(
        [model.logp(vars=of, jacobian=False), *wanted],
        inputs=list(values.values()), mode=plain_mode(), on_unused_input="ignore",
    )  # fmt: skip
    rng, start = np.random.default_rng(1), model.initial_point()
    points = [{name: rng.normal(size=np.shape(start[name])) for name in values} for _ in range(n)]
    found = [function(point) for point in points]
    return np.array([one[0] for one in found]), {
        k: np.array([one[1 + j] for one in found]) for j, k in enumerate(names)
    }


def require_one_constant(ours: Any, theirs: Any) -> None:
    difference = np.asarray(ours) - theirs
    np.testing.assert_allclose(difference, difference[0], rtol=1e-8, atol=1e-8)


def dirichlet_density(shape: Any) -> Callable[[Any], Any]:
    """Log density of independent Dirichlet variables, points (point, item, category)."""
    return lambda x: np.array([sum(stats.dirichlet(a).logpdf(p) for a, p in zip(shape, point)) for point in x])


def of_item(tree: Any) -> Any:
    return tree["posterior_parameters"]["concentration"].values


@pytest.mark.parametrize("prior", [None, 0.7])
def test_dirichlet(prior):
    theirs, at = at_random_points(ba.plausibility.Dirichlet(prior=prior).model(LABELS), ["plausibility"])
    ours = dirichlet_density(of_item(ba.dirichlet(LABELS, prior=prior, **FEW)))(at["plausibility"])
    require_one_constant(ours, theirs)


def test_dirichlet_of_another_reliability():
    theirs, at = at_random_points(ba.plausibility.Dirichlet(reliability=2.5).model(LABELS), ["plausibility"])
    require_one_constant(
        dirichlet_density(of_item(ba.dirichlet(LABELS, reliability=2.5, **FEW)))(at["plausibility"]), theirs
    )


def test_prirn():
    """Its model draws logs of Gamma variables of small shapes: Gamma(a) = Gamma(a + 1) exp(-exponential / a)."""
    theirs, at = at_random_points(ba.plausibility.PrIRN(reliability=3.0).model(RANKINGS), ["mass", "shortfall"])
    shape = of_item(ba.prirn(RANKINGS, reliability=3.0, **FEW))
    ours = stats.gamma(shape + 1).logpdf(at["mass"]) + stats.expon.logpdf(at["shortfall"])
    np.testing.assert_allclose(ours.sum(axis=(1, 2)), theirs)


@pytest.mark.parametrize("reliability", [1.0, 0.4])
def test_normal_inverse_gamma(reliability):
    model = ba.plausibility.NormalInverseGamma(reliability=reliability).model(RATINGS)
    theirs, at = at_random_points(model, ["mean", "variance"])
    found = ba.normal_inverse_gamma(RATINGS, reliability=reliability, **FEW)["posterior_parameters"]
    centre, strength, shape, scale = (found[n].values for n in ("location", "strength", "shape", "scale"))
    sd = np.sqrt(at["variance"] / strength)
    ours = stats.invgamma(shape, scale=scale).logpdf(at["variance"]) + stats.norm(centre, sd).logpdf(at["mean"])
    # The model has mean = prior mean + offset sd(variance): the density of the offset is that of the mean times its sd.
    ours = ours + 0.5 * np.log(at["variance"])
    require_one_constant(ours.sum(axis=1), theirs)


def test_levels_of_annotators():
    """The steps of the Gibbs sampler for levels and items, times the marginal density of the ratings."""
    rating = np.random.default_rng(3).uniform(1, 5, (6, 3))
    given = ba.Ratings.from_matrix(rating, scale=(1, 5))
    posterior = ba.plausibility.NormalInverseGamma(annotator_effects="shift")
    levels, names = (
        posterior.problem(given),
        ["sd_rating", "sd_item", "sd_shift", "coefficient", "shift", "of_annotator"],
    )
    shown = ["annotator_shift", "annotator_sd", "variance"]
    theirs, at = at_random_points(posterior.model(given), [*names, "mean", *shown])
    level = at["shift"] - at["shift"].mean(axis=1, keepdims=True)
    np.testing.assert_allclose(at["annotator_shift"], 4 * level)
    np.testing.assert_allclose(at["annotator_sd"], 4 * np.sqrt(at["of_annotator"][:, :-1]))
    # A new annotator's rating has the mean of s_a^2, 2 s^2, and the variance of a level.
    of_new = 16 * (2 * at["sd_rating"] ** 2 + at["sd_shift"] ** 2)
    np.testing.assert_allclose(at["variance"], np.repeat(of_new[:, None], 6, axis=1))
    x, item, who, ours = given.unit(), given.item_index, given.annotator_index, np.empty(20)
    for k in range(20):
        s, t, d, b, shift, variance, mean = (at[name][k] for name in [*names, "mean"])
        matrix, score = levels.system(1 / variance, t**2, d**2)
        own = (mean - 1) / 4 - shift.mean()
        every = np.append(shift, 0.0)
        centre, spread = levels.item_terms(slice(None), 1 / variance, b, every, t**2)
        cov = np.diag(variance[who]) + 0.5**2 + t**2 * (item[:, None] == item) + d**2 * (who[:, None] == who)
        ours[k] = stats.multivariate_normal(np.linalg.solve(matrix, score), np.linalg.inv(matrix)).logpdf([*b, *shift])
        # The model has own = t offset.
        ours[k] += stats.norm(centre, np.sqrt(spread)).logpdf(own).sum() + own.size * np.log(t)
        ours[k] += stats.multivariate_normal(np.full(x.size, 0.5), cov).logpdf(x)
        ours[k] += stats.invgamma(2, scale=2 * s**2).logpdf(variance).sum()
        ours[k] += sum(stats.halfnorm(scale=c).logpdf(sd) for sd, c in ((s, 0.5), (t, 0.5), (d, 0.25)))
    require_one_constant(ours, theirs)


def test_informed_normal_of_people_who_are_alike():
    """Of ratings by nobody known: one sd, half-normal above its least value, and means around what a model says."""
    rating = np.random.default_rng(4).uniform(2, 6, (5, 3))
    given = ba.Predictions.from_numbers({"A": [2.0, 3.0, 5.0, 4.0, 6.0]})
    posterior = ba.plausibility.InformedNormal(predictions=given, annotator_effects=None)
    problem = posterior.problem(ba.Ratings.from_matrix(rating, scale=(2, 6)))
    names = ["sd_item", "coefficient", "offset", "excess"]
    theirs, at = at_random_points(posterior.model(problem.ratings), [*names, "sd_rating", "mean", "variance"])
    sd, mean = at["sd_rating"][:, None], at["mean"]
    np.testing.assert_allclose(at["excess"], at["sd_rating"] - 1e-3)
    np.testing.assert_allclose(at["variance"], np.repeat((4 * sd) ** 2, 5, axis=1))
    expected = 2 + 4 * (at["coefficient"] @ problem.columns.T + at["sd_item"][:, None] * at["offset"])
    np.testing.assert_allclose(mean, expected)
    ours = stats.norm(mean[:, :, None], 4 * sd[:, :, None]).logpdf(rating).sum(axis=(1, 2))
    ours += stats.halfnorm(scale=0.5).logpdf(at["excess"]) + stats.halfnorm(scale=0.5).logpdf(at["sd_item"])
    ours += stats.norm(*problem.prior).logpdf(at["coefficient"]).sum(axis=1)
    ours += stats.norm().logpdf(at["offset"]).sum(axis=1)
    np.testing.assert_allclose(ours, theirs, rtol=1e-7)


def orders(ranking: list[list[int]]) -> list[tuple[int, ...]]:
    """List the complete orders of three labels that a partial ranking allows."""
    blocks = [*ranking, [k for k in range(3) if k not in itertools.chain(*ranking)]]
    return [tuple(itertools.chain(*parts)) for parts in itertools.product(*map(itertools.permutations, blocks))]


def of_rankings(worths: Any, shape: float) -> Any:
    """Return the log density of gamma worths (point, item, label) and of `BLOCKS`, summed over complete orders."""
    ours = stats.gamma(shape).logpdf(worths).sum(axis=(1, 2))
    for item, rankings in enumerate(BLOCKS):
        for ranking in rankings:
            placed = worths[:, item][:, np.array(orders(ranking))]
            left = placed[..., ::-1].cumsum(axis=-1)[..., ::-1]
            ours = ours + np.log((placed / left).prod(axis=-1).sum(axis=-1))
    return ours


@pytest.mark.parametrize("shape", [None, 0.7])
def test_plackett_luce(shape):
    """Gamma worths, and the sum over the complete orders that each ranking allows."""
    theirs, at = at_random_points(ba.plausibility.PlackettLuce(shape=shape).model(RANKINGS), ["worth"])
    require_one_constant(of_rankings(at["worth"].reshape(20, 2, 3), 1 / 3 if shape is None else shape), theirs)


def test_informed_plackett_luce():
    """Rankings alone, times the weight that the engine gives a draw, over its constant."""
    given = ba.Predictions.from_scores({"A": [[0.5, 0.3, 0.2], [0.1, 0.6, 0.3]]}, labels=[0, 1, 2])
    posterior = ba.plausibility.InformedPlackettLuce(given)
    problem = posterior.problem(RANKINGS)
    theirs, at = at_random_points(posterior.model(RANKINGS), ["worth", "parameters"])
    worths = at["worth"].reshape(20, 2, 3)
    share, (mean, sd) = worths / worths.sum(axis=2, keepdims=True), problem.layout.prior
    ours = of_rankings(worths, problem.shape) + stats.norm(mean, sd).logpdf(at["parameters"]).sum(axis=1)
    for k, theta in enumerate(at["parameters"]):
        tilt = Tilt.of(theta[:, None], problem.said, 3)
        label = problem.said.label
        log = np.log(np.take_along_axis(np.column_stack([share[k], np.ones(2)]), label, 1))
        features = np.hstack([log, label == share[k].argmax(axis=1)[:, None]])
        weight = tilt.weights(np.zeros((1, DEPTH)))[:, :, 0]
        ours[k] += (features * weight).sum() - tilt.log_constant(problem.shape, 3).sum()
    require_one_constant(ours, theirs)


def simplex_grid(n_labels: int) -> tuple[Any, Any]:
    """Return points of a simplex, by sticks whose logits are even, and their shares of its volume."""
    step = 0.01 if n_labels == 2 else 0.75
    z = np.arange(-40 + step / 2, 40, step)  # which label is best changes between points
    sticks = np.stack([g.ravel() for g in np.meshgrid(*[z] * (n_labels - 1))])
    points, left = [], np.ones(sticks.shape[1])
    volume = (z[1] - z[0]) ** len(sticks) * np.ones_like(left)
    for stick in sticks:
        volume = volume * special.expit(stick) * special.expit(-stick) * left
        points.append(left * special.expit(stick))
        left = left * special.expit(-stick)
    return np.stack([*points, left], axis=1), volume


@pytest.mark.parametrize(("counts", "ordered"), [([2, 1], False), ([1, 4], False), ([2, 0, 1], True)])
def test_informed_dirichlet(counts, ordered):
    """An item's votes under the engine are the prior of its plausibilities in the model, integrated over a grid.

    The engine takes the chance of being best from a table that is within 3e-4 of its incomplete beta function.
    """
    points, volume = simplex_grid(len(counts))
    score, n = np.arange(1.0, 1 + len(counts)), len(points)
    labels = ba.Labels.from_counts(np.tile(counts, (n, 1)), ordered=ordered)
    models = ba.Predictions.from_scores({"A": np.tile(score / score.sum(), (n, 1))})
    specification = ba.plausibility.InformedDirichlet(models)
    problem, model = kind_of(labels, None).of(labels, models), specification.model(labels)
    of_items = importlib.import_module("pytensor").function(
        [model["parameters"], model["plausibility"]], model["prior"].owner.inputs[0], mode=plain_mode()
    )
    rng, votes = np.random.default_rng(1), problem.of_votes(np.array([0]), np.array([counts]))
    for _ in range(8):
        theta = 0.4 * rng.standard_normal(problem.layout.mean.size)
        theta[-5:] += [1.0, 0.0, 1.0, 0.0, 0.0] if not ordered else [0.0, 0.0, 0.0, 0.0, 1.5]  # no tiny shapes
        density = of_items(theta, points) + (counts * np.log(points)).sum(axis=1)
        assert votes(theta[None]).item() == pytest.approx(
            special.logsumexp(density, b=volume), abs=1e-5 if ordered else 4e-4
        )


@pytest.mark.parametrize("variant", ["full", "one_coin", "class_conditional"])
def test_dawid_skene(variant):
    """The sum over the truth of each item, given the confusion that the model states."""
    model = ba.plausibility.DawidSkene(variant=variant).model(LABELS)
    theirs, at = at_random_points(model, ["prevalence", "confusion"])
    prior = priors_of(model)
    prevalence, confusion = at["prevalence"], at["confusion"]
    ours = prior.copy()
    for item in range(3):
        mine = LABELS.item_index == item
        given = prevalence.copy()
        for who, said in zip(LABELS.annotator_index[mine], LABELS.label_index[mine]):
            given = given * confusion[:, who, :, said]
        ours += np.log(given.sum(axis=1))
    np.testing.assert_allclose(ours, theirs, rtol=1e-7)


@pytest.mark.parametrize("variant", ["class_conditional", "hierarchical", "mixed_membership"])
def test_priors_of_dawid_skene(variant):
    """Rows of annotators, of a population where it is learnt, and the answers of mixed memberships."""
    how = ba.plausibility.DawidSkenePrior(2.0, 9.0, 0.7, 5.0, 0.8, 0.4, 0.6)
    model = ba.plausibility.DawidSkene(variant=variant, prior=how).model(LABELS)
    learnt, mixed = variant != "class_conditional", variant == "mixed_membership"
    name = "confusion" if learnt else "right"
    names = ["prevalence", name, *["crowd_confusion", "concentration"] * learnt, *["ambiguity", "plausibility"] * mixed]
    theirs, at = at_random_points(model, names, of=model.free_RVs)
    base = np.full((3, 3), 9 * 0.3 / 2) + np.eye(3) * (9 * 0.7 - 9 * 0.3 / 2)
    if not learnt:
        base = np.tile([9 * 0.7, 9 * 0.3], (3, 1))
    ours = dirichlet_density(np.full((1, 3), 2.0))(at["prevalence"][:, None])
    for k in range(20):
        shape = base
        if learnt:
            mean, kappa = at["crowd_confusion"][k], at["concentration"][k]
            ours[k] += sum(stats.dirichlet(b).logpdf(m) for b, m in zip(base, mean))
            ours[k] += stats.lognorm(0.8, scale=5.0).logpdf(kappa).sum()
            shape = kappa[:, None] * mean
        ours[k] += sum(stats.dirichlet(a).logpdf(row) for rows in at[name][k] for a, row in zip(shape, rows))
        if mixed:
            views, ambiguity = at["plausibility"][k], at["ambiguity"][k]
            ours[k] += stats.lognorm(0.6, scale=0.4).logpdf(ambiguity)
            ours[k] += sum(stats.dirichlet(ambiguity * at["prevalence"][k]).logpdf(view) for view in views)
    np.testing.assert_allclose(ours, theirs, rtol=1e-7)


def between(ends: Any) -> Any:
    """Return the chances of a standard normal variable between neighbours of these, of both tails alike."""
    upper = ends[..., :-1] > 0
    return np.where(upper, -np.diff(stats.norm.sf(ends)), np.diff(stats.norm.cdf(ends)))


def test_dawid_skene_of_labels_with_an_order():
    """Labels are cut from what an annotator sees, wider or narrower than the latent truth; gold from typical views."""
    labels = ba.Labels.from_matrix([[0, 0, 1], [2, 1, None], [2, 2, 2]], labels=[0, 1, 2], ordered=True)
    model = ba.plausibility.DawidSkene(variant="ordered", gold={1: 2}).model(labels)
    free = ["mean_slope", "variance_intercept", "variance_slope", "intercept_offset", "slope_offset", "precision"]
    shown = ["threshold", "latent_truth", "plausibility", "severity", "discrimination", "stretch"]
    theirs, at = at_random_points(model, [*free, *shown], n=6)
    ours, cuts = np.zeros(6), np.pad(at["threshold"], ((0, 0), (1, 1)), constant_values=((0, 0), (-np.inf, np.inf)))
    for k in range(6):
        mu, a, b, first, second, precision = (at[name][k] for name in free)
        alpha, beta, u, s = np.sqrt(a) * first, mu + np.sqrt(b) * second, at["latent_truth"][k], np.sqrt(precision)
        typical = between(cuts[k] - (mu * u)[:, None])
        np.testing.assert_allclose(at["plausibility"][k], typical, atol=1e-12)
        np.testing.assert_allclose(at["severity"][k], -alpha * s)
        np.testing.assert_allclose(at["discrimination"][k], beta * s)
        np.testing.assert_allclose(at["stretch"][k], s)
        for item, who, label in zip(labels.item_index, labels.annotator_index, labels.label_index):
            ends = s[who] * (cuts[k][label : label + 2] - alpha[who] - beta[who] * u[item])
            ours[k] += np.log(between(ends)[0])
        ours[k] += np.log(typical[1, 2])
        ours[k] += stats.truncnorm(-1, np.inf, loc=1).logpdf(mu)
        ours[k] += stats.invgamma(2, scale=0.25).logpdf([a, b]).sum()
        ours[k] += stats.norm.logpdf([*first, *second, *u]).sum()
        ours[k] += stats.gamma(5, scale=1 / 5).logpdf(precision).sum()
        ours[k] += stats.norm(0, 1.5).logpdf(at["threshold"][k]).sum()
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def priors_of(model: Any) -> Any:
    """Log density of the free variables at the same random points."""
    function = model.compile_fn(
        model.logp(vars=model.free_RVs, jacobian=False), inputs=model.value_vars,
        mode=plain_mode(), on_unused_input="ignore",
    )  # fmt: skip
    rng, start = np.random.default_rng(1), model.initial_point()
    return np.array(
        [function({v.name: rng.normal(size=np.shape(start[v.name])) for v in model.value_vars}) for _ in range(20)]
    )


def urn(shape: Any, counts: Any, typical: Any = None) -> Any:
    """Probability of votes drawn one by one from a Polya urn, and then of another label than `typical`."""
    held, found = shape.astype(float), 1.0
    for label in np.repeat(np.arange(shape.size), counts):
        found *= held[label] / held.sum()
        held[label] += 1
    return found if typical is None else found * (1 - held[typical] / held.sum()) / (1 - shape[typical] / shape.sum())


@pytest.mark.parametrize("names", ["gh", "ghi"])
def test_group_dirichlet(names):
    """Sums over the typical label of each item and over which groups are apart, whose votes come from an urn."""
    counts = np.random.default_rng(5).integers(0, 3, (len(names), 3, 2))
    counts[0] += 1  # of two groups the one of most votes is never apart
    labels, members = labels_of(counts, names)
    how = ba.plausibility.GroupDirichletPrior(divided=3.0, shape_sd=0.5)
    model = ba.plausibility.GroupDirichlet(members, how).model(labels)
    theirs, at = at_random_points(model, ["shape", "common", "share", "share_apart"])
    ours = stats.lognorm(0.5, scale=1 / 2).logpdf(at["shape"]).sum(axis=1)
    ours += stats.beta(1, 3).logpdf(at["share"]).sum(axis=1)
    for k in range(20):
        shape, share = at["shape"][k], at["share"][k]
        each = np.append(0.0, share) if len(names) == 2 else share
        np.testing.assert_array_equal(at["share_apart"][k], each)
        for item, common in enumerate(at["common"][k]):
            ours[k] += stats.dirichlet(shape).logpdf(common)
            total = 0.0
            for typical, chance in enumerate(common):
                for of_group, apart in zip(counts[:, item], each):
                    together = (common**of_group).prod()
                    chance *= apart * urn(shape, of_group, typical) + (1 - apart) * together
                total += chance
            ours[k] += np.log(total)
    np.testing.assert_allclose(ours, theirs, rtol=1e-7)


LEVELS = np.array([[1.0, 2, 2], [4, 5, 3], [3, np.nan, 5]])
INSIDE = np.array([[1.5, 2, 2], [4, 4.5, 3], [3, 3.25, 4.75]])
SLIDER = np.array([[1.0, 2, 2.5], [4, 5, 3], [3, 3.5, 4.75]])


def of_judgments(place: Any, half: float, mean: Any, precision: Any, shares: Any) -> Any:
    """Log density of ratings, points (point, rating): Beta judgments within `half` of a place, or outright ends."""
    a, b = mean * precision, (1 - mean) * precision
    if not half:
        return stats.beta(a, b).logpdf(place).sum(axis=1)
    below, above = np.maximum(place - half, 0), np.minimum(place + half, 1)
    judged = stats.beta(a, b).cdf(above) - stats.beta(a, b).cdf(below)
    low, high = (share / (1 - share) * odds for share, odds in zip(shares, (b / a, a / b)))
    return np.log((judged + low * (below == 0) + high * (above == 1)) / (1 + low + high)).sum(axis=1)


def log_zero_sum(shift: Any, sd: Any) -> Any:
    """Normal density of levels (point, annotator) that add up to 0, in their plane."""
    size = shift.shape[1] - 1
    return -(shift**2).sum(axis=1) / (2 * sd**2) - size * np.log(sd * np.sqrt(2 * np.pi))


@pytest.mark.parametrize(
    ("item_mean", "effects"), [("flat", "none"), ({0: 2.5, 2: 4.0}, "none"), ("hierarchical", "shift")]
)
def test_common_agreement_of_levels(item_mean, effects):
    """Bins of Beta judgments, the prior of the means, and levels of the annotators on the scale of log odds."""
    given = ba.Ratings.from_matrix(LEVELS, scale=(1, 5), step=1)
    sd = 0.6 if isinstance(item_mean, dict) else None
    model = ba.agreement.common_agreement_model(given, item_mean=item_mean, truth_sd=sd, annotator_effects=effects)
    names = ["mean_location", "mean_spread"] if item_mean == "hierarchical" else []
    names += ["annotator_shift", "annotator_shift_sd"] if effects == "shift" else []
    theirs, at = at_random_points(model, ["phi", "item_mean", *names], 6)
    of_item = (at["item_mean"] - 1) / 4
    mean, ours = of_item[:, given.item_index], np.full(6, np.log(1 / 2))
    if effects == "shift":
        shift, of_shift = at["annotator_shift"], at["annotator_shift_sd"]
        mean = special.expit(special.logit(mean) + shift[:, given.annotator_index])
        ours += stats.halfnorm.logpdf(of_shift) + log_zero_sum(shift, of_shift)
    if item_mean == "hierarchical":
        m, t = at["mean_location"][:, None], at["mean_spread"][:, None] ** -2 - 1
        ours += stats.beta(m * t, (1 - m) * t).logpdf(of_item).sum(axis=1)
    for item, truth in item_mean.items() if sd else ():
        prior = stats.truncnorm((1 - truth) / sd, (5 - truth) / sd, (truth - 1) / 4, sd / 4)
        ours += prior.logpdf(of_item[:, item])
    precision = 2 * (1 - np.log2(1 - at["phi"]))[:, None]
    ours += of_judgments((given.rating - 0.5) / 5, 0.1, mean, precision, (0, 0))
    np.testing.assert_allclose(ours, theirs, rtol=1e-7)


@pytest.mark.parametrize(
    ("values", "half", "likelihood"),
    [(INSIDE, 0, "binned"), (INSIDE, 1 / 32, "inflated"), (SLIDER, 1 / 32, "binned")],
)
def test_common_agreement_of_a_slider(values, half, likelihood):
    """Beside answers at the ends, each answer stands for an interval as wide as the smallest gap: 1/16 of the scale."""
    given = ba.Ratings.from_matrix(values, scale=(1, 5))
    model = ba.agreement.common_agreement_model(given, item_mean="flat", likelihood=likelihood)
    shares = ["low_end_share", "high_end_share"] if likelihood == "inflated" else []
    theirs, at = at_random_points(model, ["phi", "item_mean", *shares], 6)
    precision = 2 * (1 - np.log2(1 - at["phi"]))[:, None]
    mean = (at["item_mean"] - 1)[:, given.item_index] / 4
    outright = [at[name][:, None] for name in shares] or (0, 0)
    ours = of_judgments((given.rating - 1) / 4, half, mean, precision, outright) + np.log(1 / 2)
    np.testing.assert_allclose(ours, theirs, rtol=1e-7)


def test_common_agreement_with_parts_of_the_user():
    """Each annotation gets its own mean and its own precision, by its item and its annotator."""
    given = ba.Ratings.from_matrix(INSIDE, scale=(1, 5))
    model = ba.agreement.common_agreement_model(
        given,
        item_mean="flat",
        phi=lambda: importlib.import_module("pymc").Uniform("agreement", 0, 1),
        mean=lambda mean, item, annotator: 0.1 + 0.2 * mean * (annotator + 1),
        precision=lambda precision, item, annotator: precision * (item + 1),
    )
    theirs, at = at_random_points(model, ["phi", "agreement", "item_mean"], 6)
    np.testing.assert_array_equal(at["phi"], at["agreement"])
    mean = 0.1 + 0.2 * (at["item_mean"] - 1)[:, given.item_index] / 4 * (given.annotator_index + 1)
    precision = 2 * (1 - np.log2(1 - at["phi"]))[:, None] * (given.item_index + 1)
    np.testing.assert_allclose(of_judgments((given.rating - 1) / 4, 0, mean, precision, ()), theirs, rtol=1e-7)
