"""The simulation study of AUC without ground truth, on how well crowd labels rank models.

A configuration is a case (how good the annotators are), the labels per item and the labels per annotator. Each run
simulates a problem, ranks its models by every method and by the truth, and keeps the share of pairs of models that
the two rankings order differently, the *swap error*.

==============  ==========================================================================================
method          ranks models by their AUC against
==============  ==========================================================================================
dgt             the majority of the labels of each item, ties drawn once for all models
dgt_published   the same, ties drawn anew for every model (the paper's Algorithm 1 votes inside the method)
sgt             the labels of each annotator, averaged
pgt             the smoothed share of positive labels of each item
supervised      one label per item drawn from the truth (the reference)
==============  ==========================================================================================

Source: Urkullu, Perez, Calvo: On the evaluation and selection of classifier learning algorithms with crowdsourced
data, section 4.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import product
from types import MappingProxyType
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from bayesagree._types import Floats
from bayesagree.errors import InputError, positive_int, shorten
from bayesagree.inference.results import result_tree
from bayesagree.inference.streams import map_blocks
from bayesagree.metrics.concordant_pairs import ScoreOrder
from studies.binary_crowds import CrowdsourcedBinary, crowdsourced_binary

CASES: Mapping[str, tuple[float, float]] = {
    "extreme": (0.525, 0.475),
    "bad": (0.6, 0.4),
    "average": (0.7, 0.3),
    "good": (0.8, 0.2),
    "outstanding": (0.9, 0.1),
}
"""Mean true and false positive rate of the annotators of each case."""

LEVELS = (3, 5, 9, 15, 27, 45)
"""Labels per item, and per annotator, of the published study."""

METHODS = ("dgt", "dgt_published", "sgt", "pgt", "supervised")

RUNS_PER_BLOCK = 5

type Key = tuple[str, int, int, int]
type Estimator = Callable[[CrowdsourcedBinary], ArrayLike]
"""An evaluation of every model from the labels of a problem, larger for better models."""


def label_level_auc(problem: CrowdsourcedBinary) -> Floats:
    """Return the area under the curve against the labels themselves, an estimator for `auc_study`.

    Every item with labels counts once, as its share of positive labels; `auc_posterior` gives its interval.
    """
    n_items = problem.plausibility.size
    n_labels = np.bincount(problem.item_index, minlength=n_items)
    n_positive = np.bincount(problem.item_index, weights=problem.positive, minlength=n_items)
    share = np.divide(n_positive, n_labels, out=np.zeros(n_items), where=n_labels > 0)
    return ScoreOrder(problem.scores).weighted(share, (n_labels > 0) - share)


ESTIMATORS: Mapping[str, Estimator] = {"label_level": label_level_auc}
"""Further estimators by name, for `auc_study`."""


@dataclass(frozen=True)
class Study:
    """Design of the study: the grid of configurations and the size of each problem."""

    cases: tuple[str, ...]
    labels_per_item: tuple[int, ...]
    labels_per_annotator: tuple[int, ...]
    runs: int
    n_items: int
    n_models: int
    random_seed: int
    estimators: tuple[str, ...] = ()
    keep_evaluations: bool = False

    def blocks(self) -> list[Key]:
        """List (case, labels per item, labels per annotator, first run) of every block of runs."""
        starts = range(0, self.runs, RUNS_PER_BLOCK)
        return list(product(self.cases, self.labels_per_item, self.labels_per_annotator, starts))


def auc_study(
    *,
    cases: Sequence[str] = tuple(CASES),
    labels_per_item: Sequence[int] = LEVELS,
    labels_per_annotator: Sequence[int] = LEVELS,
    runs: int = 100,
    n_items: int = 1000,
    n_models: int = 100,
    estimators: Mapping[str, Estimator] | None = None,
    keep_evaluations: bool = False,
    random_seed: int | None = None,
    client: Any = None,
    progress: Callable[[int], None] = lambda runs: None,
) -> xr.DataTree:
    """Run the simulation study of AUC without ground truth, 180 configurations of 100 runs by default.

    Parameters
    ----------
    cases
        Names from `CASES`.
    labels_per_item, labels_per_annotator
        Expected numbers of labels.
    runs
        Runs per configuration. A run's random stream depends on the seed, its configuration and its number only.
    n_items, n_models
        Size of each problem.
    estimators
        Further methods by name, such as `ESTIMATORS`: each takes a problem (`CrowdsourcedBinary`) and returns a number
        for every model. They draw nothing and see the problems of the published methods.
    keep_evaluations
        Keep the true evaluation of every model and those of every method, for scatter and box plots.
    random_seed
        Same seed, same study, on any number of threads or workers.
    client
        A `distributed.Client` to run on instead of threads of this machine: the same study, and workers may die.
    progress
        Called with the number of runs just finished.

    Returns
    -------
    DataTree
        Group ``study``: ``swap_error`` with dims (case, labels_per_item, labels_per_annotator, run, auc_method),
        and ``adjacent_difference`` (.., run), the largest relative difference of the true concordance of two
        neighbouring models. With `keep_evaluations` group ``evaluations``: ``truth`` (.., run, model) and ``estimate``
        (.., run, auc_method, model).

    Raises
    ------
    InputError
        An unknown case, a level below 1, or a single model.

    Examples
    --------
    >>> tree = auc_study(cases=["good"], labels_per_item=[5], labels_per_annotator=[5], runs=2, n_items=100)
    >>> tree["study/swap_error"].sizes["auc_method"]
    5
    """
    unknown = [case for case in cases if case not in CASES]
    if unknown:
        raise InputError(f"case {unknown[0]!r} is not one of {shorten(CASES)}")
    if positive_int(n_models, "n_models") < 2:
        raise InputError("n_models=1 leaves nothing to rank; simulate at least 2 models")
    further = dict(estimators or {})
    if taken := set(further) & set(METHODS):
        raise InputError(f"estimators: {sorted(taken)[0]!r} is a method of the study; give it another name")
    study = Study(
        cases=tuple(cases),
        labels_per_item=tuple(positive_int(v, "labels_per_item") for v in labels_per_item),
        labels_per_annotator=tuple(positive_int(v, "labels_per_annotator") for v in labels_per_annotator),
        runs=positive_int(runs, "runs"),
        n_items=positive_int(n_items, "n_items"),
        n_models=n_models,
        random_seed=int(np.random.default_rng().integers(2**62)) if random_seed is None else random_seed,
        estimators=tuple(further),
        keep_evaluations=keep_evaluations,
    )
    blocks = study.blocks()
    rows = []
    for found in map_blocks(partial(run_block, study, estimators=further), blocks, client):
        rows.append(found)
        progress(len(found))
    return _tree(study, np.concatenate(rows))


def run_block(study: Study, key: Key, estimators: Mapping[str, Estimator] = MappingProxyType({})) -> Floats:
    """Run a few runs of one configuration; returns shape (run, column).

    Columns: the swap error of each method, adjacent_difference, and on request the true and estimated evaluations.
    """
    case, per_item, per_annotator, first = key
    tpr, fpr = CASES[case]
    rows = []
    for run in range(first, min(first + RUNS_PER_BLOCK, study.runs)):
        place = (list(CASES).index(case), per_item, per_annotator, run)
        draw, decide = np.random.SeedSequence(study.random_seed, spawn_key=place).spawn(2)
        problem = crowdsourced_binary(
            n_items=study.n_items, n_models=study.n_models, labels_per_item=per_item,
            labels_per_annotator=per_annotator, mean_tpr=tpr, mean_fpr=fpr, random_seed=draw,
        )  # fmt: skip
        rows.append(_run(problem, np.random.Generator(np.random.SFC64(decide)), study, estimators))
    return np.array(rows)


def _run(
    problem: CrowdsourcedBinary, rng: np.random.Generator, study: Study, estimators: Mapping[str, Estimator]
) -> Floats:
    order = ScoreOrder(problem.scores)
    truth = order.graded(problem.plausibility)
    n_items = problem.plausibility.size
    n_labels = np.bincount(problem.item_index, minlength=n_items)
    n_positive = np.bincount(problem.item_index, weights=problem.positive, minlength=n_items)
    drawn = (rng.random(n_items) < problem.plausibility).astype(np.float64)
    estimates = np.stack([
        order.weighted(*_majority(n_positive, n_labels, rng)),
        [ScoreOrder(row[None]).weighted(*_majority(n_positive, n_labels, rng))[0] for row in problem.scores],
        order.by_annotator(problem.item_index, problem.annotator_index, problem.positive),
        order.graded((n_positive + 0.5) / (n_labels + 1)),
        order.weighted(drawn, 1 - drawn),
        *[np.asarray(estimators[name](problem), float) for name in study.estimators],
    ])  # fmt: skip
    swap_errors = 1 - ScoreOrder(estimates).graded(truth)
    kept = [truth, estimates.ravel()] if study.keep_evaluations else []
    return np.concatenate([swap_errors, [np.max(np.abs(np.diff(truth)) / truth[:-1])], *kept])


def _majority(
    n_positive: Floats, n_labels: NDArray[np.int64], rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Vote on each item, ties by a coin; returns (positive, negative) mass, both zero for items without labels."""
    lead = 2 * n_positive - n_labels
    positive = np.where(lead == 0, rng.random(lead.size) < 0.5, lead > 0)
    labelled = n_labels > 0
    return (positive & labelled).astype(np.float64), (~positive & labelled).astype(np.float64)


