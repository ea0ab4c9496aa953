"""Runs of `bayesagree.evaluation`."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import bayesagree as ba
from _runs.metrics import NAMES, OF_RATINGS
from _runs.recipe import FEW, add, later
from _runs.world import (
    GAPPY,
    GOLD,
    HARD,
    LABELS,
    LEVELS,
    MANY,
    MANY_PAGES,
    MANY_SOFT,
    NUMBERS,
    ORDERED,
    PAGES,
    PARTS,
    RANKED,
    RANKED_SOFT,
    RISK,
    SOFT,
)  # fmt: skip
from bayesagree import evaluation as ev

LIST = ["top_1_accuracy", "f1_macro", "log_loss", "brier", "kl", "roc_auc_ovr"]
run = add("evaluate", ba.evaluate, LABELS, SOFT, plausibility="dirichlet", **FEW)
run()
run(reliability=2.5)
run(reliability=[1.0, 4.0], metrics=LIST)
run(metrics=[n for n in NAMES if not n.startswith(("ordinal", "within", "quadratic", "wasser"))])
run(metrics=LIST, truth_is="sampled")
run(metrics=LIST, items="bootstrap")
run(metrics=LIST, items="bootstrap", cluster=PAGES)
run(metrics=LIST, by=PARTS)
run(metrics=LIST, by=PARTS, items="bootstrap")
run(metrics=LIST, another_annotator=True)
run(metrics=LIST, items="bootstrap", cluster=PAGES, another_annotator=True)
run(another_annotator=True, items="bootstrap")
run(seed=9, draws=5, chains=3)
add("evaluate hard", ba.evaluate, LABELS, HARD, plausibility="dirichlet", **FEW)()
add("evaluate auto", ba.evaluate, LABELS, HARD, **FEW)()
for missing in ("error", "wrong", "skip"):
    add("evaluate gappy", ba.evaluate, LABELS, GAPPY, plausibility="dirichlet", **FEW)(missing=missing)
    add("evaluate gappy", ba.evaluate, LABELS, GAPPY, plausibility="dirichlet", **FEW)(missing=missing, by=PARTS)
run = add("evaluate crowd", ba.evaluate, LABELS, SOFT, plausibility="dawid_skene", **FEW)
for variant in ("one_coin", "full", "mixed_membership"):
    run(variant=variant, tune=4)
run(variant="one_coin", tune=4, gold=GOLD, items="bootstrap")
run = add("evaluate MANY", ba.evaluate, MANY, MANY_SOFT, **FEW)
run()
run(metrics=LIST, items="bootstrap", cluster=MANY_PAGES)
run(plausibility="informed_dirichlet", metrics=LIST, exclude=["low"])
run(plausibility="dirichlet", reliability=[1.0, 2.0])
add("evaluate ordered", ba.evaluate, ORDERED, SOFT, plausibility="dirichlet", **FEW)(
    metrics=["ordinal_mae", "within_one_accuracy", "quadratic_kappa", "wasserstein"]
)
run = add("evaluate ratings", ba.evaluate, LEVELS, NUMBERS, **FEW)
run()
run(metrics=OF_RATINGS[:-1], items="bootstrap")
run(metrics=OF_RATINGS[:-1], another_annotator=True)
run(metrics=OF_RATINGS[:-1], plausibility="normal_inverse_gamma", reliability=[1.0, 2.0])
run(plausibility="informed_normal")
run = add("evaluate rankings", ba.evaluate, RANKED, RANKED_SOFT, **FEW)
run()
run(plausibility="prirn", reliability=[1.0, 5.0], metrics=["top_1_accuracy", "average_overlap_2"])
run(plausibility="plackett_luce", tune=3, another_annotator=True)
drawn = later(lambda: ba.dirichlet(LABELS(), **FEW), "drawn")
add("evaluate a trace", ba.evaluate, LABELS, SOFT, plausibility=drawn, seed=3)(metrics=LIST)
sides = {"ann": "P", "bob": "P", "cyn": "Q", "dan": "R", "eve": "Q"}
run = add("evaluate groups", ba.evaluate, LABELS, SOFT, plausibility="group_dirichlet", groups=sides, **FEW)
run()
run(population={"P": 0.5, "Q": 0.2, "R": 0.3})


def study(**options):
    """Run a small study of rankings."""
    given = {"prirn_reliability": (2, 5), "plackett_luce_reliability": (1, 2), "draws": 8, "chains": 2, "seed": 1}
    return ev.ranking_study(RANKED(), RANKED_SOFT(), risk=RISK, **(given | options))


def in_batches(**options):
    """Evaluate items that come in parts."""
    first = LABELS().item_index < 8
    halves = [LABELS().select(first), LABELS().select(~first)]
    parts = ((labels, SOFT().on_items(labels.items)) for labels in halves)
    return ba.evaluate(parts, plausibility="dirichlet", **FEW, **options)


add("evaluate parts", in_batches)()
add("evaluate parts", in_batches)(metrics=["top_1_accuracy", "brier"])


def to_disk(**options):
    """Evaluate with draws on disk."""
    with TemporaryDirectory() as folder:
        return ba.evaluate(
            LABELS(), SOFT(), plausibility="dirichlet", to=Path(folder) / "kept.zarr", **FEW, **options
        ).load()


add("evaluate to a store", to_disk)()
more = {"draws": 40, "chains": 2, "seed": 3}
result = later(
    lambda: ba.evaluate(LABELS(), SOFT(), plausibility="dirichlet", metrics=LIST, reliability=[1.0, 4.0], **more),
    "result",
)
plain = later(lambda: ba.evaluate(LABELS(), SOFT(), plausibility="dirichlet", metrics=LIST, **more), "plain")
sliced = later(
    lambda: ba.evaluate(LABELS(), SOFT(), plausibility="dirichlet", metrics=LIST, by=PARTS(), **more), "sliced"
)
for metric in ("top_1_accuracy", "log_loss"):
    add("compare", ba.compare, result)(metric=metric, reliability=4.0)
    add("compare", ba.compare, plain)(metric=metric, ci_prob=0.5)
    add("compare sliced", ba.compare, sliced)(metric=metric)
    add("practical_equivalence", ev.practical_equivalence, plain)(metric=metric, rope=0.05)
    add("practical_equivalence", ev.practical_equivalence, result)(metric=metric, reliability=1.0, ci_prob=0.6)
    add(f"model_ranks {metric}", ev.model_ranks, later(study), metric)()
add("certainty_correlation", ev.certainty_correlation, later(lambda: study(), "study"))()
run = add("assert_better", ba.assert_better, LABELS, SOFT, "top", "low", plausibility="dirichlet", **FEW)
run(probability=0.1)
run(probability=0.999, margin=0.4)
run(metric="log_loss", probability=0.999)
add("assert_better wrong way", ba.assert_better, LABELS, SOFT, "low", "top", plausibility="dirichlet", **FEW)()
add("copeland_rank", ev.copeland_rank, [0.4, 0.7, 0.7, 0.2])()
add("copeland_rank", ev.copeland_rank, [0.4, 0.7, 0.6, 0.2])(
    different=np.array([[0, 1, 0, 1], [1, 0, 0, 1], [0, 0, 0, 1], [1, 1, 1, 0]], bool)
)
a, b = np.array([0.3, 0.9, 0.4, 0.4, 0.7]), np.array([0.2, 0.5, 0.6, 0.1, 0.8])
for measure in ("pearson", "spearman", "kendall", "swap_rate"):
    add("correlation", ev.correlation, a, b)(measure=measure)
add("swap_rate", ev.swap_rate, a, b)()
add("paired_t_test", ev.paired_t_test, np.random.default_rng(1).normal([[0.1], [0.6], [0.0]], size=(3, 8)))()
for correction in ("williams", "hotelling"):
    add("williams_test", ev.williams_test, 0.7, 0.55, 0.4, 12)(correction=correction)
    add("williams_test turned", ev.williams_test, 0.3, 0.55, 0.4, 12)(correction=correction)


run = add("ranking_study", study)
run()
run(unranked="exact", plackett_luce_reliability=(1,), prirn_reliability=(2,))
for aggregation in ("prirn", "plackett_luce"):
    add(f"saturated_items {aggregation}", ev.saturated_items, later(study), aggregation)()
