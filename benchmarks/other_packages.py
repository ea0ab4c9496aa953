"""Our numbers beside those of other packages, on the same random data.

`uv run --group bench python -m benchmarks.other_packages` writes docs/other-packages.md: of each quantity the numbers
of the first of `SETS` random data sets, and the largest difference over all of them. `tests/test_other_packages.py`
holds the differences below the tolerances that stand here. Where another package has another definition, the row says
which one is right, and why.
"""

import importlib.metadata
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import bayesagree as ba
from bayesagree.agreement import icc
from bayesagree.inference.convergence import diagnostics
from bayesagree.inference.intervals import hdi
from bayesagree.judges import prediction_powered_mean
from studies.plackett_luce_ml import plackett_luce_ml

PAGE = Path(__file__).parents[1] / "docs" / "other-packages.md"
SETS = 3
"""Random data sets of each comparison."""
EXACT = 1e-10
"""What sums in another order may differ by."""


class Pair(NamedTuple):
    """A quantity by another package and by this one."""

    quantity: str
    theirs: Any
    ours: Any
    tolerance: float = EXACT
    right: str = ""
    """Which is right, where they differ."""
    ours_is_larger: bool = False

    @property
    def difference(self) -> float:
        """Largest difference of the numbers."""
        return float(np.max(np.abs(np.asarray(self.theirs, float) - np.asarray(self.ours, float))))

    @property
    def holds(self) -> bool:
        """Whether the numbers are as near as they should be."""
        return self.difference <= self.tolerance and not (
            self.ours_is_larger and self.theirs > self.ours + 1e-8
        )


def votes(rng: np.random.Generator, *, items: int = 60, annotators: int = 5, labels: int = 4) -> np.ndarray:
    """Return labels (item, annotator) of annotators who are right in two of three cases."""
    truth = rng.integers(labels, size=(items, 1))
    given = np.where(
        rng.random((items, annotators)) < 0.65, truth, rng.integers(labels, size=(items, annotators))
    )
    given[:labels] = np.arange(labels)[:, None]  # each label is used
    return given


def holes(rng: np.random.Generator, given: np.ndarray) -> np.ndarray:
    """Return the same with a fifth of the answers missing."""
    return np.where(rng.random(given.shape) < 0.2, np.nan, given)


def coefficients(annotations: Any, **options: Any) -> pd.DataFrame:
    return ba.agreement_table(annotations, random_seed=1, **options).set_index("coefficient")


def krippendorff(rng: np.random.Generator) -> Iterator[Pair]:
    import krippendorff

    x = holes(rng, votes(rng) + 1.0)
    ratings = ba.Ratings.from_matrix(x, scale=(1, 4), step=1)
    for level in ("nominal", "ordinal", "interval", "ratio"):
        theirs = krippendorff.alpha(x.T, level_of_measurement=level)
        yield Pair(f"alpha, {level}, with holes", theirs, ba.krippendorff_alpha(ratings, level=level))


def nltk(rng: np.random.Generator) -> Iterator[Pair]:
    from nltk.metrics import masi_distance
    from nltk.metrics.agreement import AnnotationTask

    rows = [
        (f"c{j}", i, frozenset(rng.choice(4, rng.integers(1, 4), replace=False).tolist()))
        for i in range(20)
        for j in range(3)
    ]
    long = pd.DataFrame(
        [(i, who, k) for who, i, chosen in rows for k in chosen], columns=["item", "annotator", "label"]
    )
    labels = ba.Labels.from_long(long, duplicates="keep")
    yield Pair(
        "alpha of sets, MASI",
        AnnotationTask(rows, distance=masi_distance).alpha(),
        ba.krippendorff_alpha(labels, distance="masi"),
    )


def statsmodels(rng: np.random.Generator) -> Iterator[Pair]:
    from statsmodels.stats import inter_rater

    x = votes(rng)
    table = np.histogram2d(*x[:, :2].T, bins=np.arange(5) - 0.5)[0]
    for weights, how in (("identity", None), ("linear", "linear"), ("quadratic", "quadratic")):
        theirs = inter_rater.cohens_kappa(table, wt=how)
        ours = coefficients(ba.Labels.from_matrix(x[:, :2]), weights=weights).loc["cohen_kappa"]
        yield Pair(f"Cohen's kappa, {weights} weights", theirs.kappa, ours["estimate"])
        if how is None:
            width, own = theirs.kappa_upp - theirs.kappa_low, ours["upper"] - ours["lower"]
            yield Pair("width of its interval", width, own, 0.03, "both: delta method, Dirichlet process")
    counts = inter_rater.aggregate_raters(x)[0]
    ours = coefficients(ba.Labels.from_matrix(x))["estimate"]
    yield Pair("Fleiss' kappa", inter_rater.fleiss_kappa(counts), ours["fleiss_kappa"])
    yield Pair(
        "Randolph's kappa", inter_rater.fleiss_kappa(counts, method="randolph"), ours["brennan_prediger"]
    )