def _tree(study: Study, table: Floats) -> xr.DataTree:
    shape = (len(study.cases), len(study.labels_per_item), len(study.labels_per_annotator), study.runs, -1)
    table = table.reshape(shape)
    dims = ("case", "labels_per_item", "labels_per_annotator", "run")
    coords = {
        "case": list(study.cases), "labels_per_item": list(study.labels_per_item),
        "labels_per_annotator": list(study.labels_per_annotator), "run": np.arange(study.runs),
        "auc_method": [*METHODS, *study.estimators], "model": np.arange(study.n_models),
    }  # fmt: skip
    n_methods = len(coords["auc_method"])
    variables = {
        "swap_error": ((*dims, "auc_method"), table[..., :n_methods]),
        "adjacent_difference": (dims, table[..., n_methods]),
    }
    groups: dict[str, Any] = {"study": variables}
    if study.keep_evaluations:
        values = table[..., n_methods + 1 :].reshape(*table.shape[:-1], 1 + n_methods, study.n_models)
        groups["evaluations"] = {
            "truth": ((*dims, "model"), values[..., 0, :]),
            "estimate": ((*dims, "auc_method", "model"), values[..., 1:, :]),
        }
    return result_tree(
        groups, coords, model="auc_study", engine="exact", random_seed=study.random_seed, settings=asdict(study)
    )
