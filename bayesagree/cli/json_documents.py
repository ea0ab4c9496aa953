"""What every command prints with ``--json``: one document, whose keys stay as they are listed here.

A text says what a value is; a mapping lists the keys of an object, or of every row of a list. Keys that end in ``?``
are there only where the data or the options make them. A number that does not exist is null. Intervals are ``lower``
to ``upper``; ``ci_kind`` and ``ci_prob`` say of which kind and probability.
"""

from collections.abc import Iterator, Mapping
from typing import Any

type Document = Mapping[str, Any]
"""Key to what it holds: a text, or again a document."""

_INTERVALS = {"ci_kind": "kind of the intervals, such as hdi", "ci_prob": "their probability"}
_SCORE = {"lower": "lower end of the interval", "upper": "upper end of the interval"}

DOCUMENTS: Mapping[str, Document] = {
    "demo": _INTERVALS
    | {
        "seed": "seed of the simulation",
        "models": {
            "model": "name, best first",
            "accuracy_against_majority_vote": "the ordinary accuracy",
            "uncertainty_adjusted_accuracy": "posterior mean",
            **_SCORE,
            "best_with_probability": "probability of the first place",
        },
    },
    "agreement": {
        "[]": {
            "coefficient": "name",
            "estimate": "value, null where it does not exist",
            **_SCORE,
            **_INTERVALS,
            "n_items": "number of items",
            "n_annotators": "number of annotators, null where they are not named",
            "n_annotations": "number of annotations",
            "note": "why there is no value, or what limits it",
        }
    },
    "evaluate": _INTERVALS
    | {
        "settings": "plausibility, items, options and number of items",
        "seed": "seed of the draws",
        "scores": {
            "metric": "name",
            "reliability": "trust in the annotators",
            "model": "name, best first",
            "mean": "posterior mean",
            **_SCORE,
            "best_with_probability": "probability of the first place",
        },
        "prob_better": {
            "metric": "name",
            "reliability": "trust in the annotators",
            "model": "name",
            "other_model": "name",
            "probability": "that the first is better, a tie counting one half",
        },
        "open_items": {
            "reliability": "trust in the annotators",
            "share_below_0.95": "share of items whose annotation certainty is below 0.95",
        },
    },
    "report": {
        "output": "where the page is",
        "headlines": "the sentences of the summary",
        "warnings": "what the computation warned of",
        "settings": "how the numbers were made; the first reliability is the reference",
        "version": "version of bayesagree",
    },
    "certainty": {
        "summary": {
            "reliability": "trust in the annotators",
            "mean_certainty": "mean over the items",
            "smallest_certainty": "of the least certain item",
            "share_below_0.95": "share of items below 0.95",
        },
        "items": {"item": "name", "reliability": "trust in the annotators", "certainty": "annotation certainty"},
    },
    "compare": _INTERVALS
    | {
        "metric": "name",
        "ranks": {"model": "name", "rank_probability": "probability of every place, the first place first"},
        "pairs": {
            "model": "name",
            "other_model": "name",
            "prob_better": "probability that the first is better, a tie counting one half",
            "difference": "expected difference",
            **_SCORE,
        },
    },
    "reliability": _INTERVALS
    | {
        "plausibility": "model of the truth",
        "n_items": "number of items",
        "n_annotations": "number of annotations",
        "best": "reliability of the largest log score",
        "observed_agreement": "share of pairs of annotators with the same first choice",
        "curve": {
            "reliability": "trust in the annotators",
            "log_score": "mean log probability of the annotator left out",
            **_SCORE,
            "behind": "log score behind the best",
            "behind_lower": "lower end of its interval",
            "behind_upper": "upper end of its interval",
            "prob_best": "probability to be the best of the values compared",
            "agreement": "probability that two further annotators make the same first choice",
            "agreement_lower": "lower end of its interval",
            "agreement_upper": "upper end of its interval",
            "monte_carlo_error": "of the log score",
        },
    },
    "blind": {
        "settings": "options and sizes",
        "independence_p_value": "small where systems share errors; null with fewer than three systems",
        "scores": {
            "estimator": "method",
            "metric": "name",
            "model": "system",
            "score": "estimate",
            **_SCORE,
            "rank": "place by Copeland's method",
            "prob_best": "probability to be the best",
            "expected_rank": "expected place",
        },
        "overlap": {"model": "system", "other_model": "system", "overlap": "Jaccard overlap of the positive items"},
        "actual?": {"metric": "name", "model": "system", "score": "against gold", "rank": "against gold"},
        "methods?": {
            "estimator": "method",
            "metric": "name",
            "measure": "pearson, spearman, kendall or swap_rate",
            "correlation": "of estimated with actual scores or ranks",
            "p_value": "of its difference from the baseline",
            "method_rank": "place of the method",
        },
        "quality?": {"estimator": "method", "metric": "name", "quality": "of its pseudo-gold"},
        "quality_correlation?": {
            "metric": "name",
            "measure": "as in methods",
            "quality_correlation": "of quality and correlation over the methods",
        },
        "outliers?": {
            "estimator": "method",
            "metric": "name",
            "place": "best or worst",
            "predicted_rank": "of that system by the method",
            "actual_rank": "of that system by gold",
            "system": "its name",
        },
    },
    "rankings": {
        "annotations": {
            "n_items": "number of items",
            "n_rankings": "number of rankings",
            "rankings_per_item": "mean",
            "labels_per_item": "mean number of labels that anybody named",
            "labels_per_ranking": "mean",
            "blocks_per_ranking": "mean",
            "share_with_ties": "share of rankings",
            "largest_block": "size of the largest tie",
        },
        "settings": {
            "setting": "aggregation and reliability",
            "top_1": "mean annotation certainty of the best label",
            "top_2": "of the two best labels",
            "top_3": "of the three best labels",
            "share_below_0.99": "share of items whose certainty is below 0.99",
            "risk_certainty?": "mean certainty of the risk level",
            "expected_risk?": "mean expected risk level",
            "correlation_with_agreement": "of the certainty with the agreement of the annotators",
        },
        "correlation_of_certainty": {
            "settings": "names of rows and columns",
            "matrix": "correlation over items of every pair of settings",
            "best_prirn_for_plackett_luce": "for each Plackett-Luce setting the PrIRN setting nearest to it",
        },
        "items_that_reliability_does_not_settle": "by aggregation: counts, and from which reliability to which",
        "scores": {
            "metric": "name",
            "setting": "aggregation and reliability",
            "scores": "model to its mean score",
            "order_differs": "whether the models stand in another order than in the first setting",
        },
        "simulated_models": "whether the models were simulated",
        "case": {
            "item": "name",
            "certainty": "mean over the settings",
            "rankings": "of its annotators: blocks of labels, best first",
            "reliability": "by aggregation",
            "labels": {
                "label": "name",
                "irn": "inverse rank normalisation",
                "prirn_top": "probability to be the top label under PrIRN",
                "plackett_luce_top": "the same under Plackett-Luce",
            },
        },
    },
    "annotators": {
        "labels": "all labels",
        "annotators": {
            "annotator": "names",
            "n_labels_given": "number of labels of each",
            "accuracy": "posterior mean of each",
            "lower": "lower ends, HDI 0.95",
            "upper": "upper ends, HDI 0.95",
            "prob_below_chance": "probability to label worse than at random",
            "confusion": "mean confusion (annotator, category, observed label)",
            "flags": "what is odd about each",
        },
        "checks": {
            "disconnected_groups_of_annotators": "1 where all are joined by common items",
            "share_of_draws_with_switched_labels": "0 where labels keep their meaning",
            "agreement_varies_more_than_independent_errors_z": "large where annotators share errors",
            "agreement_unlike_independent_errors_p": "small where annotators copy; silence is no proof",
            "largest_r_hat": "1 where the chains have mixed",
        },
        "confidence?": "with gold: claimed and calibrated accuracy",
    },
    "subjective": _INTERVALS
    | {
        "by": "what annotators are grouped by",
        "metric": "name",
        "seed": "seed of the draws",
        "groups": "rows: model, group, annotators, annotations, raw and posterior mean, interval",
        "models": "rows: model, mean, dispersion over groups, interval, p-value against chance",
        "agreement": "rows: agreement between and within groups",
    },
    "doctor": {
        "version": "version of bayesagree",
        "python": "version of Python",
        "platform": "operating system",
        "dependencies": "package to version, null where one is missing",
        "extras": "extra to whether it is there",
        "threads": {
            "used": "threads that computations use",
            "processors": "of this machine",
            "OMP_NUM_THREADS": "environment variable",
            "NUMBA_NUM_THREADS": "environment variable",
        },
        "cache": {
            "folder": "where compiled code is kept",
            "writable": "whether it can be",
            "compiled_functions": "how many there are",
        },
        "data": {
            "folder": "what BAYESAGREE_DATA names",
            "exists": "whether it is there",
            "sets": "folders of public data sets that are there",
            "known": "how many there could be",
        },
        "problems": "one sentence for each thing that is wrong",
    },
    "study auc": {
        "mean_swap_error": "rows: case, labels per item and per annotator, mean swap error of each method",
        "claims": "rows: the paper's claims and whether they hold; empty unless the published grid was run",
    },
}
"""Command to its document; ``[]`` stands for the rows of a list."""


def as_markdown(document: Document, depth: int = 0) -> str:
    """Write a document as a nested list.

    Examples
    --------
    >>> print(as_markdown({"seed": "seed of the draws", "models": {"model": "name"}}))
    - `seed`: seed of the draws
    - `models`
      - `model`: name
    """
    return "\n".join(_lines(document, depth))


def _lines(document: Document, depth: int) -> Iterator[str]:
    for key, meaning in document.items():
        nested = isinstance(meaning, Mapping)
        yield f"{'  ' * depth}- `{key}`{'' if nested else f': {meaning}'}"
        if nested:
            yield from _lines(meaning, depth + 1)
