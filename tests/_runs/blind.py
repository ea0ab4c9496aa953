"""Runs of `bayesagree.blind`."""

from _runs.recipe import FEW, add, later
from _runs.world import CROWD, FOLDER, HARD, LABELS, MANY_HARD, SYSTEM_GOLD, SYSTEMS
from bayesagree import blind as bl

METRICS = ("accuracy", "precision", "recall", "specificity", "f1", "balanced_accuracy")
BLIND = ("majority", "em", "round_robin", "sampling", "dawid_skene")
SUPERVISED = ("direct", "calibrated_majority", "naive_bayes", "svm", "glm", "adaboost")
for method in BLIND:
    run = add("blind_scores", bl.blind_scores, SYSTEMS, method=method, sets=20, seed=1)
    for metric in METRICS:
        run(method=method, metric=metric)
    if method != "dawid_skene":
        run(method=method, metric="f1", leave_one_out=True)
    run(method=method, metric="recall", positive=0, threshold=0.4)
    add("blind_scores three labels", bl.blind_scores, HARD, sets=20, seed=1)(method=method)
for method in SUPERVISED:
    run = add("blind_scores crowd", bl.blind_scores, SYSTEMS, crowd=CROWD, seed=1)
    run(method=method)
    if method != "adaboost":
        run(method=method, metric="f1", leave_one_out=True)
    run(method=method, calibrate_for="each", metric="precision")
    run(method=method, calibrate_for="recall", threshold=0.6, metric="specificity")
    add("blind_scores crowd, three labels", bl.blind_scores, HARD, crowd=LABELS, seed=1)(method=method)
for method in ("dawid_skene", "sampling", "em", "majority"):
    run = add("blind_posterior", bl.blind_posterior, SYSTEMS, **FEW)
    run(method=method)
    run(method=method, metrics=METRICS, items="fixed")
    run(method=method, leave_one_out=True, positive=0)
for method in ("direct", "naive_bayes", "calibrated_majority", "glm"):
    add("blind_posterior crowd", bl.blind_posterior, SYSTEMS, crowd=CROWD, **FEW)(method=method)
run = add("blind_experiment", bl.blind_experiment, SYSTEMS, draws=20, seed=1)
run()
run(gold=SYSTEM_GOLD)
run(gold=SYSTEM_GOLD, crowd=CROWD, metrics=("accuracy", "f1"), correction="hotelling", multiplicity="holm")
run(gold=SYSTEM_GOLD, multiplicity="bonferroni", baseline="majority", methods=("majority", "em", "sampling"))
run(gold=SYSTEM_GOLD, multiplicity="benjamini_hochberg", significance=0.3, ci_prob=0.6, leave_one_out=True)
run(gold=SYSTEM_GOLD, positive=0, threshold=0.4, metrics=("recall", "precision"))
for data in (SYSTEMS, HARD, MANY_HARD):
    add(f"independence_check {data.name}", bl.independence_check, data, draws=8, chains=2, seed=1)()
    add(f"jaccard_overlap {data.name}", bl.jaccard_overlap, data)()
add("jaccard_overlap", bl.jaccard_overlap, SYSTEMS)(positive=0)
files = [later(lambda name=name: FOLDER() / name, name) for name in ("models.csv", "labels.csv", "gold.csv")]
add("read_blind_case", bl.read_blind_case, files[0])()
add("read_blind_case", bl.read_blind_case, *files)(labels=[*"xyz"])
