"""How good people are: every annotator scored as the models are, against the truth without that annotator's votes."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayesagree.annotations import Labels
from bayesagree.annotations.predictions import Predictions
from bayesagree.errors import InputError
from bayesagree.evaluation.scoring import evaluate
from bayesagree.inference.intervals import hdi
from bayesagree.inference.streams import Seed, seed_sequence
from bayesagree.io.doors import as_annotations, as_predictions
from bayesagree.metrics.registry import full_name
from bayesagree.plausibility.independence import FEWEST_ITEMS, independence
from bayesagree.plausibility.informed.covariates import on_items_of

# The mean over annotators, in the table.
A_PERSON = "a person"
# Rounds in which one vote of each item is held out; of more votes an item a random choice is held out.
MOST_ROUNDS = 10


def human_baseline(
    labels: Labels,
    predictions: Predictions | None = None,
    *,
    metric: str = "accuracy",
    ci_prob: float = 0.95,
    draws: int = 500,
    chains: int = 4,
    random_seed: Seed = None,
) -> pd.DataFrame:
    """Score each annotator against the truth that the votes of the others make, beside the models.

    In each round one vote of each item is held out and counts as the prediction of one more model: it informs the truth
    as predictions do, and is scored. Who is scored as a model on votes among which are their own is flattered.

    Parameters
    ----------
    labels
        Single labels, two or more on 30 items at least.
    predictions
        Models that inform the truth and are scored beside people; those that depend on these labels inform no truth.
    metric
        Of hard labels, as `evaluate` takes it.
    ci_prob
        Probability of the highest density intervals. Over rounds, whose truths are nearly the same, draws are averaged
        in their order, which makes no interval too narrow.
    draws, chains, random_seed
        As in `evaluate`, of each round.

    Returns
    -------
    DataFrame
        Index ``name``: ``"a person"``, any annotator, then the annotators with 30 held-out votes or more, and the
        models, best first each; columns ``kind`` (annotator or model), ``n_items``, ``score``, ``lower``, ``upper``.

    Raises
    ------
    InputError
        Fewer than 30 items with two votes.

    Examples
    --------
    >>> from bayesagree.datasets.simulate import labelled_test_set
    >>> data = labelled_test_set(n_items=100, per_item=4, n_labels=3, random_seed=1)
    >>> table = human_baseline(data.labels, data.predictions, draws=100, random_seed=1)
    >>> table["kind"].value_counts()["model"], table.index[0]
    (np.int64(3), 'a person')
    """
    labels = as_annotations(labels, (Labels,), "labels")
    predictions = as_predictions(predictions, labels)
    root, dependent = seed_sequence(random_seed), []
    if predictions is not None:
        everywhere = on_items_of(labels, predictions)
        predictions = predictions.aligned(everywhere.items, everywhere.categories)
        found = independence(everywhere, predictions)
        found.warn("no truth learns from them")
        dependent = found.models[found.dependent].astype(str).tolist()
    name, parts, best = full_name(metric), defaultdict[Any, list[Any]](list), 1
    for number, (others, held, who) in enumerate(_rounds(labels, np.random.default_rng(root))):
        joined = _with_person(predictions, others, held)
        stream = np.random.SeedSequence(root.entropy, spawn_key=(*root.spawn_key, number))
        how: dict[str, Any] = {"plausibility": "informed_dirichlet", "exclude": dependent, "metrics": [metric]}
        names, sizes = np.unique(who, return_counts=True)
        by = who if names.size > 1 else None
        tree = evaluate(others, joined, by=by, draws=draws, chains=chains, random_seed=stream, **how)
        scores = tree["posterior"][name].stack(sample=("chain", "draw"))
        best = scores.attrs.get("higher_is_better", 1)
        for model in joined.models.tolist():
            parts[model, "annotator" if model == A_PERSON else "model"].append(
                (held.size, scores.sel(model=model))
            )
        person = scores.sel(model=A_PERSON)
        if by is not None:
            each = tree["slices"][name].sel(side="slice", model=A_PERSON)
            person = each.stack(sample=("chain", "draw"))
        for one, size in zip(names.tolist(), sizes.tolist()):
            if labels.annotators_known:
                own = person if by is None else person.sel(slice=one)
                parts[one, "annotator"].append((size, own))
    rows = []
    for (one, kind), drawn in parts.items():
        size = [n for n, _ in drawn]
        if sum(size) >= FEWEST_ITEMS:
            mean = np.average(np.sort([values.values for _, values in drawn], axis=1), axis=0, weights=size)
            rows.append((one, kind, sum(size), mean.mean(), *hdi(mean, ci_prob)))
    table = pd.DataFrame(rows, columns=["name", "kind", "n_items", "score", "lower", "upper"]).set_index("name")
    order = np.lexsort([-table["score"] if best else table["score"], table.index != A_PERSON, table["kind"]])
    return table.iloc[order]


def _rounds(labels: Labels, rng: np.random.Generator) -> Iterator[tuple[Labels, NDArray[Any], NDArray[Any]]]:
    """Yield the votes of the others, and of each of their items the label and the name of the person held out."""
    row = labels.row_of_each()
    each: Any = {name: getattr(labels, name)[row] for name in ("item_index", "annotator_index", "label_index")}
    single = replace(labels, **each, count=np.ones(row.size, np.int64))
    n = np.bincount(single.item_index, minlength=labels.items.size)
    if (n >= 2).sum() < FEWEST_ITEMS:
        raise InputError(f"{(n >= 2).sum()} items have two labels or more; {FEWEST_ITEMS} are needed")
    number = min(MOST_ROUNDS, int(np.quantile(n[n >= 2], 0.1)))
    # Where every vote has its turn, an annotator of all items has one round.
    whole = number == n.max() and labels.annotators_known
    order = np.lexsort([single.annotator_index if whole else rng.random(row.size), single.item_index])
    rank = np.empty_like(order)
    rank[order] = np.arange(row.size) - np.repeat(np.cumsum(n) - n, n)
    names = labels.annotators.astype(str) if labels.annotators_known else np.array([A_PERSON])
    for turn in range(number):
        held = (rank == turn) & (n[single.item_index] >= 2)
        there = np.bincount(single.item_index[held], minlength=n.size) > 0
        others = single.select(there[single.item_index] & ~held)
        yield others, single.label_index[held], names[np.maximum(single.annotator_index[held], 0)]


def _with_person(predictions: Predictions | None, others: Labels, label: NDArray[Any]) -> Predictions:
    """Return the models and, as one more, the label of the person held out."""
    if predictions is None:
        items, names = others.items.tolist(), others.categories.tolist()
        return Predictions.from_labels({A_PERSON: others.categories[label]}, items=items, labels=names)
    kept = predictions.on_items(others.items)
    models = np.append(kept.models.astype(str), A_PERSON)
    if kept.scores is None:
        return replace(kept, models=models, label_index=np.vstack([kept.hard_labels(), label]).astype(np.int32))
    chosen = np.eye(kept.categories.size)[label]
    return replace(kept, models=models, scores=np.concatenate([kept.scores, chosen[None]]))
