"""Densities of the PyMC models at odd points, and draws of their distributions: one evaluation, nothing compiled."""

from typing import Any

import numpy as np

import bayesagree as ba
from _runs.recipe import add, later
from _runs.world import (
    ALL_GAMES,
    CHANCE,
    ENDS,
    FINE,
    FULL,
    GAMES,
    GOLD,
    KIND,
    LABELS,
    LEVELS,
    MANY,
    MANY_GOLD,
    MANY_ORDERED,
    MANY_SOFT,
    NUMBERS,
    OF_SYSTEM,
    RANKED,
    TWO,
    VERDICTS,
)  # fmt: skip


def densities(make: Any, *given: Any, **options: Any) -> Any:
    """Give the log density of each variable of a model at its start and a step away."""
    import pytensor

    model = make(*given, **options)
    mode = pytensor.compile.Mode(linker="py", optimizer=None)
    start = model.initial_point(random_seed=1)
    step = {k: v + 0.13 * (np.arange(v.size).reshape(v.shape) % 5 - 1.7) / 3 if v.dtype.kind == "f" else v
            for k, v in start.items()}  # fmt: skip
    function = model.compile_logp(sum=False, mode=mode)
    data = {v.name: v.get_value() for v in model.data_vars}
    return [[v.sum() for v in function(step)], sorted(start), data, {k: list(v) for k, v in model.coords.items()}]


run = add("dirichlet_model", densities, ba.dirichlet_model, LABELS)
run(reliability=2.0, prior=0.4)
for variant in ("full", "one_coin", "class_conditional", "hierarchical", "item_difficulty", "mixed_membership"):
    add("dawid_skene_model", densities, ba.dawid_skene_model, LABELS)(variant=variant)
add("dawid_skene_model", densities, ba.dawid_skene_model, LABELS)(variant="full", prior=ba.plausibility.DawidSkenePrior(
    prevalence=2.3, strength=6.1, accuracy=0.55, concentration=7.3))  # fmt: skip
add("dawid_skene_model", densities, ba.dawid_skene_model, LABELS)(variant="full", gold=GOLD)
add("ordered_model", densities, ba.plausibility.ordered_model, MANY_ORDERED)(gold=MANY_GOLD)
add("ordered_model", densities, ba.plausibility.ordered_model, MANY_ORDERED)(predictions=MANY_SOFT)
add("informed_dirichlet_model", densities, ba.informed_dirichlet_model, MANY)(predictions=MANY_SOFT)
add("informed_dirichlet_model ordered", densities, ba.informed_dirichlet_model, MANY_ORDERED)(predictions=MANY_SOFT)
add("informed_normal_model", densities, ba.informed_normal_model, LEVELS)(predictions=NUMBERS)
add("prirn_model", densities, ba.prirn_model, RANKED)()
run = add("plackett_luce_model", densities, ba.plackett_luce_model, RANKED)
run()
run(unranked="lumped", shape=1.4, rate=0.7)
run(competing="named")
add("normal_inverse_gamma_model", densities, ba.normal_inverse_gamma_model, LEVELS)()
people = later(lambda: {f"p{j}": "AABBBCC"[j] for j in range(7)}, "people")
for form in ("graded", "divided"):
    add("group_dirichlet_model", densities, ba.group_dirichlet_model, MANY, groups=people)(form=form)
run = add("common_agreement_model", densities, ba.common_agreement_model, LEVELS)
for mean in ("hierarchical", "flat"):
    for effects in ("none", "shift", "shift_and_spread"):
        run(item_mean=mean, annotator_effects=effects)
run(collapsed=True)
add("common_agreement_model fine", densities, ba.common_agreement_model, FINE)(likelihood="density")
add("common_agreement_model ends", densities, ba.common_agreement_model, ENDS)(likelihood="inflated", item_mean="flat")
for two_way in (True, False):
    add("icc_model", densities, ba.agreement.icc_model, FULL)(two_way=two_way)
for likelihood in ("davidson", "rao_kupper"):
    for effect in ("common", "annotator"):
        add("davidson_model", densities, ba.davidson_model, ALL_GAMES, item_effects=True)(
            likelihood=likelihood, ties=effect, order=effect, discrimination="annotator"
        )
    add("davidson_model GAMES", densities, ba.davidson_model, GAMES)(likelihood=likelihood)
for target in ("share", "truth"):
    run = add("corrected_rate_model", densities, ba.corrected_rate_model, VERDICTS, TWO, positive="yes")
    run(target=target)
    run(target=target, system=OF_SYSTEM, by=KIND, inclusion=CHANCE)


def of_groups(normal):
    """Build the models of groups."""
    from _runs.world import AGES, GIVEN, HARD
    from bayesagree.annotations import Groups
    from bayesagree.subjective import (
        group_counts,
        group_performance,
        group_performance_model,
        group_values,
        normal_group_model,
    )  # fmt: skip

    if normal:
        values = group_values(group_performance(FINE(), GIVEN(), AGES(), ["age"]))
        return normal_group_model(values.values[0], values.group)
    counts = group_counts(LABELS(), HARD(), Groups.by_features(LABELS(), AGES(), ["age"]))
    return group_performance_model(counts, "mid")


for normal in (False, True):
    add("group model", densities, of_groups, normal)()


def drawn(make: Any) -> Any:
    """Draw a variable of our own, and give its mean and log density."""
    import pymc as pm
    import pytensor

    mode = pytensor.compile.Mode(linker="py", optimizer=None)
    with pm.Model():
        variable = make()
        value = pm.draw(variable, 4, random_seed=7, mode=mode)
        height = pm.logp(variable, value[0]).eval(mode=mode)
    return [value, height]


def variables() -> dict[str, Any]:
    """Return distributions that PyMC lacks."""
    from bayesagree._inference import random_draws as r
    from bayesagree.agreement import BinnedBeta
    from bayesagree.plausibility.plackett_luce import PartialRanking

    return {
        "beta": lambda: r.beta_variable("v", np.array([0.01, 2.0]), np.array([0.7, 3.0])),
        "dirichlet": lambda: r.dirichlet_variable("v", np.array([0.02, 2.0, 0.4])),
        "beta_binomial": lambda: r.beta_binomial_variable("v", np.array([4, 9]), 1.5, 0.7),
        "truncated_normal": lambda: r.truncated_normal_variable("v", np.array([0.2, 0.9]), 0.5),
        "BinnedBeta": lambda: BinnedBeta("v", 1.4, 2.2, [0.0, 0.2, 0.5, 0.7, 1.0], low=1, step=1, shape=3),
        "PartialRanking": lambda: PartialRanking("v", np.array([1.0, 0.4, 2.0, 0.7]), [1, 2, 1]),
    }


for name in ("beta", "dirichlet", "beta_binomial", "truncated_normal", "BinnedBeta", "PartialRanking"):
    add(f"variable {name}", drawn, later(lambda name=name: variables()[name], name))()
