"""Seeded generators of annotations and predictions whose truth is known; tests, docs and studies share them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from scipy.stats import beta

from bayesagree._streams import Seed, seed_sequence
from bayesagree._tree import positive, positive_int
from bayesagree.annotations import Labels, Rankings, Ratings
from bayesagree.errors import InputError
from bayesagree.plausibility.prirn import irn
from bayesagree.predictions import Predictions


@dataclass(frozen=True, eq=False)
class CrowdsourcedBinary:
    """A simulated binary problem: what is true, what the models say, and what the crowd says.

    Attributes
    ----------
    plausibility
        Probability that each item is positive, shape (item,).
    scores
        Score of each model, shape (model, item); the first is the best, each next one more disturbed.
    tpr, fpr
        True and false positive rate of each annotator, shape (annotator,).
    item_index, annotator_index, positive
        The labels: which item, whose, and whether positive, shape (row,); sorted by item, then annotator.
    """

    plausibility: NDArray[np.float64]
    scores: NDArray[np.float64]
    tpr: NDArray[np.float64]
    fpr: NDArray[np.float64]
    item_index: NDArray[np.int32]
    annotator_index: NDArray[np.int32]
    positive: NDArray[np.bool_]

    @property
    def labels(self) -> Labels:
        """The crowd's labels, 0 or 1."""
        items, annotators = np.arange(self.plausibility.size), np.arange(self.tpr.size)
        once = np.broadcast_to(np.int64(1), self.positive.shape)
        said = self.positive.astype(np.int32)
        return Labels(items, annotators, np.arange(2), self.item_index, self.annotator_index, said, once)

    @property
    def predictions(self) -> Predictions:
        """The models' scores as probabilities of 0 and 1."""
        names = [f"model {m + 1}" for m in range(len(self.scores))]
        both = np.stack([1 - self.scores, self.scores], axis=-1)
        return Predictions.from_scores(dict(zip(names, both)), labels=[0, 1], probabilities=True)


def crowdsourced_binary(
    *,
    n_items: int = 1000,
    n_models: int = 100,
    labels_per_item: float = 5,
    labels_per_annotator: float = 15,
    mean_tpr: float = 0.7,
    mean_fpr: float = 0.3,
    disturbance: float = 0.45,
    item_prior: tuple[float, float] = (1.0, 1.0),
    seed: Seed = None,
) -> CrowdsourcedBinary:
    """Simulate models and a crowd on items whose truth is a probability.

    Item i is positive with probability p_i ~ Beta(*item_prior). Model d = 1 .. n_models disturbs it by
    h = disturbance (d - 1) / (n_models - 1): its score is p_i U(1 - h, 1) + (1 - p_i) U(0, h). Annotator j labels
    each item with probability labels_per_annotator / n_items, and says positive with probability
    p_i TPR_j + (1 - p_i) FPR_j, where TPR_j ~ 1/2 + Beta(2, b)/2 and FPR_j ~ Beta(a, 2)/2 have the given means.

    Parameters
    ----------
    n_items, n_models
        Sizes of the problem.
    labels_per_item, labels_per_annotator
        Expected numbers; there are n_items * labels_per_item / labels_per_annotator annotators (rounded).
    mean_tpr, mean_fpr
        Mean true positive rate, in (1/2, 1), and false positive rate, in (0, 1/2), of the annotators.
    disturbance
        Disturbance h of the worst model, in [0, 1].
    item_prior
        Parameters of the Beta distribution of the items' plausibilities.
    seed
        Same seed, same problem.

    Raises
    ------
    InputError
        A parameter outside its range, or fewer than one annotator.

    Examples
    --------
    >>> problem = crowdsourced_binary(n_items=200, n_models=3, labels_per_item=4, labels_per_annotator=20, seed=1)
    >>> problem.tpr.size, problem.scores.shape
    (40, (3, 200))

    References
    ----------
    Urkullu, Perez, Calvo: On the evaluation and selection of classifier learning algorithms with crowdsourced
    data, section 4, steps 1 to 3.
    """
    n_items, n_models = positive_int(n_items, "n_items"), positive_int(n_models, "n_models")
    share = positive(labels_per_annotator, "labels_per_annotator") / n_items
    n_annotators = round(n_items * positive(labels_per_item, "labels_per_item") / labels_per_annotator)
    _within(share, "labels_per_annotator / n_items", 0, 1)
    _within(disturbance, "disturbance", 0, 1)
    if n_annotators < 1:
        raise InputError(
            f"labels_per_item={labels_per_item:g} and labels_per_annotator={labels_per_annotator:g} leave no "
            f"annotator for {n_items} items; ask for more labels per item or fewer per annotator"
        )
    a, b = _rate_shapes(mean_tpr, mean_fpr)
    rng = np.random.Generator(np.random.SFC64(seed_sequence(seed)))
    p = rng.beta(*item_prior, n_items)
    h = np.linspace(0, disturbance, n_models)[:, None]
    up, down = rng.random((2, n_models, n_items))
    scores = p * (1 - h * up) + (1 - p) * (h * down)
    tpr, fpr = 0.5 + rng.beta(2, b, n_annotators) / 2, rng.beta(a, 2, n_annotators) / 2
    item, annotator = np.divmod(_labelled_cells(rng, share, n_items * n_annotators), n_annotators)
    says_positive = rng.random(item.size) < p[item] * tpr[annotator] + (1 - p[item]) * fpr[annotator]
    return CrowdsourcedBinary(p, scores, tpr, fpr, item.astype(np.int32), annotator.astype(np.int32), says_positive)