def pingouin(rng: np.random.Generator) -> Iterator[Pair]:
    import pingouin

    x = rng.normal(size=(40, 1)) + rng.normal(size=4) / 2 + rng.normal(size=(40, 4))
    long = pd.DataFrame(x).reset_index().melt("index")
    theirs = pingouin.intraclass_corr(long, targets="index", raters="variable", ratings="value")
    ratings = ba.Ratings.from_matrix(x, scale=(-9, 9))
    ours = coefficients(ratings)["estimate"]
    kinds = ["icc_one_way", "icc_agreement", "icc_consistency"]
    names = kinds + [f"{kind}_mean" for kind in kinds]
    for name, value in zip(names, theirs["ICC"], strict=True):
        yield Pair(name.replace("icc", "ICC").replace("_", " "), value, ours[name])
    own = icc(ratings, random_seed=1).iloc[1]
    yield Pair(
        "ICC(2,1), lower end", theirs["CI95"].iloc[1][0], own["lower"], 0.15, "both: F ratios, posterior"
    )
    yield Pair("Cronbach's alpha", pingouin.cronbach_alpha(pd.DataFrame(x))[0], ours["icc_consistency_mean"])
    levels = np.clip(np.round(2 * x), -3, 3)
    blocks = [[[np.flatnonzero(row == v).tolist() for v in np.unique(row)] for row in levels]]
    w = coefficients(ba.Rankings.from_blocks(blocks, labels=4)).loc["kendall_w_ties", "estimate"]
    yield Pair("Kendall's W, ties", pingouin.friedman(pd.DataFrame(levels))["W"].iloc[0], w)


def scikit_learn(rng: np.random.Generator) -> Iterator[Pair]:
    from sklearn import metrics as sk

    true, p = rng.integers(3, size=200), rng.dirichlet(np.ones(3), 200)
    given = p.argmax(axis=1)
    labels = ba.Labels.from_matrix(true[:, None])
    model = ba.Predictions.from_scores({"A": p}, labels=[0, 1, 2], probabilities=True)
    for name, theirs in {
        "accuracy": sk.accuracy_score(true, given),
        "balanced_accuracy": sk.balanced_accuracy_score(true, given),
        "f1_macro": sk.f1_score(true, given, average="macro"),
        "matthews_corrcoef": sk.matthews_corrcoef(true, given),
        "quadratic_kappa": sk.cohen_kappa_score(true, given, weights="quadratic"),
        "log_loss": sk.log_loss(true, p),
        "brier": sk.brier_score_loss(true, p, labels=[0, 1, 2], scale_by_half=False),
    }.items():
        yield Pair(name.replace("_", " "), theirs, ba.score(ba.vote_shares(labels), model, name).item())


def ranx(rng: np.random.Generator) -> Iterator[Pair]:
    from ranx import Qrels, Run, evaluate

    true, p = rng.integers(5, size=150), rng.dirichlet(np.ones(5), 150)
    truth = ba.vote_shares(ba.Labels.from_matrix(true[:, None]))
    model = ba.Predictions.from_scores({"A": p}, labels=range(5), probabilities=True)
    of_items = Run({f"q{i}": {f"d{k}": row[k] for k in range(5)} for i, row in enumerate(p)})
    asked = Qrels({f"q{i}": {f"d{k}": 1} for i, k in enumerate(true)})
    yield Pair(
        "hit rate at 2",
        evaluate(asked, of_items, "hit_rate@2"),
        ba.score(truth, model, "top_2_accuracy").item(),
    )


