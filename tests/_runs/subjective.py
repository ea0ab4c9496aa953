"""Runs of `bayesagree.subjective`."""

import pandas as pd
from _hostile import ITEMS

import bayesagree as ba
from _runs.recipe import FEW, add, later
from _runs.world import (
    AGES,
    COUNTS,
    FINE,
    GIVEN,
    GROUPS,
    HARD,
    LABELS,
    LEVELS,
    MANY,
    MANY_AGES,
    MANY_HARD,
    MANY_SOFT,
    ORDERED,
    PARTS,
    SOFT,
    TWICE,
    TWO,
)  # fmt: skip
from bayesagree import subjective as sj
from bayesagree.annotations import Groups

AGE = {"by": ["age"]}
for data in (LABELS, TWO, TWICE, MANY):
    run = add(f"crowdtruth {data.name}", ba.crowdtruth, data)
    run()
    run(closed=False)
    run(tolerance=0.2, max_iterations=3)
    add(f"crowdtruth_posterior {data.name}", sj.crowdtruth_posterior, data, **FEW)()
add("crowdtruth_posterior", sj.crowdtruth_posterior, LABELS, **FEW)(closed=False)
quality = later(lambda: sj.crowdtruth_posterior(MANY(), draws=20, chains=2, seed=1), "quality")
add("spammers", sj.spammers, quality)()
add("spammers", sj.spammers, quality)(probability=0.3)
for metric in (None, "accuracy"):
    add("annotator_performance", sj.annotator_performance, LABELS, HARD)(metric=metric)
    add("group_performance", sj.group_performance, LABELS, HARD, AGES, **AGE)(metric=metric)
for metric in (None, "absolute_error", "correlation"):
    add("annotator_performance ratings", sj.annotator_performance, LEVELS, GIVEN)(metric=metric)
    add("group_performance ratings", sj.group_performance, LEVELS, GIVEN, AGES, **AGE)(metric=metric)
add("group_performance soft", sj.group_performance, LABELS, SOFT, AGES)(by=["age", "sex"])
add("group_performance groups", sj.group_performance, LABELS, HARD, GROUPS)()
performance = later(lambda: sj.group_performance(LABELS(), HARD(), AGES(), ["age", "sex"]), "performance")
wide = later(lambda: sj.group_performance(MANY(), MANY_HARD(), MANY_AGES(), ["age"]), "wide")
rated = later(lambda: sj.group_performance(FINE(), GIVEN(), AGES(), ["age"]), "rated")
for result in (performance, wide, rated):
    add(f"dispersion_draws {result.name}", sj.dispersion_draws, result, draws=20, seed=1)()
    add(f"dispersion_null {result.name}", sj.dispersion_null, result, permutations=30, seed=1)()
    add(f"dispersion_null {result.name}", sj.dispersion_null, result, permutations=30, seed=1)(
        significance=0.3, ci_prob=0.6
    )
    add(f"left_out {result.name}", sj.left_out, result)()
    add(f"group_values {result.name}", sj.group_values, result)()
    add(f"normal_group_posterior {result.name}", sj.normal_group_posterior, result, **FEW)()
prior = sj.GroupPrior(location=(1.5, 1.2), within_spread=(1.4, 0.8), between_spread=(0.7, 1.3))
run = add("group_posterior", ba.group_posterior, LABELS, HARD, AGES, **FEW)
run(by=["age"], prior=prior)
run = add("group_posterior MANY", ba.group_posterior, MANY, MANY_SOFT, MANY_AGES, **FEW)
run(by=["age"])
run(by=["age", "sex"], prior=prior)
posterior = later(
    lambda: ba.group_posterior(MANY(), MANY_HARD(), MANY_AGES(), ["age"], draws=30, chains=2, seed=1), "g"
)
normal = later(lambda: sj.normal_group_posterior(rated(), draws=30, chains=2, seed=1), "n")
for tree in (posterior, normal):
    add(f"group_summary {tree.name}", sj.group_summary, tree)()
    add(f"group_summary {tree.name}", sj.group_summary, tree)(ci_prob=0.5)
    add(f"prob_worse {tree.name}", sj.prob_worse, tree)()
    add(f"prob_worse {tree.name}", sj.prob_worse, tree)(margin=0.03)