def annotator_quality_regions(mean_tpr: float, mean_fpr: float) -> xr.DataArray:
    """Compute the probability of each of nine regions of annotator quality under `crowdsourced_binary`.

    TPR in [1/2, 1] and FPR in [0, 1/2] are each cut into thirds; the table is the product of the two marginals.

    Returns
    -------
    DataArray
        Probabilities with dims (tpr, fpr), each from the worst third to the best.

    Raises
    ------
    InputError
        A mean outside (1/2, 1) for TPR or (0, 1/2) for FPR.

    Examples
    --------
    >>> annotator_quality_regions(0.9, 0.1).sel(tpr="good", fpr="good").round(4).item()
    0.5926

    References
    ----------
    Urkullu, Perez, Calvo: On the evaluation and selection of classifier learning algorithms with crowdsourced
    data, figures 5 to 10 (figure 7 is misprinted: its cells sum to .960).
    """
    a, b = _rate_shapes(mean_tpr, mean_fpr)
    thirds = ["bad", "middle", "good"]
    # FPR = Beta(a, 2) / 2, so that 1 - 2 FPR ~ Beta(2, a): both are Beta(2, .) on a scale from worst to best.
    table = np.outer(_thirds(b), _thirds(a))
    return xr.DataArray(table, dims=("tpr", "fpr"), coords={"tpr": thirds, "fpr": thirds}, name="probability")


def _rate_shapes(mean_tpr: float, mean_fpr: float) -> tuple[float, float]:
    _within(mean_tpr, "mean_tpr", 0.5, 1, closed=False)
    _within(mean_fpr, "mean_fpr", 0, 0.5, closed=False)
    return 4 * mean_fpr / (1 - 2 * mean_fpr), (4 * mean_tpr - 4) / (1 - 2 * mean_tpr)


def _thirds(shape: float) -> NDArray[np.float64]:
    above = beta.sf([0, 1 / 3, 2 / 3, 1], 2, shape)
    return above[:-1] - above[1:]


def _labelled_cells(rng: np.random.Generator, share: float, n_cells: int) -> NDArray[np.int64]:
    """Choose each cell with probability `share`, by geometric jumps: the cost is that of the cells chosen."""
    chosen, last = [np.empty(0, np.int64)], -1
    while last < n_cells:
        jumps = rng.geometric(share, size=int((n_cells - last) * share * 1.05) + 64)
        chosen.append(last + np.cumsum(jumps))
        last = int(chosen[-1][-1])
    cells = np.concatenate(chosen)
    return cells[cells < n_cells]


def _within(value: float, name: str, low: float, high: float, *, closed: bool = True) -> None:
    inside = low <= value <= high if closed else low < value < high
    if not inside:
        ends = f"[{low:g}, {high:g}]" if closed else f"({low:g}, {high:g})"
        raise InputError(f"{name}={value!r} must lie in {ends}")


@dataclass(frozen=True, eq=False)
class LabelledTestSet:
    """A simulated test set: the true plausibilities, what annotators said, and what models predict.

    Attributes
    ----------
    plausibility
        True plausibilities (item, label); the true label of an item is the most plausible one.
    labels
        Single labels of the annotators.
    predictions
        Scores of the models A, B, ...
    """

    plausibility: NDArray[np.float64]
    labels: Labels
    predictions: Predictions


