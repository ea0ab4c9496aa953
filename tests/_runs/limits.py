"""Runs in which a number of the package is another: where the data meet a limit exactly, and where they pass it by one.

There `<` in the place of `<=` is noticed, and lines that only large data reach are run by small ones.
"""

from importlib import import_module
from typing import Any

from _runs.recipe import RUNS, within

LIMITS: list[tuple[Any, ...]] = [
    ("_inference.streams", "BLOCK", "dirichlet", 7, 14),
    ("agreement._annotator_variance", "FEWEST", "agreement_table labels, annotators=sample, ci_prob=0.8", 5, 6),
    ("agreement._annotator_variance", "FEWEST_COMMON", "agreement_table labels, annotators=sample, ci_prob=0.8", 4, 5),
    ("agreement._annotator_variance", "MOST", "agreement_table labels, annotators=sample, ci_prob=0.8", 4, 5),
    ("agreement._annotator_variance", "AT_ONCE", "agreement_table labels, annotators=sample, ci_prob=0.8", 1, 40),
    ("agreement._coefficients", "STICKS", "agreement_table labels", 2, 7),
    ("agreement._coefficients", "MOST_VALUES", "agreement_table LEVELS", 4, 5),
    ("agreement._formulas", "CELLS", "agreement_table labels", 1, 50),
    ("agreement._items", "MOST_VALUES", "agreement_table LEVELS", 4, 5),
    ("agreement.bland_altman", "FEWEST", "limits_of_agreement", 8, 9),
    ("agreement.checks", "BINS", "item_mean_check", 2),
    ("agreement.checks", "MOST_ITEMS", "item_mean_check", 11, 12),
    ("agreement.intraclass", "MOST_ANNOTATORS", "icc", 2, 3),
    ("agreement.limits", "FEWEST_ITEMS", "common_agreement levels, item_mean=flat, keep_item_means=True", 12, 13),
    ("agreement.limits", "FEWEST_LEVELS", "common_agreement levels, item_mean=flat, keep_item_means=True", 5, 6),
    ("agreement.rankings", "STEP", "agreement_table RANKED", 1, 2),
    ("annotations._display", "MOST_BARS", "container LABELS", 2, 3),
    ("annotations.annotators", "MOST_VALUES", "container AGES", 1, 2),
    ("blind._difficulty", "FEW_CELLS", "blind_posterior, method=dawid_skene", 1, 120),
    ("blind.independence", "MOST_SYSTEMS", "independence_check SYSTEMS", 4, 5),
    ("blind.pseudo_gold", "MOST_CELLS", "blind_scores, method=sampling, metric=f1", 7, 120),
    ("comparisons._cells", "MOST_ENTRIES", "davidson PLAIN, likelihood=davidson", 1, 10),
    ("comparisons.posterior", "ENOUGH_DRAWS", "davidson PLAIN, likelihood=davidson", 6, 7),
    ("conformal._weighted", "_FEW", "conformalize drawn", 1),
    ("conformal.exchangeability", "_FEWEST", "exchangeability_check, truth=LABELS", 1, 2, 3),
    ("conformal.regions", "_ITEMS_AT_ONCE", "plausibility_regions, distance=kl, coverage=0.7", 7, 40),
    ("draws.blocks", "MANY", "dirichlet", 1, 100),
    ("draws.convergence", "AT_ONCE", "dawid_skene, variant=full", 1, 3),
    ("judges.independence", "FEW_ERRORS", "effective_judges", 1, 9),
    ("judges.panels", "MOST_JUDGES", "best_panel", 3, 4),
    ("judges.rate", "CHUNK", "corrected_rate, target=share", 1),
    ("judges.rate", "FEW_ITEMS", "corrected_rate, target=share", 14, 15),
    ("judges.tables", "FEW_VOTES", "judge_table result", 20, 50),
    ("metrics.concordant_pairs", "SCORES", "auc", 1, 3),
    ("metrics.posterior_auc", "CELLS_PER_BLOCK", "auc", 1, 30),
    ("metrics.posterior_auc", "DRAWS_PER_BLOCK", "auc", 1, 5),
    ("metrics.votes_alone", "_MOST_PATTERNS", "evaluate, another_annotator=True, items=bootstrap", 1),
    ("plausibility.dawid_skene._average", "MANY_ANNOTATORS", "dawid_skene, variant=auto", 5, 6),
    ("plausibility.dawid_skene._engines", "MANY_ANNOTATORS", "dawid_skene, variant=auto", 5, 6),
    ("plausibility.dawid_skene._cells", "MOST", "dawid_skene, variant=full", 10, 42),
    ("plausibility.dawid_skene._patterns", "FEWEST", "dawid_skene pixels, variant=full", 300, 301),
    ("plausibility.dawid_skene._patterns", "FEWEST", "dawid_skene pixels, variant=hierarchical", 10),
    ("plausibility.dawid_skene._results", "ENOUGH_DRAWS", "dawid_skene, variant=one_coin", 6, 7),
    ("plausibility.dawid_skene._results", "MONITORED", "dawid_skene, variant=full", 1, 2),
    ("plausibility.dawid_skene.predictive", "CELLS", "with_log_likelihood dawid_skene full, draws=10", 1, 50),
    (
        "plausibility.dawid_skene.predictive",
        "MOST_STATES",
        "with_log_likelihood dawid_skene mixed_membership, draws=10",
        20,
        36,
    ),
    ("plausibility.dirichlet._draws", "AT_ONCE", "dirichlet, reliability=2.5", 503, 504),
    ("plausibility.dirichlet._draws", "FEW", "dirichlet, reliability=2.5", 1, 504),
    ("plausibility.group_dirichlet._gibbs", "MOST_KEPT", "group_dirichlet", 1, 300),
    ("plausibility.group_dirichlet._problem", "MANY", "group_dirichlet", 1, 3),
    ("plausibility.group_dirichlet.posterior", "ENOUGH_DRAWS", "group_dirichlet", 1, 50),
    ("plausibility.informed.fit", "ITEMS_PER_TASK", "informed_dirichlet small", 3, 14),
    ("plausibility.informed.gold", "MOST_CONFUSED", "dawid_skene, variant=full, predictions=SOFT", 2, 3),
    ("plausibility.informed.guards", "ENOUGH_DRAWS", "informed_dirichlet small", 6, 7),
    ("plausibility.informed.guards", "FEWEST_ITEMS", "evaluate MANY", 25, 35),
    ("plausibility.informed.guards", "MOST_ITEMS", "informed_dirichlet", 39, 40),
    ("plausibility.informed.prior", "MOST_CONFUSED", "informed_dirichlet small", 2, 3),
    ("plausibility.informed.sampler", "ENOUGH_DRAWS", "informed_dirichlet small", 6, 7),
    ("plausibility.informed.sampler", "MANY_LABELS", "informed_dirichlet small", 2, 3),
    ("plausibility.informed.sampler", "MOST_ITEMS", "informed_dirichlet", 39, 40),
    ("plausibility.plackett_luce.posterior", "MOST_SETS", "plackett_luce, competing=named", 1, 9),
    ("plausibility.registry", "FEWEST_ITEMS", "evaluate auto", 14, 15),
    ("predictive.annotator_checks", "FEW", "annotator_table dawid_skene full", 5, 9),
    ("predictive.annotator_checks", "MOST_PAIRS", "agreement_check dawid_skene full, replicates=10", 1, 10),
    ("report.annotators", "MOST_ANNOTATORS", "report, predictions=HARD", 4, 5),
    ("report.annotators", "MOST_LABELS", "report, predictions=HARD", 48, 49),
    ("report.annotators", "_SHOWN", "report, predictions=HARD", 3),
    ("report.annotators", "MOST_RATINGS", "report LEVELS, settings={'threshold': 3.0}", 40, 41),
    ("report.comparisons", "MOST_MODELS", "report games", 3, 4),
    ("report.comparisons", "NEXT", "report games", 2),
    ("report.items", "CANDIDATES", "report, predictions=HARD", 1),
    ("report.models", "FEWEST", "report, predictions=HARD", 14, 15),
    ("report.models", "MIN_ITEMS", "report, predictions=HARD", 5, 11),
    ("report.panel", "MOST_GROUPS", "report, predictions=SOFT, groups=GROUPS, annotators=AGES, source=name", 1),
    ("report.score_views", "MOST_MODELS", "report, predictions=HARD", 2, 3),
    ("report.views", "MOST_ITEMS", "report, predictions=HARD", 3),
    ("report.wording", "UNBROKEN", "report, predictions=HARD", 2, 3),
    ("subjective.normal_model", "CELLS", "normal_group_posterior rated", 1, 50),
]


def met(module: str, name: str, run: str, value: int) -> Any:
    """Run while a number of a module is another."""
    return within(import_module(f"bayesagree.{module}"), {name: value}, RUNS[run])


for module, name, run, *values in LIMITS:
    for value in values:
        RUNS[f"{run}: {module}.{name} = {value}"] = lambda m=module, n=name, r=run, v=value: met(m, n, r, v)