add("minimum_group_size", sj.minimum_group_size, posterior)()
add("minimum_group_size", sj.minimum_group_size, posterior)(half_width=0.1, labels_per_annotator=4, ci_prob=0.8)
add("group_counts", sj.group_counts, LABELS, HARD, GROUPS)()
for data, who in ((LABELS, AGES), (MANY, MANY_AGES), (ORDERED, AGES), (LEVELS, AGES), (FINE, AGES)):
    run = add(f"group_agreement {data.name}", sj.group_agreement, data, who, seed=1)
    run(by=["age"])
    run(by=["sex"], ci_prob=0.6)
add("group_phi", sj.group_phi, LEVELS, AGES, **FEW)(by=["age"])
add("group_permutation_test", sj.group_permutation_test, LABELS, GROUPS, seed=1)(permutations=40)
many_groups = later(lambda: Groups.by_features(MANY(), MANY_AGES(), ["age", "sex"]), "groups")
add("group_permutation_test MANY", sj.group_permutation_test, MANY, many_groups, seed=1)(permutations=40)
for ties in ("full", "exclude"):
    for own in (True, False):
        add("disagreement_rate", sj.disagreement_rate, LABELS)(ties=ties, own_vote=own)
        add("disagreement_rate MANY", sj.disagreement_rate, MANY)(ties=ties, own_vote=own)
add("disagreement_rate", sj.disagreement_rate, LABELS)(items=["t01", "t04", "t07", "t11"])
sides = {f"p{j}": "AABBBCC"[j] for j in range(7)}
truth = later(lambda: ba.group_dirichlet(MANY(), groups=sides, draws=20, chains=2, seed=1), "truth")
add("dividing_items", sj.dividing_items, truth)()
for share in (0.4, 0.1, 0.2, 0.6, 0.8, 0.9):
    add("dividing_items", sj.dividing_items, truth)(false_share=share)
scores = later(lambda: sj.annotator_performance(LABELS(), HARD()), "scores")
add("individual_unfairness", sj.individual_unfairness, AGES, scores)(similarity=["age"])
add("individual_unfairness", sj.individual_unfairness, AGES, scores)(similarity=["age", "sex"], at_least=0.5)
add("recode", sj.recode, LEVELS)(labels=3.0)
add("recode", sj.recode, LEVELS)(labels={1: "a", 2: "a", 3: "b", 4: "c", 5: "c"})
for data in (LABELS, COUNTS, LEVELS):
    add(f"without_items {data.name}", lambda of: sj.without_items(of, of.items[1:3]), data)()
spec = sj.EvaluationSpecification(
    "old and young are served alike", metrics=["accuracy"], protected=["age"], representative=["sex"],
    annotators={"age": {"old": 0.6, "young": 0.4}, "sex": {"f": 0.5, "m": 0.5}}, items={"part": {"p": 0.6, "q": 0.4}},
    labels={"x": 0.2, "y": 0.4, "z": 0.4}, labels_per_item=3, labels_per_group_and_item=2, smallest_group=2,
)  # fmt: skip
alone = sj.EvaluationSpecification(
    "people alike are served alike", fairness="individual", similarity=["age"], annotators_reason="few came",
    items_reason="all there are", collection="by post", labels_per_item=2,
)  # fmt: skip
features = later(lambda: pd.DataFrame({"item": ITEMS, "part": PARTS().to_numpy()}).set_index("item"), "features")


def checked(declared, **options):
    """Check a specification, and give its texts too."""
    found = sj.check_specification(declared, LABELS(), AGES(), **options)
    return [found, found.to_json(), found.to_markdown(), declared.to_json()]


for declared in (spec, alone):
    run = add(f"check_specification {declared.fairness}", checked, declared)
    run(items=features)
    run(scores=performance, items=features)