def labelled_test_set(
    *,
    n_items: int = 400,
    n_annotators: int = 12,
    per_item: int = 5,
    n_labels: int = 4,
    spread: float = 0.1,
    noise: Sequence[float] = (2.1, 2.0, 4.0),
    seed: Seed = None,
) -> LabelledTestSet:
    """Simulate a test set whose items are partly open to debate.

    Plausibilities are Dirichlet(spread); every annotator of an item draws his label from them; a model scores a label
    by its log plausibility plus normal noise.

    Parameters
    ----------
    n_items, n_annotators, per_item, n_labels
        Numbers of items, of annotators, of annotators an item, and of labels.
    spread
        Shape of the plausibilities: small values make items clear, large ones ambiguous.
    noise
        Standard deviation of each model's noise.
    seed
        Same seed, same test set.
    """
    rng = np.random.default_rng(seed_sequence(seed))
    truth = rng.dirichlet(np.full(n_labels, spread), size=n_items)
    who = rng.random((n_items, n_annotators)).argsort(axis=1)[:, :per_item]
    # Inverse CDF: one uniform number per annotation.
    said = (rng.random((n_items, per_item, 1)) > truth.cumsum(axis=1)[:, None, :-1]).sum(axis=2)
    matrix = np.full((n_items, n_annotators), np.nan)
    np.put_along_axis(matrix, who, said.astype(float), axis=1)
    predictions = _noisy_scores(truth, noise, rng)
    labels = list(range(n_labels))
    return LabelledTestSet(
        truth, Labels.from_matrix(matrix, labels=labels), Predictions.from_scores(predictions, labels=labels)
    )


def noisy_models(annotations: Labels | Rankings, *, n_models: int = 4, seed: Seed = None) -> Predictions:
    """Simulate models for annotations that have none: log of the annotators' shares plus more and more normal noise.

    Such models know the annotations, so they say nothing about any real model; they make a pipeline run.

    Parameters
    ----------
    annotations
        Labels (shares of the votes) or rankings (inverse rank normalisation).
    n_models
        Number of models A, B, ...; their noise grows from 1 to 3 standard deviations.
    seed
        Same seed, same predictions.
    """
    if isinstance(annotations, Labels):
        counts = annotations.counts() + 1 / annotations.labels.size
        share = counts / counts.sum(axis=1, keepdims=True)
    else:
        share = irn(annotations).values + 0.01
    rng = np.random.default_rng(seed_sequence(seed))
    scores = _noisy_scores(share, np.linspace(1, 3, positive_int(n_models, "n_models")), rng)
    return Predictions.from_scores(scores, items=annotations.items.tolist(), labels=annotations.labels.tolist())


def _noisy_scores(
    share: NDArray[np.float64], noise: Sequence[float] | NDArray[np.float64], rng: np.random.Generator
) -> dict[str, NDArray[np.float64]]:
    log_share = np.log(np.maximum(share, 1e-12))
    return {_letters(m): log_share + sd * rng.standard_normal(share.shape) for m, sd in enumerate(noise)}


def _letters(number: int) -> str:
    """Return A, B, ..., Z, AA, AB, ..."""
    name = ""
    while number >= 0:
        name = chr(ord("A") + number % 26) + name
        number = number // 26 - 1
    return name


@dataclass(frozen=True, eq=False)
class RankedTestSet:
    """Simulated rankings, and the plausibilities they came from.

    Attributes
    ----------
    plausibility
        True plausibilities, dims (item, label).
    rankings
        What the annotators said.
    """

    plausibility: xr.DataArray
    rankings: Rankings