def crowd_kit(rng: np.random.Generator) -> Iterator[Pair]:
    from crowdkit.aggregation import MACE, DawidSkene, MajorityVote, OneCoinDawidSkene
    from crowdkit.metrics.data import alpha_krippendorff

    x = holes(rng, votes(rng, labels=3))
    labels = ba.Labels.from_matrix(x)
    frame = labels.to_long().rename(columns={"item": "task", "annotator": "worker"})[
        ["task", "worker", "label"]
    ]
    yield Pair("alpha, nominal", alpha_krippendorff(frame), ba.krippendorff_alpha(labels))
    shares = MajorityVote().fit(frame).probas_.sort_index()
    yield Pair("vote shares", shares.sort_index(axis=1), ba.vote_shares(labels).values, 1e-7)
    for name, kind in (("full", DawidSkene), ("one coin", OneCoinDawidSkene)):
        options = {
            "engine": "em",
            "variant": name.replace(" ", "_"),
            "tolerance": 1e-15,
            "max_iterations": 10_000,
        }
        ours = ba.dawid_skene(labels, **options)["derived"]["label_probability"].values
        theirs = (
            kind(n_iter=400, tol=-np.inf).fit_predict_proba(frame).sort_index().sort_index(axis=1).to_numpy()
        )
        yield Pair(f"Dawid-Skene EM, {name}, no stop", theirs, ours, 2e-6)
        stopped = (
            kind(n_iter=400, tol=1e-15).fit_predict_proba(frame).sort_index().sort_index(axis=1).to_numpy()
        )
        height = [log_likelihood(truth, x, one_coin=name != "full") for truth in (stopped, ours)]
        why = "ours, where larger: theirs stops when a bound falls, early"
        yield Pair("its log likelihood, tol=1e-15", *height, 0.1, why, ours_is_larger=True)
    guess, sure = MACE(random_state=1).fit_predict(frame).sort_index().to_numpy(), ours.max(axis=1) > 0.9
    yield Pair("labels of sure items, MACE", guess[sure], ours.argmax(axis=1)[sure], 0.0)


def log_likelihood(truth: np.ndarray, x: np.ndarray, *, one_coin: bool) -> float:
    """Return the log likelihood of labels (item, annotator) at what probabilities of the truth say of annotators."""
    n_labels = truth.shape[1]
    total = np.tile(np.log(truth.mean(axis=0)), (len(x), 1))
    for column in x.T:
        there = np.flatnonzero(~np.isnan(column))
        said = column[there].astype(int)
        confusion = np.stack([truth[there[said == k]].sum(axis=0) for k in range(n_labels)], axis=1)
        if one_coin:
            right = np.trace(confusion) / there.size
            confusion = np.where(np.eye(n_labels), right, (1 - right) / (n_labels - 1))
        confusion /= confusion.sum(axis=1, keepdims=True)
        total[there] += np.log(np.maximum(confusion[:, said].T, 1e-300))
    return float(np.logaddexp.reduce(total, axis=1).sum())


def games(rng: np.random.Generator, n: int = 3000) -> tuple[np.ndarray, np.ndarray]:
    """Return winners and losers among five models of unequal strength."""
    pairs = np.array([rng.choice(5, 2, replace=False) for _ in range(n)])
    strength = np.array([-0.8, -0.3, 0.0, 0.4, 0.9])
    first = rng.random(n) < 1 / (1 + np.exp(strength[pairs[:, 1]] - strength[pairs[:, 0]]))
    return np.where(first, *pairs.T), np.where(first, *pairs.T[::-1])


def maximum(blocks: list[list[list[int]]], n_labels: int) -> np.ndarray:
    """Return the worths that make rankings of one item most probable, as centred logs."""
    among = [[[label for block in ranking for label in block] for ranking in blocks]]
    rankings = ba.Rankings.from_blocks([blocks], labels=n_labels, offered=among)
    worth = np.log(plackett_luce_ml(rankings).values[0])
    return worth - worth.mean()


def choix(rng: np.random.Generator) -> Iterator[Pair]:
    import choix

    orders = [np.argsort(-(np.arange(5) / 3 + rng.gumbel(size=5))).tolist() for _ in range(60)]
    theirs = choix.opt_rankings(5, orders, alpha=0, tol=1e-12)
    yield Pair("Plackett-Luce", theirs - theirs.mean(), maximum([[[k] for k in o] for o in orders], 5), 1e-5)


