# ruff: noqa: E501
"""Refusals, each provoked once: the rule is there, on the right side of its limit, and its sentence names the argument."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayesagree as ba
from bayesagree import plots
from bayesagree.annotations import Annotators
from bayesagree.inference.trace import Trace
from bayesagree.subjective import EvaluationSpecification

VOTES = ba.Labels.from_matrix([["a", "b", "a"], ["b", "b", "a"], ["a", "a", "a"]], annotators=["x", "y", "z"])
NOBODY = ba.Labels.from_counts([[2, 1], [1, 2], [3, 0]], labels=["a", "b"])
TWICE = ba.Labels.from_long(
    pd.DataFrame({"item": [0, 0, 1], "annotator": ["x", "x", "y"], "label": ["a", "a", "b"]}), duplicates="keep"
)
RATED = ba.Ratings.from_matrix([[1, 2, 1], [4, 5, 3], [2, 3, 5]], scale=(1, 5))
RANKED = ba.Rankings.from_blocks([[[["a"], ["b"]]], [[["b"], ["c"]]]], labels=["a", "b", "c"])
HARD = ba.Predictions.from_labels({"A": ["a", "b", "a"], "B": ["b", "b", "a"]}, labels=["a", "b"])
SOFT = ba.Predictions.from_scores({"A": [[0.7, 0.3], [0.2, 0.8], [0.6, 0.4]]}, labels=["a", "b"])
PEOPLE = Annotators.from_table(pd.DataFrame({"annotator": ["x", "y", "z"], "age": ["old", "old", "young"]}))
drawn = cache(lambda: ba.dirichlet(VOTES, draws=5, chains=2, random_seed=1))
top = cache(lambda: ba.dirichlet(VOTES, draws=5, chains=2, random_seed=1, top_labels=1))
crowd = cache(lambda: ba.dawid_skene(VOTES, variant="one_coin", draws=5, chains=2, random_seed=1, confusion=False))
rated = cache(lambda: ba.normal_inverse_gamma(RATED, draws=5, random_seed=1))
THREE = ba.Labels.from_counts([[2, 1, 0], [1, 0, 2]], labels=["a", "b", "c"])
OF_THREE = ba.Predictions.from_scores({"A": [[0.7, 0.2, 0.1], [0.2, 0.3, 0.5]]}, labels=["a", "b", "c"])
OF_TWO = ba.Predictions.from_scores({"A": [[0.7, 0.3], [0.2, 0.8]]}, labels=["a", "b"])
QUANTILES = ba.Predictions.from_numbers(
    {"A": pd.DataFrame({0.1: [0.5, 3.0, 2.0], 0.5: [1.0, 4.0, 3.0], 0.9: [2.0, 5.0, 4.0]})}
)
NUMBERS = ba.Predictions.from_numbers({"A": [1.0, 4.0, 3.0]})


def duels(winner, **options):
    table = pd.DataFrame(
        {"left": ["A", "B", "C", "A"], "right": ["B", "C", "A", "C"], "winner": [winner, "C", "A", "C"]}
    )
    return ba.Comparisons.from_long(table, **options)


def alone(tree, *without):
    """Return a result of draws alone, without what is known of them."""
    return xr.DataTree.from_dict({"posterior": tree["posterior"].to_dataset().drop_vars(without)})


def with_a_gap():
    values = drawn()["posterior"]["plausibility"].copy(deep=True)
    values[0, 2, 1] = np.nan
    return xr.DataTree.from_dict({"posterior": values.to_dataset(name="plausibility")})


def two_numbers(true, predicted):
    return np.zeros(2)


def of_percents():
    percents = xr.Variable(("chain", "draw", "item", "category"), np.full((2, 5, 3, 2), 50.0))
    coords = {"item": VOTES.items, "category": VOTES.categories}
    return xr.DataTree.from_dict({"/posterior": xr.Dataset({"plausibility": percents}, coords)})


REFUSED = {
    "draws: an engine that is none": (lambda: ba.dawid_skene(VOTES, engine="no"), "engine='no' is not one of"),
    "draws: labels deeper than kept": (lambda: ba.annotation_certainty(top(), k=2), "only 1 were kept|top_labels=2"),
    "conformal: coverage of one": (lambda: ba.conformalize(VOTES, SOFT, coverage=1.0), "coverage"),
    "conformal: unknown method": (lambda: ba.conformalize(VOTES, SOFT, method="no"), "method='no' is not one of"),
    "conformal: posterior of ratings": (lambda: ba.conformalize(ba.normal_inverse_gamma(RATED, draws=5, random_seed=1), SOFT), "draw the posterior of labels or rankings"),
    "conformal: hard labels": (lambda: ba.conformalize(VOTES, HARD), "score|hard"),
    "judges: unequal lengths": (lambda: ba.judges.prediction_powered_mean([1, 0], [1], [0, 1]), "give one verdict for each"),
    "judges: verdicts of nobody": (lambda: ba.alternative_annotator_test(VOTES, NOBODY), "the judges are unknown"),
    "judges: people twice": (lambda: ba.alternative_annotator_test(TWICE, HARD), "labelled an item twice"),
    "agreement: clusters in an array of pairs": (lambda: ba.agreement_table(VOTES, cluster=np.ones((2, 2))), "cluster"),
    "evaluate: groups of items in an array of pairs": (lambda: ba.evaluate(VOTES, SOFT, by=np.array([["a", "b"]]), draws=5), "by"),
    "blind: a positive label that is an array": (lambda: ba.blind_scores(HARD, positive=np.array([0.2, 0.8])), "positive=array.* is not one of the labels"),
    "blind: metrics in an array of pairs": (lambda: ba.blind.blind_posterior(HARD, metrics=np.array([["a", "b"]]), draws=5), "is not one of"),
    "subjective: items in an array of pairs": (lambda: ba.subjective.disagreement_rate(VOTES, items=np.ones((2, 2))), "names no item"),
    "auc: scores of no model": (lambda: ba.metrics.concordance(np.empty((0, 2)), [0, 1]), r"scores have shape \(0, 2\)"),
    "auc: no such method": (lambda: ba.auc(VOTES, SOFT, method="no"), "method='no' is not one of"),
    "auc: counts have no annotators": (lambda: ba.auc(NOBODY, SOFT, method="sgt"), "needs to know who gave each label"),
    "top k beyond the labels": (lambda: ba.score(drawn(), SOFT, "top_3_accuracy"), "labels"),
    "calibrate: no gold": (lambda: ba.calibrate(drawn(), {}), "gold is empty"),
    "crowd: no such variant": (lambda: ba.dawid_skene(VOTES, variant="no"), "variant='no' is not one of"),
    "informed: no predictions": (lambda: ba.evaluate(VOTES, plausibility="informed_dirichlet"), "predictions"),
    "normal: infinite prior mean": (lambda: ba.normal_inverse_gamma(RATED, prior=ba.plausibility.NormalInverseGammaPrior(mean=np.inf, strength=1, shape=2, scale=1)), "must be finite"),
    "checks: reliability is no probability": (lambda: ba.predictive.with_log_likelihood(ba.dirichlet(VOTES, reliability=0.5, draws=5, random_seed=1), VOTES), "reliability="),
    "trace: percents": (lambda: ba.evaluate(VOTES, SOFT, plausibility=of_percents()), "plausibilities of item 0 sum to 100"),
    "groups: nobody is in the table": (lambda: ba.annotations.Groups.by_features(VOTES, Annotators.from_table(pd.DataFrame({"annotator": [1, 2], "age": ["old", "old"]})), ["age"]), "none of the annotators, 'x', 'y', 'z', is in the table of their features or groups, which has 1, 2"),
    "checks: no such prior": (lambda: ba.predictive.prior_predictive(VOTES, plausibility="no"), "plausibility='no' has no prior predictive"),
    "checks: other annotations": (lambda: ba.predictive.with_posterior_predictive(drawn(), RATED), "expected Labels, got Ratings"),
    "numbers: an infinite one": (lambda: ba.Predictions.from_numbers({"A": [1.0, np.inf]}, items=["x", "y"]), "item 'y': a number is infinite"),
    "numbers: quantiles that fall": (lambda: ba.Predictions.from_numbers({"A": pd.DataFrame({0.1: [1.0, 3.0], 0.9: [2.0, 2.0]}, index=["x", "y"])}), "item 'y': the quantiles fall"),
    "judges: a verdict is missing": (lambda: ba.judges.effective_judges(ba.Predictions.from_labels({"A": ["a", None], "B": ["a", "b"]}, items=["x", "y"], labels=["a", "b"]), {"x": "a", "y": "b"}), "item 'y': judge 'A' gave no verdict"),
    "estimate: an item without": (lambda: ba.score(ba.majority_vote(ba.Labels.from_matrix([["a", "b"], ["a", "a"]], items=["x", "y"]), ties="exclude"), predictions=ba.Predictions.from_labels({"A": ["a", "a"]}, items=["x", "y"], labels=["a", "b"]), metric="accuracy"), "item 'x' has no label"),
    "annotators: of a posterior without": (lambda: ba.predictive.annotator_table(drawn()), "no annotators in this posterior"),
    "annotators: switching without confusion": (lambda: ba.predictive.annotator_checks.label_switching(crowd()), "confusion=True"),
    "reliability: equal values": (lambda: ba.predictive.reliability_curve(VOTES, [1, 1]), "one or several different numbers"),
    "reliability: one annotator an item": (lambda: ba.predictive.reliability_curve(VOTES.select([0])), "nobody can be predicted"),
    "reliability: of no such model": (lambda: ba.predictive.reliability_curve(VOTES, plausibility="dawid_skene"), "has no reliability curve of Labels; 'dirichlet' takes Labels"),
    "evaluate: weights of a crowd model": (lambda: ba.evaluate(VOTES, SOFT, plausibility="dawid_skene", reliability=2), "leave reliability at 1"),
    "crowdtruth: nobody": (lambda: ba.subjective.crowdtruth(NOBODY), "do not say whose they are"),
    "disagreement: ties by no rule": (lambda: ba.subjective.disagreement_rate(VOTES, ties="no"), "ties='no' is not one of"),
    "disagreement: nobody": (lambda: ba.subjective.disagreement_rate(NOBODY), "needs to know who gave each label"),
    "disagreement: twice": (lambda: ba.subjective.disagreement_rate(TWICE), "needs one annotation per"),
    "items: all left out": (lambda: ba.subjective.disagreement.without_items(VOTES, [0, 1, 2]), "none is left"),
    "items: unknown": (lambda: ba.subjective.disagreement.without_items(VOTES, [9]), "item 9 has no annotation"),
    "groups: smallest of no width": (lambda: ba.subjective.group_summary(drawn(), half_width=1), "half_width=1"),
    "groups: no model": (lambda: ba.subjective.group_performance(VOTES, {}, PEOPLE, by="age"), "there is no model"),
    "groups: no series": (lambda: ba.subjective.group_performance(VOTES, {"A": [1]}, PEOPLE, by="age"), "expected a pandas series"),
    "groups: a prediction twice": (lambda: ba.subjective.group_performance(VOTES, {"A": pd.Series(["a"] * 4, [0, 0, 1, 2])}, PEOPLE, by="age"), "predicts 0 twice"),
    "groups: a prediction missing": (lambda: ba.subjective.group_performance(VOTES, {"A": pd.Series(["a"], [0])}, PEOPLE, by="age"), "has no prediction for 2 items"),
    "groups: a prediction of no label": (lambda: ba.subjective.group_performance(VOTES, {"A": pd.Series(["a", "q", "b"])}, PEOPLE, by="age"), "predicts 'q', which is no label"),
    "dividing items of other results": (lambda: ba.subjective.dividing_items(drawn()), "takes the result of group_dirichlet"),
    "specification: no such fairness": (lambda: EvaluationSpecification("b", fairness="no"), "fairness='no' is not one of"),
    "specification: similar in nothing": (lambda: EvaluationSpecification("b", fairness="individual"), "name similarity="),
    "certainty: exact sets": (lambda: ba.annotation_certainty(drawn(), k=2, exact=True), "exists for k=1 only, not k=2"),
    "certainty: more labels than there are": (lambda: ba.annotation_certainty(drawn(), k=3), "the top 3 labels do not exist: there are 2"),
    "certainty: no closed form": (lambda: ba.annotation_certainty(crowd(), exact=True), "no closed form"),
    "certainty: ratings without a threshold": (lambda: ba.annotation_certainty(rated()), "pass threshold=c"),
    "certainty: ratings without a threshold, exact": (lambda: ba.annotation_certainty(rated(), exact=True), "pass threshold=c"),
    "certainty: draws that are missing": (lambda: ba.annotation_certainty(with_a_gap()), "items 0 to 2 are NaN; drop those items"),
    "certainty: numbers compared with labels": (lambda: ba.certainty.plausibility_entropy(alone(top())), "keeps top_label.*without top_labels="),
    "risk: a label without a level": (lambda: ba.certainty.risk_certainty(drawn(), {"a": 0}), "no risk level for label 'b'"),
    "risk: words have no mean": (lambda: ba.certainty.expected_risk(drawn(), {"a": "low", "b": "high"}), "'high', 'low' have no mean; give numbers"),
    "estimate: of other dims": (lambda: ba.score(xr.DataArray([[1.0, 0.0]], dims=("item", "label")), SOFT, "accuracy"), r"dims \(item, category\), not \('item', 'label'\)"),
    "trace: of other items": (lambda: ba.evaluate(VOTES, SOFT, plausibility=drawn().isel(item=[0, 1])), "the items of the trace are not those of the annotations"),
    "trace: of labels in another order": (lambda: ba.evaluate(VOTES, SOFT, plausibility=drawn().isel(category=[1, 0])), "the labels of the trace are not those of the annotations, in their order"),
    "trace: without names of labels": (lambda: ba.evaluate(VOTES, SOFT, plausibility=alone(drawn(), "category")), "the draws name no category: sample a model that has the coordinate 'category'"),
    "trace: has no model": (lambda: Trace.of(drawn()).model(VOTES), "a trace holds draws and no model"),
    "labels: more than there are": (lambda: ba.dirichlet(VOTES, top_labels=3, draws=2), "top_labels=3 is more than the 2 labels"),
    "dirichlet: a prior of other labels": (lambda: ba.dirichlet(VOTES, prior=[1, 1, 1], draws=2), r"prior has shape \(3,\) for 2 labels"),
    "dirichlet: a prior of zero": (lambda: ba.dirichlet(VOTES, prior=[1, 0], draws=2), "must be positive"),
    "crowd: counts": (lambda: ba.dawid_skene(NOBODY, draws=2), "needs to know who gave which label"),
    "crowd: nothing given": (lambda: ba.dawid_skene(VOTES.select([])), "there is no label"),
    "crowd: one label": (lambda: ba.dawid_skene(ba.Labels.from_matrix([["a", "a"]])), "there is only the label 'a'"),
    "crowd: labels without order": (lambda: ba.dawid_skene(VOTES, variant="ordered"), "ordered=True"),
    "crowd: a variant without EM": (lambda: ba.dawid_skene(VOTES, variant="hierarchical", engine="em"), "variant='hierarchical' has no EM"),
    "informed: exclude names nobody": (lambda: ba.informed_dirichlet(VOTES, SOFT, exclude=["Z"], draws=2), "exclude names 'Z', which is none of the models"),
    "informed: votes on items without predictions": (lambda: ba.informed_dirichlet(VOTES, OF_TWO, draws=2), "items 2 have annotations and no predictions"),
    "informed: gold and best sets": (lambda: ba.evaluate(VOTES, SOFT, metrics=["set_2_accuracy"], plausibility="informed_dirichlet", gold={0: "a", 1: "b"}, draws=2), "gold is one label per item"),
    "informed: gold and exclude": (lambda: ba.evaluate(VOTES, SOFT, plausibility="informed_dirichlet", gold={0: "a", 1: "b"}, exclude=["A"], draws=2), "leave exclude= out"),
    "evaluate: gold for votes alone": (lambda: ba.evaluate(VOTES, SOFT, plausibility="dirichlet", gold={0: "a"}, draws=2), "not for 'dirichlet'"),
    "evaluate: an order that labels lack": (lambda: ba.evaluate(THREE, OF_THREE, metrics=["quadratic_kappa"], draws=2), "uses the order of the labels, and these have none"),
    "evaluate: a metric of labels for numbers": (lambda: ba.evaluate(RATED, NUMBERS, metrics=["accuracy"], draws=2), "needs labels; numbers have"),
    "evaluate: a metric of scores for labels": (lambda: ba.evaluate(VOTES, HARD, metrics=["log_loss"], draws=2), "one hard label per item; use Predictions.from_scores"),
    "evaluate: a function of several numbers": (lambda: ba.evaluate(VOTES, HARD, metrics=[two_numbers], draws=2), r"returned an array of shape \(2,\), not one number"),
    "evaluate: an interval beyond the quantiles": (lambda: ba.score(rated(), QUANTILES, "interval_coverage_90"), r"interval_coverage_90 needs quantiles at 0.05 and 0.95 or samples beyond them; the predictions go from 0.1 to 0.9"),
    "evaluate: more runs than there are": (lambda: ba.score(drawn(), HARD, "pass_at_2"), "pass_at_2 needs 2 runs of every model, and one has 1"),
    "auc: a label is missing": (lambda: ba.auc(VOTES, ba.Predictions.from_labels({"A": ["a", None, "b"]}, labels=["a", "b"])), "the AUC needs a score or a label for every item"),
    "item metric: not a mean": (lambda: ba.metrics.per_item(drawn(), HARD, metric="f1_macro"), "single items have no value"),
    "auc: an annotator twice": (lambda: ba.auc(TWICE, OF_TWO), "labelled an item twice"),
    "auc: posterior of three labels": (lambda: ba.metrics.auc_posterior(THREE, OF_THREE), "needs two labels, got 3"),
    "conformal: truth of no kind": (lambda: ba.conformalize([1, 2], SOFT), "truth is list|expected"),
    "conformal: more folds than items": (lambda: ba.conformal.cross_sets(drawn(), SOFT, folds=4), "folds=4 must be from 2 to the number of items, 3"),
    "conformal: one fold": (lambda: ba.conformal.cross_sets(drawn(), SOFT, folds=1), "folds=1 must be from 2"),
    "conformal: no such score": (lambda: ba.conformalize(drawn(), SOFT, score="no"), "score='no' is not one of"),
    "judges: not enough items": (lambda: ba.alternative_annotator_test(VOTES, HARD, min_items=4), "no annotator has 4 items that another person labelled too"),
    "judges: one judge": (lambda: ba.judges.effective_judges(OF_THREE, {0: "a"}), "a panel of 1 judge has no correlation"),
    "judges: nobody known": (lambda: ba.judges.effective_judges(NOBODY, {0: "a"}), "judges are Labels with one verdict of each named judge"),
    "judges: best labels of the truth": (lambda: ba.judges.effective_judges(HARD, top()), "draw it without top_labels="),
    "comparisons: annotators that are unknown": (lambda: ba.davidson(duels("A"), ties="annotator", draws=2), "ties='annotator', but the annotators are unknown"),
    "comparisons: an order that is unknown": (lambda: ba.davidson(duels("A", order_known=False), order="common", draws=2), "order='common', but nobody knows which model was shown first"),
    "comparisons: items that are unknown": (lambda: ba.davidson(duels("A"), item_effects=True, draws=2), "item_effects=True, but the items are unknown"),
    "comparisons: a tie without a place": (lambda: ba.davidson(duels("tie"), ties=None, draws=2), "ties=None, but 1 comparisons are ties"),
    "blind: one label": (lambda: ba.blind_scores(ba.Predictions.from_labels({"A": ["a"], "B": ["a"]}, labels=["a"])), "there is only the label 'a'"),
    "blind: no system labelled anything": (lambda: ba.blind_scores(ba.Predictions.from_labels({"A": [None], "B": [None]}, labels=["a", "b"])), "no system labelled any item"),
    "plan: items twice": (lambda: ba.plan(VOTES, SOFT, items=[10, 10], annotators=[2]), "must be one or several different numbers"),
    "plots: panels of another number": (lambda: plots.plot_plausibility(drawn(), 0, axes=np.empty(0)), "panels are drawn, not 0"),
    "plots: a simplex of two labels": (lambda: plots.plot_simplex(drawn(), [0]), "a simplex has three labels, not 2"),
    "plots: a simplex of ratings": (lambda: plots.plot_simplex(rated(), [0]), "a simplex is of labels"),
    "plots: plausibilities of ratings": (lambda: plots.plot_plausibility(rated(), 0), "of ratings and has no plausibilities"),
    "plots: plausibilities of best labels": (lambda: plots.plot_plausibility(top(), 0), "draw it without top_labels"),
    "choice sets: nothing ranked": (lambda: ba.Rankings.from_long(
        pd.DataFrame({"item": [0, 0, 1], "annotator": ["x"] * 3, "label": ["a", "b", "a"], "rank": [1, 2, np.nan]}),
        offered=True,
    ), "item 1, annotator 'x': a ranking names none of the labels on offer"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.filterwarnings("ignore:gold of 2 items")
def test_is_refused(name):
    call, message = REFUSED[name]
    with pytest.raises(ba.InputError, match=message) as refused:
        call()
    assert "np." not in str(refused.value)  # names as the user wrote them


OF_OTHERS = {
    "davidson": [ba.comparisons.effect_table],
    "corrected_rate": [ba.judges.judge_table],
    "group_posterior": [ba.subjective.group_summary],
}


@pytest.mark.parametrize("maker", OF_OTHERS)
def test_a_result_of_another_function_is_refused_with_the_right_one(maker):
    for function in OF_OTHERS[maker]:
        with pytest.raises(ba.InputError, match=rf"pass a result of {maker}"):
            function(drawn())


@pytest.mark.parametrize("k", [0, -1, 1.5])
def test_a_set_has_at_least_one_label(k):
    """k = 0 read outside an array and killed the process."""
    with pytest.raises(ba.InputError, match="k="):
        ba.annotation_certainty(drawn(), k=k)


@pytest.mark.parametrize("given", [np.ones((3, 2)), VOTES])
def test_what_is_no_rating_is_refused_by_name(given):
    with pytest.raises(ba.InputError, match="Ratings"):
        ba.common_agreement(given)


def test_a_known_truth_at_the_end_makes_unanimity_agreement():
    ratings = ba.Ratings.from_matrix([[1] * 5] * 100, scale=(1, 5), step=1)
    known = dict.fromkeys(range(100), 1.0)
    found = ba.common_agreement(ratings, item_mean=known, truth_sd=0.1, draws=20, random_seed=1)["agreement"]
    assert found.attrs["decision"] == "agreement"
    assert float(found["mean"]) > 0.9


def test_what_stands_at_a_limit_is_taken():
    """The refusals above begin one further."""
    assert 0 <= ba.score(rated(), QUANTILES, "interval_coverage_80").mean() <= 1
    assert ba.score(drawn(), HARD, "quadratic_kappa").notnull().all()  # two labels are in order either way
    assert ba.annotation_certainty(drawn(), k=2).values.tolist() == [1.0, 1.0, 1.0]
    assert ba.dirichlet(VOTES, top_labels=2, draws=2)["posterior"].sizes["rank"] == 2
    sets = ba.conformal.cross_sets(drawn(), SOFT, folds=3, coverage=0.6, random_seed=1)
    assert sets.sizes["item"] == 3
