"""Runs of `bayesagree.plausibility` and of draws as such."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import bayesagree as ba
from _runs.recipe import FEW, add, later
from _runs.world import (
    COUNTS,
    FINE,
    GOLD,
    LABELS,
    LEVELS,
    MANY,
    MANY_GOLD,
    MANY_HARD,
    MANY_ORDERED,
    MANY_SOFT,
    NUMBERS,
    OFFERED,
    ORDERED,
    RANKED,
    RISK,
    SOFT,
    TWICE,
    TWO,
)  # fmt: skip
from bayesagree import plausibility as pl
from bayesagree.plausibility.group_dirichlet import GroupDirichletPrior
from bayesagree.plausibility.informed import InformedPrior
from bayesagree.plausibility.informed_normal import InformedNormalPrior
from bayesagree.plausibility.normal_inverse_gamma import NormalInverseGammaPrior

run = add("dirichlet", ba.dirichlet, LABELS, **FEW)
run()
run(reliability=2.5)
run(reliability=0)
run(prior=0.3)
run(prior=[0.2, 0.5, 0.9])
run(top_labels=2)
run(chains=3, draws=5, seed=4)
run(max_bytes=100)
for data in (COUNTS, TWICE, MANY):
    add(f"dirichlet {data.name}", ba.dirichlet, data, **FEW)()
add("dirichlet many labels", ba.dirichlet, later(lambda: ba.Labels.from_matrix(
    [[1, 3, 5], [2, 2, 9], [7, 1, None]], labels=list(range(300)))), **FEW)(top_labels=3)  # fmt: skip
# Draws enough that compiled code makes them.
large = later(lambda: ba.Labels.from_matrix(
    np.random.default_rng(1).integers(0, 40, (70, 3)).tolist(), labels=list(range(40))))  # fmt: skip
add("dirichlet compiled", ba.dirichlet, large, draws=4000, chains=1, seed=2)(top_labels=1)
add("dirichlet compiled", ba.dirichlet, large, draws=4000, chains=1, seed=2)(top_labels=1, prior=0.01, reliability=3)


def stored(function, *given, **options):
    """Draw to a store and read it back."""
    with TemporaryDirectory() as folder:
        return function(*given, to=Path(folder) / "kept.zarr", **options).load()


add("dirichlet to a store", stored, ba.dirichlet, MANY, **FEW)()
add("dirichlet to a store", stored, ba.dirichlet, MANY, **FEW)(top_labels=2)

run = add("prirn", ba.prirn, RANKED, **FEW)
run()
run(reliability=3.0, prior=0.2)
run(ties="full")
run(top_labels=2)
for ties in ("split", "full"):
    add("irn", pl.irn, RANKED)(ties=ties)

run = add("plackett_luce", ba.plackett_luce, RANKED, tune=3, **FEW)
run()
run(unranked="lumped")
run(competing="named")
run(reliability=2, shape=1.7, rate=0.6, thin=2)
run(top_labels=2)
run(unranked="lumped", top_labels=2)
run(unranked="lumped", reliability=3)
add("plackett_luce OFFERED", ba.plackett_luce, OFFERED, tune=3, **FEW)()
add("plackett_luce OFFERED", ba.plackett_luce, OFFERED, tune=3, **FEW)(competing="named")
for competing in ("all", "named"):
    add("plackett_luce_ml", pl.plackett_luce_ml, RANKED)(competing=competing)
    add("plackett_luce_ml", pl.plackett_luce_ml, RANKED)(competing=competing, shape=1.4)
    worth = later(lambda: ba.plackett_luce(RANKED(), tune=3, **FEW)["posterior"]["plausibility"], "worth")
    add("plackett_luce_log_likelihood", pl.plackett_luce_log_likelihood, RANKED, worth)(competing=competing)

nig = NormalInverseGammaPrior(mean=2.7, strength=0.8, shape=2.1, scale=0.4)
run = add("normal_inverse_gamma", ba.normal_inverse_gamma, LEVELS, **FEW)
run()
run(reliability=2.2)
run(prior=nig)
add("normal_inverse_gamma fine", ba.normal_inverse_gamma, FINE, **FEW)()
add("normal_inverse_gamma to a store", stored, ba.normal_inverse_gamma, LEVELS, **FEW)()
run = add("informed_normal", ba.informed_normal, LEVELS, NUMBERS, **FEW)
run()
run(prior=InformedNormalPrior(intercept=0.4, intercept_sd=0.3, slope_sd=0.7, sd_rating=0.6, sd_item=0.35))
add("informed_normal fine", ba.informed_normal, FINE, NUMBERS, **FEW)()

odd = pl.DawidSkenePrior(
    prevalence=2.3, strength=6.1, accuracy=0.55, concentration=7.3, concentration_sd=0.8, ability=1.2, ability_sd=0.9,
    difficulty_sd=0.7, ambiguity=0.4, ambiguity_sd=0.8,
)  # fmt: skip
quick = {"tune": 4}
run = add("dawid_skene", ba.dawid_skene, LABELS, **quick, **FEW)
for variant in ("full", "one_coin", "class_conditional", "hierarchical", "item_difficulty", "mixed_membership"):
    run(variant=variant)
    run(variant=variant, prior=odd)
    run(variant=variant, gold=GOLD)
    if variant != "item_difficulty":
        run(variant=variant, predictions=SOFT)
    run(variant=variant, thin=2, seed=5)
    add("dawid_skene TWO", ba.dawid_skene, TWO, **quick, **FEW)(variant=variant)
    add("dawid_skene TWICE", ba.dawid_skene, TWICE, **quick, **FEW)(variant=variant)
run(variant="hierarchical", restarts=1)
run(variant="full", candidates="observed")
run(variant="one_coin", top_labels=2, confusion=False)
run(variant="full", top_labels=1)
run(variant="auto")
add("dawid_skene ordered", ba.dawid_skene, MANY_ORDERED, **quick, **FEW)(variant="ordered")
add("dawid_skene ordered", ba.dawid_skene, MANY_ORDERED, **quick, **FEW)(variant="ordered", gold=MANY_GOLD)
add("dawid_skene ordered", ba.dawid_skene, MANY_ORDERED, **quick, **FEW)(variant="ordered", predictions=MANY_SOFT)
add("dawid_skene ordered", ba.dawid_skene, ORDERED, **quick, **FEW)(variant="auto")
for variant in ("full", "one_coin", "class_conditional"):
    em = add("dawid_skene em", ba.dawid_skene, LABELS, engine="em", seed=1)
    em(variant=variant)
    em(variant=variant, gold=GOLD, prior=odd)
    em(variant=variant, predictions=SOFT)
    em(variant=variant, candidates="observed", max_iterations=3)
pixels = later(lambda: ba.Labels.from_matrix(
    (np.random.default_rng(5).random((300, 4)) < [0.3, 0.5, 0.6, 0.45]).astype(int), labels=[0, 1]))  # fmt: skip
for variant in ("full", "class_conditional", "one_coin", "hierarchical"):
    add("dawid_skene pixels", ba.dawid_skene, pixels, **quick, **FEW)(variant=variant)


def batches(**options):
    """Estimate by EM from parts of the labels."""
    labels = MANY()
    first = labels.item_index < 17
    return ba.dawid_skene(iter([labels.select(first), labels.select(~first)]), engine="em", **options)


add("dawid_skene em of parts", batches)(variant="full")
crowd = later(lambda: ba.dawid_skene(LABELS(), variant="one_coin", tune=4, **FEW), "crowd")
estimate = later(lambda: ba.dawid_skene(LABELS(), engine="em", seed=1), "estimate")
for tree in (crowd, estimate):
    add(f"label_probability {tree.name}", pl.label_probability, tree)()

steep = InformedPrior(
    slope_sd=0.4, level_sd=1.1, clarity_sd=0.8, confusion_sd=0.6, open_concentration=(0.8, 1.2),
    clear_concentration=(2.2, 0.9), clear_odds=(-5.0, 1.5), blur=(-2.5, 0.9), entropy_slope_sd=0.8,
)  # fmt: skip
run = add("informed_dirichlet", ba.informed_dirichlet, MANY, MANY_SOFT, **FEW)
run()
run(prior=steep)
run(exclude=["low"])
run(top_labels=2)
add("informed_dirichlet hard", ba.informed_dirichlet, MANY, MANY_HARD, **FEW)()
run = add("informed_dirichlet ordered", ba.informed_dirichlet, MANY_ORDERED, MANY_SOFT, **FEW)
run()
run(prior=steep)
run(form="nominal")
add("informed_dirichlet ordered hard", ba.informed_dirichlet, MANY_ORDERED, MANY_HARD, **FEW)()
add("informed_dirichlet small", ba.informed_dirichlet, LABELS, SOFT, **FEW)()
add("informed_dirichlet form", ba.informed_dirichlet, MANY, MANY_SOFT, **FEW)(form="ordered")
run = add("informed_prior_mean", pl.informed_prior_mean, MANY, MANY_SOFT, seed=1)
run()
run(exclude=["top"], prior=steep)

sides = {"ann": "P", "bob": "P", "cyn": "Q", "dan": "R", "eve": "Q"}
run = add("group_dirichlet", ba.group_dirichlet, LABELS, groups=sides, **FEW)
run()
run(form="divided")
run(careful=True)
run(
    prior=GroupDirichletPrior(
        similarity=60.0,
        similarity_sd=1.5,
        leaning=20.0,
        divided=1.4,
        shape_sd=1.1,
        careful=3.0,
        careless=0.7,
        worth=8.0,
    )
)
run(form="divided", careful=True, prior=GroupDirichletPrior(divided=2.0, careful=3.0, careless=0.6, worth=5.0))
run(top_labels=2)
people = later(lambda: {f"p{j}": "AABBBCC"[j] for j in range(7)}, "people")
run = add("group_dirichlet MANY", ba.group_dirichlet, MANY, groups=people, **FEW)
run()
run(predictions=MANY_SOFT)
run(form="divided", careful=True)

for ties in ("split", "first", "random", "exclude"):
    add("majority_vote", ba.majority_vote, LABELS, seed=2)(ties=ties)
    add("majority_vote COUNTS", ba.majority_vote, COUNTS, seed=2)(ties=ties)

drawn = later(lambda: ba.dirichlet(LABELS(), **FEW), "dirichlet")
best = later(lambda: ba.dirichlet(LABELS(), top_labels=2, **FEW), "top_labels")
means = later(lambda: ba.normal_inverse_gamma(LEVELS(), **FEW), "ratings")
worths = later(lambda: ba.plackett_luce(RANKED(), tune=3, **FEW), "rankings")
risk = dict(zip("xyz", (0.0, 1.0, 3.0)))
for tree, more in ((drawn, {}), (best, {}), (means, {"threshold": 3.0}), (crowd, {}), (worths, {})):
    levels = risk if tree in (drawn, best, crowd) else RISK if tree is worths else {"below": 0.0, "at_or_above": 2.0}
    for name in ("annotation_certainty", "label_certainty", "plausibility_entropy"):
        function = getattr(ba.certainty, name)
        given = {} if name == "plausibility_entropy" else more
        add(f"{name} {tree.name}", function, tree, **given)()
        if tree in (drawn, best, means):
            add(f"{name} {tree.name}", function, tree, **given)(exact=True)
    add(f"annotation_certainty {tree.name}", ba.annotation_certainty, tree, **more)(k=2)
    for name in ("risk_certainty", "expected_risk", "level_probability"):
        for truth_is in ("top", "mass"):
            add(f"{name} {tree.name}", getattr(ba.certainty, name), tree, levels, **more)(truth_is=truth_is)

run = add("calibrate", ba.calibrate, crowd, GOLD, seed=1)
run()
many_crowd = later(lambda: ba.dawid_skene(MANY(), variant="one_coin", tune=4, **FEW), "many crowd")
run = add("calibrate MANY", ba.calibrate, many_crowd, MANY_GOLD, seed=1)
run()
calibrated = later(lambda: ba.calibrate(many_crowd(), MANY_GOLD(), seed=1), "calibrated")
add("gold_items_needed", pl.gold_items_needed, calibrated)(width=0.2)
run = add("calibration_scores", pl.calibration_scores, later(lambda: pl.label_probability(many_crowd())), MANY_GOLD)
run()
run(bins=4)
run = add("pool_with_votes", pl.pool_with_votes, many_crowd, MANY, seed=1)
run()
run(weight=0.8)
for data in (LABELS, MANY, TWO, LEVELS, FINE, RANKED, ORDERED):
    add(f"fitting_posteriors {data.name}", lambda of: [r.name for r in pl.fitting_posteriors(of)], data)()
