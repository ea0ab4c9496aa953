"""Runs of `bayesagree.comparisons`."""

import bayesagree as ba
from _runs.recipe import FEW, add, later
from _runs.world import ALL_GAMES, GAMES, PLAIN_GAMES
from bayesagree import comparisons as co

odd = co.DavidsonPrior(
    strength_scale=0.8, tie_mean=-0.4, tie_sd=0.7, order_sd=0.3, covariate_sd=0.6, tie_scale=0.7, order_scale=0.4,
    discrimination_scale=0.3, item_scale=0.6,
)  # fmt: skip
for likelihood in ("davidson", "rao_kupper"):
    run = add("davidson", ba.davidson, GAMES, likelihood=likelihood, **FEW)
    run(likelihood=likelihood)
    run(likelihood=likelihood, prior=odd)
    for effects in (
        {"ties": "common", "order": "common", "discrimination": None},
        {"ties": "annotator", "order": "annotator", "discrimination": "annotator"},
        {"ties": "common", "order": None, "discrimination": "annotator"},
        {"ties": "annotator", "order": "common", "discrimination": None},
    ):
        run(likelihood=likelihood, **effects)
        add("davidson ALL", ba.davidson, ALL_GAMES, likelihood=likelihood, prior=odd, **FEW)(
            likelihood=likelihood, item_effects=True, **effects)  # fmt: skip
    add("davidson PLAIN", ba.davidson, PLAIN_GAMES, **FEW)(likelihood=likelihood)
add("davidson", ba.davidson, GAMES, **FEW)(prior=co.DavidsonPrior(strength_sd=0.7))
add("davidson no ties", ba.davidson, PLAIN_GAMES, **FEW)(ties=None, order=None)
add("davidson three chains", ba.davidson, GAMES, draws=7, chains=3, seed=9)(ties="common", order="common")
fit = later(lambda: ba.davidson(GAMES(), draws=30, chains=2, seed=1, ties="annotator", order="annotator",
                                discrimination="annotator"), "fit")  # fmt: skip
whole = later(lambda: ba.davidson(ALL_GAMES(), draws=30, chains=2, seed=1, ties="common", order="common",
                                  item_effects=True), "whole")  # fmt: skip
for tree in (fit, whole):
    for scale in ("strength", "win_rate", "arena"):
        add(f"preference_table {tree.name}", co.preference_table, tree)(scale=scale)
        add(f"preference_table {tree.name}", co.preference_table, tree)(scale=scale, ci_prob=0.6)
    add(f"effect_table {tree.name}", co.effect_table, tree)()
    add(f"effect_table {tree.name}", co.effect_table, tree)(ci_prob=0.5)