def evalica(rng: np.random.Generator) -> Iterator[Pair]:
    import evalica

    won, lost = games(rng)
    fitted = evalica.bradley_terry(won, lost, [evalica.Winner.X] * won.size, tolerance=1e-14, limit=10_000)
    theirs = np.log(fitted.scores.sort_index().to_numpy())
    theirs -= theirs.mean()
    yield Pair("Bradley-Terry, maximum", theirs, maximum([[[a], [b]] for a, b in zip(won, lost)], 5), 1e-5)
    swap = rng.random(won.size) < 0.5
    table = {"left": np.where(swap, lost, won), "right": np.where(swap, won, lost)}
    table["winner"] = np.where(swap, "right", "left")
    comparisons = ba.Comparisons.from_long(pd.DataFrame(table))
    tree = ba.davidson(comparisons, ties=None, order=None, discrimination=None, draws=500, random_seed=1)
    strength = tree["posterior"]["strength"].mean(("chain", "draw")).values
    yield Pair("Bradley-Terry, posterior mean", theirs, strength, 0.02, "both: ours has a prior")


def mapie(rng: np.random.Generator) -> Iterator[Pair]:
    from mapie.classification import SplitConformalClassifier
    from sklearn.naive_bayes import GaussianNB

    y = rng.integers(4, size=300)
    X = y[:, None] + rng.normal(size=(300, 2))
    fitted = GaussianNB().fit(X[:150], y[:150])
    p = fitted.predict_proba(X)
    truth = ba.Labels.from_matrix(y[150:, None], items=np.arange(150, 300))
    model = ba.Predictions.from_scores({"A": p}, labels=range(4), probabilities=True)
    known = ba.Predictions.from_scores(
        {"A": p[150:]}, items=np.arange(150, 300), labels=range(4), probabilities=True
    )
    for theirs, ours in (("lac", "probability"), ("aps", "aps")):
        split = SplitConformalClassifier(fitted, confidence_level=0.8, conformity_score=theirs, random_state=1)
        split.conformalize(X[150:], y[150:])
        sets = split.predict_set(X)[1][:, :, 0]
        own = ba.conformalize(truth, known, coverage=0.8, score=ours).predict_set(model).values[0]
        if theirs == "lac":
            yield Pair("labels in a set, LAC", sets.sum(axis=1), own.sum(axis=1))
        else:
            why = "ours: theirs calibrates with random numbers and predicts without"
            yield Pair("mean size of a set, APS", sets.sum(axis=1).mean(), own.sum(axis=1).mean(), 1.0, why)


def ppi_python(rng: np.random.Generator) -> Iterator[Pair]:
    import ppi_py

    truth = rng.random(60) < 0.6
    said = np.where(rng.random(60) < 0.8, truth, ~truth).astype(float)
    others = (rng.random(900) < 0.55).astype(float)
    for name, power in (("tuned", None), ("weight 1", 1.0)):
        theirs = ppi_py.ppi_mean_ci(truth.astype(float), said, others, alpha=0.05, lam=power)
        point = ppi_py.ppi_mean_pointestimate(truth.astype(float), said, others, lam=power)
        own = prediction_powered_mean(truth, said, others, power=power)
        yield Pair(f"prediction-powered mean, {name}", np.ravel(point)[0], own.estimate)
        yield Pair("its lower end", np.ravel(theirs[0])[0], own.lower)


def arviz(rng: np.random.Generator) -> Iterator[Pair]:
    from arviz_stats.base import array_stats

    noise = rng.normal(size=(4, 500))
    draws = noise.copy()
    for t in range(1, 500):
        draws[:, t] = 0.6 * draws[:, t - 1] + noise[:, t]
    r_hat, ess = diagnostics(draws[:, :, None])
    yield Pair("R-hat", array_stats.rhat(draws), r_hat[0])
    yield Pair("bulk ESS", array_stats.ess(draws), ess[0], 1e-6)
    yield Pair("lower end of the HDI", array_stats.hdi(draws.ravel(), 0.9)[0], hdi(draws, 0.9)[0])


