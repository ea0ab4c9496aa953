# ruff: noqa: E501
"""Runs of `bayesagree.predictive`."""

import bayesagree as ba
from _runs.recipe import add, later
from _runs.world import FINE, LABELS, LEVELS, MANY, MANY_ORDERED, MANY_SOFT, RANKED, TWO
from bayesagree import predictive as pr

fits = {
    "dirichlet": (LABELS, lambda d, **o: ba.dirichlet(d, **o)),
    "plackett_luce": (RANKED, lambda d, **o: ba.plackett_luce(d, tune=3, **o)),
    "normal_inverse_gamma": (LEVELS, lambda d, **o: ba.normal_inverse_gamma(d, **o)),
    "normal_inverse_gamma fine": (FINE, lambda d, **o: ba.normal_inverse_gamma(d, **o)),
    "common_agreement": (LEVELS, lambda d, **o: ba.common_agreement(d, item_mean="flat", keep_item_means=True, **o)),
    "common_agreement effects": (
        LEVELS, lambda d, **o: ba.common_agreement(d, annotator_effects="shift", likelihood="binned", keep_item_means=True, **o)),
}  # fmt: skip
for variant in ("full", "one_coin", "class_conditional", "hierarchical", "item_difficulty", "mixed_membership"):
    fits[f"dawid_skene {variant}"] = (LABELS, lambda d, v=variant, **o: ba.dawid_skene(d, variant=v, tune=4, **o))
fits["dawid_skene ordered"] = (MANY_ORDERED, lambda d, **o: ba.dawid_skene(d, variant="ordered", tune=4, **o))


def loo(tree, annotations):
    """Give the numbers of leave-one-out."""
    found = pr.item_loo(pr.with_log_likelihood(tree, annotations, seed=1))
    return {key: getattr(found, key, None) for key in ("elpd", "se", "p", "pareto_k")}


trees = {
    name: later(lambda data=data, make=make: make(data(), draws=16, chains=2, seed=3), name)
    for name, (data, make) in fits.items()
}
for name, (data, _) in fits.items():
    add(f"with_log_likelihood {name}", lambda *a, **o: pr.with_log_likelihood(*a, **o)["log_likelihood"], trees[name], data,
        seed=1)(draws=10)  # fmt: skip
    add(
        f"with_posterior_predictive {name}",
        lambda *a, **o: pr.with_posterior_predictive(*a, **o)["posterior_predictive"],
        trees[name],
        data,
        seed=1,
    )()
    add(f"item_loo {name}", loo, trees[name], data)()
for name, data in (("dirichlet", LABELS), ("dawid_skene", LABELS), ("normal_inverse_gamma", LEVELS), ("prirn", RANKED),
                   ("plackett_luce", RANKED), ("informed_dirichlet", MANY)):  # fmt: skip
    more = {"predictions": MANY_SOFT} if name.startswith("informed") else {}
    more |= {"variant": "full"} if name == "dawid_skene" else {}
    add("prior_predictive", pr.prior_predictive, data, draws=8, seed=1, **more)(plausibility=name)
for variant in ("full", "one_coin"):
    add("prior_sensitivity", pr.prior_sensitivity, LABELS, draws=20, seed=1)(variant=variant)
for data in (LABELS, MANY, TWO):
    add(f"reliability_curve {data.name}", pr.reliability_curve, data, seed=1)(replicates=20)
add("reliability_curve", pr.reliability_curve, LABELS, seed=1)(
    reliabilities=[0.5, 2.0], plausibility="dirichlet", prior=0.3
)
add("reliability_curve", pr.reliability_curve, LABELS, seed=1)(plausibility="dawid_skene", replicates=10)
for name in ("prirn", "plackett_luce"):
    add("reliability_curve rankings", pr.reliability_curve, RANKED, seed=1)(
        reliabilities=[1, 3], plausibility=name, replicates=20
    )
add("annotation_parts", pr.annotation_parts, LABELS)()
for name in [n for n in fits if n.startswith("dawid_skene") and "gold" not in n]:
    data = fits[name][0]
    add(f"annotator_table {name}", pr.annotator_table, trees[name])()
    add(f"label_switching {name}", pr.label_switching, trees[name])()
    add(f"agreement_check {name}", pr.agreement_check, data, trees[name], seed=1)(replicates=10)
