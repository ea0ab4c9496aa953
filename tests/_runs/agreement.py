"""Runs of `bayesagree.agreement`."""

import pandas as pd

import bayesagree as ba
from _runs.recipe import FEW, add, later
from _runs.world import (
    COUNTS,
    ENDS,
    FINE,
    FULL,
    LABELS,
    LEVELS,
    NUMBERS,
    ORDERED,
    PAGES,
    RANKED,
    TWICE,
    TWO,
)  # fmt: skip
from bayesagree import agreement as ag

SEED = {"seed": 3}
PRIOR = ag.AgreementPrior(phi=(1.3, 0.9), mean_location=(1.2, 1.7), mean_spread=(2.1, 0.8), annotator_shift=0.7)

run = add("agreement_table labels", ag.agreement_table, LABELS, **SEED)
run()
run(weights="linear")
run(level="ordinal")
run(cluster=PAGES)
run(annotators="sample", ci_prob=0.8)
run(distance=lambda a, b: (a != b) * 1.0 + 0.5 * (a == "x") * (b == "z") + 0.5 * (a == "z") * (b == "x"))
for data in (ORDERED, TWO, COUNTS, TWICE, LEVELS, FINE, FULL, RANKED):
    add(f"agreement_table {data.name}", ag.agreement_table, data, **SEED)()
run = add("agreement_table levels", ag.agreement_table, LEVELS, **SEED)
run(level="ratio", annotators="sample", weights="quadratic")
add("agreement_table full", ag.agreement_table, FULL, **SEED)(level="interval", ci_prob=0.5)
two_people = later(
    lambda: ba.Labels.from_matrix([[*"xy"], [*"xx"], [*"yz"], [*"zz"], [*"yy"], [*"xz"], [*"yx"]], labels=[*"xyz"])
)
run = add("agreement_table two people", ag.agreement_table, two_people, **SEED)
run()
run(weights="quadratic", level="ordinal")
run = add("agreement_difference", ag.agreement_difference, LABELS, two_people, **SEED)
run()
run(level="ordinal", weights="linear", ci_prob=0.7)
add("agreement_difference ratings", ag.agreement_difference, LEVELS, FULL, **SEED)(level="interval")
add("agreement_difference same items", ag.agreement_difference, LABELS, TWO, **SEED)(cluster=PAGES)
for data in (LABELS, RANKED):
    add(f"annotator_agreement {data.name}", ag.annotator_agreement, data)()
run = add("krippendorff_alpha", ag.krippendorff_alpha, LEVELS)
for level in ("nominal", "ordinal", "interval", "ratio"):
    run(level=level)
add("krippendorff_alpha labels", ag.krippendorff_alpha, COUNTS)()
run = add("icc", ag.icc, FULL, **SEED)
run()
run(kind="2,k", k=4)
run(kind="1,1", ci_prob=0.8)
add("icc missing", ag.icc, FINE, **SEED)()
add("icc levels", ag.icc, LEVELS, **SEED)()
spans = pd.DataFrame(
    [("d1", "ann", 0, 4, "P"), ("d1", "ann", 6, 9, "L"), ("d1", "bob", 0, 5, "P"), ("d1", "bob", 6, 9, "L"),
     ("d1", "cyn", 7, 9, "P"), ("d2", "ann", 2, 8, "P"), ("d2", "bob", 2, 8, "P"), ("d2", "bob", 10, 12, "L"),
     ("d3", "cyn", 1, 3, "L"), ("d3", "ann", 1, 4, "L"), ("d3", "bob", 0, 3, "P")],
    columns=["document", "annotator", "start", "end", "label"],
)  # fmt: skip
run = add("span_f1", ag.span_f1, spans, **SEED)
run()
run(match="overlap")
run(ci_prob=0.6)
run = add("limits_of_agreement", ag.limits_of_agreement, FINE)
run()
run(predictions=NUMBERS)
run(share=0.8, ci_prob=0.7, annotators=["ann", "cyn"])

run = add("common_agreement levels", ag.common_agreement, LEVELS, **FEW)
run()
run(item_mean="flat", keep_item_means=True)
run(likelihood="binned", keep_item_means=True)
run(prior=PRIOR, item_mean="flat")
run(item_mean="flat", ci_prob=0.5)
for effects in ("shift", "shift_and_spread"):
    run(annotator_effects=effects, likelihood="binned")
    run(annotator_effects=effects, likelihood="binned", prior=PRIOR, keep_item_means=True)
truth = later(lambda: {f"r{i:02d}": 1.5 + 0.25 * i for i in range(12)}, "truth")
run(item_mean=truth)
run(item_mean=truth, truth_sd=0.4)
fine = add("common_agreement fine", ag.common_agreement, FINE, **FEW)
fine()
fine(item_mean="flat", keep_item_means=True)
fine(likelihood="density")
fine(annotator_effects="shift")
ends = add("common_agreement ends", ag.common_agreement, ENDS, **FEW)
ends(item_mean="flat", likelihood="inflated", keep_item_means=True)
ends(item_mean="flat")
phi = later(lambda: ba.common_agreement(LEVELS(), item_mean="flat", keep_item_means=True, **FEW))
levels = later(lambda: ba.common_agreement(LEVELS(), annotator_effects="shift_and_spread", likelihood="binned", **FEW))
other = later(lambda: ba.common_agreement(FULL(), item_mean="flat", **FEW))
add("annotator_levels", ag.annotator_levels, levels)()
add("annotator_levels", ag.annotator_levels, levels)(ci_prob=0.6)
add("phi_summary", ag.phi_summary, phi)()
add("phi_summary", ag.phi_summary, phi)(ci_prob=0.5)
add("phi_difference", ag.phi_difference, phi, other)()
add("item_fit", ag.item_fit, LEVELS, draws=40, seed=2)()
add("item_fit", ag.item_fit, LEVELS, draws=40, seed=2)(item_mean="flat", prior=PRIOR, threshold=0.2)
add("item_mean_check", ag.item_mean_check, LEVELS, draws=40, seed=2)()
add("phi_clusters", ag.phi_clusters, LEVELS, n_clusters=(1, 2), folds=3, seed=1)()