def profile_likelihood(y: np.ndarray) -> tuple[float, float, float]:
    """Return phi by the profile likelihood of ratings (item, rating) in (0, 1), by the modified one, and its error.

    As AgreementPhi 0.1.0 (Alfonzetti, Bellio and Vidoni): beta ratings with one precision, a mean for each item, and
    Barndorff-Nielsen's modification by Severini's approximation.
    """
    from scipy.optimize import minimize_scalar
    from scipy.special import digamma, polygamma
    from scipy.stats import beta

    n, logit = y.shape[1], np.log(y / (1 - y)).mean(axis=1)

    def means(phi: float) -> np.ndarray:
        low, high = np.zeros(len(y)), np.ones(len(y))
        for _ in range(50):
            mu = (low + high) / 2
            up = digamma(mu * phi) - digamma((1 - mu) * phi) < logit
            low, high = np.where(up, mu, low), np.where(up, high, mu)
        return mu

    def height(phi: float, mu: np.ndarray) -> float:
        return beta.logpdf(y, (mu * phi)[:, None], ((1 - mu) * phi)[:, None]).sum()

    def best(function: Callable[[float], float]) -> float:
        found = minimize_scalar(lambda x: -function(np.exp(x)), bounds=(-3, 6), method="bounded")
        return float(np.exp(found.x))

    profile = best(lambda phi: height(phi, means(phi)))
    top = means(profile)

    def modified(phi: float) -> float:
        mu = means(phi)
        slope, of_top = mu * (1 - mu), top * (1 - top)
        observed = n * phi**2 * slope**2 * (polygamma(1, mu * phi) + polygamma(1, (1 - mu) * phi))
        joint = n * profile * phi * slope * of_top
        joint *= polygamma(1, top * profile) + polygamma(1, (1 - top) * profile)
        return height(phi, mu) + np.log(observed).sum() / 2 - np.log(joint).sum()

    phi = best(modified)
    step = phi / 1000
    bend = modified(phi + step) - 2 * modified(phi) + modified(phi - step)
    return profile, phi, step * (-bend) ** -0.5


def agreement_phi(rng: np.random.Generator) -> Iterator[Pair]:
    phi = rng.uniform(1, 12)
    mean = 1 / (1 + np.exp(-rng.uniform(-1, 1, (200, 1))))
    y = np.clip(rng.beta(mean * phi, (1 - mean) * phi, (200, 8)), 1e-5, 1 - 1e-5)
    profile, modified, error = profile_likelihood(y)
    ratings = ba.Ratings.from_matrix(y, scale=(0, 1))
    tree = ba.common_agreement(ratings, draws=2000, random_seed=1)
    own = 2 - 2 * np.log2(1 - tree["posterior"]["phi"].values)
    yield Pair("precision phi, modified profile", modified, own.mean(), 0.3 * error, "both: ours has a prior")
    yield Pair("its error", error, own.std(), 0.06 * error, "both")
    yield Pair(
        "precision phi, profile", profile, own.mean(), 0.3 * modified, "ours: theirs is too large by a seventh"
    )


Comparison = Callable[[np.random.Generator], Iterator[Pair]]
COMPARISONS: dict[str, Comparison] = {
    "krippendorff": krippendorff,
    "nltk": nltk,
    "statsmodels": statsmodels,
    "pingouin": pingouin,
    "scikit-learn": scikit_learn,
    "ranx": ranx,
    "crowd-kit": crowd_kit,
    "choix": choix,
    "evalica": evalica,
    "mapie": mapie,
    "ppi-python": ppi_python,
    "arviz": arviz,
    "AgreementPhi": agreement_phi,
}


def pairs_of(package: str) -> list[list[Pair]]:
    """Return the pairs of a package, each quantity on all data sets."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            list(same) for same in zip(*(COMPARISONS[package](np.random.default_rng(s)) for s in range(SETS)))
        ]


def shown(pair: Pair) -> tuple[str, str]:
    """Return both numbers with four digits: of several, those nearest to one half."""
    theirs, ours = (np.ravel(np.asarray(value, float)) for value in (pair.theirs, pair.ours))
    at = np.argmin(np.abs(theirs - 0.5))
    return f"{theirs[at]:.4g}", f"{ours[at]:.4g}"


def table() -> list[str]:
    """Return the rows of the page."""
    lines = ["|package|quantity|theirs|ours|difference|right|", "|---|---|---:|---:|---:|---|"]
    for package in COMPARISONS:
        try:
            name = f"{package} {importlib.metadata.version(package)}"
        except importlib.metadata.PackageNotFoundError:  # one of R
            name = f"{package}'s likelihood"
        for same in pairs_of(package):
            most = max(pair.difference for pair in same)
            far = f"{most:.0e}" if most > EXACT else "0"
            lines.append("|".join(["", name, same[0].quantity, *shown(same[0]), far, same[0].right, ""]))
            name = ""
    return lines


def main() -> None:
    head, foot = PAGE.read_text(encoding="utf8").split("\n\n|package", 1)[0], ""
    PAGE.write_text("\n".join([head, "", *table(), foot]), encoding="utf8")


if __name__ == "__main__":
    main()