def rankings(
    *,
    n_items: int = 100,
    n_labels: int = 10,
    n_annotators: int = 5,
    shape: float = 0.3,
    patterns: Sequence[Sequence[int]] = ((1,), (1, 1), (2,), (1, 2), (1, 1, 1)),
    seed: Seed = None,
) -> RankedTestSet:
    """Simulate partial rankings with ties from the Plackett-Luce model, exactly as `plackett_luce` assumes them.

    Each item draws plausibilities from Dirichlet(shape); each annotator draws a pattern of block sizes and ranks the
    labels in the order of exponential arrival times, whose rates are the plausibilities.

    Parameters
    ----------
    n_items, n_labels, n_annotators
        Sizes.
    shape
        Dirichlet shape of each label: small values make one label dominate.
    patterns
        Block sizes, best block first, one of which each ranking follows at random.
    seed
        Same seed, same rankings.

    Raises
    ------
    InputError
        A pattern that is empty, holds an empty block or ranks more labels than there are.

    Examples
    --------
    >>> ranked = rankings(n_items=3, n_labels=4, n_annotators=2, patterns=[(1, 2)], seed=1)
    >>> ranked.rankings.n_annotations, ranked.rankings.block.tolist()[:3]
    (6, [0, 1, 1])
    """
    shapes = (positive_int(n_items, "n_items"), positive_int(n_annotators, "n_annotators"))
    k = positive_int(n_labels, "n_labels")
    sizes = [[positive_int(size, "block size") for size in pattern] for pattern in patterns]
    if not sizes or any(not 0 < sum(pattern) <= k for pattern in sizes):
        raise InputError(f"patterns={patterns!r}: every ranking names between 1 and n_labels={k} labels")
    rng = np.random.default_rng(seed_sequence(seed))
    a = positive(shape, "shape")
    # Logs: for small shapes a gamma variable underflows.
    log_worth = np.log(rng.standard_gamma(a + 1, (shapes[0], k))) - rng.standard_exponential((shapes[0], k)) / a
    log_worth -= log_worth.max(axis=1, keepdims=True)
    plausibility = np.exp(log_worth)
    plausibility /= plausibility.sum(axis=1, keepdims=True)
    order = np.argsort(np.log(rng.standard_exponential((*shapes, k))) - log_worth[:, None], axis=-1)
    block = np.full((len(sizes), k), -1)
    for p, pattern in enumerate(sizes):
        block[p, : sum(pattern)] = np.repeat(np.arange(len(pattern)), pattern)
    rank = block[rng.integers(len(sizes), size=shapes)]
    item, annotator, place = np.nonzero(rank >= 0)
    table = pd.DataFrame(
        {
            "item": item, "annotator": annotator, "label": order[item, annotator, place],
            "rank": rank[item, annotator, place],
        }
    )  # fmt: skip
    truth = xr.DataArray(
        plausibility, dims=("item", "label"), coords={"item": np.arange(shapes[0]), "label": np.arange(k)}
    )
    return RankedTestSet(truth, Rankings.from_long(table, labels=np.arange(k).tolist()))


@dataclass(frozen=True, eq=False)
class CrowdLabels:
    """A simulated crowd whose annotators confuse labels each in his own way.

    Attributes
    ----------
    labels
        The crowd's labels.
    truth
        True label of each item, shape (item,), as position; the gold label where items are ambiguous.
    prevalence
        Share of each label, shape (label,).
    confusion
        Pr(given label | label read), shape (annotator, label, label).
    plausibility
        Each item's distribution over labels, shape (item, label): one-hot unless ``ambiguity`` is positive.
    """

    labels: Labels
    truth: NDArray[np.int64]
    prevalence: NDArray[np.float64]
    confusion: NDArray[np.float64]
    plausibility: NDArray[np.float64]


def crowd_labels(
    *,
    n_items: int = 2000,
    n_annotators: int = 40,
    n_labels: int = 4,
    labels_per_item: int = 3,
    prevalence: Sequence[float] | None = None,
    confusion: NDArray[np.float64] | None = None,
    ambiguity: float = 0.0,
    seed: Seed = None,
) -> CrowdLabels:
    """Simulate a crowd that labels items one by one, as `dawid_skene` assumes it.

    Each item is labelled by different annotators drawn at random. Annotator j reads item i as label c and gives label
    l with probability confusion_jcl. Without ambiguity c is the true label; with ambiguity alpha every item has
    lambda_i ~ Dirichlet(alpha prevalence), and every annotator, like the gold standard, reads c ~ lambda_i anew.

    Parameters
    ----------
    n_items, n_annotators, n_labels, labels_per_item
        Sizes.
    prevalence
        Share of each label; by default equal.
    confusion
        Confusion matrices (annotator, label, label); by default row k of annotator j ~ Dirichlet with 1 + c_j for label
        k and 1 for the others, c_j ~ U(1, 8).
    ambiguity
        Concentration alpha of the items' plausibilities; 0 is one true label per item.
    seed
        Same seed, same crowd.

    Examples
    --------
    >>> crowd = crowd_labels(n_items=10, n_annotators=5, seed=1)
    >>> crowd.labels.n_annotations, crowd.confusion.shape
    (30, (5, 4, 4))
    """
    n, j, k = (
        positive_int(n_items, "n_items"),
        positive_int(n_annotators, "n_annotators"),
        positive_int(n_labels, "n_labels"),
    )
    votes = positive_int(labels_per_item, "labels_per_item")
    if votes > j:
        raise InputError(f"labels_per_item={votes} is more than the {j} annotators there are")
    rng = np.random.default_rng(seed_sequence(seed))
    share = np.full(k, 1 / k) if prevalence is None else np.asarray(prevalence, dtype=np.float64)
    if confusion is None:
        shape = np.ones((j, k, k)) + rng.uniform(1, 8, j)[:, None, None] * np.eye(k)
        confusion = rng.standard_gamma(shape)
        confusion /= confusion.sum(axis=2, keepdims=True)
    if positive(ambiguity, "ambiguity", zero=True) > 0:
        # Logs: for small shapes a gamma variable underflows.
        shape = np.broadcast_to(ambiguity * share, (n, k))
        log_share = np.log(rng.standard_gamma(shape + 1)) - rng.standard_exponential((n, k)) / shape
        plausibility = np.exp(log_share - log_share.max(axis=1, keepdims=True))
        plausibility /= plausibility.sum(axis=1, keepdims=True)
    else:
        plausibility = np.eye(k)[_categorical(rng, np.broadcast_to(share, (n, k)))]
    truth = _categorical(rng, plausibility)
    item = np.repeat(np.arange(n), votes)
    annotator = np.argsort(rng.random((n, j)), axis=1)[:, :votes].ravel()
    read = _categorical(rng, plausibility[item])
    given = _categorical(rng, confusion[annotator, read])
    order = np.lexsort((annotator, item))
    item, annotator, given = (column[order].astype(np.int32) for column in (item, annotator, given))
    once = np.broadcast_to(np.int64(1), item.shape)
    labels = Labels(np.arange(n), np.arange(j), np.arange(k), item, annotator, given, once)
    return CrowdLabels(labels, truth, share, np.asarray(confusion), plausibility)


def _categorical(rng: np.random.Generator, probability: NDArray[np.float64]) -> NDArray[np.int64]:
    """Draw one category per row."""
    cumulative = np.cumsum(probability, axis=-1)
    drawn = (cumulative < rng.random((*probability.shape[:-1], 1)) * cumulative[..., -1:]).sum(axis=-1)
    return np.minimum(drawn, probability.shape[-1] - 1)


@dataclass(frozen=True, eq=False)
class SimulatedRatings:
    """Ratings simulated from the common-agreement model.

    Attributes
    ----------
    ratings
        On (0, 1) where continuous, else levels 1 to `n_levels`.
    phi
        True common agreement.
    item_mean
        True mean of each item on the unit scale, shape (item,).
    """

    ratings: Ratings
    phi: float
    item_mean: NDArray[np.float64]


def ratings(
    *,
    n_items: int,
    ratings_per_item: int = 5,
    phi: float = 0.5,
    n_levels: int | None = 5,
    item_mean: NDArray[np.float64] | tuple[float, float] | float = (1.0, 1.0),
    seed: Seed = None,
) -> SimulatedRatings:
    """Simulate ratings x ~ Beta(mu_i p, (1 - mu_i) p), p = 2 (1 - log2(1 - phi)), seen on a scale of levels.

    Parameters
    ----------
    n_items, ratings_per_item
        Size; rater j of every item has the same name.
    phi
        Common agreement, in (-1, 1).
    n_levels
        Levels of the scale 1, ..., n_levels: a judgment in [m / n_levels, (m + 1) / n_levels) is level m + 1; None:
        continuous on (0, 1).
    item_mean
        Shapes (a, b) of the Beta distribution of item means, one mean for all items, or the means, shape (item,).
    seed
        Seed or generator.

    Raises
    ------
    InputError
        `phi` outside (-1, 1), fewer than two levels, a size below 1.

    References
    ----------
    Checco et al., "Let's agree to disagree", HCOMP 2017, section 4.2.

    Examples
    --------
    >>> problem = ratings(n_items=3, ratings_per_item=4, phi=0.9, seed=1)
    >>> problem.ratings.n_annotations, problem.ratings.scale
    (12, (1.0, 5.0))
    """
    n, r = positive_int(n_items, "n_items"), positive_int(ratings_per_item, "ratings_per_item")
    if not -1 < phi < 1:
        raise InputError(f"phi={phi!r} must lie between -1 and 1")
    rng = np.random.default_rng(seed_sequence(seed))
    mean = rng.beta(*item_mean, n) if isinstance(item_mean, tuple) else np.broadcast_to(item_mean, (n,))
    precision = 2 * (1 - np.log2(1 - phi))
    smallest = 1e-300
    a, b = np.maximum(mean * precision, smallest), np.maximum((1 - mean) * precision, smallest)
    x = rng.beta(a[:, None], b[:, None], (n, r))
    if n_levels is None:
        seen = Ratings.from_matrix(x, scale=(0, 1))
    else:
        k = positive_int(n_levels, "n_levels")
        seen = Ratings.from_matrix(np.minimum(np.floor(x * k), k - 1) + 1, scale=(1, k), step=1)
    return SimulatedRatings(seen, float(phi), np.asarray(mean, dtype=np.float64))
